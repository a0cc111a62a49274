"""One figure after the other, on a server that runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from time import monotonic, perf_counter
from typing import Any

from tests.bench.dataset import Dataset, Message, Question, Session
from tests.bench.recall import recall_figures
from tests.bench.surfaces import GrpcSurface, HttpSurface, Surface
from tests.bench.timing import latency_figures, processor_seconds, time_each
from tests.support.server_process import ServerProcess

METHODS = ("keyword", "vector", "hybrid", "agentic")
TOP_K = 10
_PAGE_SIZE = 20
# As many sessions are imported at once; one alone would wait for its own commits most of the time.
_IMPORTERS = 4
# Messages of a session of LoCoMo.
MESSAGES_PER_ADD = 21
_BENCH_OWNER = "bench"
_FIRST_DAY_MS = 1_700_000_000_000
_DAY_MS = 86_400_000
_WARM_UP_REQUESTS = 10
_WARM_UP_SEARCHES = 200
_FOUND_TIMEOUT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured."""

    adds: int
    flushes: int
    searches: int
    gets: int
    throughput_seconds: float


FULL = Effort(adds=100, flushes=20, searches=75, gets=200, throughput_seconds=3.0)
QUICK = Effort(adds=20, flushes=5, searches=20, gets=30, throughput_seconds=1.0)


def measure_import(grpc_address: str, dataset: Dataset) -> dict[str, float]:
    """Adds and flushes every session; each is searchable when its flush has answered."""
    surface = GrpcSurface(grpc_address)

    def import_session(session: Session) -> None:
        for method, body in _import_calls(session):
            surface.send(method, surface.prepare(method, body))

    start = perf_counter()
    with ThreadPoolExecutor(_IMPORTERS) as pool:
        list(pool.map(import_session, dataset.sessions))
    seconds = perf_counter() - start
    surface.close()
    return {
        "import.messages_per_second": dataset.message_count / seconds,
        "import.seconds": seconds,
    }


def _import_calls(session: Session) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "add", _add_body(session.session_id, session.messages)
    yield "flush", {"session_id": session.session_id}


def _add_body(session_id: str, messages: Sequence[Message]) -> dict[str, Any]:
    return {"session_id": session_id, "messages": list(messages), "defer_extraction": True}


def batches(dataset: Dataset, prefix: str, count: int) -> list[tuple[str, list[Message]]]:
    """`count` sessions of 21 messages of an owner of their own, from the messages there are.

    Each text says which session it is of, so that no two are the same to embed.
    """
    contents = [message.get("content") for each in dataset.sessions for message in each.messages]
    texts = cycle([content for content in contents if isinstance(content, str)])

    def batch(number: int) -> list[Message]:
        start_ms = _FIRST_DAY_MS + number * _DAY_MS
        return [
            {
                "sender_id": _BENCH_OWNER,
                "role": "user",
                "timestamp": start_ms + index * 1000,
                "content": f"{next(texts)} ({prefix} {number})",
            }
            for index in range(MESSAGES_PER_ADD)
        ]

    return [(f"{prefix}-{number}", batch(number)) for number in range(count)]


def measure_writes(http_address: str, dataset: Dataset, effort: Effort) -> dict[str, float]:
    """Deferred adds; flushes until they answer; others until the episode can be found.

    A flush that waits answers when the new episode can be found, by meaning too. The others say
    when it could be found by words, for its vectors take longest.
    """
    surface = HttpSurface(http_address)
    adds = [
        surface.prepare("add", _add_body(session_id, messages))
        for session_id, messages in batches(dataset, "add", effort.adds)
    ]
    figures = latency_figures(
        f"add.{MESSAGES_PER_ADD}_messages.http",
        time_each(partial(surface.send, "add"), adds),
    )
    answered, by_words, by_meaning = [], [], []
    for session_id, messages in batches(dataset, "flush", effort.flushes):
        surface.send("add", surface.prepare("add", _add_body(session_id, messages)))
        start = perf_counter()
        surface.send("flush", surface.prepare("flush", {"session_id": session_id}))
        answered.append(perf_counter() - start)
    for session_id, messages in batches(dataset, "unwaited", effort.flushes):
        surface.send("add", surface.prepare("add", _add_body(session_id, messages)))
        start = perf_counter()
        body = {"session_id": session_id, "wait": False}
        surface.send("flush", surface.prepare("flush", body))
        _wait_until_found(surface, "keyword", session_id, str(messages[0]["content"]))
        by_words.append(perf_counter() - start)
        _wait_until_found(surface, "vector", session_id, str(messages[0]["content"]))
        by_meaning.append(perf_counter() - start)
    surface.close()
    return {
        **figures,
        **latency_figures("flush.answered.http", answered),
        **latency_figures("flush.found_by_words.http", by_words),
        **latency_figures("flush.found_by_meaning.http", by_meaning),
    }


def _wait_until_found(surface: Surface, method: str, session_id: str, text: str) -> None:
    query = Question(_BENCH_OWNER, text)
    body = search_body(query, method) | {"filters": {"session_id": session_id}}
    request = surface.prepare("search", body)
    deadline = monotonic() + _FOUND_TIMEOUT_SECONDS
    while not surface.send("search", request)["episodes"]:
        if monotonic() > deadline:
            raise TimeoutError(f"not found by {method} search in {_FOUND_TIMEOUT_SECONDS} s")


def warm_up(surface: Surface, dataset: Dataset) -> None:
    """Searches by words, which leave no vector in a cache, until Java has compiled its part."""
    for query in dataset.queries(_WARM_UP_SEARCHES):
        surface.send("search", surface.prepare("search", search_body(query, "keyword")))


def search_body(query: Question, method: str) -> dict[str, Any]:
    """A search for ten results."""
    return {
        "user_id": query.owner_id,
        "query": query.text,
        "method": method,
        "top_k": TOP_K,
    }


def measure_reads(server: ServerProcess, dataset: Dataset, effort: Effort) -> dict[str, float]:
    """Searches by every method, and listings, over both surfaces of a warm server, one at a time.

    Every query is new to the server where the dataset has enough text: vectors of queries that were
    asked before come from a cache.
    """
    figures: dict[str, float] = {}
    surfaces: tuple[Surface, ...] = (HttpSurface(server.http), GrpcSurface(server.grpc))
    for surface in surfaces:
        warm_up(surface, dataset)
    rounds = [(surface, method) for method in METHODS for surface in surfaces]
    queries = dataset.queries((effort.searches + _WARM_UP_REQUESTS) * len(rounds))
    for number, (surface, method) in enumerate(rounds):
        requests = [
            surface.prepare("search", search_body(query, method))
            for query in queries[number :: len(rounds)]
        ]
        time_each(partial(surface.send, "search"), requests[:_WARM_UP_REQUESTS])
        figures |= _timed(
            server, surface, "search", f"search.{method}", requests[_WARM_UP_REQUESTS:]
        )
    for surface in surfaces:
        requests = [
            surface.prepare("get", get_body(query)) for query in dataset.queries(effort.gets)
        ]
        figures |= _timed(server, surface, "get", "get", requests)
        surface.close()
    return figures


def _timed(
    server: ServerProcess, surface: Surface, method: str, name: str, requests: Sequence[Any]
) -> dict[str, float]:
    """Latencies, and the processor time that the server took for a request on average.

    The latter hardly depends on what else the machine does.
    """
    before = processor_seconds(server.process.pid)
    seconds = time_each(partial(surface.send, method), requests)
    spent = processor_seconds(server.process.pid) - before
    name = f"{name}.{surface.name}"
    return {**latency_figures(name, seconds), f"{name}.cpu_ms": 1000 * spent / len(requests)}


def get_body(query: Question) -> dict[str, Any]:
    """The first page of the owner's episodes."""
    return {"user_id": query.owner_id, "memory_type": "episode", "page_size": _PAGE_SIZE}


def measure_recall(http_address: str, dataset: Dataset) -> dict[str, float]:
    """Recall of every method over all questions."""
    surface = HttpSurface(http_address)
    figures: dict[str, float] = {}
    for method in METHODS:

        def search(query: Question, method: str = method) -> list[str]:
            found = surface.send("search", surface.prepare("search", search_body(query, method)))
            return [episode["session_id"] for episode in found["episodes"]]

        figures |= recall_figures(method, dataset.questions, search)
    surface.close()
    return figures
