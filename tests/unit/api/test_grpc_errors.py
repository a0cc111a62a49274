from __future__ import annotations

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2

from remanence_server.api.grpc_server.errors import error_metadata, status_code
from remanence_server.runtime.errors import CATALOGUE, ErrorCode, ServiceError, invalid_input


@pytest.mark.parametrize("code", list(ErrorCode))
def test_every_code_has_a_row_a_status_and_its_reason_in_the_details(code: ErrorCode) -> None:
    error = ServiceError(code, "what happened")
    ((key, packed),) = error_metadata(error)
    assert key == "grpc-status-details-bin"
    assert isinstance(packed, bytes)
    status = status_pb2.Status.FromString(packed)
    info = error_details_pb2.ErrorInfo()
    assert status.details[0].Unpack(info)
    assert (info.reason, info.domain) == (code.value, "remanence")
    assert status.message == "what happened"
    assert status.code == status_code(error).value[0]
    assert status_code(error) is not grpc.StatusCode.OK
    assert 400 <= CATALOGUE[code].http_status < 600


def test_a_refused_field_is_named_in_the_details() -> None:
    ((_, packed),) = error_metadata(invalid_input("Field required", "messages.0.role"))
    assert isinstance(packed, bytes)
    violation = error_details_pb2.BadRequest()
    assert status_pb2.Status.FromString(packed).details[1].Unpack(violation)
    assert violation.field_violations[0].field == "messages.0.role"


def test_what_may_succeed_later_says_when() -> None:
    error = ServiceError(
        ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE, "storage is full", retry_after_seconds=2.5
    )
    ((_, packed),) = error_metadata(error)
    assert isinstance(packed, bytes)
    retry = error_details_pb2.RetryInfo()
    assert status_pb2.Status.FromString(packed).details[1].Unpack(retry)
    assert retry.retry_delay.ToMilliseconds() == 2500
