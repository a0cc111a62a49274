"""Bad input is refused the same on both surfaces: same code, same text, naming the field."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.blackbox.conftest import said
from tests.blackbox.surfaces import Surface

ADD = {"session_id": "bad", "messages": [said("hello", "u")], "defer_extraction": True}
SEARCH = {"user_id": "u", "query": "x", "method": "keyword"}
GET = {"user_id": "u", "memory_type": "episode"}


def _message(**changes: Any) -> dict[str, Any]:
    return {"messages": [{**said("hello", "u"), **changes}]}


def _nested(levels: int) -> dict[str, Any]:
    node: dict[str, Any] = {"session_id": "x"}
    for _ in range(levels):
        node = {"AND": [node]}
    return node


# method, base body, changes, HTTP status, gRPC status, code, text that must be in the message
CASES: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("add", ADD, {"session_id": "x" * 129}, "session_id"),
    ("add", ADD, {"messages": []}, "messages"),
    ("add", ADD, {"messages": [said("x", "u", n) for n in range(501)]}, "messages"),
    ("add", ADD, {"app_id": "a/b"}, "app_id"),
    ("add", ADD, {"app_id": ".."}, "app_id"),
    ("add", ADD, {"app_id": ""}, "app_id"),
    ("add", ADD, {"app_id": "default_app"}, "app_id"),
    ("add", ADD, {"project_id": "."}, "project_id"),
    ("add", ADD, {"app_id": "a" * 129}, "app_id"),
    ("add", ADD, _message(sender_id="../x"), "messages.0.sender_id"),
    ("add", ADD, _message(timestamp=-5), "messages.0.timestamp"),
    ("add", ADD, _message(timestamp=10**18), "messages.0.timestamp"),
    ("add", ADD, _message(role="tool"), "tool_call_id"),
    ("add", ADD, _message(message_id="m" * 257), "messages.0.message_id"),
    ("add", ADD, _message(content=[{"type": "text"}]), "messages.0.content.0.text"),
    (
        "add",
        ADD,
        _message(
            content=[{"type": "pdf", "uri": "http://x/a.pdf", "base64": "aGk=", "ext": "pdf"}]
        ),
        "uri and base64",
    ),
    ("flush", {"session_id": "x"}, {"session_id": "y" * 129}, "session_id"),
    ("search", SEARCH, {"agent_id": "a"}, "exactly one of user_id / agent_id must be provided"),
    ("search", SEARCH, {"user_id": None}, "exactly one of user_id / agent_id must be provided"),
    ("search", SEARCH, {"user_id": ""}, "user_id"),
    ("search", SEARCH, {"top_k": 0}, "top_k"),
    ("search", SEARCH, {"top_k": 101}, "top_k"),
    ("search", SEARCH, {"top_k": -2}, "top_k"),
    ("search", SEARCH, {"radius": 1.1}, "radius"),
    ("search", SEARCH, {"radius": -0.1}, "radius"),
    ("search", SEARCH, {"min_score": 2}, "min_score"),
    ("search", SEARCH, {"query": "   "}, "query"),
    ("search", SEARCH, {"query": "\u3000 "}, "query"),
    ("search", SEARCH, {"filters": {"sesion_id": "x"}}, "sesion_id"),
    ("search", SEARCH, {"filters": {"owner_id": "x"}}, "owner_id"),
    ("search", SEARCH, {"filters": {"app_id": "x"}}, "app_id"),
    ("search", SEARCH, {"filters": {"sender_id": {"gt": "a"}}}, "gt"),
    ("search", SEARCH, {"filters": {"sender_id": {"ne": "a"}}}, "ne"),
    ("search", SEARCH, {"filters": {"session_id": {"gt": "a"}}}, "gt"),
    ("search", SEARCH, {"filters": {"timestamp": {"in": [1]}}}, "in"),
    ("search", SEARCH, {"filters": {"timestamp": {"gte": "yesterday"}}}, "timestamp"),
    ("search", SEARCH, {"filters": {"timestamp": {"gte": 1e30}}}, "timestamp"),
    ("search", SEARCH, {"filters": {"timestamp": True}}, "timestamp"),
    ("search", SEARCH, {"filters": {"session_id": 5}}, "session_id"),
    ("search", SEARCH, {"filters": {"session_id": {}}}, "session_id"),
    # Deeper trees are refused while the HTTP body is read; this one fits every client's own limit.
    ("search", SEARCH, {"filters": _nested(40)}, "filters"),
    ("get", GET, {"page": 0}, "page"),
    ("get", GET, {"page_size": 101}, "page_size"),
    ("get", GET, {"memory_type": "agent_case"}, "agent_id"),
    ("get", GET, {"filters": {"zzz": 1}}, "zzz"),
]


@pytest.mark.parametrize(("method", "base", "changes", "named"), CASES)
def test_bad_input_is_refused_with_the_field_named(
    surface: Surface, method: str, base: dict[str, Any], changes: dict[str, Any], named: str
) -> None:
    answer = surface.call(method, {**copy.deepcopy(base), **changes})
    assert answer.code == "INVALID_INPUT", answer
    assert answer.status in (422, "INVALID_ARGUMENT")
    assert answer.error is not None
    assert named in answer.error


# Protobuf cannot tell an empty list from one that was not sent, so gRPC says "Field required".
SAID_ALIKE = [case for case in CASES if case[2] != {"messages": []}]


@pytest.mark.parametrize(("method", "base", "changes", "named"), SAID_ALIKE)
def test_both_surfaces_say_it_in_the_same_words(
    http: Surface,
    grpc_surface: Surface,
    method: str,
    base: dict[str, Any],
    changes: dict[str, Any],
    named: str,
) -> None:
    body = {**copy.deepcopy(base), **changes}
    assert http.call(method, body).error == grpc_surface.call(method, body).error


@pytest.mark.parametrize(
    ("content", "status", "code"),
    [
        ([{"type": "html", "text": "<p>x</p>"}], (415, "INVALID_ARGUMENT"), "UNSUPPORTED_FORMAT"),
        (
            [{"type": "pdf", "base64": "@@@", "ext": "pdf"}],
            (415, "INVALID_ARGUMENT"),
            "UNSUPPORTED_FORMAT",
        ),
        ([{"type": "image", "base64": "aGk="}], (415, "INVALID_ARGUMENT"), "UNSUPPORTED_FORMAT"),
        (
            [{"type": "pdf", "uri": "file:///etc/passwd"}],
            (415, "INVALID_ARGUMENT"),
            "UNSUPPORTED_FORMAT",
        ),
        (
            [{"type": "pdf", "uri": "https://example.org/a.pdf"}],
            (503, "FAILED_PRECONDITION"),
            "CAPABILITY_UNAVAILABLE",
        ),
    ],
)
def test_content_that_cannot_be_read_is_refused_and_nothing_of_the_batch_is_kept(
    surface: Surface, tag: str, content: list[dict[str, Any]], status: tuple[Any, ...], code: str
) -> None:
    session = f"unreadable-{tag}"
    body = {"session_id": session, "messages": [said("fine", "u"), said(content, "u", 1)]}
    answer = surface.call("add", {**body, "defer_extraction": True})
    assert answer.code == code
    assert answer.status in status
    assert answer.error is not None
    assert "messages.1.content.0" in answer.error
    look = {**SEARCH, "filters": {"session_id": session}}
    assert surface.call("search", look).ok["unprocessed_messages"] == []
