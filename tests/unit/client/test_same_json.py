"""The client and the HTTP surface of the server agree on JSON, in both directions."""

from __future__ import annotations

import json
from datetime import UTC
from typing import Any

import pytest
from google.protobuf.descriptor import FieldDescriptor

import remanence_client as rc
import remanence_http.jobs as http_jobs
import remanence_http.memory as http_memory
import remanence_http.ome as http_ome
import remanence_http.ops as http_ops
import remanence_http.tasks as http_tasks
from remanence.v2 import jobs_pb2, memory_pb2, ome_pb2, ops_pb2, tasks_pb2
from remanence_client._reader import read_message
from remanence_client.filters import filter_node
from remanence_client.inputs import message_item


def filled(message: Any, *, milliseconds: int = 0) -> Any:
    """The message with something in every field, two of everything repeated."""
    descriptor = message.DESCRIPTOR
    if descriptor.full_name == "google.protobuf.Timestamp":
        message.FromMilliseconds(1_779_967_836_000 + milliseconds)
        return message
    if descriptor.full_name == "google.protobuf.Struct":
        message.update({"text": "x", "list": [{"number": 1.5, "whole": 3}, None], "flag": True})
        return message
    for field in descriptor.fields:
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            getattr(message, field.name)["key"] = 3
        elif field.message_type is not None and field.is_repeated:
            for number in range(2):
                filled(getattr(message, field.name).add(), milliseconds=number * 250)
        elif field.message_type is not None:
            getattr(message, field.name).SetInParent()
            filled(getattr(message, field.name), milliseconds=milliseconds)
        elif field.is_repeated:
            getattr(message, field.name).extend([_scalar(field), _scalar(field)])
        else:
            setattr(message, field.name, _scalar(field))
    return message


def bare(message: Any) -> Any:
    """The message with one bare item in everything repeated, and nothing that may be left out."""
    if "content" in message.DESCRIPTOR.oneofs_by_name:
        message.text = ""
    if message.DESCRIPTOR.name == "ToolCall":
        # A stored call has them: one is required, the other has a default.
        message.type = message.function.arguments = ""
    for field in message.DESCRIPTOR.fields:
        if field.enum_type is not None:
            setattr(message, field.name, 1)
        elif field.message_type is None or field.message_type.GetOptions().map_entry:
            continue
        elif field.is_repeated:
            bare(getattr(message, field.name).add())
        elif field.containing_oneof is None and field.message_type.file.package == "remanence.v2":
            getattr(message, field.name).SetInParent()
            bare(getattr(message, field.name))
        elif field.containing_oneof is None:
            getattr(message, field.name).SetInParent()
    return message


def as_text(data: Any) -> str:
    # As values, 3 and 3.0 would be the same.
    return json.dumps(data, indent=1, sort_keys=True)


def _scalar(field: FieldDescriptor) -> Any:
    if field.enum_type is not None:
        return field.enum_type.values[-1].number
    match field.cpp_type:
        case FieldDescriptor.CPPTYPE_STRING:
            return f"text of {field.name}"
        case FieldDescriptor.CPPTYPE_BOOL:
            return True
        case FieldDescriptor.CPPTYPE_DOUBLE:
            return 0.25
    return field.number


PAIRS = [
    (rc.AddResult, memory_pb2.AddResponse, http_memory.add_response_json),
    (rc.FlushResult, memory_pb2.FlushResponse, http_memory.flush_response_json),
    (rc.SearchResult, memory_pb2.SearchResponse, http_memory.search_response_json),
    (rc.Page, memory_pb2.GetResponse, http_memory.get_response_json),
    (rc.DeleteResult, memory_pb2.DeleteResponse, http_memory.delete_response_json),
    (rc.Task, tasks_pb2.GetTaskResponse, http_tasks.get_task_response_json),
    (rc.TaskPage, tasks_pb2.ListTasksResponse, http_tasks.list_tasks_response_json),
    (rc.JobPage, jobs_pb2.ListJobsResponse, http_jobs.list_jobs_response_json),
    (rc.TriggerResult, ome_pb2.TriggerResponse, http_ome.trigger_response_json),
    (rc.Health, ops_pb2.GetHealthResponse, http_ops.get_health_response_json),
    (rc.QuiesceResult, ops_pb2.QuiesceResponse, http_ops.quiesce_response_json),
    (rc.RebuildResult, ops_pb2.RebuildResponse, http_ops.rebuild_response_json),
]


@pytest.mark.parametrize(("cls", "message", "http_json"), PAIRS)
def test_a_full_answer_is_the_same_json(cls: Any, message: Any, http_json: Any) -> None:
    answer = filled(message())
    for field in {"truncated", "next_page_token"} & set(answer.DESCRIPTOR.fields_by_name):
        answer.ClearField(field)  # a client gives an answer whole
    assert as_text(rc.to_json(read_message(cls, answer))) == as_text(http_json(answer, UTC))


@pytest.mark.parametrize(("cls", "message", "http_json"), PAIRS)
def test_an_answer_with_bare_items_is_the_same_json(cls: Any, message: Any, http_json: Any) -> None:
    answer = bare(message())
    assert as_text(rc.to_json(read_message(cls, answer))) == as_text(http_json(answer, UTC))


MESSAGE = {"sender_id": "a", "role": "user", "timestamp": 1_779_967_836_000, "content": "x"}


@pytest.mark.parametrize(
    "item",
    [
        MESSAGE,
        {**MESSAGE, "content": "", "sender_name": "", "message_id": "m", "tool_calls": None},
        {**MESSAGE, "content": []},
        {
            **MESSAGE,
            "content": [
                {"type": "text", "text": "x"},
                {"type": "image", "uri": "https://a/b", "name": "n", "extras": {"k": [1, "x"]}},
                {"type": "pdf", "base64": "AA==", "ext": "pdf"},
            ],
        },
        {
            **MESSAGE,
            "role": "assistant",
            "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}],
        },
        {**MESSAGE, "role": "tool", "tool_call_id": "c"},
    ],
)
def test_a_message_in_json_is_the_same_request(item: dict[str, Any]) -> None:
    through_http = http_memory.message_item_to_proto(http_memory.MessageItem.model_validate(item))
    assert message_item(item, "") == through_http


@pytest.mark.parametrize(
    "filters",
    [
        {},
        {"session_id": "s"},
        {"session_id": {"eq": "s"}, "timestamp": {"gte": 1, "lt": "2026-01-01"}},
        {"OR": []},
        {"AND": [{"sender_id": {"in": ["a", "b"]}}], "OR": [{"parent_id": "p"}, {}]},
        {"session_id": 5, "parent_type": True, "timestamp": 1.5},
    ],
)
def test_a_filter_in_json_is_the_same_tree(filters: dict[str, Any]) -> None:
    body = {"query": "q", "user_id": "u", "filters": filters}
    request = http_memory.SearchRequest.model_validate(body)
    through_http = http_memory.search_request_to_proto(request)
    assert filter_node(filters) == through_http.filters
