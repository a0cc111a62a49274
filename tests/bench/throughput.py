"""How much goes through with several clients at once.

The clients are coroutines of one Python process over gRPC, on the same machine as the server: they
take a share of its cores, and what they count is a lower bound.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import cycle
from time import perf_counter

import grpc.aio
from google.protobuf.message import Message as ProtobufMessage

from remanence.v2 import memory_pb2, memory_pb2_grpc
from tests.bench.dataset import Dataset, Question
from tests.bench.measure import TOP_K, batches, get_body
from tests.bench.surfaces import grpc_request

CLIENTS = 8
WRITERS = 64
_TIMEOUT_SECONDS = 60


def measure_throughput(grpc_address: str, dataset: Dataset, seconds: float) -> dict[str, float]:
    """Requests a second: searches and listings of 8 clients, durable adds of 8 and of 64."""
    return asyncio.run(_measure(grpc_address, dataset, seconds))


async def _measure(grpc_address: str, dataset: Dataset, seconds: float) -> dict[str, float]:
    queries = dataset.queries(len(dataset.questions))
    runs: dict[str, tuple[str, int, Iterator[ProtobufMessage]]] = {
        f"throughput.{method}.{CLIENTS}_clients_per_second": (
            "search",
            CLIENTS,
            _searches(queries, method),
        )
        for method in ("keyword", "vector", "hybrid")
    }
    runs[f"throughput.get.{CLIENTS}_clients_per_second"] = (
        "get",
        CLIENTS,
        cycle([grpc_request("get", get_body(query)) for query in queries]),
    )
    for clients in (CLIENTS, WRITERS):
        runs[f"throughput.durable_add.{clients}_clients_per_second"] = (
            "add",
            clients,
            _adds(dataset, clients),
        )
    figures = {}
    async with grpc.aio.insecure_channel(grpc_address) as channel:
        memory = memory_pb2_grpc.MemoryServiceStub(channel)
        for name, (method, clients, requests) in runs.items():
            call = getattr(memory, method.capitalize())
            figures[name] = await _rate(call, requests, clients, seconds)
    return figures


def _searches(queries: list[Question], method: str) -> Iterator[ProtobufMessage]:
    for count, query in enumerate(cycle(queries)):
        yield memory_pb2.SearchRequest(
            user_id=query.owner_id,
            # A word that no query had before: otherwise its vector would come from the cache.
            query=f"{query.text} {method}{count}",
            method=f"SEARCH_METHOD_{method.upper()}",
            top_k=TOP_K,
        )


def _adds(dataset: Dataset, clients: int) -> Iterator[ProtobufMessage]:
    """One message each, to a session for every client."""
    [(_, messages)] = batches(dataset, f"throughput-{clients}", 1)
    return cycle(
        [
            grpc_request(
                "add",
                {
                    "session_id": f"throughput-{clients}-{number}",
                    "messages": [messages[number % len(messages)]],
                    "defer_extraction": True,
                },
            )
            for number in range(clients)
        ]
    )


async def _rate(
    call: grpc.aio.UnaryUnaryMultiCallable[ProtobufMessage, ProtobufMessage],
    requests: Iterator[ProtobufMessage],
    clients: int,
    seconds: float,
) -> float:
    """Answers a second while so many clients each send one request after the other."""
    answers = 0
    start = perf_counter()

    async def client() -> None:
        nonlocal answers
        while perf_counter() - start < seconds:
            await call(next(requests), timeout=_TIMEOUT_SECONDS)
            answers += 1

    await asyncio.gather(*(client() for _ in range(clients)))
    return answers / (perf_counter() - start)
