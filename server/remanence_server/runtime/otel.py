"""Traces by OpenTelemetry. Imported only when the settings ask for them; nothing here is global."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import structlog
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import Link, SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from remanence_server.runtime.errors import ServiceError
from remanence_server.runtime.settings import TracingSettings
from remanence_server.runtime.tracing import Attributes, Origin, active

_LIBRARY = "remanence"
_EXPORT_TIMEOUT_SECONDS = 5.0
_PROPAGATOR = TraceContextTextMapPropagator()
# No span is under way in here: what begins under it begins a trace.
_NO_PARENT = Context()


class OtelSpan:
    """A span under way."""

    def __init__(self, span: trace.Span) -> None:
        self._span = span

    def set(self, attributes: Attributes) -> None:
        """Adds what is only known later."""
        self._span.set_attributes(dict(attributes))

    def rename(self, name: str) -> None:
        """Gives the name that was not known at the beginning."""
        self._span.update_name(name)

    def fail(self, error_type: str) -> None:
        """Marks it as failed. A description would be the text of an exception: there is none."""
        self._span.set_attribute("error.type", error_type)
        self._span.set_status(StatusCode.ERROR)


class OtelTracing:
    """Implements `Tracing`: batches of spans go to a collector by OTLP over HTTP."""

    def __init__(self, settings: TracingSettings, version: str) -> None:
        """Sends nothing yet. Headers and the like come from the standard OTEL_ variables."""
        self._provider = TracerProvider(
            sampler=ParentBased(TraceIdRatioBased(settings.sample_ratio)),
            resource=Resource.create(
                {"service.name": settings.service_name, "service.version": version}
            ),
            shutdown_on_exit=False,
        )
        exporter = OTLPSpanExporter(endpoint=settings.endpoint, timeout=_EXPORT_TIMEOUT_SECONDS)
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer(_LIBRARY, version)

    @contextmanager
    def request(self, name: str, headers: Mapping[str, str]) -> Iterator[OtelSpan]:
        """The span of a request."""
        parent = _PROPAGATOR.extract(headers, _NO_PARENT)
        with self._begun(name, parent, SpanKind.SERVER) as span:
            yield span

    @contextmanager
    def work(
        self, name: str, origins: Sequence[Origin], attributes: Attributes | None = None
    ) -> Iterator[OtelSpan]:
        """A span of work that was asked for before."""
        contexts = [origin for origin in origins if isinstance(origin, trace.SpanContext)]
        parent = _NO_PARENT
        if contexts:
            parent = trace.set_span_in_context(trace.NonRecordingSpan(contexts[0]), _NO_PARENT)
        links = [Link(context) for context in contexts[1:]]
        with self._begun(name, parent, SpanKind.CONSUMER, attributes, links) as span:
            yield span

    @contextmanager
    def child(self, name: str, attributes: Attributes) -> Iterator[OtelSpan]:
        """A span below the one that is under way."""
        with self._begun(name, None, SpanKind.INTERNAL, attributes) as span:
            yield span

    def here(self) -> Origin | None:
        """The context of the span that is under way."""
        context = trace.get_current_span().get_span_context()
        return context if context.is_valid else None

    def close(self) -> None:
        """Sends what is left."""
        self._provider.shutdown()

    @contextmanager
    def _begun(
        self,
        name: str,
        parent: Context | None,
        kind: SpanKind,
        attributes: Attributes | None = None,
        links: Sequence[Link] = (),
    ) -> Iterator[OtelSpan]:
        with self._tracer.start_as_current_span(
            name,
            parent,
            kind,
            dict(attributes or {}),
            links,
            # Their texts may hold memory text.
            record_exception=False,
            set_status_on_exception=False,
        ) as started:
            span = OtelSpan(started)
            token = active.set(self)
            trace_id = trace.format_trace_id(started.get_span_context().trace_id)
            try:
                # Log lines carry it beside the request id.
                with structlog.contextvars.bound_contextvars(trace_id=trace_id):
                    yield span
            except Exception as error:
                span.fail(error.code if isinstance(error, ServiceError) else type(error).__name__)
                raise
            finally:
                active.reset(token)
