"""The generated routes: envelopes, errors, places that fields come from."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from structlog.testing import capture_logs
from tests.unit.transcoding.recording import MAX_BODY_BYTES, RecordingServicer

from remanence.v2 import memory_pb2, tasks_pb2
from remanence_server.runtime.errors import ErrorCode, ServiceError

ADD, SEARCH = "/api/v2/memory/add", "/api/v2/memory/search"
JSON = {"Content-Type": "application/json"}
MESSAGE = {"sender_id": "al", "role": "user", "timestamp": 1_779_967_836_000, "content": "hi"}
VALID_ADD = {"session_id": "s", "messages": [MESSAGE]}


def error_of(response: httpx.Response, status: int, code: str) -> str:
    """The message of an error response, whose envelope must be whole."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    body = response.json()
    assert re.fullmatch(r"[0-9a-f]{32}", body["request_id"])
    assert response.headers["x-request-id"] == body["request_id"]
    assert set(body) == {"request_id", "error"}
    assert set(body["error"]) == {"code", "message", "timestamp", "path"}
    assert body["error"]["code"] == code
    assert body["error"]["timestamp"] == "2026-05-28T19:30:36+08:00"
    assert body["error"]["path"] == response.request.url.path
    message: str = body["error"]["message"]
    return message


async def test_a_success_is_enveloped_and_carries_its_id(
    client: httpx.AsyncClient, servicer: RecordingServicer
) -> None:
    response = await client.post(ADD, json=VALID_ADD, headers={"X-Request-Id": "mine"})
    assert response.status_code == 200
    body = response.json()
    assert body["data"] == {"message_count": 1, "status": "accumulated"}
    assert re.fullmatch(r"[0-9a-f]{32}", body["request_id"])
    assert response.headers.get_list("x-request-id") == [body["request_id"]]
    assert isinstance(servicer.requests[0], memory_pb2.AddRequest)
    assert servicer.requests[0].app_id == "default"


async def test_every_request_has_an_id_of_its_own(client: httpx.AsyncClient) -> None:
    ids = {(await client.post(ADD, json=VALID_ADD)).json()["request_id"] for _ in range(3)}
    assert len(ids) == 3


async def test_a_queued_add_answers_202(client: httpx.AsyncClient) -> None:
    response = await client.post(ADD, json=VALID_ADD | {"async_mode": True})
    assert response.status_code == 202
    assert response.json()["data"] == {"message_count": 1, "status": "queued", "pending": 1}


async def test_v1_is_the_same(client: httpx.AsyncClient, servicer: RecordingServicer) -> None:
    assert (await client.post("/api/v1/memory/add", json=VALID_ADD)).status_code == 200
    refused = await client.post("/api/v1/memory/search", json={"query": "x"})
    assert "exactly one of" in error_of(refused, 422, "INVALID_INPUT")
    assert len(servicer.requests) == 1


async def test_the_servicer_sees_headers_as_metadata_and_the_request_id(
    client: httpx.AsyncClient, servicer: RecordingServicer
) -> None:
    response = await client.post(ADD, json=VALID_ADD, headers={"Idempotency-Key": "k1"})
    (context,) = servicer.contexts
    assert ("idempotency-key", "k1") in context.invocation_metadata()
    assert getattr(context, "request_id") == response.json()["request_id"]  # noqa: B009


@pytest.mark.parametrize("path", ["/api/v2/nope", "/", "/api/v2/memory/add/", "/api/v2/tasks/"])
async def test_an_unknown_route_is_404_in_the_envelope(
    client: httpx.AsyncClient, path: str
) -> None:
    error_of(await client.get(path), 404, "NOT_FOUND")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", ADD, "POST"),
        ("OPTIONS", ADD, "POST"),
        ("PATCH", "/api/v2/knowledge/documents", "GET, HEAD, POST"),
        ("POST", "/api/v2/knowledge/documents/d1", "DELETE, GET, HEAD, PATCH, PUT"),
    ],
)
async def test_a_wrong_method_is_405_and_says_which_are_right(
    client: httpx.AsyncClient, method: str, path: str, allowed: str
) -> None:
    response = await client.request(method, path)
    error_of(response, 405, "METHOD_NOT_ALLOWED")
    assert response.headers["allow"] == allowed


@pytest.mark.parametrize(
    ("body", "headers", "status", "code", "text"),
    [
        (b"", JSON, 422, "INVALID_INPUT", r"Field required"),
        (b"", {}, 422, "INVALID_INPUT", r"Field required"),
        (b'{"session_id": ', JSON, 422, "INVALID_INPUT", r"JSON decode error: 15"),
        (b"[]", JSON, 422, "INVALID_INPUT", r"Input should be a valid dictionary or object .*"),
        (b"null", JSON, 422, "INVALID_INPUT", r"Input should be a valid dictionary or object .*"),
        (b'{"a":"\xff"}', JSON, 400, "BAD_REQUEST", r"The body is not valid UTF-8"),
        (b"{}", JSON, 422, "INVALID_INPUT", r"Field required: session_id"),
        (b"{}", {}, 422, "INVALID_INPUT", r".*; send Content-Type: application/json"),
        (
            b"{}",
            {"Content-Type": "text/plain"},
            422,
            "INVALID_INPUT",
            r".*valid dictionary.*; send Content-Type: application/json",
        ),
        (
            rb'{"session_id":"s","messages":[{"content":"\ud83d"}]}',
            JSON,
            422,
            "INVALID_INPUT",
            r".*surrogates: messages\.0\.content",
        ),
    ],
)
async def test_a_body_that_cannot_be_read_is_refused_in_the_envelope(
    client: httpx.AsyncClient,
    servicer: RecordingServicer,
    body: bytes,
    headers: dict[str, str],
    status: int,
    code: str,
    text: str,
) -> None:
    response = await client.post(ADD, content=body, headers=headers)
    assert re.fullmatch(text, error_of(response, status, code))
    assert servicer.requests == []


@pytest.mark.parametrize(
    "content_type", ["application/json; charset=utf-8", "APPLICATION/JSON", "application/x+json"]
)
async def test_every_spelling_of_json_is_json(client: httpx.AsyncClient, content_type: str) -> None:
    body = json.dumps(VALID_ADD)
    response = await client.post(ADD, content=body, headers={"Content-Type": content_type})
    assert response.status_code == 200


async def test_an_announced_body_over_the_limit_is_413_before_it_is_read(app: FastAPI) -> None:
    async def unread() -> AsyncIterator[bytes]:
        raise AssertionError("the body was asked for")
        yield b""

    headers = JSON | {"Content-Length": str(MAX_BODY_BYTES + 1)}
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://server"
    ) as client:
        response = await client.post(ADD, content=unread(), headers=headers)
    error_of(response, 413, "PAYLOAD_TOO_LARGE")


async def test_an_unannounced_body_over_the_limit_is_413_while_it_is_read(
    client: httpx.AsyncClient,
) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 64 * 1024
            yield b"x" * 64 * 1024

    response = await client.post(ADD, content=endless(), headers=JSON)
    error_of(response, 413, "PAYLOAD_TOO_LARGE")
    assert sent <= MAX_BODY_BYTES + 128 * 1024


async def test_a_body_of_exactly_the_limit_is_read(client: httpx.AsyncClient) -> None:
    message = MESSAGE | {"content": ""}
    spare = MAX_BODY_BYTES - len(json.dumps({"session_id": "s", "messages": [message]}))
    message["content"] = "x" * spare
    body = json.dumps({"session_id": "s", "messages": [message]})
    assert len(body) == MAX_BODY_BYTES
    assert (await client.post(ADD, content=body, headers=JSON)).status_code == 200


async def test_what_nobody_expected_is_500_with_a_fixed_text(
    client: httpx.AsyncClient, servicer: RecordingServicer
) -> None:
    servicer.failure = RuntimeError("the user's secret")
    with capture_logs() as lines:
        response = await client.post(ADD, json=VALID_ADD)
    assert error_of(response, 500, "INTERNAL_ERROR") == "Internal server error"
    assert [line["exception"] for line in lines] == ["RuntimeError"]
    servicer.failure = None
    assert (await client.post(ADD, json=VALID_ADD)).status_code == 200


@pytest.mark.parametrize(
    ("failure", "status", "retry_after"),
    [
        (ServiceError(ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE, "x"), 503, "1"),
        (
            ServiceError(ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE, "x", retry_after_seconds=2.2),
            503,
            "3",
        ),
        (ServiceError(ErrorCode.QUEUE_SATURATED, "x", retry_after_seconds=0.1), 429, "1"),
        (ServiceError(ErrorCode.CAPABILITY_UNAVAILABLE, "x"), 503, None),
        (ServiceError(ErrorCode.UNSUPPORTED_FORMAT, "x"), 415, None),
        (ServiceError(ErrorCode.CONFLICT, "x"), 409, None),
    ],
)
async def test_a_service_error_is_its_status_and_says_when_to_retry(
    client: httpx.AsyncClient,
    servicer: RecordingServicer,
    failure: ServiceError,
    status: int,
    retry_after: str | None,
) -> None:
    servicer.failure = failure
    response = await client.post(ADD, json=VALID_ADD)
    assert error_of(response, status, failure.code.value) == "x"
    assert response.headers.get("retry-after") == retry_after


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("page=0", "Input should be greater than or equal to 1: query.page"),
        ("page=x", "Input should be a valid integer: query.page"),
        ("page=", "Input should be a valid integer: query.page"),
        ("page=1.0", "Input should be a valid integer: query.page"),
        ("page=99999999999", "Input should be less than or equal to 2147483647: query.page"),
        (
            "status=done",
            "Input should be 'queued', 'processing', 'success' or 'failed': query.status",
        ),
    ],
)
async def test_a_wrong_query_parameter_is_named_as_one(
    client: httpx.AsyncClient, query: str, text: str
) -> None:
    response = await client.get(f"/api/v2/tasks?{query}")
    assert error_of(response, 422, "INVALID_INPUT") == text


async def test_query_parameters_are_read_by_the_type_of_their_field(
    client: httpx.AsyncClient, servicer: RecordingServicer
) -> None:
    response = await client.get("/api/v2/tasks?session_id=5&page_size=500&status=failed&zzz=1")
    assert response.json()["data"] == {"total": 0, "page": 1, "page_size": 500, "items": []}
    assert servicer.requests == [
        tasks_pb2.ListTasksRequest(
            session_id="5",
            status=tasks_pb2.TASK_STATUS_FAILED,
            page=1,
            page_size=500,
            app_id="default",
            project_id="default",
        )
    ]


async def test_path_and_body_make_one_request(
    client: httpx.AsyncClient, servicer: RecordingServicer
) -> None:
    body = {"title": "New", "project_id": "p", "doc_id": "not-this"}
    response = await client.patch("/api/v2/knowledge/documents/d_1%20x", json=body)
    assert response.json()["data"]["doc_id"] == "d_1 x"
    request: Any = servicer.requests[0]
    assert (request.doc_id, request.title, request.project_id) == ("d_1 x", "New", "p")
    refused = await client.patch("/api/v2/knowledge/documents/d_1", json={"title": ""})
    expected = "String should have at least 1 character: title"
    assert error_of(refused, 422, "INVALID_INPUT") == expected


async def test_not_found_names_what_was_asked_for(client: httpx.AsyncClient) -> None:
    response = await client.get("/api/v2/tasks/0123")
    assert error_of(response, 404, "NOT_FOUND") == "task 0123 not found or expired"


async def test_a_status_rule_of_204_has_no_body(
    client: httpx.AsyncClient, servicer: RecordingServicer
) -> None:
    gone = await client.delete("/api/v2/knowledge/documents/d_1")
    assert (gone.status_code, gone.content) == (204, b"")
    assert re.fullmatch(r"[0-9a-f]{32}", gone.headers["x-request-id"])
    servicer.deleted_topics = 3
    deleted = await client.delete("/api/v2/knowledge/documents/d_1")
    assert deleted.json()["data"] == {"doc_id": "d_1", "deleted_topics": 3}


async def test_instants_are_shown_in_the_zone_of_the_binding(
    client: httpx.AsyncClient, servicer: RecordingServicer
) -> None:
    episode = servicer.search_response.episodes.add(id="e")
    episode.timestamp.FromMilliseconds(1_779_967_836_000)
    response = await client.post(SEARCH, json={"user_id": "u", "query": "x"})
    shown = response.json()["data"]["episodes"][0]["timestamp"]
    assert shown == "2026-05-28T19:30:36+08:00"
