"""What is told of every call, whichever surface it came over: metrics, a span, a line at debug."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from remanence_server.api.request_ids import answering
from remanence_server.runtime.logging import get_logger
from remanence_server.runtime.metrics import RequestMetrics
from remanence_server.runtime.tracing import Attributes, NoTracing, Span, Tracing

HTTP = "http"
GRPC = "grpc"
# The one route of all calls that no route is made for: paths are no labels.
UNMATCHED = "{unmatched}"
# The code of a call that did not fail, and of one whose caller left before the answer.
OK_CODE = "OK"
CANCELLED_CODE = "CANCELLED"

TRACE_HEADERS = ("traceparent", "tracestate")

_log = get_logger(__name__)
_standard_log = logging.getLogger(__name__)


@dataclass(slots=True)
class ObservedCall:
    """A call under way. Its surface fills in what becomes known of it.

    `status` is the HTTP status or the name of the gRPC code; `code` that of the error catalogue.
    """

    surface: str
    method: str
    route: str = UNMATCHED
    status: str = ""
    code: str = CANCELLED_CODE
    # Whether the service, not the caller, is to blame.
    is_fault: bool = False
    attributes: Attributes = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CallObserver:
    """Watches the calls of both surfaces."""

    metrics: RequestMetrics = field(default_factory=RequestMetrics.of)
    tracing: Tracing = field(default_factory=NoTracing)

    @contextmanager
    def call(
        self, call: ObservedCall, request_id: str, headers: Mapping[str, str]
    ) -> Iterator[None]:
        """What runs inside answers this call; `headers` are those of `trace_headers`."""
        in_flight = self.metrics.in_flight.labels(call.surface)
        in_flight.inc()
        began_seconds = time.perf_counter()
        try:
            with (
                answering(request_id),
                self.tracing.request(f"{call.method} {call.route}", headers) as span,
            ):
                try:
                    yield
                finally:
                    seconds = time.perf_counter() - began_seconds
                    self._count(call, seconds)
                    if not isinstance(self.tracing, NoTracing):
                        _describe(call, request_id, span)
                    _write_line(call, seconds)
        finally:
            in_flight.dec()

    def _count(self, call: ObservedCall, seconds: float) -> None:
        of_route = (call.surface, call.method, call.route)
        self.metrics.answered.labels(*of_route, call.status, call.code).inc()
        self.metrics.duration_seconds.labels(*of_route).observe(seconds)


def trace_headers(pairs: Iterable[tuple[str, str | bytes]]) -> Mapping[str, str]:
    """The headers, or the metadata, that say which trace a call belongs to."""
    found: dict[str, str] = {}
    for key, value in pairs:
        if key in TRACE_HEADERS and isinstance(value, str):
            # A list may come in several headers.
            found[key] = f"{found[key]},{value}" if key in found else value
    return found


def _describe(call: ObservedCall, request_id: str, span: Span) -> None:
    span.rename(f"{call.method} {call.route}" if call.surface == HTTP else call.route.lstrip("/"))
    span.set({**call.attributes, "remanence.request_id": request_id})
    if call.code != OK_CODE:
        span.set({"remanence.error_code": call.code})
    if call.is_fault:
        span.fail(call.code)


def _write_line(call: ObservedCall, seconds: float) -> None:
    # Asked first: a line that is not written costs more than all the rest.
    if _standard_log.isEnabledFor(logging.DEBUG):
        _log.debug(
            "request_answered",
            surface=call.surface,
            method=call.method,
            route=call.route,
            status=call.status,
            code=call.code,
            duration_ms=round(seconds * 1000, 3),
        )
