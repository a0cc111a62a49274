"""Traces, received by a collector of our own: over both surfaces, in the trace of the caller."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import grpc
import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from remanence.v2 import memory_pb2
from tests.blackbox.conftest import eventually, said
from tests.blackbox.surfaces import GrpcSurface, HttpSurface, build
from tests.support.otlp_receiver import Collector, attributes, collecting
from tests.support.server_process import ServerProcess, start_server

WORD = "Zanzibarine"
PARENT_SPAN = "00f067aa0ba902b7"


@dataclass(frozen=True, slots=True)
class Traced:
    """A server that traces, and the collector it sends to."""

    server: ServerProcess
    collector: Collector

    def call(self, surface: str, method: str, body: dict[str, Any], headers: dict[str, str]) -> Any:
        """Calls with headers or metadata."""
        if surface == "http":
            with HttpSurface(self.server.http).client as client:
                return client.post(f"/api/v2/memory/{method}", json=body, headers=headers).json()
        name = method.capitalize()
        grpc_surface = GrpcSurface(self.server.grpc)
        with grpc_surface.channel:
            request = build(getattr(memory_pb2, f"{name}Request"), body)
            send = getattr(grpc_surface.memory, name)
            return send(request, metadata=tuple(headers.items()), timeout=30)


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Traced]:
    with collecting() as collector:
        server = start_server(
            tmp_path_factory.mktemp("traced") / "root",
            REMANENCE_EMBEDDINGS__PROVIDER="hashing",
            REMANENCE_LOG__LEVEL="debug",
            REMANENCE_LOG__FORMAT="json",
            REMANENCE_TRACING__ENABLED="true",
            REMANENCE_TRACING__ENDPOINT=collector.endpoint,
            REMANENCE_TRACING__SERVICE_NAME="memory-of-a-test",
            OTEL_BSP_SCHEDULE_DELAY="100",
            OTEL_EXPORTER_OTLP_HEADERS="x-api-key=secret",
        )
        yield Traced(server, collector)
        assert server.stop() == 0
        # What was under way is sent before the process ends.
        assert collector.named("projection")


def _parent(trace_id: str, sampled: bool = True) -> dict[str, str]:
    return {"traceparent": f"00-{trace_id}-{PARENT_SPAN}-0{int(sampled)}"}


def _remember(traced: Traced, surface: str, tag: str, headers: dict[str, str]) -> None:
    message = said(f"My {WORD} bike is blue and I ride it to work.", f"owner-{tag}")
    body = {"session_id": f"session-{tag}", "messages": [message], "defer_extraction": True}
    traced.call(surface, "add", body, headers)
    traced.call(surface, "flush", {"session_id": f"session-{tag}"}, headers)


def _until(look: Callable[[], list[Span]], *names: str) -> dict[str, list[Span]]:
    """The spans by name, as soon as all of these names are there."""

    def found() -> dict[str, list[Span]] | None:
        by_name: dict[str, list[Span]] = {}
        for span in look():
            by_name.setdefault(span.name, []).append(span)
        return by_name if by_name.keys() >= set(names) else None

    return eventually(found) or {}


SERVER_SPANS = {
    "http": ("POST /api/v2/memory/add", "POST /api/v2/memory/flush", "POST /api/v2/memory/search"),
    "grpc": tuple(f"remanence.v2.MemoryService/{name}" for name in ("Add", "Flush", "Search")),
}


@pytest.mark.parametrize("surface", ["http", "grpc"])
def test_all_that_a_flush_causes_is_in_the_trace_of_its_caller(
    traced: Traced, surface: str, tag: str
) -> None:
    trace_id = tag * 4
    _remember(traced, surface, tag, _parent(trace_id))
    add, flush, _ = SERVER_SPANS[surface]
    spans = _until(
        lambda: traced.collector.trace(trace_id),
        add,
        flush,
        "boundary",
        "stage episode",
        "stage facts",
        "stage profile",
        "markdown write",
        "projection",
        "embedding embed_passages",
    )
    (added,), (flushed,) = spans[add], spans[flush]
    assert added.kind == flushed.kind == Span.SPAN_KIND_SERVER
    assert added.parent_span_id.hex() == flushed.parent_span_id.hex() == PARENT_SPAN
    (boundary,) = spans["boundary"]
    assert boundary.parent_span_id == flushed.span_id
    # The jobs belong to the request that queued them, and what they write belongs to them.
    stages = [spans[f"stage {name}"][0] for name in ("episode", "facts", "profile")]
    assert {stage.parent_span_id for stage in stages} == {flushed.span_id}
    writers = {write.parent_span_id for write in spans["markdown write"]}
    assert writers <= {stage.span_id for stage in stages}
    assert {change.parent_span_id for change in spans["projection"]} <= writers
    projections = {change.span_id for change in spans["projection"]}
    assert {span.parent_span_id for span in spans["embedding embed_passages"]} <= projections


@pytest.mark.parametrize("surface", ["http", "grpc"])
def test_a_search_shows_its_phases_and_says_how_it_ended(
    traced: Traced, surface: str, tag: str
) -> None:
    trace_id = tag * 4
    query = {"user_id": f"owner-{tag}", "query": f"{WORD} bike"}
    answer = traced.call(surface, "search", query, _parent(trace_id))
    name = SERVER_SPANS[surface][2]
    phases = ("search lexical", "search embed_query", "search dense", "search rank")
    spans = _until(lambda: traced.collector.trace(trace_id), name, *phases)
    (request,) = spans[name]
    assert {spans[phase][0].parent_span_id for phase in phases} == {request.span_id}
    (embedding,) = spans["embedding embed_query"]
    assert embedding.parent_span_id == spans["search embed_query"][0].span_id
    said_of_it = attributes(request)
    if surface == "http":
        assert said_of_it["http.response.status_code"] == 200
        assert said_of_it["http.route"] == "/api/v2/memory/search"
        assert said_of_it["remanence.request_id"] == answer["request_id"]
    else:
        assert said_of_it["rpc.service"] == "remanence.v2.MemoryService"
        assert said_of_it["rpc.method"] == "Search"
        assert said_of_it["rpc.grpc.status_code"] == 0
    assert request.status.code == Status.STATUS_CODE_UNSET


@pytest.mark.parametrize("surface", ["http", "grpc"])
def test_a_refused_call_has_its_error_code_and_is_no_fault_of_the_service(
    traced: Traced, surface: str, tag: str
) -> None:
    trace_id = tag * 4
    query = {"user_id": "u", "query": WORD, "top_k": 0}
    try:
        traced.call(surface, "search", query, _parent(trace_id))
    except grpc.RpcError as refused:
        assert refused.code() is grpc.StatusCode.INVALID_ARGUMENT
    name = SERVER_SPANS[surface][2]
    (request,) = _until(lambda: traced.collector.trace(trace_id), name)[name]
    assert attributes(request)["remanence.error_code"] == "INVALID_INPUT"
    assert request.status.code == Status.STATUS_CODE_UNSET


@pytest.mark.parametrize("surface", ["http", "grpc"])
def test_a_queued_request_is_delivered_in_the_trace_that_queued_it(
    traced: Traced, surface: str, tag: str
) -> None:
    trace_id = tag * 4
    message = said(f"My {WORD} boat is red.", f"owner-{tag}")
    body = {"session_id": f"session-{tag}", "messages": [message], "async_mode": True}
    traced.call(surface, "add", body, _parent(trace_id))
    name = SERVER_SPANS[surface][0]
    spans = _until(lambda: traced.collector.trace(trace_id), name, "queue delivery", "boundary")
    (delivery,), (queued,) = spans["queue delivery"], spans[name]
    assert delivery.parent_span_id == queued.span_id
    assert spans["boundary"][0].parent_span_id == delivery.span_id


def test_a_caller_that_does_not_sample_is_not_traced_and_one_without_a_trace_is(
    traced: Traced, tag: str
) -> None:
    unsampled = tag * 4
    query = {"user_id": f"owner-{tag}", "query": "bike", "method": "keyword"}
    traced.call("http", "search", query, _parent(unsampled, sampled=False))
    before = len(traced.collector.named("search lexical"))
    traced.call("http", "search", query, {})
    traced.call("http", "search", query, {"traceparent": "00-nonsense"})
    eventually(lambda: len(traced.collector.named("search lexical")) >= before + 2)
    assert traced.collector.trace(unsampled) == []


def test_the_collector_gets_the_name_of_the_service_and_the_configured_headers(
    traced: Traced,
) -> None:
    traced.call("http", "search", {"user_id": "u", "query": "x"}, {})
    eventually(lambda: traced.collector.headers)
    assert traced.collector.services == {"memory-of-a-test"}
    assert traced.collector.headers[0]["x-api-key"] == "secret"


def test_log_lines_of_a_request_carry_its_trace_id(traced: Traced, tag: str) -> None:
    trace_id = tag * 4
    query = {"user_id": "u", "query": "x", "method": "keyword"}
    answer = traced.call("http", "search", query, _parent(trace_id))

    def told() -> list[dict[str, Any]]:
        # The last line may be half written.
        lines = [json.loads(line) for line in traced.server.log.split("\n")[:-1]]
        return [line for line in lines if line.get("request_id") == answer["request_id"]]

    (line,) = eventually(told)
    assert line["trace_id"] == trace_id


@pytest.mark.parametrize("surface", ["http", "grpc"])
def test_no_span_holds_memory_text_a_query_or_an_owner(
    traced: Traced, surface: str, tag: str
) -> None:
    trace_id = tag * 4
    _remember(traced, surface, tag, _parent(trace_id))
    traced.call(
        surface, "search", {"user_id": f"owner-{tag}", "query": f"{WORD}?"}, _parent(trace_id)
    )
    name = SERVER_SPANS[surface][2]
    _until(lambda: traced.collector.trace(trace_id), name, "projection", "search rank")
    for secret in (WORD, f"owner-{tag}", f"session-{tag}"):
        assert secret.encode() not in traced.collector.raw
