"""Callers that give up: what they asked for and nobody began is dropped, what began is harmless.

The service runs in the process of the test, so that its Java thread and its embedder can be held.
"""

from __future__ import annotations

import asyncio
import io
import json
import logging
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest
import uvicorn

from remanence.v2 import memory_pb2 as pb
from remanence.v2 import memory_pb2_grpc
from remanence_server.api.composition import Service, open_service
from remanence_server.api.engines import Engines
from remanence_server.api.grpc_server.server import build_grpc_surface
from remanence_server.api.http_app import build_http_app
from remanence_server.index.jvm import JavaThread, java_thread
from remanence_server.index.lexical.lucene_search import LuceneSearch
from remanence_server.providers.embeddings.hashing import HashingEmbedder
from remanence_server.providers.embeddings.interface import Embedder, Vector
from remanence_server.providers.embeddings.query_cache import QueryCache
from remanence_server.runtime.logging import configure_logging
from remanence_server.runtime.settings import FlushSettings, ProjectionSettings, Settings

_IMPATIENT_SECONDS = 0.05


class HeldEmbedder(HashingEmbedder):
    """One query at a time, on a thread that a test can hold."""

    def __init__(self) -> None:
        self.may_go_on = threading.Event()
        self.may_go_on.set()
        self.computed: list[str] = []
        self._executor = ThreadPoolExecutor(1)
        self._cache = QueryCache(self._compute, self._executor)

    def _compute(self, text: str) -> Vector:
        self.may_go_on.wait(20)
        self.computed.append(text)
        return asyncio.run(HashingEmbedder.embed_query(self, text))

    async def embed_query(self, text: str) -> Vector:
        """See `Embedder`."""
        return await self._cache.embed(text)

    async def close(self) -> None:
        """See `Embedder`."""
        self._executor.shutdown()


@dataclass(slots=True)
class House:
    """A service with both surfaces, in this process."""

    service: Service
    memory: Any
    http: httpx.AsyncClient
    java: JavaThread
    embedder: HeldEmbedder
    log: io.StringIO
    searched: list[str] = field(default_factory=list)

    async def search(self, text: str, method: str = "KEYWORD", seconds: float = 20) -> Any:
        """A search over gRPC, with a deadline."""
        request = pb.SearchRequest(user_id="alice", query=text, method=f"SEARCH_METHOD_{method}")
        return await self.memory.Search(request, timeout=seconds)

    async def search_over_http(self, text: str, seconds: float) -> Any:
        """A search over HTTP, whose client hangs up."""
        body = {"user_id": "alice", "query": text, "method": "keyword"}
        return await self.http.post("/api/v2/memory/search", json=body, timeout=seconds)

    @contextmanager
    def java_is_busy(self) -> Iterator[None]:
        """Holds the Java thread."""
        done = threading.Event()
        self.java.submit(done.wait, 20)
        try:
            yield
        finally:
            done.set()

    def complaints(self) -> list[str]:
        """Log lines above the level of information."""
        lines = [json.loads(line) for line in self.log.getvalue().splitlines()]
        return [str(line) for line in lines if line["level"] not in ("debug", "info")]


@pytest.fixture
async def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[House]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    log = io.StringIO()
    configure_logging("info", "json", log)
    settings = Settings(
        root=tmp_path / "root",
        flush=FlushSettings(visibility_timeout_seconds=15),
        projection=ProjectionSettings(watch=False),
    )
    settings.root.mkdir()
    embedder = HeldEmbedder()
    ready: Future[Embedder] = Future()
    ready.set_result(embedder)
    java = java_thread()
    service = await open_service(settings, Engines(java, ready))
    surface = build_grpc_surface(service.servicers, settings.server, service.observer)
    port = surface.server.add_insecure_port("127.0.0.1:0")
    await surface.server.start()
    app = build_http_app(service.servicers, settings, {}, service.metrics, service.observer)
    listener = socket.create_server(("127.0.0.1", 0))
    http = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off"))
    http_task = asyncio.create_task(http._serve([listener]))
    async with (
        grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{listener.getsockname()[1]}") as client,
    ):
        stub = memory_pb2_grpc.MemoryServiceStub(channel)
        opened = House(service, stub, client, java, embedder, log)
        search = LuceneSearch.search

        def noted(self: LuceneSearch, *arguments: Any) -> Any:
            opened.searched.append(arguments[2])
            return search(self, *arguments)

        monkeypatch.setattr(LuceneSearch, "search", noted)
        message = pb.MessageItem(
            sender_id="alice", role=pb.ROLE_USER, timestamp=1_779_967_836_000, text="I like kayaks."
        )
        await stub.Add(pb.AddRequest(session_id="s", messages=[message]))
        await stub.Flush(pb.FlushRequest(session_id="s"))
        await opened.search("warm up", "HYBRID")
        yield opened
    http.should_exit = True
    await http_task
    await surface.server.stop(5)
    await service.close(5)
    root.handlers[:] = handlers
    root.setLevel(level)


async def _status_of(call: Any) -> grpc.StatusCode:
    try:
        await call
    except grpc.aio.AioRpcError as error:
        return error.code()
    return grpc.StatusCode.OK


async def _until_as_few_as(count: int) -> None:
    """Waits until no more tasks run than did before."""
    async with asyncio.timeout(5):
        while len(asyncio.all_tasks()) > count:
            await asyncio.sleep(0.01)


async def test_searches_that_wait_for_java_are_dropped_at_their_deadline(house: House) -> None:
    before = len(asyncio.all_tasks())
    house.searched.clear()
    with house.java_is_busy():
        statuses = await asyncio.gather(
            *(_status_of(house.search(f"t{n}", seconds=_IMPATIENT_SECONDS)) for n in range(20))
        )
        await _until_as_few_as(before)
    assert set(statuses) == {grpc.StatusCode.DEADLINE_EXCEEDED}
    found = await house.search("kayaks", seconds=5)
    assert [episode.user_id for episode in found.episodes] == ["alice"]
    assert house.searched == ["kayaks"]
    assert house.complaints() == []


async def test_searches_that_wait_for_the_embedder_are_dropped_at_their_deadline(
    house: House,
) -> None:
    before = len(asyncio.all_tasks())
    house.embedder.computed.clear()
    house.embedder.may_go_on.clear()
    statuses = await asyncio.gather(
        *(
            _status_of(house.search(f"text {n}", "VECTOR", seconds=_IMPATIENT_SECONDS))
            for n in range(20)
        )
    )
    await _until_as_few_as(before)
    assert set(statuses) == {grpc.StatusCode.DEADLINE_EXCEEDED}
    house.embedder.may_go_on.set()
    await house.search("kayaks", "VECTOR", seconds=5)
    # The one that had begun, and the one that was wanted.
    assert len(house.embedder.computed) == 2
    assert house.embedder.computed[-1] == "kayaks"
    assert house.complaints() == []


async def test_a_search_that_its_client_cancels_is_dropped(house: House) -> None:
    before = len(asyncio.all_tasks())
    house.searched.clear()
    with house.java_is_busy():
        calls = [asyncio.create_task(house.search(f"t{n}")) for n in range(5)]
        await asyncio.sleep(_IMPATIENT_SECONDS)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        await _until_as_few_as(before)
    await house.search("kayaks", seconds=5)
    assert house.searched == ["kayaks"]
    assert house.complaints() == []


async def test_a_search_whose_http_client_hangs_up_is_dropped(house: House) -> None:
    await house.search_over_http("warm up", 5)
    house.searched.clear()
    with house.java_is_busy():
        outcomes = await asyncio.gather(
            *(house.search_over_http(f"t{n}", _IMPATIENT_SECONDS) for n in range(20)),
            return_exceptions=True,
        )
        assert all(isinstance(outcome, httpx.TimeoutException) for outcome in outcomes)
        # The server hears of it a moment later.
        await asyncio.sleep(0.2)
    found = await house.search_over_http("kayaks", 5)
    assert [episode["user_id"] for episode in found.json()["data"]["episodes"]] == ["alice"]
    assert house.searched == ["kayaks"]
    assert house.complaints() == []


async def test_a_flush_answers_within_its_deadline_that_the_entries_are_on_disk(
    house: House,
) -> None:
    message = pb.MessageItem(
        sender_id="alice", role=pb.ROLE_USER, timestamp=1_779_967_836_000, text="I like canoes."
    )
    await house.memory.Add(pb.AddRequest(session_id="d", messages=[message], defer_extraction=True))
    with house.java_is_busy():
        # It would wait 15 seconds until the entries can be found.
        answer = await house.memory.Flush(pb.FlushRequest(session_id="d"), timeout=3)
        assert answer.status == pb.FLUSH_STATUS_EXTRACTED
    assert house.complaints() == []


async def test_an_add_whose_caller_gives_up_is_kept_and_known_by_its_key(house: House) -> None:
    message = pb.MessageItem(
        sender_id="alice", role=pb.ROLE_USER, timestamp=1_779_967_836_000, text="I like rafts."
    )
    request = pb.AddRequest(session_id="r", messages=[message], defer_extraction=True)
    metadata = (("idempotency-key", "raft"),)
    calls = [
        asyncio.create_task(_answer(house.memory.Add(request, metadata=metadata)))
        for _ in range(10)
    ]
    await asyncio.sleep(0.002)
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    answer = await house.memory.Add(request, metadata=metadata)
    assert answer.message_count == 1
    search = pb.SearchRequest(
        user_id="alice",
        query="rafts",
        filters=pb.FilterNode(
            predicates=[
                pb.FilterPredicate(
                    field="session_id",
                    shorthand=True,
                    conditions=[
                        pb.FilterCondition(
                            operator=pb.FILTER_OPERATOR_EQ, value=pb.FilterValue(text="r")
                        )
                    ],
                )
            ]
        ),
    )
    waiting = (await house.memory.Search(search)).unprocessed_messages
    assert [message.text for message in waiting] == ["I like rafts."]
    assert house.complaints() == []


async def _answer(call: Any) -> Any:
    return await call
