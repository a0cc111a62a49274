"""What a servicer knows of the call it answers, whichever surface it came over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from starlette.types import Scope

from remanence_server.api.request_ids import REQUEST_ID_KEY
from remanence_server.api.transcoding.errors import request_id_of, show_request_id


class CallContext(Protocol):
    """What servicers may use of a context: `grpc.aio.ServicerContext` offers it too."""

    def invocation_metadata(self) -> Any:
        """Pairs of lower-case key and value; None where there are none."""
        ...

    def set_trailing_metadata(self, trailing_metadata: Any, /) -> None:
        """Sends pairs after the response; over HTTP only the request id is shown."""
        ...

    def time_remaining(self) -> float | None:
        """Seconds until the caller gives up; None when it has not said."""
        ...


class HttpCallContext:
    """The context of a call that came over HTTP. Its metadata are the request's headers."""

    def __init__(self, scope: Scope, headers: Sequence[tuple[str, str]]) -> None:
        self._scope = scope
        self._headers = tuple(headers)

    @property
    def request_id(self) -> str:
        """The id that the answer shows."""
        return request_id_of(self._scope)

    def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
        """The headers, keys in lower case."""
        return self._headers

    def set_trailing_metadata(self, trailing_metadata: Any, /) -> None:
        """Takes the request id to show; HTTP responses carry no other trailing metadata."""
        for key, value in trailing_metadata:
            if key == REQUEST_ID_KEY:
                show_request_id(self._scope, value)

    def time_remaining(self) -> None:
        """HTTP callers do not say when they give up."""
