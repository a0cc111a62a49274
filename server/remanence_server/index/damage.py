"""What the stores of the index raise when their files are not what was written."""

from __future__ import annotations

from remanence_server.runtime.errors import ErrorCode, ServiceError

_RETRY_AFTER_SECONDS = 2.0


class IndexDamagedError(ServiceError):
    """A file of the index is damaged, cut short or gone: the index must be made anew.

    A `ServiceError` that a repeat mends, should it ever reach a client. `part` names the store.
    """

    def __init__(self, part: str) -> None:
        super().__init__(
            ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE,
            "The index is damaged and is being made anew from the Markdown",
            retry_after_seconds=_RETRY_AFTER_SECONDS,
        )
        self.part = part
