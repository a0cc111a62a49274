"""What only HTTP has: envelopes, routes, bodies that are no JSON."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx
import pytest

from tests.blackbox.conftest import said
from tests.blackbox.surfaces import HttpSurface

ADD = "/api/v2/memory/add"
JSON = {"Content-Type": "application/json"}


def _error(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
    assert response.status_code == status, response.text
    payload = response.json()
    assert set(payload) == {"request_id", "error"}
    assert re.fullmatch(r"[0-9a-f]{32}", payload["request_id"])
    assert response.headers["x-request-id"] == payload["request_id"]
    error = payload["error"]
    assert set(error) == {"code", "message", "timestamp", "path"}
    assert error["code"] == code
    assert error["path"] == response.request.url.path
    assert re.search(r"[+-]\d\d:\d\d$", error["timestamp"])
    return error


@pytest.mark.parametrize(
    ("body", "headers", "status", "code", "text"),
    [
        (b'{"session_id": ', JSON, 422, "INVALID_INPUT", "JSON decode error"),
        (b"", JSON, 422, "INVALID_INPUT", "Field required"),
        (b"[1]", JSON, 422, "INVALID_INPUT", "object"),
        (b"{}", {"Content-Type": "text/plain"}, 422, "INVALID_INPUT", "application/json"),
        (b'{"session_id":"\xff\xfe"}', JSON, 400, "BAD_REQUEST", "UTF-8"),
        (b'{"session_id":"\\ud83d","messages":[]}', JSON, 422, "INVALID_INPUT", ""),
        (b"[" * 100_000, JSON, 422, "INVALID_INPUT", ""),
        (b"{}", JSON, 422, "INVALID_INPUT", "Field required: session_id"),
        (b'{"session_id":"s"}', JSON, 422, "INVALID_INPUT", "Field required: messages"),
    ],
)
def test_a_body_that_cannot_be_read_gets_its_refusal_in_the_envelope(
    http: HttpSurface, body: bytes, headers: dict[str, str], status: int, code: str, text: str
) -> None:
    error = _error(http.client.post(ADD, content=body, headers=headers), status, code)
    assert text in error["message"]


@pytest.mark.parametrize(
    "changes",
    [
        {"timestamp": 1.5},
        {"timestamp": True},
        {"timestamp": "2026-01-01T00:00:00Z"},
        {"timestamp": 0},
        {"content": None},
        {"role": "system"},
        {"sender_id": ""},
        {"content": [{"type": "video", "uri": "http://x/y"}]},
        {"content": [{"type": "text", "text": "a", "zzz": 1}]},
        {"tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]},
        {"tool_calls": [{"id": "c", "function": {"name": "f", "arguments": {}}}]},
    ],
)
def test_a_message_of_the_wrong_shape_is_refused_at_its_place(
    http: HttpSurface, changes: dict[str, Any]
) -> None:
    message = {**said("hello", "u"), **changes}
    body = {"session_id": "bad", "messages": [message], "defer_extraction": True}
    error = _error(http.client.post(ADD, json=body), 422, "INVALID_INPUT")
    assert f"messages.0.{next(iter(changes))}" in error["message"]


@pytest.mark.parametrize("value", [1.5, "5", None, True, 2_147_483_648, 0, 101, -2])
def test_top_k_is_an_integer_in_its_range(http: HttpSurface, value: Any) -> None:
    body = {"user_id": "u", "query": "x", "method": "keyword", "top_k": value}
    error = _error(http.client.post("/api/v2/memory/search", json=body), 422, "INVALID_INPUT")
    assert "top_k" in error["message"]


def test_digits_as_text_and_seconds_are_instants(http: HttpSurface, tag: str) -> None:
    session = f"epoch-{tag}"
    messages = [said("a", "u"), said("b", "u"), said("c", "u")]
    messages[0]["timestamp"] = "1779967836000"
    messages[1]["timestamp"] = 1_779_967_836
    messages[2]["timestamp"] = 946_684_800_000  # before 2001, yet milliseconds
    http.call("add", {"session_id": session, "messages": messages, "defer_extraction": True})
    body = {"user_id": "u", "query": "x", "method": "keyword", "filters": {"session_id": session}}
    found = http.call("search", body).ok["unprocessed_messages"]
    assert [m["timestamp"] for m in found] == [
        "2026-05-28T11:30:36Z",
        "2026-05-28T11:30:36Z",
        "2000-01-01T00:00:00Z",
    ]


def test_a_route_that_does_not_exist_is_not_found(http: HttpSurface) -> None:
    _error(http.client.get("/api/v2/nope"), 404, "NOT_FOUND")
    _error(http.client.post(ADD + "/", json={}), 404, "NOT_FOUND")


def test_a_wrong_method_names_the_right_one(http: HttpSurface) -> None:
    response = http.client.get(ADD)
    _error(response, 405, "METHOD_NOT_ALLOWED")
    assert "POST" in response.headers["allow"]


def test_unknown_keys_are_refused_where_the_contract_says_so(http: HttpSurface, tag: str) -> None:
    body = {"session_id": f"u-{tag}", "messages": [said("x", "u")], "zzz": 1}
    assert http.client.post(ADD, json={**body, "defer_extraction": True}).status_code == 200
    response = http.client.post(
        "/api/v2/memory/search", json={"user_id": "u", "query": "x", "zzz": 1}
    )
    error = _error(response, 422, "INVALID_INPUT")
    assert error["message"] == "Extra inputs are not permitted: zzz"


def test_the_legacy_prefix_reaches_the_same_handlers(http: HttpSurface) -> None:
    for path in ("/api/v1/memory/search", "/api/v2/memory/search"):
        response = http.client.post(path, json={"query": "x"})
        error = _error(response, 422, "INVALID_INPUT")
        assert error["message"] == (
            "Value error, exactly one of user_id / agent_id must be provided"
        )


def test_a_search_answers_with_every_array_whatever_the_owner(http: HttpSurface) -> None:
    for who in ({"user_id": "nobody"}, {"agent_id": "nobody"}):
        data = http.call("search", {**who, "query": "x"}).ok
        assert set(data) == {
            "episodes",
            "profiles",
            "agent_cases",
            "agent_skills",
            "unprocessed_messages",
        }
        assert all(value == [] for value in data.values())


def test_a_client_of_the_contract_sees_no_extension_it_did_not_ask_for(
    http: HttpSurface, tag: str
) -> None:
    body = {"session_id": f"x-{tag}", "messages": [said("x", "u")], "defer_extraction": True}
    assert set(http.call("add", body).ok) == {"message_count", "status"}
    assert set(http.call("flush", {"session_id": f"none-{tag}"}).ok) == {"status"}


def test_foreign_origins_get_no_grant(http: HttpSurface) -> None:
    response = http.client.get("/health", headers={"Origin": "https://evil.example"})
    assert "access-control-allow-origin" not in response.headers


def test_health_has_the_blocks_that_clients_of_the_reference_read(http: HttpSurface) -> None:
    health = http.client.get("/health").json()
    assert {
        "status",
        "version",
        "capabilities",
        "disabled_features",
        "cascade",
        "memorize_queue",
    } <= set(health)
    assert {"llm", "embed", "rerank", "multimodal_llm", "parser"} <= set(health["capabilities"])


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/v2/ome/trigger"),
        ("GET", "/api/v2/knowledge/documents"),
        ("GET", "/api/v2/knowledge/categories"),
        ("POST", "/api/v2/knowledge/search"),
    ],
)
def test_what_this_build_does_not_carry_says_so(http: HttpSurface, method: str, path: str) -> None:
    body = {"name": "reflect_episodes", "query": "x"} if method == "POST" else None
    response = http.client.request(method, path, json=body)
    _error(response, 503, "CAPABILITY_UNAVAILABLE")


def test_documentation_is_not_served_outside_development(http: HttpSurface) -> None:
    for path in ("/openapi.json", "/docs", "/redoc"):
        _error(http.client.get(path), 404, "NOT_FOUND")


def test_a_body_over_the_limit_is_refused_while_it_is_read(http: HttpSurface) -> None:
    def endless() -> Any:
        yield b'{"session_id": "'
        for _ in range(70):
            yield b"x" * 1024 * 1024

    response = http.client.post(ADD, content=endless(), headers=JSON)
    _error(response, 413, "PAYLOAD_TOO_LARGE")
    assert json.loads(http.client.get("/health").text)["status"] in ("ok", "degraded")
