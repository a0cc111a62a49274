"""Tracing when it is off, and how spans are told apart when it is on."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from tests.support.otlp_receiver import Collector, attributes, collecting

from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.runtime.otel import OtelTracing
from remanence_server.runtime.settings import TracingSettings
from remanence_server.runtime.tracing import NoTracing, Origins, create_tracing, span


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as found:
        yield found


def tracing_to(collector: Collector, sample_ratio: float = 1.0) -> OtelTracing:
    return OtelTracing(TracingSettings(endpoint=collector.endpoint, sample_ratio=sample_ratio), "1")


def test_off_it_loads_no_library_and_does_nothing() -> None:
    script = (
        "import sys\n"
        "from remanence_server.runtime.settings import TracingSettings\n"
        "from remanence_server.runtime.tracing import create_tracing, span\n"
        "tracing = create_tracing(TracingSettings(), '1')\n"
        "with tracing.request('r', {}) as request, span('a') as child:\n"
        "    child.set({'a': 1}); request.rename('b'); child.fail('X')\n"
        "assert tracing.here() is None\n"
        "loaded = ('opentelemetry', 'requests')\n"
        "assert not [name for name in sys.modules if name.startswith(loaded)]"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_the_settings_decide() -> None:
    assert isinstance(create_tracing(TracingSettings(), "1"), NoTracing)
    with pytest.raises(ValueError, match="http"):
        TracingSettings(endpoint="127.0.0.1:4318")


def test_a_span_outside_of_a_trace_is_nothing(collector: Collector) -> None:
    tracing = tracing_to(collector)
    with span("alone"):
        assert tracing.here() is None
    tracing.close()
    assert collector.spans == []


async def test_work_belongs_to_who_asked_first_and_is_linked_to_the_others(
    collector: Collector,
) -> None:
    tracing = tracing_to(collector)
    origins = Origins(tracing)
    for name in ("first", "second"):
        with tracing.request(name, {}):
            origins.remember(name)
    both = [*origins.of("first"), *origins.of("second"), *origins.of("unknown")]
    with tracing.work("later", both), span("below"):
        await asyncio.sleep(0)
    await asyncio.to_thread(tracing.close)
    (first,), (second,), (later,), (below,) = map(
        collector.named, ("first", "second", "later", "below")
    )
    assert (later.trace_id, later.parent_span_id) == (first.trace_id, first.span_id)
    assert [link.span_id for link in later.links] == [second.span_id]
    assert below.parent_span_id == later.span_id


def test_concurrent_tasks_do_not_mix_up_their_spans(collector: Collector) -> None:
    tracing = tracing_to(collector)

    async def request(name: str) -> None:
        with tracing.request(name, {}):
            await asyncio.sleep(0)
            with span(f"child of {name}"):
                await asyncio.sleep(0)

    async def run() -> None:
        await asyncio.gather(*(request(f"r{number}") for number in range(10)))

    asyncio.run(run())
    tracing.close()
    for number in range(10):
        (parent,) = collector.named(f"r{number}")
        (child,) = collector.named(f"child of r{number}")
        assert (child.trace_id, child.parent_span_id) == (parent.trace_id, parent.span_id)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError("words of a user"), "ValueError"),
        (ServiceError(ErrorCode.CONFLICT, "words of a user"), "CONFLICT"),
    ],
)
def test_a_failure_is_told_by_its_type_not_by_its_text(
    collector: Collector, error: Exception, kind: str
) -> None:
    tracing = tracing_to(collector)
    with pytest.raises(type(error)), tracing.request("r", {}), span("inner"):
        raise error
    tracing.close()
    (inner,) = collector.named("inner")
    assert attributes(inner)["error.type"] == kind
    assert not inner.events
    assert b"words of a user" not in collector.raw


def test_a_ratio_of_zero_sends_only_what_the_caller_samples(collector: Collector) -> None:
    tracing = tracing_to(collector, sample_ratio=0.0)
    with tracing.request("ours", {}):
        pass
    parent = f"00-{'a' * 32}-{'b' * 16}-01"
    with tracing.request("theirs", {"traceparent": parent, "tracestate": "vendor=1"}):
        pass
    tracing.close()
    assert [found.name for found in collector.spans] == ["theirs"]
    assert collector.spans[0].trace_state == "vendor=1"


def test_a_collector_that_is_away_holds_nothing_up() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        # Bound, but nobody listens.
        endpoint = f"http://127.0.0.1:{taken.getsockname()[1]}/v1/traces"
        tracing = OtelTracing(TracingSettings(endpoint=endpoint), "1")
        began_seconds = time.monotonic()
        with tracing.request("r", {}):
            pass
        assert time.monotonic() - began_seconds < 1
        tracing.close()
        assert time.monotonic() - began_seconds < 20
