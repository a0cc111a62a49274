"""What a servicer knows of the call it answers, whichever surface it came over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, Protocol


class CallContext(Protocol):
    """What servicers may use of a context: `grpc.aio.ServicerContext` offers it too."""

    def invocation_metadata(self) -> Any:
        """Pairs of lower-case key and value; None where there are none."""
        ...

    def set_trailing_metadata(self, trailing_metadata: Any, /) -> None:
        """Sends pairs after the response; over HTTP they go nowhere."""
        ...

    def peer(self) -> str:
        """Where the call came from, `http` over HTTP."""
        ...

    async def abort(self, code: Any, details: str = "", trailing_metadata: Any = ()) -> NoReturn:
        """Ends the call with an error."""
        ...


class CallAbortedError(Exception):
    """A servicer ended the call through its context instead of raising a ServiceError."""


class HttpCallContext:
    """The context of a call that came over HTTP. Its metadata are the request's headers."""

    # Seconds left until the caller gives up: HTTP callers do not say.
    deadline: None = None

    def __init__(self, request_id: str, headers: Sequence[tuple[str, str]]) -> None:
        self.request_id = request_id
        self._headers = tuple(headers)

    def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
        """The headers, keys in lower case."""
        return self._headers

    def set_trailing_metadata(self, trailing_metadata: Any, /) -> None:
        """HTTP responses carry no trailing metadata."""

    def peer(self) -> str:
        """Where the call came from."""
        return "http"

    async def abort(self, code: Any, details: str = "", trailing_metadata: Any = ()) -> NoReturn:
        """Ends the call as an internal error: a ServiceError is how a call fails with a meaning."""
        raise CallAbortedError(f"aborted with {code}")
