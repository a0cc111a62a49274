"""Every call of the API as a value: what to send, where, and how to read the answer.

Both clients send these; neither knows anything about requests.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from google.protobuf.message import Message as ProtobufMessage

from remanence.v2 import memory_pb2, ome_pb2, ops_pb2, tasks_pb2
from remanence_client import health as health_values
from remanence_client import results
from remanence_client._channel import MAXIMUM_RESPONSE_BYTES
from remanence_client._enums import enum_number
from remanence_client._reader import read_message
from remanence_client.errors import invalid_input
from remanence_client.filters import Filters, filter_node
from remanence_client.inputs import Message, message_item

# Lets the server send what our channel takes, which is more than it would expect.
_RECEIVES_LARGE_ANSWERS = (("x-max-response-bytes", str(MAXIMUM_RESPONSE_BYTES)),)


@dataclass(frozen=True, slots=True)
class Call[Result]:
    """One call. `extra_seconds` is time the server itself was asked to spend.

    `part` is the field of the answer that is the result; "" when it is the answer itself.
    """

    method: str
    request: ProtobufMessage
    response_type: type[ProtobufMessage]
    result_type: type[Result]
    extra_seconds: float = 0.0
    wait_for_ready: bool = False
    metadata: tuple[tuple[str, str], ...] = ()
    part: str = ""

    def read(self, response: ProtobufMessage, request_id: str | None) -> Result:
        """The result for an answer."""
        if self.part:
            response = getattr(response, self.part)
        if "request_id" in self.result_type.__annotations__:
            return read_message(self.result_type, response, request_id=request_id)
        return read_message(self.result_type, response)


def add(
    session_id: str,
    messages: Iterable[Message | Mapping[str, Any]],
    *,
    app_id: str | None,
    project_id: str | None,
    defer_extraction: bool,
    async_mode: bool,
    give_ids: bool,
    idempotency_key: str | None,
) -> Call[results.AddResult]:
    """`give_ids` names messages without an id, so that sending the request twice is harmless."""
    if isinstance(messages, (Message, Mapping)):
        raise invalid_input("Input should be a list of messages", "messages")
    items = [message_item(each, f"messages[{index}].") for index, each in enumerate(messages)]
    if give_ids:
        for item in items:
            if not item.HasField("message_id"):
                item.message_id = uuid.uuid4().hex
    request = memory_pb2.AddRequest(
        session_id=session_id,
        app_id=app_id,
        project_id=project_id,
        messages=items,
        defer_extraction=defer_extraction,
        async_mode=async_mode,
    )
    return _memory(
        "Add", request, memory_pb2.AddResponse, results.AddResult, _keyed(idempotency_key)
    )


def flush(
    session_id: str,
    *,
    app_id: str | None,
    project_id: str | None,
    wait: bool | None,
    idempotency_key: str | None,
) -> Call[results.FlushResult]:
    """Closes the buffered segment of a session."""
    request = memory_pb2.FlushRequest(
        session_id=session_id, app_id=app_id, project_id=project_id, wait=wait
    )
    return _memory(
        "Flush", request, memory_pb2.FlushResponse, results.FlushResult, _keyed(idempotency_key)
    )


def search(
    query: str,
    *,
    user_id: str | None,
    agent_id: str | None,
    app_id: str | None,
    project_id: str | None,
    method: str | None,
    top_k: int | None,
    radius: float | None,
    min_score: float | None,
    include_profile: bool,
    enable_llm_rerank: bool,
    filters: Filters | None,
) -> Call[results.SearchResult]:
    """Finds memories of one owner."""
    request = memory_pb2.SearchRequest(
        query=query,
        user_id=user_id,
        agent_id=agent_id,
        app_id=app_id,
        project_id=project_id,
        method=optional_number(memory_pb2.SearchMethod, method, "method"),
        top_k=top_k,
        radius=radius,
        min_score=min_score,
        include_profile=include_profile,
        enable_llm_rerank=enable_llm_rerank,
        filters=None if filters is None else filter_node(filters),
    )
    return _memory(
        "Search", request, memory_pb2.SearchResponse, results.SearchResult, _RECEIVES_LARGE_ANSWERS
    )


def get(
    memory_type: str,
    *,
    user_id: str | None,
    agent_id: str | None,
    app_id: str | None,
    project_id: str | None,
    page: int | None,
    page_size: int | None,
    sort_by: str | None,
    sort_order: str | None,
    filters: Filters | None,
) -> Call[results.Page]:
    """Lists memories of one owner."""
    request = memory_pb2.GetRequest(
        memory_type=enum_number(memory_pb2.MemoryType, memory_type, "memory_type"),
        user_id=user_id,
        agent_id=agent_id,
        app_id=app_id,
        project_id=project_id,
        page=page,
        page_size=page_size,
        sort_by=optional_number(memory_pb2.SortBy, sort_by, "sort_by"),
        sort_order=optional_number(memory_pb2.SortOrder, sort_order, "sort_order"),
        filters=None if filters is None else filter_node(filters),
    )
    return _memory("Get", request, memory_pb2.GetResponse, results.Page, _RECEIVES_LARGE_ANSWERS)


def delete(
    *,
    user_id: str | None,
    agent_id: str | None,
    app_id: str | None,
    project_id: str | None,
    ids: Sequence[str],
    session_id: str | None,
    filters: Filters | None,
    everything: bool,
    idempotency_key: str | None,
) -> Call[results.DeleteResult]:
    """Removes memories of one owner."""
    request = memory_pb2.DeleteRequest(
        user_id=user_id,
        agent_id=agent_id,
        app_id=app_id,
        project_id=project_id,
        ids=ids,
        session_id=session_id,
        filters=None if filters is None else filter_node(filters),
        everything=everything,
    )
    return _memory(
        "Delete", request, memory_pb2.DeleteResponse, results.DeleteResult, _keyed(idempotency_key)
    )


def request_for_the_rest(request: Any, response: Any) -> Any:
    """The request that brings what an answer had no room for; None when the answer is whole."""
    if "next_page_token" not in response.DESCRIPTOR.fields_by_name or not response.next_page_token:
        return None
    following = type(request)()
    following.CopyFrom(request)
    following.page_token = response.next_page_token
    return following


def join(response: Any, rest: Any) -> None:
    """Adds what a further answer brought to the first one."""
    response.ClearField("truncated")
    response.ClearField("next_page_token")
    counted = "count" in response.DESCRIPTOR.fields_by_name
    count = response.count + rest.count if counted else 0
    response.MergeFrom(rest)
    if counted:
        response.count = count


def get_task(task_id: str) -> Call[results.Task]:
    """The state of a queued request."""
    return Call(
        "/remanence.v2.TaskService/GetTask",
        tasks_pb2.GetTaskRequest(task_id=task_id),
        tasks_pb2.GetTaskResponse,
        results.Task,
    )


def list_tasks(
    *,
    session_id: str | None,
    status: str | None,
    page: int | None,
    page_size: int | None,
    app_id: str | None,
    project_id: str | None,
) -> Call[results.TaskPage]:
    """Queued requests of a scope."""
    request = tasks_pb2.ListTasksRequest(
        session_id=session_id,
        status=optional_number(tasks_pb2.TaskStatus, status, "status"),
        page=page,
        page_size=page_size,
        app_id=app_id,
        project_id=project_id,
    )
    return Call(
        "/remanence.v2.TaskService/ListTasks",
        request,
        tasks_pb2.ListTasksResponse,
        results.TaskPage,
    )


def trigger(name: str, *, wait_seconds: float | None, force: bool) -> Call[results.TriggerResult]:
    """Runs a strategy and waits for it."""
    return Call(
        "/remanence.v2.OmeService/Trigger",
        ome_pb2.TriggerRequest(name=name, timeout=wait_seconds, force=force),
        ome_pb2.TriggerResponse,
        results.TriggerResult,
        extra_seconds=120.0 if wait_seconds is None else wait_seconds,
    )


def health() -> Call[health_values.Health]:
    """What works and how much is waiting."""
    return Call(
        "/remanence.v2.OpsService/GetHealth",
        ops_pb2.GetHealthRequest(),
        ops_pb2.GetHealthResponse,
        health_values.Health,
    )


def rebuild() -> Call[results.RebuildResult]:
    """Makes the index anew."""
    return Call(
        "/remanence.v2.OpsService/Rebuild",
        ops_pb2.RebuildRequest(),
        ops_pb2.RebuildResponse,
        results.RebuildResult,
    )


def wait_until_ready() -> Call[health_values.Health]:
    """The health report, as soon as there is a server to give it."""
    return replace(health(), wait_for_ready=True)


def quiesce() -> Call[results.QuiesceResult]:
    """Drains the Markdown-to-index queue and stops following Markdown."""
    return Call(
        "/remanence.v2.OpsService/Quiesce",
        ops_pb2.QuiesceRequest(),
        ops_pb2.QuiesceResponse,
        results.QuiesceResult,
    )


def _memory[Result](
    name: str,
    request: ProtobufMessage,
    response_type: type[ProtobufMessage],
    result_type: type[Result],
    metadata: tuple[tuple[str, str], ...],
) -> Call[Result]:
    method = f"/remanence.v2.MemoryService/{name}"
    return Call(method, request, response_type, result_type, metadata=metadata)


def _keyed(idempotency_key: str | None) -> tuple[tuple[str, str], ...]:
    return () if idempotency_key is None else (("idempotency-key", idempotency_key),)


def optional_number(enum: Any, word: str | None, where: str) -> Any:
    """The number of a word, None for None. Raises InvalidInputError for an unknown word."""
    return None if word is None else enum_number(enum, word, where)
