"""What is refused, and in which words: the same for JSON and for protobuf messages."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf.message import Message

from remanence.v2 import knowledge_pb2, memory_pb2, ome_pb2, tasks_pb2
from remanence_http import REGISTRY
from remanence_server.api.transcoding import validate_message
from remanence_server.api.transcoding.validation import MessageBinding, validate
from remanence_server.runtime.errors import ErrorCode, ServiceError

T0 = 1_779_967_836_000


def json_message(**changes: Any) -> dict[str, Any]:
    """A valid message, with these keys changed; None leaves a key out."""
    message = {"sender_id": "al", "role": "user", "timestamp": T0, "content": "hi"} | changes
    return {key: value for key, value in message.items() if value is not None}


def pb_message(**changes: Any) -> memory_pb2.MessageItem:
    """The same message in protobuf."""
    message: dict[str, Any] = {
        "sender_id": "al",
        "role": memory_pb2.ROLE_USER,
        "timestamp": T0,
        "text": "hi",
    }
    message |= changes
    return memory_pb2.MessageItem(**{k: v for k, v in message.items() if v is not None})


def json_add(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"session_id": "s", "messages": list(messages) or [json_message()], **fields}


def pb_add(*messages: memory_pb2.MessageItem, **fields: Any) -> memory_pb2.AddRequest:
    return memory_pb2.AddRequest(
        **{"session_id": "s", "messages": list(messages) or [pb_message()], **fields}
    )


def json_items(*items: dict[str, Any]) -> dict[str, Any]:
    return json_add(json_message(content=list(items)))


def pb_items(*items: memory_pb2.ContentItem) -> memory_pb2.AddRequest:
    return pb_add(pb_message(text=None, items=memory_pb2.ContentItemList(items=items)))


def json_search(**fields: Any) -> dict[str, Any]:
    return {"user_id": "u", "query": "x", **fields}


def pb_search(**fields: Any) -> memory_pb2.SearchRequest:
    return memory_pb2.SearchRequest(**{"user_id": "u", "query": "x", **fields})


LITERAL_ROLES = "Input should be 'user', 'assistant' or 'tool'"
PATTERN = "String should match pattern '^[a-zA-Z0-9_.@+-]+$'"
ONE_OWNER = "Value error, exactly one of user_id / agent_id must be provided"
TOP_K = "Input should be -1 or between 1 and 100: top_k"

# Message, JSON body, the same in protobuf, and what both answer.
ON_BOTH_SURFACES: list[tuple[str, dict[str, Any], Message, str]] = [
    ("AddRequest", {}, memory_pb2.AddRequest(), "Field required: session_id"),
    (
        "AddRequest",
        {"session_id": "s"},
        memory_pb2.AddRequest(session_id="s"),
        "Field required: messages",
    ),
    (
        "AddRequest",
        json_add(session_id="x" * 129),
        pb_add(session_id="x" * 129),
        "String should have at most 128 characters: session_id",
    ),
    (
        "AddRequest",
        json_add(*[json_message()] * 501),
        pb_add(*[pb_message()] * 501),
        "List should have at most 500 items after validation, not 501: messages",
    ),
    ("AddRequest", json_add(app_id="a/b"), pb_add(app_id="a/b"), f"{PATTERN}: app_id"),
    ("AddRequest", json_add(app_id="a\n"), pb_add(app_id="a\n"), f"{PATTERN}: app_id"),
    ("AddRequest", json_add(app_id=".."), pb_add(app_id=".."), "Input should not be '..': app_id"),
    (
        "AddRequest",
        json_add(app_id="default_app"),
        pb_add(app_id="default_app"),
        "Input should not be 'default_app': app_id",
    ),
    (
        "AddRequest",
        json_add(project_id="default_project"),
        pb_add(project_id="default_project"),
        "Input should not be 'default_project': project_id",
    ),
    (
        "AddRequest",
        json_add(app_id=""),
        pb_add(app_id=""),
        "String should have at least 1 character: app_id",
    ),
    (
        "AddRequest",
        json_add(json_message(), json_message(sender_id="../x")),
        pb_add(pb_message(), pb_message(sender_id="../x")),
        f"{PATTERN}: messages.1.sender_id",
    ),
    (
        "AddRequest",
        json_add(json_message(sender_id=None)),
        pb_add(pb_message(sender_id=None)),
        "Field required: messages.0.sender_id",
    ),
    (
        "AddRequest",
        json_add(json_message(role="system")),
        pb_add(pb_message(role=99)),
        f"{LITERAL_ROLES}: messages.0.role",
    ),
    (
        "AddRequest",
        json_add(json_message(role=None)),
        pb_add(pb_message(role=None)),
        "Field required: messages.0.role",
    ),
    (
        "AddRequest",
        json_add(json_message(timestamp=-5)),
        pb_add(pb_message(timestamp=-5)),
        "Input should be greater than 0: messages.0.timestamp",
    ),
    (
        "AddRequest",
        json_add(json_message(timestamp=10**18)),
        pb_add(pb_message(timestamp=10**18)),
        "Input should be an instant before the year 10000: messages.0.timestamp",
    ),
    (
        "AddRequest",
        json_add(json_message(content=None)),
        pb_add(pb_message(text=None)),
        "Field required: messages.0.content",
    ),
    (
        "AddRequest",
        json_add(json_message(role="tool")),
        pb_add(pb_message(role=memory_pb2.ROLE_TOOL)),
        "Value error, tool_call_id is required when role is 'tool': messages.0",
    ),
    (
        "AddRequest",
        json_add(json_message(role="tool", tool_call_id="")),
        pb_add(pb_message(role=memory_pb2.ROLE_TOOL, tool_call_id="")),
        "Value error, tool_call_id is required when role is 'tool': messages.0",
    ),
    (
        "AddRequest",
        json_add(json_message(tool_calls=[{"function": {"name": "f", "arguments": "{}"}}])),
        pb_add(
            pb_message(
                tool_calls=[
                    memory_pb2.ToolCall(function=memory_pb2.ToolFunction(name="f", arguments="{}"))
                ]
            )
        ),
        "Field required: messages.0.tool_calls.0.id",
    ),
    (
        "AddRequest",
        json_add(json_message(tool_calls=[{"id": "c", "function": {"name": "f"}}])),
        pb_add(
            pb_message(
                tool_calls=[memory_pb2.ToolCall(id="c", function=memory_pb2.ToolFunction(name="f"))]
            )
        ),
        "Field required: messages.0.tool_calls.0.function.arguments",
    ),
    (
        "AddRequest",
        json_items({"type": "text", "text": "a"}, {"text": "b"}),
        pb_items(
            memory_pb2.ContentItem(type=memory_pb2.CONTENT_TYPE_TEXT, text="a"),
            memory_pb2.ContentItem(text="b"),
        ),
        "Field required: messages.0.content.1.type",
    ),
    (
        "AddRequest",
        json_items({"type": "pdf", "uri": "http://x", "base64": "aGk=", "ext": "pdf"}),
        pb_items(
            memory_pb2.ContentItem(
                type=memory_pb2.CONTENT_TYPE_PDF, uri="http://x", base64="aGk=", ext="pdf"
            )
        ),
        "Value error, uri and base64 are mutually exclusive: messages.0.content.0",
    ),
    (
        "AddRequest",
        json_add(json_message(message_id="")),
        pb_add(pb_message(message_id="")),
        "String should have at least 1 character: messages.0.message_id",
    ),
    ("SearchRequest", {}, memory_pb2.SearchRequest(), "Field required: query"),
    ("SearchRequest", {"query": "x"}, memory_pb2.SearchRequest(query="x"), ONE_OWNER),
    ("SearchRequest", json_search(agent_id="b"), pb_search(agent_id="b"), ONE_OWNER),
    (
        "SearchRequest",
        json_search(user_id=""),
        pb_search(user_id=""),
        "String should have at least 1 character: user_id",
    ),
    ("SearchRequest", json_search(top_k=0), pb_search(top_k=0), TOP_K),
    ("SearchRequest", json_search(top_k=101), pb_search(top_k=101), TOP_K),
    ("SearchRequest", json_search(top_k=-2), pb_search(top_k=-2), TOP_K),
    (
        "SearchRequest",
        json_search(radius=1.1),
        pb_search(radius=1.1),
        "Input should be less than or equal to 1: radius",
    ),
    (
        "SearchRequest",
        json_search(radius=-0.1),
        pb_search(radius=-0.1),
        "Input should be greater than or equal to 0: radius",
    ),
    (
        "SearchRequest",
        json_search(min_score=float("nan")),
        pb_search(min_score=float("nan")),
        "Input should be a finite number: min_score",
    ),
    (
        "SearchRequest",
        json_search(method="magic"),
        pb_search(method=77),
        "Input should be 'keyword', 'vector', 'hybrid', 'agentic' or 'llm_multiround': method",
    ),
    (
        "GetRequest",
        {"user_id": "u"},
        memory_pb2.GetRequest(user_id="u"),
        "Field required: memory_type",
    ),
    (
        "GetRequest",
        {"user_id": "u", "memory_type": "agent_case"},
        memory_pb2.GetRequest(user_id="u", memory_type=memory_pb2.MEMORY_TYPE_AGENT_CASE),
        "Value error, memory_type 'agent_case' and 'agent_skill' require agent_id",
    ),
    (
        "GetRequest",
        {"agent_id": "a", "memory_type": "episode"},
        memory_pb2.GetRequest(agent_id="a", memory_type=memory_pb2.MEMORY_TYPE_EPISODE),
        "Value error, memory_type 'episode' and 'profile' require user_id",
    ),
    (
        "GetRequest",
        {"user_id": "u", "memory_type": "episode", "page_size": 101},
        memory_pb2.GetRequest(
            user_id="u", memory_type=memory_pb2.MEMORY_TYPE_EPISODE, page_size=101
        ),
        "Input should be less than or equal to 100: page_size",
    ),
    (
        "FlushRequest",
        {},
        memory_pb2.FlushRequest(),
        "Field required: session_id",
    ),
    (
        "TriggerRequest",
        {"name": "reflect", "timeout": 0},
        ome_pb2.TriggerRequest(name="reflect", timeout=0),
        "Input should be greater than 0: timeout",
    ),
    (
        "ListTasksRequest",
        {"page": 0},
        tasks_pb2.ListTasksRequest(page=0),
        "Input should be greater than or equal to 1: page",
    ),
    (
        "SearchTopicsRequest",
        {"query": "x" * 2001},
        knowledge_pb2.SearchTopicsRequest(query="x" * 2001),
        "String should have at most 2000 characters: query",
    ),
    (
        "DocumentMetadata",
        {"title": " -- "},
        knowledge_pb2.DocumentMetadata(title=" -- "),
        "String should match pattern '\\w': title",
    ),
]

# What protobuf cannot say wrong.
ONLY_IN_JSON: list[tuple[str, dict[str, Any], str]] = [
    (
        "AddRequest",
        {"session_id": "s", "messages": []},
        "List should have at least 1 item after validation, not 0: messages",
    ),
    ("AddRequest", json_add(session_id=5), "Input should be a valid string: session_id"),
    ("AddRequest", json_add(session_id=None), "Input should be a valid string: session_id"),
    (
        "AddRequest",
        json_add(defer_extraction="true"),
        "Input should be a valid boolean: defer_extraction",
    ),
    (
        "AddRequest",
        json_add(json_message() | {"content": None}),
        "Input should be a valid string or list: messages.0.content",
    ),
    (
        "AddRequest",
        json_add(json_message(content=5)),
        "Input should be a valid string or list: messages.0.content",
    ),
    *(
        (
            "AddRequest",
            json_add(json_message(timestamp=value)),
            "Input should be a valid integer: messages.0.timestamp",
        )
        for value in (1.5, True, "2026-01-01T00:00:00Z", "1e12", "", " 1779967836000", "١٢٣")
    ),
    (
        "AddRequest",
        json_add(json_message(timestamp="0")),
        "Input should be greater than 0: messages.0.timestamp",
    ),
    (
        "AddRequest",
        json_items({"type": "video", "uri": "http://x/y"}),
        "Input should be 'text', 'image', 'audio', 'doc', 'pdf', 'html' or 'email': "
        "messages.0.content.0.type",
    ),
    (
        "AddRequest",
        json_items({"type": "text", "text": "a", "zzz": 1}),
        "Extra inputs are not permitted: messages.0.content.0.zzz",
    ),
    (
        "AddRequest",
        json_items({"type": "text", "text": "a", "extras": []}),
        "Input should be a valid dictionary: messages.0.content.0.extras",
    ),
    (
        "AddRequest",
        json_add(
            json_message(tool_calls=[{"id": "c", "function": {"name": "f", "arguments": {}}}])
        ),
        "Input should be a valid string: messages.0.tool_calls.0.function.arguments",
    ),
    ("SearchRequest", json_search(zzz=1), "Extra inputs are not permitted: zzz"),
    ("SearchRequest", json_search(top_k=1.5), "Input should be a valid integer: top_k"),
    ("SearchRequest", json_search(top_k="5"), "Input should be a valid integer: top_k"),
    ("SearchRequest", json_search(top_k=True), "Input should be a valid integer: top_k"),
    ("SearchRequest", json_search(radius="0.5"), "Input should be a valid number: radius"),
    (
        "GetRequest",
        {"user_id": "u", "memory_type": None},
        "Input should be 'episode', 'profile', 'agent_case' or 'agent_skill': memory_type",
    ),
    (
        "GetRequest",
        {"user_id": "u", "memory_type": "episode", "page": 2**31},
        "Input should be less than or equal to 2147483647: page",
    ),
]


def refusal_of_json(name: str, body: dict[str, Any]) -> ServiceError:
    binding = REGISTRY[f"remanence.v2.{name}"]
    assert isinstance(binding, MessageBinding)
    with pytest.raises(ServiceError) as caught:
        validate(binding.model, body)
    return caught.value


@pytest.mark.parametrize(("name", "body", "message", "text"), ON_BOTH_SURFACES)
def test_both_surfaces_refuse_in_the_same_words(
    name: str, body: dict[str, Any], message: Message, text: str
) -> None:
    assert message.DESCRIPTOR.name == name
    assert refusal_of_json(name, body).message == text
    with pytest.raises(ServiceError) as caught:
        validate_message(message)
    assert caught.value.message == text
    assert caught.value.code is ErrorCode.INVALID_INPUT


@pytest.mark.parametrize(("name", "body", "text"), ONLY_IN_JSON)
def test_json_of_the_wrong_type_is_refused(name: str, body: dict[str, Any], text: str) -> None:
    assert refusal_of_json(name, body).message == text


def test_the_first_error_is_told_in_the_order_of_the_contract_not_of_the_body() -> None:
    error = refusal_of_json("SearchRequest", {"zzz": 1, "top_k": 0, "query": ""})
    assert error.message == "String should have at least 1 character: query"
    assert error.field == "query"


def test_a_field_outside_the_body_is_named_with_its_place() -> None:
    binding = REGISTRY["remanence.v2.ListTasksRequest"]
    assert isinstance(binding, MessageBinding)
    with pytest.raises(ServiceError) as caught:
        validate(binding.model, {"page": 0}, {"page": "query"})
    assert caught.value.message == "Input should be greater than or equal to 1: query.page"


def test_a_long_key_of_the_client_is_shown_only_in_part() -> None:
    error = refusal_of_json("SearchRequest", json_search(**{"k" * 5000: 1}))
    assert error.message == f"Extra inputs are not permitted: {'k' * 100}"


def test_a_refusal_does_not_carry_the_refused_values() -> None:
    error = refusal_of_json("AddRequest", json_add(json_message(content="secret", role="system")))
    assert "secret" not in repr(error)
    assert error.__cause__ is None
    assert error.__suppress_context__


def test_extras_nested_deeper_than_protobuf_reads_are_refused() -> None:
    deep: dict[str, Any] = {}
    for _ in range(40):
        deep = {"a": [deep]}
    error = refusal_of_json("AddRequest", json_items({"type": "text", "extras": deep}))
    expected = "Input should be nested at most 24 levels deep: messages.0.content.0.extras"
    assert error.message == expected


def test_an_upload_is_refused_by_its_description_or_for_want_of_anything() -> None:
    with pytest.raises(ServiceError) as caught:
        validate_message(knowledge_pb2.CreateDocumentRequest())
    assert caught.value.message == "Field required: metadata"
    untitled = knowledge_pb2.DocumentMetadata(source_type="note")
    with pytest.raises(ServiceError) as caught:
        validate_message(knowledge_pb2.CreateDocumentRequest(metadata=untitled))
    assert caught.value.message == "Field required: title"
