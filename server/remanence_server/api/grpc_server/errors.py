"""ServiceError as a gRPC status with google.rpc details."""

from __future__ import annotations

import grpc
from google.protobuf import any_pb2, duration_pb2
from google.rpc import error_details_pb2, status_pb2

from remanence_server.runtime.errors import ServiceError

_DOMAIN = "remanence"
_DETAILS_KEY = "grpc-status-details-bin"

type Metadata = tuple[tuple[str, str | bytes], ...]


def status_code(error: ServiceError) -> grpc.StatusCode:
    """The gRPC code of an error."""
    return grpc.StatusCode[error.spec.grpc_status.value]


def error_metadata(error: ServiceError) -> Metadata:
    """The trailing metadata that carries what a program needs to know of the error."""
    info = error_details_pb2.ErrorInfo(
        reason=error.code.value, domain=_DOMAIN, metadata=error.details
    )
    details = [_pack(info)]
    if error.field is not None:
        violation = error_details_pb2.BadRequest.FieldViolation(
            field=error.field, description=error.message
        )
        details.append(_pack(error_details_pb2.BadRequest(field_violations=[violation])))
    if error.spec.retryable:
        delay = duration_pb2.Duration()
        delay.FromMilliseconds(int((error.retry_after_seconds or 1.0) * 1000))
        details.append(_pack(error_details_pb2.RetryInfo(retry_delay=delay)))
    status = status_pb2.Status(
        code=status_code(error).value[0], message=error.message, details=details
    )
    return ((_DETAILS_KEY, status.SerializeToString()),)


def _pack(
    detail: error_details_pb2.ErrorInfo
    | error_details_pb2.BadRequest
    | error_details_pb2.RetryInfo,
) -> any_pb2.Any:
    packed = any_pb2.Any()
    packed.Pack(detail)
    return packed
