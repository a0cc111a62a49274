"""The error catalogue: every failure that can cross the border, in one table.

A room raises `ServiceError` with a code of the catalogue and a public message. The border (api/)
translates it to an HTTP status and envelope or to a gRPC status with details. Nothing else crosses:
an exception that is not a `ServiceError` becomes INTERNAL_ERROR with a fixed text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum, auto


class ErrorCode(StrEnum):
    """The machine-readable code a client switches on (`error.code`, `ErrorInfo.reason`)."""

    NOT_FOUND = "NOT_FOUND"
    CONFLICT = "CONFLICT"
    INVALID_INPUT = "INVALID_INPUT"
    EXTRACTION_EMPTY = "EXTRACTION_EMPTY"
    BAD_REQUEST = "BAD_REQUEST"
    UNAUTHENTICATED = "UNAUTHENTICATED"
    PERMISSION_DENIED = "PERMISSION_DENIED"
    METHOD_NOT_ALLOWED = "METHOD_NOT_ALLOWED"
    UNSUPPORTED_FORMAT = "UNSUPPORTED_FORMAT"
    PAYLOAD_TOO_LARGE = "PAYLOAD_TOO_LARGE"
    QUEUE_SATURATED = "QUEUE_SATURATED"
    EXTERNAL_SERVICE_UNAVAILABLE = "EXTERNAL_SERVICE_UNAVAILABLE"
    CAPABILITY_UNAVAILABLE = "CAPABILITY_UNAVAILABLE"
    CONFIGURATION_ERROR = "CONFIGURATION_ERROR"
    INTERNAL_ERROR = "INTERNAL_ERROR"


class GrpcStatus(StrEnum):
    """Names of gRPC status codes; the border maps them to the library's own constants."""

    INVALID_ARGUMENT = "INVALID_ARGUMENT"
    FAILED_PRECONDITION = "FAILED_PRECONDITION"
    NOT_FOUND = "NOT_FOUND"
    ALREADY_EXISTS = "ALREADY_EXISTS"
    UNAUTHENTICATED = "UNAUTHENTICATED"
    PERMISSION_DENIED = "PERMISSION_DENIED"
    UNIMPLEMENTED = "UNIMPLEMENTED"
    RESOURCE_EXHAUSTED = "RESOURCE_EXHAUSTED"
    UNAVAILABLE = "UNAVAILABLE"
    INTERNAL = "INTERNAL"


@dataclass(frozen=True, slots=True)
class ErrorSpec:
    """How one code looks on each surface, and whether the same call may succeed later."""

    http_status: int
    grpc_status: GrpcStatus
    retryable: bool = False


CATALOGUE: dict[ErrorCode, ErrorSpec] = {
    ErrorCode.NOT_FOUND: ErrorSpec(404, GrpcStatus.NOT_FOUND),
    ErrorCode.CONFLICT: ErrorSpec(409, GrpcStatus.ALREADY_EXISTS),
    ErrorCode.INVALID_INPUT: ErrorSpec(422, GrpcStatus.INVALID_ARGUMENT),
    ErrorCode.EXTRACTION_EMPTY: ErrorSpec(422, GrpcStatus.FAILED_PRECONDITION),
    ErrorCode.BAD_REQUEST: ErrorSpec(400, GrpcStatus.INVALID_ARGUMENT),
    ErrorCode.UNAUTHENTICATED: ErrorSpec(401, GrpcStatus.UNAUTHENTICATED),
    ErrorCode.PERMISSION_DENIED: ErrorSpec(403, GrpcStatus.PERMISSION_DENIED),
    ErrorCode.METHOD_NOT_ALLOWED: ErrorSpec(405, GrpcStatus.UNIMPLEMENTED),
    ErrorCode.UNSUPPORTED_FORMAT: ErrorSpec(415, GrpcStatus.INVALID_ARGUMENT),
    ErrorCode.PAYLOAD_TOO_LARGE: ErrorSpec(413, GrpcStatus.RESOURCE_EXHAUSTED),
    ErrorCode.QUEUE_SATURATED: ErrorSpec(429, GrpcStatus.RESOURCE_EXHAUSTED, retryable=True),
    ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE: ErrorSpec(503, GrpcStatus.UNAVAILABLE, retryable=True),
    ErrorCode.CAPABILITY_UNAVAILABLE: ErrorSpec(503, GrpcStatus.FAILED_PRECONDITION),
    ErrorCode.CONFIGURATION_ERROR: ErrorSpec(500, GrpcStatus.INTERNAL),
    ErrorCode.INTERNAL_ERROR: ErrorSpec(500, GrpcStatus.INTERNAL),
}


class Retrying(Enum):
    """What a failed attempt says of the next one."""

    # Nothing against the work: a disk, a provider or a page is out of order. It waits until that
    # has passed, and the attempt does not count.
    WAITS = auto()
    # The next one may do better; each counts.
    COUNTS = auto()
    # Another attempt would end the same.
    NEVER = auto()


_RETRYING: dict[ErrorCode, Retrying] = {
    ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE: Retrying.WAITS,
    ErrorCode.CONFLICT: Retrying.WAITS,
    ErrorCode.INVALID_INPUT: Retrying.NEVER,
    ErrorCode.UNSUPPORTED_FORMAT: Retrying.NEVER,
    ErrorCode.PAYLOAD_TOO_LARGE: Retrying.NEVER,
}

INTERNAL_ERROR_MESSAGE = "Internal server error"


class ServiceError(Exception):
    """A failure with a public meaning.

    `message` is shown to the client as it is: it names the field and says what to do, and holds no
    path of the machine, no text of another exception and no memory text. `field` is the dotted
    location of the offending input, if there is one. `details` are for programs; gRPC alone has a
    place for them.
    """

    def __init__(
        self,
        code: ErrorCode,
        message: str,
        *,
        field: str | None = None,
        retry_after_seconds: float | None = None,
        details: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.field = field
        self.retry_after_seconds = retry_after_seconds
        self.details = dict(details or {})

    @property
    def spec(self) -> ErrorSpec:
        """The row of the catalogue for this code."""
        return CATALOGUE[self.code]

    @property
    def retrying(self) -> Retrying:
        """What this says of another attempt at durable work."""
        return _RETRYING.get(self.code, Retrying.COUNTS)

    @property
    def reason(self) -> str:
        """Why an attempt failed, as a job shows it: the code, or a kind of error's own word."""
        return self.code.value


def invalid_input(message: str, field: str | None = None) -> ServiceError:
    """The refusal of a request field: `message`, then the field as the contract writes it."""
    text = f"{message}: {field}" if field else message
    return ServiceError(ErrorCode.INVALID_INPUT, text, field=field)
