"""Failures: what the server says, what gRPC says, and what is sent again."""

from __future__ import annotations

import socket
import time
from datetime import timedelta
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from google.rpc import error_details_pb2 as details

import remanence_client as rc
from remanence.v2 import memory_pb2 as pb

REQUEST_ID = "0123456789abcdef0123456789abcdef"


@pytest.fixture
def client(server: Any) -> Any:
    with rc.Client(server.address, timeout_seconds=10) as connected:
        yield connected


def raised_by(call: Any) -> rc.RemanenceError:
    with pytest.raises(rc.RemanenceError) as raised:
        call()
    return raised.value


def test_an_error_carries_code_field_request_id_and_status(server: Any, client: rc.Client) -> None:
    violation = details.BadRequest.FieldViolation(field="messages", description="Field required")
    server.fail(
        "Add",
        grpc.StatusCode.INVALID_ARGUMENT,
        "Field required: messages",
        details.ErrorInfo(reason="INVALID_INPUT", domain="remanence"),
        details.BadRequest(field_violations=[violation]),
    )
    error = raised_by(lambda: client.add("s", []))
    assert type(error) is rc.InvalidInputError
    assert isinstance(error, ValueError)
    assert str(error) == error.message == "Field required: messages"
    assert error.code == "INVALID_INPUT"
    assert error.field == "messages"
    assert error.request_id == REQUEST_ID
    assert error.status is grpc.StatusCode.INVALID_ARGUMENT
    assert not error.retryable
    assert error.retry_after_seconds is None


def test_an_error_that_passes_says_when_to_try_again(server: Any, client: rc.Client) -> None:
    delay = Duration()
    delay.FromTimedelta(timedelta(seconds=1.5))
    server.fail(
        "Add",
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        "The queue is full",
        details.ErrorInfo(reason="QUEUE_SATURATED"),
        details.RetryInfo(retry_delay=delay),
    )
    error = raised_by(lambda: client.add("s", []))
    assert type(error) is rc.QueueSaturatedError
    assert error.retryable
    assert error.retry_after_seconds == 1.5


@pytest.mark.parametrize(
    ("reason", "status", "kind"),
    [
        ("BAD_REQUEST", "INVALID_ARGUMENT", rc.InvalidInputError),
        ("UNSUPPORTED_FORMAT", "INVALID_ARGUMENT", rc.InvalidInputError),
        ("NOT_FOUND", "NOT_FOUND", rc.NotFoundError),
        ("CONFLICT", "ALREADY_EXISTS", rc.ConflictError),
        ("UNAUTHENTICATED", "UNAUTHENTICATED", rc.AccessDeniedError),
        ("PERMISSION_DENIED", "PERMISSION_DENIED", rc.AccessDeniedError),
        ("PAYLOAD_TOO_LARGE", "RESOURCE_EXHAUSTED", rc.PayloadTooLargeError),
        ("EXTERNAL_SERVICE_UNAVAILABLE", "UNAVAILABLE", rc.ServiceUnavailableError),
        ("CAPABILITY_UNAVAILABLE", "FAILED_PRECONDITION", rc.CapabilityUnavailableError),
        ("INTERNAL_ERROR", "INTERNAL", rc.ServerFaultError),
        ("A_LATER_CODE", "ABORTED", rc.RemanenceError),
    ],
)
def test_each_code_has_its_class(
    server: Any, client: rc.Client, reason: str, status: str, kind: type[rc.RemanenceError]
) -> None:
    server.fail("Flush", grpc.StatusCode[status], "why", details.ErrorInfo(reason=reason))
    error = raised_by(lambda: client.flush("s"))
    assert type(error) is kind
    assert (error.code, error.message) == (reason, "why")


def test_no_server_at_the_address_is_said_plainly_and_soon() -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))  # bound and not listening: connections are refused
        address = f"127.0.0.1:{reserved.getsockname()[1]}"
        started = time.monotonic()
        with rc.Client(address, timeout_seconds=20) as client:
            error = raised_by(lambda: client.search("q", user_id="u"))
    assert type(error) is rc.ServerUnreachableError
    assert error.message == (
        f"No server can be reached at {address}; is it running? Start: remanence serve"
    )
    assert (error.code, error.retryable, error.request_id) == ("UNAVAILABLE", True, None)
    assert time.monotonic() - started < 10


def test_no_answer_in_time_is_a_deadline_error(server: Any) -> None:
    server.answering.clear()
    with rc.Client(server.address, timeout_seconds=0.2) as client:
        error = raised_by(lambda: client.flush("s"))
        server.answering.set()
    assert type(error) is rc.DeadlineExceededError
    assert error.code == "DEADLINE_EXCEEDED"
    assert server.address in error.message


def test_details_that_cannot_be_read_leave_the_status(server: Any, client: rc.Client) -> None:
    server.fail("Flush", grpc.StatusCode.DATA_LOSS, "odd")
    error = raised_by(lambda: client.flush("s"))
    assert (type(error), error.code, error.message) == (rc.RemanenceError, "DATA_LOSS", "odd")


def test_reads_are_tried_again_while_the_server_is_unavailable(
    server: Any, client: rc.Client
) -> None:
    for _ in range(2):
        server.fail("Search", grpc.StatusCode.UNAVAILABLE, "starting")
    server.reply("Search", pb.SearchResponse(profiles=[pb.SearchProfileItem(id="alice")]))
    assert client.search("q", user_id="alice").profiles[0].id == "alice"
    assert len(server.received) == 3


def test_writes_are_sent_once(server: Any, client: rc.Client) -> None:
    server.fail("Add", grpc.StatusCode.UNAVAILABLE, "starting")
    raised_by(lambda: client.add("s", [rc.Message("a", "x")]))
    assert len(server.received) == 1
    assert not server.received[0].request.messages[0].HasField("message_id")


def test_with_retry_writes_a_message_is_sent_again_under_the_same_id(server: Any) -> None:
    server.fail("Add", grpc.StatusCode.UNAVAILABLE, "starting")
    messages = [rc.Message("a", "x"), rc.Message("a", "y", message_id="mine")]
    with rc.Client(server.address, retry_writes=True) as client:
        client.add("s", messages)
    first, second = (received.request for received in server.received)
    assert first == second
    assert len(first.messages[0].message_id) == 32
    assert first.messages[1].message_id == "mine"


def test_with_retry_writes_a_write_is_sent_again_under_the_same_key(server: Any) -> None:
    with rc.Client(server.address, retry_writes=True) as client:
        for method, write in (
            ("Flush", lambda: client.flush("s")),
            ("Delete", lambda: client.delete(user_id="u", ids=["e"])),
        ):
            server.fail(method, grpc.StatusCode.UNAVAILABLE, "starting")
            write()
        client.flush("s")
    keys = [received.metadata["idempotency-key"] for received in server.received]
    assert keys[0] == keys[1] != keys[2] == keys[3] != keys[4]
    assert all(len(key) == 32 for key in keys)


def test_a_key_of_the_callers_own_goes_with_the_write(server: Any, client: rc.Client) -> None:
    client.add("s", [rc.Message("a", "x")], idempotency_key="mine-1")
    client.flush("s", idempotency_key="mine-2")
    client.delete(user_id="u", everything=True, idempotency_key="mine-3")
    client.flush("s")
    keys = [received.metadata.get("idempotency-key") for received in server.received]
    assert keys == ["mine-1", "mine-2", "mine-3", None]
