"""What can go wrong, as exceptions: one base, one class for each kind a caller acts on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import grpc
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2

_STATUS_DETAILS_KEY = "grpc-status-details-bin"
_REQUEST_ID_KEY = "x-request-id"


class RemanenceError(Exception):
    """A call that failed.

    Attributes:
        code: the server's error code, such as `INVALID_INPUT`; where the server did not answer,
            the name of the gRPC status.
        message: the reason, for people.
        field: dotted location of the offending input, if one is to blame.
        retryable: whether the same call may succeed later.
        retry_after_seconds: how long the server asks to wait before that.
        request_id: finds the call in the server's log; None where no server answered.
        status: the gRPC status; None where the call was not sent.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        field: str | None = None,
        retryable: bool = False,
        retry_after_seconds: float | None = None,
        request_id: str | None = None,
        status: grpc.StatusCode | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.field = field
        self.retryable = retryable
        self.retry_after_seconds = retry_after_seconds
        self.request_id = request_id
        self.status = status


class InvalidInputError(RemanenceError, ValueError):
    """The input is refused: by the server, or by this client before it is sent."""


class NotFoundError(RemanenceError):
    """There is no such thing."""


class ConflictError(RemanenceError):
    """The call contradicts what is there."""


class AccessDeniedError(RemanenceError):
    """The caller is not known, or may not do this."""


class PayloadTooLargeError(RemanenceError):
    """The request is over a size limit; nothing was stored."""


class QueueSaturatedError(RemanenceError):
    """Too much is waiting; nothing was stored, try again later."""


class ServiceUnavailableError(RemanenceError):
    """The server, or a service it needs, cannot take the work now."""


class ServerUnreachableError(ServiceUnavailableError):
    """No server answered at the address."""


class DeadlineExceededError(RemanenceError):
    """No answer within the time allowed; a write may have been done all the same."""


class CapabilityUnavailableError(RemanenceError):
    """The server lacks an optional part; its administrator can add it."""


class ServerFaultError(RemanenceError):
    """The fault is the server's: its configuration, or a defect."""


_CLASS_OF_CODE: dict[str, type[RemanenceError]] = {
    "INVALID_INPUT": InvalidInputError,
    "BAD_REQUEST": InvalidInputError,
    "UNSUPPORTED_FORMAT": InvalidInputError,
    "EXTRACTION_EMPTY": InvalidInputError,
    "NOT_FOUND": NotFoundError,
    "CONFLICT": ConflictError,
    "UNAUTHENTICATED": AccessDeniedError,
    "PERMISSION_DENIED": AccessDeniedError,
    "PAYLOAD_TOO_LARGE": PayloadTooLargeError,
    "QUEUE_SATURATED": QueueSaturatedError,
    "EXTERNAL_SERVICE_UNAVAILABLE": ServiceUnavailableError,
    "CAPABILITY_UNAVAILABLE": CapabilityUnavailableError,
    "CONFIGURATION_ERROR": ServerFaultError,
    "INTERNAL_ERROR": ServerFaultError,
}
_RETRYABLE_CODES = frozenset({"QUEUE_SATURATED", "EXTERNAL_SERVICE_UNAVAILABLE"})


def invalid_input(message: str, field: str | None = None) -> InvalidInputError:
    """An input that this client refuses itself."""
    where = f": {field}" if field else ""
    return InvalidInputError(f"{message}{where}", code="INVALID_INPUT", field=field)


def from_rpc_error(error: grpc.RpcError, address: str) -> RemanenceError:
    """Translates a failed call; `address` is named where no server answered."""
    status = error.code()
    details = error.details() or ""
    # Pairs at run time, whatever the stubs of the moment say.
    metadata: dict[str, Any] = dict(cast("Any", error.trailing_metadata() or ()))
    request_id = _text(metadata.get(_REQUEST_ID_KEY))
    reason, field, retry_after_seconds = _read_details(metadata.get(_STATUS_DETAILS_KEY))
    if reason is None:
        return _without_reason(status, details, address, request_id)
    return _CLASS_OF_CODE.get(reason, RemanenceError)(
        details,
        code=reason,
        field=field,
        retryable=reason in _RETRYABLE_CODES or retry_after_seconds is not None,
        retry_after_seconds=retry_after_seconds,
        request_id=request_id,
        status=status,
    )


def request_id_of(metadata: Iterable[tuple[str, str | bytes]] | None) -> str | None:
    """The request id in the trailing metadata of a call."""
    return next((_text(value) for key, value in metadata or () if key == _REQUEST_ID_KEY), None)


def _without_reason(
    status: grpc.StatusCode, details: str, address: str, request_id: str | None
) -> RemanenceError:
    """A failure that gRPC itself reports: our server always sends a reason."""
    kind: type[RemanenceError] = RemanenceError
    message = details or status.name
    if status is grpc.StatusCode.UNAVAILABLE:
        kind = ServerUnreachableError
        message = f"No server can be reached at {address}; is it running? Start: remanence serve"
    elif status is grpc.StatusCode.DEADLINE_EXCEEDED:
        kind = DeadlineExceededError
        message = f"The server at {address} did not answer in the time allowed"
    elif status is grpc.StatusCode.RESOURCE_EXHAUSTED:
        kind = PayloadTooLargeError
    elif status is grpc.StatusCode.UNIMPLEMENTED:
        message = f"The server at {address} does not know this call; is it a Remanence server?"
    return kind(
        message,
        code=status.name,
        retryable=kind in (ServerUnreachableError, DeadlineExceededError),
        request_id=request_id,
        status=status,
    )


def _read_details(packed: object) -> tuple[str | None, str | None, float | None]:
    """Error code, offending field and delay from the packed `google.rpc.Status`."""
    reason = field = delay_seconds = None
    status = status_pb2.Status()
    if isinstance(packed, bytes):
        try:
            status.ParseFromString(packed)
        except DecodeError:
            return None, None, None
    for detail in status.details:
        info = error_details_pb2.ErrorInfo()
        bad_request = error_details_pb2.BadRequest()
        retry = error_details_pb2.RetryInfo()
        if detail.Unpack(info):
            reason = info.reason
        elif detail.Unpack(bad_request) and bad_request.field_violations:
            field = bad_request.field_violations[0].field or None
        elif detail.Unpack(retry):
            delay_seconds = retry.retry_delay.ToTimedelta().total_seconds()
    return reason, field, delay_seconds


def _text(value: object) -> str | None:
    if isinstance(value, bytes):
        return value.decode("ascii", errors="replace")
    return value if isinstance(value, str) else None
