"""Spans: where a request spends its time, told to an OpenTelemetry collector. Off by default.

This module knows no library. A room writes `with span("embedding"):`; inside of a request that is
traced that is a child of its span, and otherwise next to nothing. `otel` is what stands behind it
when the settings ask for traces, and is imported only then.

Spans carry names, counts, durations and codes: never memory text, queries, or ids of owners.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import Protocol

from remanence_server.runtime.settings import TracingSettings

type Attributes = Mapping[str, str | int | float | bool]

# A place in a trace that later work can belong to. Opaque: the tracing library's own context.
type Origin = object

# Who asked for work that is done later is remembered for this many pieces of work.
_MOST_ORIGINS = 10_000


class Span(Protocol):
    """A span that has begun."""

    def set(self, attributes: Attributes) -> None:
        """Adds what is only known later."""
        ...

    def rename(self, name: str) -> None:
        """Gives the name that was not known at the beginning."""
        ...

    def fail(self, error_type: str) -> None:
        """Marks it as failed, by the code of the error or the type of the exception."""
        ...


class Tracing(Protocol):
    """Begins spans. `span` is for those below one that has begun."""

    def request(self, name: str, headers: Mapping[str, str]) -> AbstractContextManager[Span]:
        """The span of a request; `traceparent` and `tracestate` among its headers are honoured."""
        ...

    def work(
        self, name: str, origins: Sequence[Origin], attributes: Attributes = ...
    ) -> AbstractContextManager[Span]:
        """A span of work that was asked for before: below its first origin, linked to the others.

        Without an origin it begins a trace.
        """
        ...

    def child(self, name: str, attributes: Attributes) -> AbstractContextManager[Span]:
        """A span below the one that is under way."""
        ...

    def here(self) -> Origin | None:
        """Where we are, for work that is done later; None outside of every span."""
        ...

    def close(self) -> None:
        """Sends what is left, within seconds."""
        ...


class _NoSpan:
    def set(self, attributes: Attributes) -> None:
        """Nothing."""

    def rename(self, name: str) -> None:
        """Nothing."""

    def fail(self, error_type: str) -> None:
        """Nothing."""


_NOTHING: AbstractContextManager[Span] = nullcontext(_NoSpan())


class NoTracing:
    """What is there when traces are off."""

    def request(self, name: str, headers: Mapping[str, str]) -> AbstractContextManager[Span]:
        """Nothing."""
        return _NOTHING

    def work(
        self, name: str, origins: Sequence[Origin], attributes: Attributes | None = None
    ) -> AbstractContextManager[Span]:
        """Nothing."""
        return _NOTHING

    def child(self, name: str, attributes: Attributes) -> AbstractContextManager[Span]:
        """Nothing."""
        return _NOTHING

    def here(self) -> Origin | None:
        """Nowhere."""
        return None

    def close(self) -> None:
        """Nothing is left."""


# Who traces the request or work that runs in this task; None when nobody does.
active: ContextVar[Tracing | None] = ContextVar("remanence_tracing", default=None)


def span(name: str, attributes: Attributes | None = None) -> AbstractContextManager[Span]:
    """A span below the one that is under way in this task, if there is one."""
    tracing = active.get()
    return _NOTHING if tracing is None else tracing.child(name, attributes or {})


class Origins:
    """Remembers, within this process, who asked for work that is done later."""

    def __init__(self, tracing: Tracing) -> None:
        self._tracing = tracing
        self._known: OrderedDict[str, Origin] = OrderedDict()

    def remember(self, key: str) -> None:
        """Takes down that work of this key was asked for here."""
        here = self._tracing.here()
        if here is None:
            return
        self._known[key] = here
        if len(self._known) > _MOST_ORIGINS:
            self._known.popitem(last=False)

    def of(self, key: str) -> Sequence[Origin]:
        """Who asked for work of this key, if that is known."""
        origin = self._known.get(key)
        return () if origin is None else (origin,)


def create_tracing(settings: TracingSettings, version: str) -> Tracing:
    """What the settings ask for. Loads the libraries of tracing only if they ask for traces."""
    if not settings.enabled:
        return NoTracing()
    from remanence_server.runtime.otel import OtelTracing

    return OtelTracing(settings, version)
