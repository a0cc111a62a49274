"""The id of the request that is being answered, whichever surface it came over."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from remanence_server.runtime.logging import request_context

# The trailing metadata that show it; over HTTP, the header of the same name.
REQUEST_ID_KEY = "x-request-id"

_current: ContextVar[str] = ContextVar("remanence_request_id")


@contextmanager
def answering(request_id: str) -> Iterator[None]:
    """What runs inside, in this task, answers this request; its log lines say so."""
    token = _current.set(request_id)
    try:
        with request_context(request_id):
            yield
    finally:
        _current.reset(token)


def current_request_id() -> str:
    """The id that the client will see as `request_id`. Raises LookupError outside of a request."""
    return _current.get()
