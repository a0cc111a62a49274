"""What the client sends: every argument of every method reaches its field on the wire."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict

from remanence_client import Client, ContentItem, InvalidInputError, Message, ToolCall, ToolFunction


@pytest.fixture
def client(server: Any) -> Iterator[Client]:
    with Client(server.address, timeout_seconds=10) as connected:
        yield connected


def sent(server: Any) -> dict[str, Any]:
    """The one request that arrived, without the timestamps' text form of int64."""
    (received,) = server.received
    return MessageToDict(received.request, preserving_proto_field_name=True)


def test_add_sends_every_part_of_a_message(server: Any, client: Client) -> None:
    message = Message(
        "bot",
        [
            ContentItem("text", text="hi"),
            ContentItem("pdf", base64="AA==", ext="pdf", name="a.pdf"),
        ],
        role="assistant",
        timestamp=datetime(2026, 5, 28, 11, 30, tzinfo=UTC),
        sender_name="Bot",
        tool_calls=[ToolCall("c1", ToolFunction("ls", '{"path":"/"}'))],
        message_id="m1",
    )
    answer = Message("ls", "a.txt", role="tool", timestamp=1_779_967_800_001, tool_call_id="c1")
    client.add("s1", [message, answer], app_id="app", project_id="p", defer_extraction=True)
    assert sent(server) == {
        "session_id": "s1",
        "app_id": "app",
        "project_id": "p",
        "defer_extraction": True,
        "messages": [
            {
                "sender_id": "bot",
                "sender_name": "Bot",
                "role": "ROLE_ASSISTANT",
                "timestamp": "1779967800000",
                "items": {
                    "items": [
                        {"type": "CONTENT_TYPE_TEXT", "text": "hi"},
                        {
                            "type": "CONTENT_TYPE_PDF",
                            "base64": "AA==",
                            "ext": "pdf",
                            "name": "a.pdf",
                        },
                    ]
                },
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "ls", "arguments": '{"path":"/"}'},
                    }
                ],
                "message_id": "m1",
            },
            {
                "sender_id": "ls",
                "role": "ROLE_TOOL",
                "timestamp": "1779967800001",
                "text": "a.txt",
                "tool_call_id": "c1",
            },
        ],
    }


def test_a_message_in_the_json_of_the_api_is_the_same_message(server: Any, client: Client) -> None:
    in_json: dict[str, Any] = {
        "sender_id": "bot",
        "role": "assistant",
        "timestamp": 1_779_967_800_000,
        "content": [{"type": "text", "text": "hi", "extras": {"k": [1, None]}}],
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
        ],
        "tool_call_id": None,
        "a_key_of_a_later_version": 1,
    }
    typed = Message(
        "bot",
        [ContentItem("text", text="hi", extras={"k": [1, None]})],
        role="assistant",
        timestamp=1_779_967_800_000,
        tool_calls=[ToolCall("c1", ToolFunction("ls", "{}"))],
    )
    client.add("s1", [in_json])
    client.add("s1", [typed])
    assert server.received[0].request == server.received[1].request


def test_a_message_without_a_time_is_sent_with_the_time_of_now(server: Any, client: Client) -> None:
    before = time.time_ns() // 1_000_000
    client.add("s1", [Message("alice", "hi")])
    after = time.time_ns() // 1_000_000
    assert before <= server.received[0].request.messages[0].timestamp <= after


def test_an_empty_text_and_an_empty_list_stay_different_bodies(server: Any, client: Client) -> None:
    client.add("s1", [Message("alice", ""), Message("alice", [])])
    first, second = server.received[0].request.messages
    assert first.WhichOneof("content") == "text"
    assert second.WhichOneof("content") == "items"


def message(**parts: Any) -> Callable[[Client], Any]:
    item = {"sender_id": "a", "role": "user", "timestamp": 1, "content": "x", **parts}
    return lambda client: client.add("s", [{"sender_id": "a", "content": "x"}, item])


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (message(content=None), "messages[1].content"),
        (message(content=5), "messages[1].content"),
        (message(content=[{"text": "x"}]), "messages[1].content[0].type"),
        (message(content=[{"type": "video"}]), "messages[1].content[0].type"),
        (
            message(content=[{"type": "text", "extras": {"k": {1}}}]),
            "messages[1].content[0].extras",
        ),
        (message(role="system"), "messages[1].role"),
        (message(timestamp="yesterday"), "messages[1].timestamp"),
        (message(timestamp=True), "messages[1].timestamp"),
        (message(timestamp=2**63), "messages[1].timestamp"),
        (message(timestamp=datetime(2026, 1, 1)), "messages[1].timestamp"),
        (message(sender_id=7), "messages[1].sender_id"),
        (message(tool_calls=[{"id": "c"}]), "messages[1].tool_calls[0].function"),
        (message(tool_calls={"id": "c"}), "messages[1].tool_calls"),
        (lambda client: client.add("s", ["x"]), "messages[0]"),
        (lambda client: client.add("s", Message("a", "x")), "messages"),
        (lambda client: client.search("q", user_id="u", method="psychic"), "method"),
        (lambda client: client.get("dream", user_id="u"), "memory_type"),
        (lambda client: client.list_tasks(status="lost"), "status"),
        (lambda client: client.list_jobs(status="lost"), "status"),
    ],
)
def test_input_that_cannot_be_sent_is_refused_naming_the_field(
    server: Any, client: Client, call: Callable[[Client], Any], field: str
) -> None:
    with pytest.raises(InvalidInputError) as raised:
        call(client)
    assert raised.value.field == field
    assert field in raised.value.message
    assert raised.value.code == "INVALID_INPUT"
    assert server.received == []


def test_search_sends_every_argument(server: Any, client: Client) -> None:
    client.search(
        "where?",
        agent_id="bot",
        app_id="app",
        project_id="p",
        method="keyword",
        top_k=5,
        radius=0.25,
        min_score=0.5,
        include_profile=True,
        enable_llm_rerank=True,
        filters={"session_id": "s1"},
    )
    assert sent(server) == {
        "query": "where?",
        "agent_id": "bot",
        "app_id": "app",
        "project_id": "p",
        "method": "SEARCH_METHOD_KEYWORD",
        "top_k": 5,
        "radius": 0.25,
        "min_score": 0.5,
        "include_profile": True,
        "enable_llm_rerank": True,
        "filters": {
            "predicates": [
                {
                    "field": "session_id",
                    "conditions": [{"operator": "FILTER_OPERATOR_EQ", "value": {"text": "s1"}}],
                    "shorthand": True,
                }
            ]
        },
    }


def test_what_is_not_given_is_absent_so_that_the_server_says_the_default(
    server: Any, client: Client
) -> None:
    client.search("where?", user_id="alice")
    assert sent(server) == {"query": "where?", "user_id": "alice"}


def test_get_sends_every_argument(server: Any, client: Client) -> None:
    client.get(
        "agent_skill",
        agent_id="bot",
        app_id="app",
        project_id="p",
        page=2,
        page_size=50,
        sort_by="updated_at",
        sort_order="asc",
        filters={},
    )
    assert sent(server) == {
        "memory_type": "MEMORY_TYPE_AGENT_SKILL",
        "agent_id": "bot",
        "app_id": "app",
        "project_id": "p",
        "page": 2,
        "page_size": 50,
        "sort_by": "SORT_BY_UPDATED_AT",
        "sort_order": "SORT_ORDER_ASC",
        "filters": {},
    }


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (
            lambda client: client.flush("s1", app_id="app", project_id="p", wait=False),
            {"session_id": "s1", "app_id": "app", "project_id": "p", "wait": False},
        ),
        (
            lambda client: client.delete(
                user_id="u",
                app_id="app",
                project_id="p",
                ids=["a", "b"],
                session_id="s1",
                everything=True,
            ),
            {
                "user_id": "u",
                "app_id": "app",
                "project_id": "p",
                "ids": ["a", "b"],
                "session_id": "s1",
                "everything": True,
            },
        ),
        (lambda client: client.get_task("t1"), {"task_id": "t1"}),
        (
            lambda client: client.list_tasks(
                session_id="s1", status="queued", page=2, page_size=5, app_id="app", project_id="p"
            ),
            {
                "session_id": "s1",
                "status": "TASK_STATUS_QUEUED",
                "page": 2,
                "page_size": 5,
                "app_id": "app",
                "project_id": "p",
            },
        ),
        (
            lambda client: client.list_jobs(
                session_id="s1",
                status="waiting_retry",
                stage="facts",
                page=2,
                page_size=5,
                app_id="app",
                project_id="p",
            ),
            {
                "session_id": "s1",
                "status": "JOB_STATUS_WAITING_RETRY",
                "stage": "facts",
                "page": 2,
                "page_size": 5,
                "app_id": "app",
                "project_id": "p",
            },
        ),
        *(
            (call, {"job_id": "7", "app_id": "app", "project_id": "p"})
            for call in (
                lambda client: client.get_job(7, app_id="app", project_id="p"),
                lambda client: client.retry_job(7, app_id="app", project_id="p"),
                lambda client: client.drop_job(7, app_id="app", project_id="p"),
            )
        ),
        (
            lambda client: client.trigger("profiles", wait_seconds=5, force=True),
            {"name": "profiles", "timeout": 5.0, "force": True},
        ),
        (lambda client: client.health(), {}),
        (lambda client: client.quiesce(), {}),
        (lambda client: client.rebuild(), {}),
    ],
)
def test_the_other_methods_send_every_argument(
    server: Any, client: Client, call: Callable[[Client], Any], expected: dict[str, Any]
) -> None:
    call(client)
    assert sent(server) == expected


def test_metadata_goes_with_every_call(server: Any) -> None:
    with Client(server.address, metadata={"authorization": "Bearer t"}) as client:
        client.health()
    assert server.received[0].metadata["authorization"] == "Bearer t"


def test_the_time_allowed_is_the_clients_the_calls_or_longer_by_what_the_server_may_wait(
    server: Any,
) -> None:
    with Client(server.address, timeout_seconds=20) as client:
        client.health()
        client.health(timeout_seconds=5)
        client.trigger("x", wait_seconds=100)
    allowed = [received.seconds_allowed for received in server.received]
    assert [round(seconds, -1) for seconds in (allowed[0], allowed[2])] == [20, 120]
    assert 4 < allowed[1] < 6
