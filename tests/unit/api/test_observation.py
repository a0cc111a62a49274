"""What is told of a call: counted once, whatever became of it."""

from __future__ import annotations

import asyncio
import logging

import pytest
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from remanence_server.api.observation import CallObserver, ObservedCall, trace_headers
from remanence_server.runtime.metrics import RequestMetrics


def _value(registry: CollectorRegistry, name: str, **labels: str) -> float | None:
    return registry.get_sample_value(f"remanence_{name}", labels)


async def test_a_call_whose_caller_left_is_counted_as_cancelled() -> None:
    registry = CollectorRegistry()
    observer = CallObserver(RequestMetrics.of(registry))
    begun = asyncio.Event()

    async def answer() -> None:
        call = ObservedCall("grpc", "POST", "/remanence.v2.MemoryService/Flush", "CANCELLED")
        with observer.call(call, "r" * 32, {}):
            begun.set()
            await asyncio.sleep(3600)

    task = asyncio.create_task(answer())
    await begun.wait()
    assert _value(registry, "requests_in_flight", surface="grpc") == 1
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    route = {"surface": "grpc", "method": "POST", "route": "/remanence.v2.MemoryService/Flush"}
    cancelled = {"status": "CANCELLED", "code": "CANCELLED"}
    assert _value(registry, "requests_total", **route, **cancelled) == 1
    assert _value(registry, "request_duration_seconds_count", **route) == 1
    assert _value(registry, "requests_in_flight", surface="grpc") == 0


def test_a_line_for_each_call_is_written_at_debug_only() -> None:
    logger = logging.getLogger("remanence_server.api.observation")
    observer = CallObserver()
    before, written = logger.level, {}
    try:
        for level in (logging.INFO, logging.DEBUG):
            logger.setLevel(level)
            call = ObservedCall("http", "GET", "/health", "200", "OK")
            with capture_logs() as lines, observer.call(call, "r" * 32, {}):
                pass
            written[level] = lines
    finally:
        logger.setLevel(before)
    assert written[logging.INFO] == []
    (line,) = written[logging.DEBUG]
    assert (line["event"], line["route"], line["status"]) == ("request_answered", "/health", "200")
    assert line["duration_ms"] >= 0


@pytest.mark.parametrize(
    ("pairs", "found"),
    [
        ([("accept", "x"), ("traceparent", "00-a-b-01")], {"traceparent": "00-a-b-01"}),
        ([("tracestate", "a=1"), ("tracestate", "b=2")], {"tracestate": "a=1,b=2"}),
        ([("traceparent", b"00-a-b-01"), ("x-bin", b"\xff")], {}),
        ([], {}),
    ],
)
def test_only_the_headers_of_a_trace_are_taken(
    pairs: list[tuple[str, str | bytes]], found: dict[str, str]
) -> None:
    assert trace_headers(pairs) == found
