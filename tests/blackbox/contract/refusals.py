"""Rows about what is refused."""

from __future__ import annotations

from typing import Any

from tests.blackbox.conftest import said
from tests.blackbox.contract.table import case, is_refused, is_said, message, refused
from tests.blackbox.surfaces import Surface


def _nested(levels: int) -> dict[str, Any]:
    node: dict[str, Any] = {"session_id": "x"}
    for _ in range(levels):
        node = {"AND": [node]}
    return node


@case("of several errors the first is told, in the order of the fields")
def _(surface: Surface, tag: str) -> None:
    is_said(surface.call("add", {}), "Field required: session_id")
    is_said(surface.call("add", {"session_id": "x"}), "Field required: messages")
    is_said(surface.call("flush", {}), "Field required: session_id")
    is_said(surface.call("search", {"user_id": "u"}), "Field required: query")
    is_said(surface.call("get", {"user_id": "u"}), "Field required: memory_type")


@case("both owners, or none, is one error without a field")
def _(surface: Surface, tag: str) -> None:
    for who in ({}, {"user_id": "a", "agent_id": "b"}):
        for method, rest in (("search", {"query": "x"}), ("get", {"memory_type": "episode"})):
            answer = surface.call(method, {**who, **rest})
            is_refused(surface, answer, "INVALID_INPUT")
            is_said(answer, "Value error, exactly one of user_id / agent_id must be provided")


refused("an empty session_id", "add", {"session_id": ""}, "session_id")
refused("a session_id of 129 characters", "add", {"session_id": "x" * 129}, "session_id")
refused("an add without messages", "add", {"messages": []}, "messages")
refused("501 messages", "add", {"messages": [said("x", "u", n) for n in range(501)]}, "messages")
for _field in ("app_id", "project_id"):
    refused(f"a slash in {_field}", "add", {_field: "a/b"}, _field)
    refused(f"{_field} '.'", "add", {_field: "."}, _field)
    refused(f"{_field} '..'", "add", {_field: ".."}, _field)
    refused(f"an empty {_field}", "add", {_field: ""}, _field)
    refused(f"{_field} of 129 characters", "add", {_field: "a" * 129}, _field)
    refused(f"a name for the disk as {_field}", "add", {_field: f"default_{_field[:-3]}"}, _field)
    refused(f"a slash in {_field}", "flush", {_field: "a/b"}, _field)
refused("an empty sender_id", "add", message(sender_id=""), "messages.0.sender_id")
refused("a sender_id that is a path", "add", message(sender_id="../x"), "messages.0.sender_id")
refused("a sender_id with a space", "add", message(sender_id="a b"), "messages.0.sender_id")
refused("a sender_id of 129 characters", "add", message(sender_id="a" * 129), "messages.0.sender")
refused("timestamp 0", "add", message(timestamp=0), "messages.0.timestamp")
refused("a negative timestamp", "add", message(timestamp=-5), "messages.0.timestamp")
refused("a timestamp after 9999", "add", message(timestamp=10**18), "messages.0.timestamp")
refused("a tool message without tool_call_id", "add", message(role="tool"), "tool_call_id")
refused("a long message_id", "add", message(message_id="m" * 257), "messages.0.message_id")
refused(
    "a text item without text", "add", message(content=[{"type": "text"}]), "messages.0.content.0"
)
for _what, _item in {
    "html as text": {"type": "html", "text": "<p>x</p>"},
    "base64 that is none": {"type": "pdf", "base64": "@@@", "ext": "pdf"},
    "base64 without ext": {"type": "image", "base64": "aGVsbG8="},
    "a file that is missing": {"type": "pdf", "uri": "file:///nonexistent/x.pdf"},
    "a file that is a folder": {"type": "pdf", "uri": "file:///tmp"},
    "a file outside": {"type": "doc", "uri": "file:///etc/passwd"},
    "a scheme it does not fetch": {"type": "pdf", "uri": "gopher://x/y"},
}.items():
    refused(_what, "add", message(content=[_item]), "content.0", code="UNSUPPORTED_FORMAT")
refused(
    "what it has no parser for",
    "add",
    message(content=[{"type": "pdf", "uri": "https://example.org/a.pdf"}]),
    "messages.0.content.0",
    code="CAPABILITY_UNAVAILABLE",
)
refused(
    "uri and base64 together",
    "add",
    message(content=[{"type": "pdf", "uri": "http://x/a", "base64": "aGk=", "ext": "pdf"}]),
    "mutually exclusive",
)
refused("an empty session_id", "flush", {"session_id": ""}, "session_id")
refused("a session_id of 129 characters", "flush", {"session_id": "y" * 129}, "session_id")

for _value in (0, 101, -2, 2**31 - 1):
    refused(f"top_k {_value}", "search", {"top_k": _value}, "top_k")
for _field in ("radius", "min_score"):
    refused(f"{_field} 1.1", "search", {_field: 1.1}, _field)
    refused(f"{_field} -0.1", "search", {_field: -0.1}, _field)
refused("an empty query", "search", {"query": ""}, "query")
refused("a query of white space", "search", {"query": " \u3000\n"}, "query")
refused("an empty user_id", "search", {"user_id": ""}, "user_id")
refused("a page token that is none", "search", {"page_token": "x"}, "page_token")
refused("page 0", "get", {"page": 0}, "page")
refused("page_size 0", "get", {"page_size": 0}, "page_size")
refused("page_size 101", "get", {"page_size": 101}, "page_size")
refused("cases of a user", "get", {"memory_type": "agent_case"}, "agent_id")
refused("skills of a user", "get", {"memory_type": "agent_skill"}, "agent_id")
_AGENT = {"user_id": None, "agent_id": "a"}
refused("episodes of an agent", "get", {**_AGENT, "memory_type": "episode"}, "user_id")
refused("the profile of an agent", "get", {**_AGENT, "memory_type": "profile"}, "user_id")

for _what, _filter, _text in (
    ("a misspelt field", {"sesion_id": "x"}, "sesion_id"),
    ("owner_id, which is reserved", {"owner_id": "x"}, "owner_id"),
    ("owner_type, which is reserved", {"owner_type": "x"}, "owner_type"),
    ("app_id, which is reserved", {"app_id": "x"}, "app_id"),
    ("project_id, which is reserved", {"project_id": "x"}, "project_id"),
    ("gt on sender_id", {"sender_id": {"gt": "a"}}, "gt"),
    ("ne on sender_id", {"sender_id": {"ne": "a"}}, "ne"),
    ("gt on session_id", {"session_id": {"gt": "a"}}, "gt"),
    ("lte on parent_id", {"parent_id": {"lte": "a"}}, "lte"),
    ("in on timestamp", {"timestamp": {"in": [1]}}, "in"),
    ("in without a list", {"session_id": {"in": "x"}}, "session_id"),
    ("in with a number", {"session_id": {"in": ["x", 5]}}, "session_id"),
    ("no instant", {"timestamp": {"gte": "yesterday"}}, "timestamp"),
    ("an instant after 9999", {"timestamp": {"gte": 1e30}}, "timestamp"),
    ("half a millisecond", {"timestamp": {"gte": 1.5}}, "timestamp"),
    ("a boolean as instant", {"timestamp": True}, "timestamp"),
    ("a number for a text", {"session_id": 5}, "session_id"),
    ("an empty operator map", {"session_id": {}}, "session_id"),
    ("a wrong field further down", {"AND": [{"OR": [{"zzz": "x"}]}]}, "filters.AND.0.OR.0.zzz"),
    ("40 levels", _nested(40), "filters"),
):
    for _method in ("search", "get"):
        refused(f"filter: {_what}", _method, {"filters": _filter}, _text)


@case("a task that never was is not found")
def _(surface: Surface, tag: str) -> None:
    is_refused(surface, surface.task("0" * 32), "NOT_FOUND", "0" * 32)


@case("pages of tasks start at one")
def _(surface: Surface, tag: str) -> None:
    is_refused(surface, surface.tasks(page=0), "INVALID_INPUT", "query.page"[-4:])
    is_refused(surface, surface.tasks(page_size=0), "INVALID_INPUT", "page_size")
