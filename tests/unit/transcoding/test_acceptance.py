"""What is accepted, and as what the servicers see it."""

from __future__ import annotations

from datetime import UTC
from typing import Any

import pytest
from google.protobuf import struct_pb2

from remanence.v2 import knowledge_pb2, memory_pb2, options_pb2
from remanence_http import memory
from remanence_server.api.transcoding import validate_message
from remanence_server.api.transcoding.validation import validate
from remanence_server.runtime.errors import ServiceError

T0 = 1_779_967_836_000


def add_from_json(body: dict[str, Any]) -> memory_pb2.AddRequest:
    return memory.add_request_to_proto(validate(memory.AddRequest, body))


def message(**fields: Any) -> dict[str, Any]:
    return {"sender_id": "al", "role": "user", "timestamp": T0, "content": "hi", **fields}


FULL_ADD: dict[str, Any] = {
    "session_id": "s",
    "app_id": "app",
    "messages": [
        message(sender_name="Al", message_id="m1"),
        message(
            role="assistant",
            content=[
                {"type": "text", "text": "look"},
                {"type": "pdf", "base64": "aGk=", "ext": "pdf", "extras": {"page": 3, "x": [None]}},
            ],
            tool_calls=[{"id": "c", "function": {"name": "f", "arguments": ""}}],
        ),
        message(role="tool", content="", tool_call_id="c"),
        message(content=[]),
    ],
    "async_mode": True,
}


def test_a_request_in_json_becomes_the_message_that_grpc_would_send() -> None:
    sent = memory_pb2.AddRequest(
        session_id="s",
        app_id="app",
        async_mode=True,
        messages=[
            memory_pb2.MessageItem(
                sender_id="al",
                sender_name="Al",
                role=memory_pb2.ROLE_USER,
                timestamp=T0,
                text="hi",
                message_id="m1",
            ),
            memory_pb2.MessageItem(
                sender_id="al",
                role=memory_pb2.ROLE_ASSISTANT,
                timestamp=T0,
                items=memory_pb2.ContentItemList(
                    items=[
                        memory_pb2.ContentItem(type=memory_pb2.CONTENT_TYPE_TEXT, text="look"),
                        memory_pb2.ContentItem(
                            type=memory_pb2.CONTENT_TYPE_PDF,
                            base64="aGk=",
                            ext="pdf",
                            extras=struct_pb2.Struct(
                                fields={
                                    "page": struct_pb2.Value(number_value=3),
                                    "x": struct_pb2.Value(
                                        list_value=struct_pb2.ListValue(
                                            values=[
                                                struct_pb2.Value(null_value=struct_pb2.NULL_VALUE)
                                            ]
                                        )
                                    ),
                                }
                            ),
                        ),
                    ]
                ),
                tool_calls=[
                    memory_pb2.ToolCall(
                        id="c", function=memory_pb2.ToolFunction(name="f", arguments="")
                    )
                ],
            ),
            memory_pb2.MessageItem(
                sender_id="al",
                role=memory_pb2.ROLE_TOOL,
                timestamp=T0,
                text="",
                tool_call_id="c",
            ),
            memory_pb2.MessageItem(
                sender_id="al",
                role=memory_pb2.ROLE_USER,
                timestamp=T0,
                items=memory_pb2.ContentItemList(),
            ),
        ],
    )
    seen = add_from_json(FULL_ADD)
    assert seen == validate_message(sent)
    assert seen.project_id == "default"
    assert seen.messages[1].tool_calls[0].type == "function"
    assert seen.messages[2].WhichOneof("content") == "text"
    assert seen.messages[3].WhichOneof("content") == "items"


def test_validating_twice_changes_nothing_more() -> None:
    once = add_from_json(FULL_ADD)
    assert validate_message(once) == once


@pytest.mark.parametrize(
    ("sent", "seen"),
    [
        (T0, T0),
        (str(T0), T0),
        (T0 // 1000, T0),
        (99_999_999_999, 99_999_999_999_000),
        (100_000_000_000, 100_000_000_000),
        (253_402_300_799_999, 253_402_300_799_999),
    ],
)
def test_epochs_are_seen_in_milliseconds(sent: int | str, seen: int) -> None:
    request = add_from_json({"session_id": "s", "messages": [message(timestamp=sent)]})
    assert request.messages[0].timestamp == seen


def test_unknown_keys_are_ignored_where_the_contract_does_not_refuse_them() -> None:
    request = add_from_json({"session_id": "s", "messages": [message(zzz=1)], "zzz": 1})
    assert len(request.messages) == 1


def test_absent_fields_and_nulls_that_say_nothing_get_their_defaults() -> None:
    nulls = dict.fromkeys(("agent_id", "filters", "radius", "min_score", "page_token"))
    for body in ({"user_id": "u", "query": "x"}, {"user_id": "u", "query": "x", **nulls}):
        seen = memory.search_request_to_proto(validate(memory.SearchRequest, body))
        assert (seen.app_id, seen.project_id) == ("default", "default")
        assert (seen.method, seen.top_k) == (memory_pb2.SEARCH_METHOD_HYBRID, -1)
        assert not seen.HasField("radius")
        assert not seen.HasField("filters")
        assert not seen.include_profile
        assert validate_message(memory_pb2.SearchRequest(user_id="u", query="x")) == seen


def test_an_unspecified_enum_over_grpc_counts_as_absent() -> None:
    sent = memory_pb2.SearchRequest(user_id="u", query="x", method="SEARCH_METHOD_UNSPECIFIED")
    assert validate_message(sent).method == memory_pb2.SEARCH_METHOD_HYBRID


def test_integers_are_good_for_doubles() -> None:
    body = {"user_id": "u", "query": "x", "radius": 1, "min_score": 0}
    seen = memory.search_request_to_proto(validate(memory.SearchRequest, body))
    assert (seen.radius, seen.min_score) == (1.0, 0.0)
    assert seen.HasField("min_score")


def test_flush_waits_unless_told_not_to() -> None:
    assert validate_message(memory_pb2.FlushRequest(session_id="s")).wait
    assert not validate_message(memory_pb2.FlushRequest(session_id="s", wait=False)).wait


def test_the_description_of_an_upload_gets_defaults_and_chunks_pass() -> None:
    metadata = knowledge_pb2.DocumentMetadata(title="Guide", file_name="a.md")
    seen = validate_message(knowledge_pb2.CreateDocumentRequest(metadata=metadata))
    assert (seen.metadata.app_id, seen.metadata.file_name) == ("default", "a.md")
    chunk = knowledge_pb2.CreateDocumentRequest(chunk=b"bytes")
    assert validate_message(chunk) == chunk
    empty = knowledge_pb2.CreateDocumentRequest(chunk=b"")
    assert validate_message(empty) == empty


def test_a_message_outside_the_contract_passes_as_it_is() -> None:
    other = options_pb2.FieldRules(required=True)
    assert validate_message(other) is other


def test_a_message_in_a_response_has_the_shape_of_one_in_a_request() -> None:
    item = add_from_json(FULL_ADD).messages[1]
    stored = memory_pb2.UnprocessedMessage(
        id="m", role=item.role, items=item.items, tool_calls=item.tool_calls
    )
    data = memory.unprocessed_message_json(stored, UTC)
    sent = FULL_ADD["messages"][1]
    assert data["content"] == sent["content"]
    assert data["tool_calls"] == [{**sent["tool_calls"][0], "type": "function"}]
    assert data["role"] == "assistant"


@pytest.mark.parametrize("name", ["app_id", "project_id", "method", "top_k", "include_profile"])
def test_null_is_no_value_for_a_field_with_a_default(name: str) -> None:
    with pytest.raises(ServiceError) as raised:
        validate(memory.SearchRequest, {"user_id": "u", "query": "x", name: None})
    assert raised.value.field == name


def test_a_number_without_fraction_is_an_integer_as_far_as_doubles_count() -> None:
    body = {"user_id": "u", "query": "x", "top_k": 5.0}
    assert memory.search_request_to_proto(validate(memory.SearchRequest, body)).top_k == 5
    message = {"sender_id": "u", "role": "user", "content": "x", "timestamp": 1_767_225_600_000.0}
    seen = validate(memory.AddRequest, {"session_id": "s", "messages": [message]})
    assert seen.messages[0].timestamp == 1_767_225_600_000
    for value in (5.5, 2.0**53 + 2):
        with pytest.raises(ServiceError):
            validate(memory.SearchRequest, {**body, "top_k": value})
