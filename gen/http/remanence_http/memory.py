# Generated from remanence/v2/memory.proto by remanence_generator. Do not edit.
"""Requests, responses and routes of remanence/v2/memory.proto."""

from __future__ import annotations

from datetime import tzinfo
from typing import Annotated, Any, Literal, Protocol, Self

from fastapi import APIRouter, Request, Response
from pydantic import ConfigDict, Field, model_validator
from remanence.v2 import memory_pb2
from remanence_server.api.transcoding.bindings import HttpBinding, add_routes
from remanence_server.api.transcoding.context import CallContext
from remanence_server.api.transcoding.fields import (
    EPOCH,
    TEXT_OR_LIST,
    WHOLE,
    WHOLE_OR_DIGITS,
    JsonObject,
    RequestModel,
    between,
    count_set,
    refused,
)
from remanence_server.api.transcoding.filters import Filters
from remanence_server.api.transcoding.validation import MessageBinding, Registry, validate
from remanence_server.api.transcoding.values import struct_json, struct_to_proto, timestamp_text

_ROLE_NUMBERS = {
    "user": memory_pb2.ROLE_USER,
    "assistant": memory_pb2.ROLE_ASSISTANT,
    "tool": memory_pb2.ROLE_TOOL,
}
_ROLE_NAMES = {number: name for name, number in _ROLE_NUMBERS.items()}


_CONTENT_TYPE_NUMBERS = {
    "text": memory_pb2.CONTENT_TYPE_TEXT,
    "image": memory_pb2.CONTENT_TYPE_IMAGE,
    "audio": memory_pb2.CONTENT_TYPE_AUDIO,
    "doc": memory_pb2.CONTENT_TYPE_DOC,
    "pdf": memory_pb2.CONTENT_TYPE_PDF,
    "html": memory_pb2.CONTENT_TYPE_HTML,
    "email": memory_pb2.CONTENT_TYPE_EMAIL,
}
_CONTENT_TYPE_NAMES = {number: name for name, number in _CONTENT_TYPE_NUMBERS.items()}


_ADD_STATUS_NUMBERS = {
    "accumulated": memory_pb2.ADD_STATUS_ACCUMULATED,
    "extracted": memory_pb2.ADD_STATUS_EXTRACTED,
    "queued": memory_pb2.ADD_STATUS_QUEUED,
}
_ADD_STATUS_NAMES = {number: name for name, number in _ADD_STATUS_NUMBERS.items()}


_FLUSH_STATUS_NUMBERS = {
    "extracted": memory_pb2.FLUSH_STATUS_EXTRACTED,
    "no_extraction": memory_pb2.FLUSH_STATUS_NO_EXTRACTION,
    "queued": memory_pb2.FLUSH_STATUS_QUEUED,
}
_FLUSH_STATUS_NAMES = {number: name for name, number in _FLUSH_STATUS_NUMBERS.items()}


_SEARCH_METHOD_NUMBERS = {
    "keyword": memory_pb2.SEARCH_METHOD_KEYWORD,
    "vector": memory_pb2.SEARCH_METHOD_VECTOR,
    "hybrid": memory_pb2.SEARCH_METHOD_HYBRID,
    "agentic": memory_pb2.SEARCH_METHOD_AGENTIC,
    "llm_multiround": memory_pb2.SEARCH_METHOD_LLM_MULTIROUND,
}
_SEARCH_METHOD_NAMES = {number: name for name, number in _SEARCH_METHOD_NUMBERS.items()}


_MEMORY_TYPE_NUMBERS = {
    "episode": memory_pb2.MEMORY_TYPE_EPISODE,
    "profile": memory_pb2.MEMORY_TYPE_PROFILE,
    "agent_case": memory_pb2.MEMORY_TYPE_AGENT_CASE,
    "agent_skill": memory_pb2.MEMORY_TYPE_AGENT_SKILL,
}
_MEMORY_TYPE_NAMES = {number: name for name, number in _MEMORY_TYPE_NUMBERS.items()}


_SORT_BY_NUMBERS = {
    "timestamp": memory_pb2.SORT_BY_TIMESTAMP,
    "updated_at": memory_pb2.SORT_BY_UPDATED_AT,
}
_SORT_BY_NAMES = {number: name for name, number in _SORT_BY_NUMBERS.items()}


_SORT_ORDER_NUMBERS = {
    "asc": memory_pb2.SORT_ORDER_ASC,
    "desc": memory_pb2.SORT_ORDER_DESC,
}
_SORT_ORDER_NAMES = {number: name for name, number in _SORT_ORDER_NUMBERS.items()}


class ContentItem(RequestModel):
    """One part of a message body. The payload is in exactly one of `text`, `uri` and `base64`."""

    model_config = ConfigDict(extra="forbid")

    type: Literal["text", "image", "audio", "doc", "pdf", "html", "email"]
    # The literal text; only for type "text".
    text: Annotated[str, Field(strict=True)] | None = None
    # http(s):// or file://, within the server's fetch policy.
    uri: Annotated[str, Field(strict=True)] | None = None
    # Inline payload, plain base64 without a `data:` prefix. Needs `ext`.
    base64: Annotated[str, Field(strict=True)] | None = None
    # File extension without the dot ("pdf", "png"), where the uri does not show it.
    ext: Annotated[str, Field(strict=True)] | None = None
    # Display name of the file.
    name: Annotated[str, Field(strict=True)] | None = None
    # Opaque metadata.
    extras: JsonObject | None = None

    @model_validator(mode="after")
    def _check_rules(self) -> Self:
        if count_set(self.uri, self.base64) > 1:
            raise ValueError("uri and base64 are mutually exclusive")
        return self


def content_item_to_proto(model: ContentItem) -> memory_pb2.ContentItem:
    return memory_pb2.ContentItem(
        type=_CONTENT_TYPE_NUMBERS[model.type],
        text=model.text,
        uri=model.uri,
        base64=model.base64,
        ext=model.ext,
        name=model.name,
        extras=None if model.extras is None else struct_to_proto(model.extras),
    )


def content_item_input(pb: memory_pb2.ContentItem) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if pb.type:
        data["type"] = _CONTENT_TYPE_NAMES.get(pb.type, pb.type)
    if pb.HasField("text"):
        data["text"] = pb.text
    if pb.HasField("uri"):
        data["uri"] = pb.uri
    if pb.HasField("base64"):
        data["base64"] = pb.base64
    if pb.HasField("ext"):
        data["ext"] = pb.ext
    if pb.HasField("name"):
        data["name"] = pb.name
    if pb.HasField("extras"):
        data["extras"] = struct_json(pb.extras)
    return data


class ToolFunction(RequestModel):
    """Request message remanence.v2.ToolFunction."""

    # Function name as registered with the agent.
    name: Annotated[str, Field(strict=True)]
    # JSON as text, not an object. It has presence because an empty text is a legal value.
    arguments: Annotated[str, Field(strict=True)]


def tool_function_to_proto(model: ToolFunction) -> memory_pb2.ToolFunction:
    return memory_pb2.ToolFunction(
        name=model.name,
        arguments=model.arguments,
    )


def tool_function_input(pb: memory_pb2.ToolFunction) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if pb.name:
        data["name"] = pb.name
    if pb.HasField("arguments"):
        data["arguments"] = pb.arguments
    return data


class ToolCall(RequestModel):
    """A tool invocation by the assistant, in the shape of OpenAI's Chat Completions."""

    # Echoed by the `tool_call_id` of the paired tool message.
    id: Annotated[str, Field(strict=True)]
    # Only "function" has a meaning.
    type: Annotated[str, Field(strict=True)] = "function"
    function: ToolFunction


def tool_call_to_proto(model: ToolCall) -> memory_pb2.ToolCall:
    return memory_pb2.ToolCall(
        id=model.id,
        type=model.type,
        function=tool_function_to_proto(model.function),
    )


def tool_call_input(pb: memory_pb2.ToolCall) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if pb.id:
        data["id"] = pb.id
    if pb.HasField("type"):
        data["type"] = pb.type
    if pb.HasField("function"):
        data["function"] = tool_function_input(pb.function)
    return data


class MessageItem(RequestModel):
    """One turn of a conversation or of a tool run."""

    # Who produced the turn. For role "user" this is the user id that owns the memories.
    sender_id: Annotated[
        str,
        Field(strict=True, min_length=1, max_length=128, pattern="^[a-zA-Z0-9_.@+-]+$"),
        refused(".", ".."),
    ]
    # Display name, used in the text of memories.
    sender_name: Annotated[str, Field(strict=True)] | None = None
    role: Literal["user", "assistant", "tool"]
    # Unix epoch in milliseconds (seconds are recognised below 10^11).
    timestamp: Annotated[
        int, Field(strict=True, gt=0, le=9223372036854775807), WHOLE_OR_DIGITS, EPOCH
    ]
    content: Annotated[str | list[ContentItem], TEXT_OR_LIST]
    tool_calls: list[ToolCall] | None = None
    # The call this message answers. Required for role "tool".
    tool_call_id: Annotated[str, Field(strict=True)] | None = None
    # The client's own id of the message; sending it twice stores it once. An extension.
    message_id: Annotated[str, Field(strict=True, min_length=1, max_length=256)] | None = None

    @model_validator(mode="after")
    def _check_rules(self) -> Self:
        if self.role in ("tool",) and not self.tool_call_id:
            raise ValueError("tool_call_id is required when role is 'tool'")
        return self


def message_item_to_proto(model: MessageItem) -> memory_pb2.MessageItem:
    return memory_pb2.MessageItem(
        sender_id=model.sender_id,
        sender_name=model.sender_name,
        role=_ROLE_NUMBERS[model.role],
        timestamp=model.timestamp,
        text=model.content if isinstance(model.content, str) else None,
        items=(
            memory_pb2.ContentItemList(
                items=[content_item_to_proto(item) for item in model.content]
            )
            if isinstance(model.content, list)
            else None
        ),
        tool_calls=[tool_call_to_proto(item) for item in model.tool_calls or ()],
        tool_call_id=model.tool_call_id,
        message_id=model.message_id,
    )


def message_item_input(pb: memory_pb2.MessageItem) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if pb.sender_id:
        data["sender_id"] = pb.sender_id
    if pb.HasField("sender_name"):
        data["sender_name"] = pb.sender_name
    if pb.role:
        data["role"] = _ROLE_NAMES.get(pb.role, pb.role)
    if pb.timestamp:
        data["timestamp"] = pb.timestamp
    if pb.HasField("text"):
        data["content"] = pb.text
    elif pb.HasField("items"):
        data["content"] = [content_item_input(item) for item in pb.items.items]
    if pb.tool_calls:
        data["tool_calls"] = [tool_call_input(item) for item in pb.tool_calls]
    if pb.HasField("tool_call_id"):
        data["tool_call_id"] = pb.tool_call_id
    if pb.HasField("message_id"):
        data["message_id"] = pb.message_id
    return data


class AddRequest(RequestModel):
    """Request message remanence.v2.AddRequest."""

    session_id: Annotated[str, Field(strict=True, min_length=1, max_length=128)]
    app_id: Annotated[
        str,
        Field(strict=True, min_length=1, max_length=128, pattern="^[a-zA-Z0-9_.@+-]+$"),
        refused(".", "..", "default_app"),
    ] = "default"
    project_id: Annotated[
        str,
        Field(strict=True, min_length=1, max_length=128, pattern="^[a-zA-Z0-9_.@+-]+$"),
        refused(".", "..", "default_project"),
    ] = "default"
    messages: Annotated[list[MessageItem], Field(min_length=1, max_length=500)]
    # Buffer durably, without boundary detection and extraction.
    defer_extraction: Annotated[bool, Field(strict=True)] = False
    # Queue the batch and answer 202.
    async_mode: Annotated[bool, Field(strict=True)] = False


def add_request_to_proto(model: AddRequest) -> memory_pb2.AddRequest:
    return memory_pb2.AddRequest(
        session_id=model.session_id,
        app_id=model.app_id,
        project_id=model.project_id,
        messages=[message_item_to_proto(item) for item in model.messages],
        defer_extraction=model.defer_extraction,
        async_mode=model.async_mode,
    )


def add_request_input(pb: memory_pb2.AddRequest) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if pb.session_id:
        data["session_id"] = pb.session_id
    if pb.HasField("app_id"):
        data["app_id"] = pb.app_id
    if pb.HasField("project_id"):
        data["project_id"] = pb.project_id
    if pb.messages:
        data["messages"] = [message_item_input(item) for item in pb.messages]
    data["defer_extraction"] = pb.defer_extraction
    data["async_mode"] = pb.async_mode
    return data


class FlushRequest(RequestModel):
    """Request message remanence.v2.FlushRequest."""

    session_id: Annotated[str, Field(strict=True, min_length=1, max_length=128)]
    app_id: Annotated[
        str,
        Field(strict=True, min_length=1, max_length=128, pattern="^[a-zA-Z0-9_.@+-]+$"),
        refused(".", "..", "default_app"),
    ] = "default"
    project_id: Annotated[
        str,
        Field(strict=True, min_length=1, max_length=128, pattern="^[a-zA-Z0-9_.@+-]+$"),
        refused(".", "..", "default_project"),
    ] = "default"
    # Answer only when the new entries can be found, within a bounded time. An extension.
    wait: Annotated[bool, Field(strict=True)] = True


def flush_request_to_proto(model: FlushRequest) -> memory_pb2.FlushRequest:
    return memory_pb2.FlushRequest(
        session_id=model.session_id,
        app_id=model.app_id,
        project_id=model.project_id,
        wait=model.wait,
    )


def flush_request_input(pb: memory_pb2.FlushRequest) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if pb.session_id:
        data["session_id"] = pb.session_id
    if pb.HasField("app_id"):
        data["app_id"] = pb.app_id
    if pb.HasField("project_id"):
        data["project_id"] = pb.project_id
    if pb.HasField("wait"):
        data["wait"] = pb.wait
    return data


class SearchRequest(RequestModel):
    """Request message remanence.v2.SearchRequest."""

    model_config = ConfigDict(extra="forbid")

    user_id: Annotated[str, Field(strict=True, min_length=1)] | None = None
    agent_id: Annotated[str, Field(strict=True, min_length=1)] | None = None
    app_id: Annotated[str, Field(strict=True)] = "default"
    project_id: Annotated[str, Field(strict=True)] = "default"
    # More than white space.
    query: Annotated[str, Field(strict=True, min_length=1, pattern="\\S")]
    method: Literal["keyword", "vector", "hybrid", "agentic", "llm_multiround"] = "hybrid"
    # -1: the server's own cap and radius; else 1 to 100 items of each kind.
    top_k: Annotated[int, Field(strict=True), WHOLE, between(1, 100, exception=-1)] = -1
    # Cosine floor of dense recall.
    radius: Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=1)] | None = None
    # Floor of the final score.
    min_score: Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=1)] | None = None
    # Also return the user's profile.
    include_profile: Annotated[bool, Field(strict=True)] = False
    # Rerank cases and skills of a hybrid search with the model.
    enable_llm_rerank: Annotated[bool, Field(strict=True)] = False
    filters: Filters | None = None
    # Goes on where an answer was cut: the `next_page_token` of that answer, with the request as it
    # was. An extension.
    page_token: Annotated[str, Field(strict=True, min_length=1, max_length=512)] | None = None
    # Clients of the cloud API send it with each call: a rendering of each episode for display. The
    # text of an episode is one already, so nothing is added. An extension.
    with_readable_episode: Annotated[bool, Field(strict=True)] = False

    @model_validator(mode="after")
    def _check_rules(self) -> Self:
        if count_set(self.user_id, self.agent_id) != 1:
            raise ValueError("exactly one of user_id / agent_id must be provided")
        return self


def search_request_to_proto(model: SearchRequest) -> memory_pb2.SearchRequest:
    return memory_pb2.SearchRequest(
        user_id=model.user_id,
        agent_id=model.agent_id,
        app_id=model.app_id,
        project_id=model.project_id,
        query=model.query,
        method=_SEARCH_METHOD_NUMBERS[model.method],
        top_k=model.top_k,
        radius=model.radius,
        min_score=model.min_score,
        include_profile=model.include_profile,
        enable_llm_rerank=model.enable_llm_rerank,
        filters=model.filters,
        page_token=model.page_token,
        with_readable_episode=model.with_readable_episode,
    )


def search_request_input(pb: memory_pb2.SearchRequest) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if pb.HasField("user_id"):
        data["user_id"] = pb.user_id
    if pb.HasField("agent_id"):
        data["agent_id"] = pb.agent_id
    if pb.HasField("app_id"):
        data["app_id"] = pb.app_id
    if pb.HasField("project_id"):
        data["project_id"] = pb.project_id
    if pb.query:
        data["query"] = pb.query
    if pb.method:
        data["method"] = _SEARCH_METHOD_NAMES.get(pb.method, pb.method)
    if pb.HasField("top_k"):
        data["top_k"] = pb.top_k
    if pb.HasField("radius"):
        data["radius"] = pb.radius
    if pb.HasField("min_score"):
        data["min_score"] = pb.min_score
    data["include_profile"] = pb.include_profile
    data["enable_llm_rerank"] = pb.enable_llm_rerank
    if pb.HasField("filters"):
        data["filters"] = pb.filters
    if pb.HasField("page_token"):
        data["page_token"] = pb.page_token
    data["with_readable_episode"] = pb.with_readable_episode
    return data


class GetRequest(RequestModel):
    """Request message remanence.v2.GetRequest."""

    model_config = ConfigDict(extra="forbid")

    user_id: Annotated[str, Field(strict=True, min_length=1)] | None = None
    agent_id: Annotated[str, Field(strict=True, min_length=1)] | None = None
    app_id: Annotated[str, Field(strict=True)] = "default"
    project_id: Annotated[str, Field(strict=True)] = "default"
    memory_type: Literal["episode", "profile", "agent_case", "agent_skill"]
    page: Annotated[int, Field(strict=True, ge=1, le=2147483647), WHOLE] = 1
    page_size: Annotated[int, Field(strict=True, ge=1, le=100), WHOLE] = 20
    sort_by: Literal["timestamp", "updated_at"] = "timestamp"
    sort_order: Literal["asc", "desc"] = "desc"
    filters: Filters | None = None
    # As in SearchRequest. An extension.
    page_token: Annotated[str, Field(strict=True, min_length=1, max_length=512)] | None = None
    # As in SearchRequest. An extension.
    with_readable_episode: Annotated[bool, Field(strict=True)] = False

    @model_validator(mode="after")
    def _check_rules(self) -> Self:
        if count_set(self.user_id, self.agent_id) != 1:
            raise ValueError("exactly one of user_id / agent_id must be provided")
        if self.memory_type in ("episode", "profile") and not self.user_id:
            raise ValueError("memory_type 'episode' and 'profile' require user_id")
        if self.memory_type in ("agent_case", "agent_skill") and not self.agent_id:
            raise ValueError("memory_type 'agent_case' and 'agent_skill' require agent_id")
        return self


def get_request_to_proto(model: GetRequest) -> memory_pb2.GetRequest:
    return memory_pb2.GetRequest(
        user_id=model.user_id,
        agent_id=model.agent_id,
        app_id=model.app_id,
        project_id=model.project_id,
        memory_type=_MEMORY_TYPE_NUMBERS[model.memory_type],
        page=model.page,
        page_size=model.page_size,
        sort_by=_SORT_BY_NUMBERS[model.sort_by],
        sort_order=_SORT_ORDER_NUMBERS[model.sort_order],
        filters=model.filters,
        page_token=model.page_token,
        with_readable_episode=model.with_readable_episode,
    )


def get_request_input(pb: memory_pb2.GetRequest) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if pb.HasField("user_id"):
        data["user_id"] = pb.user_id
    if pb.HasField("agent_id"):
        data["agent_id"] = pb.agent_id
    if pb.HasField("app_id"):
        data["app_id"] = pb.app_id
    if pb.HasField("project_id"):
        data["project_id"] = pb.project_id
    if pb.memory_type:
        data["memory_type"] = _MEMORY_TYPE_NAMES.get(pb.memory_type, pb.memory_type)
    if pb.HasField("page"):
        data["page"] = pb.page
    if pb.HasField("page_size"):
        data["page_size"] = pb.page_size
    if pb.sort_by:
        data["sort_by"] = _SORT_BY_NAMES.get(pb.sort_by, pb.sort_by)
    if pb.sort_order:
        data["sort_order"] = _SORT_ORDER_NAMES.get(pb.sort_order, pb.sort_order)
    if pb.HasField("filters"):
        data["filters"] = pb.filters
    if pb.HasField("page_token"):
        data["page_token"] = pb.page_token
    data["with_readable_episode"] = pb.with_readable_episode
    return data


class DeleteRequest(RequestModel):
    """What to delete: exactly one of `ids`, `session_id`, `filters` and `everything`.

    It is of one owner, except that a session may be deleted whole, for everybody in it, by naming
    no owner.
    """

    model_config = ConfigDict(extra="forbid")

    user_id: Annotated[str, Field(strict=True, min_length=1)] | None = None
    agent_id: Annotated[str, Field(strict=True, min_length=1)] | None = None
    app_id: Annotated[str, Field(strict=True)] = "default"
    project_id: Annotated[str, Field(strict=True)] = "default"
    # Ids of episodes, facts, cases or skills, as search and get return them.
    ids: Annotated[list[Annotated[str, Field(strict=True)]], Field(max_length=1000)] = []
    # All that came from a session, and what of it still waits to be extracted.
    session_id: Annotated[str, Field(strict=True, min_length=1, max_length=128)] | None = None
    # Episodes or cases that match, with what was made of them.
    filters: Filters | None = None
    # Delete all that this owner has.
    everything: Annotated[bool, Field(strict=True)] = False

    @model_validator(mode="after")
    def _check_rules(self) -> Self:
        if count_set(self.user_id, self.agent_id) > 1:
            raise ValueError("user_id and agent_id are mutually exclusive")
        return self


def delete_request_to_proto(model: DeleteRequest) -> memory_pb2.DeleteRequest:
    return memory_pb2.DeleteRequest(
        user_id=model.user_id,
        agent_id=model.agent_id,
        app_id=model.app_id,
        project_id=model.project_id,
        ids=model.ids,
        session_id=model.session_id,
        filters=model.filters,
        everything=model.everything,
    )


def delete_request_input(pb: memory_pb2.DeleteRequest) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if pb.HasField("user_id"):
        data["user_id"] = pb.user_id
    if pb.HasField("agent_id"):
        data["agent_id"] = pb.agent_id
    if pb.HasField("app_id"):
        data["app_id"] = pb.app_id
    if pb.HasField("project_id"):
        data["project_id"] = pb.project_id
    if pb.ids:
        data["ids"] = list(pb.ids)
    if pb.HasField("session_id"):
        data["session_id"] = pb.session_id
    if pb.HasField("filters"):
        data["filters"] = pb.filters
    data["everything"] = pb.everything
    return data


def add_response_json(pb: memory_pb2.AddResponse, zone: tzinfo) -> dict[str, Any]:
    data: dict[str, Any] = {
        "message_count": pb.message_count,
        "status": _ADD_STATUS_NAMES.get(pb.status, ""),
    }
    if pb.HasField("pending"):
        data["pending"] = pb.pending
    if pb.HasField("known_count"):
        data["known_count"] = pb.known_count
    return data


def flush_response_json(pb: memory_pb2.FlushResponse, zone: tzinfo) -> dict[str, Any]:
    data: dict[str, Any] = {
        "status": _FLUSH_STATUS_NAMES.get(pb.status, ""),
    }
    if pb.HasField("message_count"):
        data["message_count"] = pb.message_count
    if pb.HasField("pending"):
        data["pending"] = pb.pending
    return data


def search_atomic_fact_item_json(
    pb: memory_pb2.SearchAtomicFactItem, zone: tzinfo
) -> dict[str, Any]:
    return {
        "id": pb.id,
        "content": pb.content,
        "score": pb.score,
    }


def search_episode_item_json(pb: memory_pb2.SearchEpisodeItem, zone: tzinfo) -> dict[str, Any]:
    return {
        "id": pb.id,
        "user_id": pb.user_id if pb.HasField("user_id") else None,
        "app_id": pb.app_id,
        "project_id": pb.project_id,
        "session_id": pb.session_id,
        "timestamp": timestamp_text(pb.timestamp, zone) if pb.HasField("timestamp") else None,
        "sender_ids": list(pb.sender_ids),
        "summary": pb.summary,
        "subject": pb.subject,
        "episode": pb.episode,
        "type": pb.type,
        "score": pb.score,
        "atomic_facts": [search_atomic_fact_item_json(item, zone) for item in pb.atomic_facts],
    }


def search_profile_item_json(pb: memory_pb2.SearchProfileItem, zone: tzinfo) -> dict[str, Any]:
    return {
        "id": pb.id,
        "user_id": pb.user_id if pb.HasField("user_id") else None,
        "app_id": pb.app_id,
        "project_id": pb.project_id,
        "profile_data": struct_json(pb.profile_data) if pb.HasField("profile_data") else None,
        "score": pb.score if pb.HasField("score") else None,
    }


def search_agent_case_item_json(pb: memory_pb2.SearchAgentCaseItem, zone: tzinfo) -> dict[str, Any]:
    return {
        "id": pb.id,
        "agent_id": pb.agent_id,
        "app_id": pb.app_id,
        "project_id": pb.project_id,
        "session_id": pb.session_id,
        "task_intent": pb.task_intent,
        "approach": pb.approach,
        "quality_score": pb.quality_score,
        "key_insight": pb.key_insight if pb.HasField("key_insight") else None,
        "timestamp": timestamp_text(pb.timestamp, zone) if pb.HasField("timestamp") else None,
        "score": pb.score,
    }


def search_agent_skill_item_json(
    pb: memory_pb2.SearchAgentSkillItem, zone: tzinfo
) -> dict[str, Any]:
    return {
        "id": pb.id,
        "agent_id": pb.agent_id,
        "app_id": pb.app_id,
        "project_id": pb.project_id,
        "name": pb.name,
        "description": pb.description,
        "content": pb.content,
        "confidence": pb.confidence,
        "maturity_score": pb.maturity_score,
        "source_case_ids": list(pb.source_case_ids),
        "score": pb.score,
    }


def content_item_json(pb: memory_pb2.ContentItem, zone: tzinfo) -> dict[str, Any]:
    data: dict[str, Any] = {
        "type": _CONTENT_TYPE_NAMES.get(pb.type, ""),
    }
    if pb.HasField("text"):
        data["text"] = pb.text
    if pb.HasField("uri"):
        data["uri"] = pb.uri
    if pb.HasField("base64"):
        data["base64"] = pb.base64
    if pb.HasField("ext"):
        data["ext"] = pb.ext
    if pb.HasField("name"):
        data["name"] = pb.name
    if pb.HasField("extras"):
        data["extras"] = struct_json(pb.extras)
    return data


def tool_function_json(pb: memory_pb2.ToolFunction, zone: tzinfo) -> dict[str, Any]:
    return {
        "name": pb.name,
        "arguments": pb.arguments if pb.HasField("arguments") else None,
    }


def tool_call_json(pb: memory_pb2.ToolCall, zone: tzinfo) -> dict[str, Any]:
    return {
        "id": pb.id,
        "type": pb.type if pb.HasField("type") else None,
        "function": tool_function_json(pb.function, zone) if pb.HasField("function") else None,
    }


def unprocessed_message_json(pb: memory_pb2.UnprocessedMessage, zone: tzinfo) -> dict[str, Any]:
    return {
        "id": pb.id,
        "app_id": pb.app_id,
        "project_id": pb.project_id,
        "session_id": pb.session_id,
        "sender_id": pb.sender_id,
        "sender_name": pb.sender_name if pb.HasField("sender_name") else None,
        "role": _ROLE_NAMES.get(pb.role, ""),
        "content": (
            pb.text
            if pb.HasField("text")
            else [content_item_json(item, zone) for item in pb.items.items]
            if pb.HasField("items")
            else None
        ),
        "timestamp": timestamp_text(pb.timestamp, zone) if pb.HasField("timestamp") else None,
        "tool_calls": [tool_call_json(item, zone) for item in pb.tool_calls] or None,
        "tool_call_id": pb.tool_call_id if pb.HasField("tool_call_id") else None,
    }


def search_response_json(pb: memory_pb2.SearchResponse, zone: tzinfo) -> dict[str, Any]:
    data: dict[str, Any] = {
        "episodes": [search_episode_item_json(item, zone) for item in pb.episodes],
        "profiles": [search_profile_item_json(item, zone) for item in pb.profiles],
        "agent_cases": [search_agent_case_item_json(item, zone) for item in pb.agent_cases],
        "agent_skills": [search_agent_skill_item_json(item, zone) for item in pb.agent_skills],
        "unprocessed_messages": [
            unprocessed_message_json(item, zone) for item in pb.unprocessed_messages
        ],
    }
    if pb.HasField("truncated"):
        data["truncated"] = pb.truncated
    if pb.HasField("next_page_token"):
        data["next_page_token"] = pb.next_page_token
    return data


def get_episode_item_json(pb: memory_pb2.GetEpisodeItem, zone: tzinfo) -> dict[str, Any]:
    return {
        "id": pb.id,
        "user_id": pb.user_id if pb.HasField("user_id") else None,
        "app_id": pb.app_id,
        "project_id": pb.project_id,
        "session_id": pb.session_id,
        "timestamp": timestamp_text(pb.timestamp, zone) if pb.HasField("timestamp") else None,
        "sender_ids": list(pb.sender_ids),
        "summary": pb.summary,
        "subject": pb.subject,
        "episode": pb.episode,
        "type": pb.type,
    }


def get_profile_item_json(pb: memory_pb2.GetProfileItem, zone: tzinfo) -> dict[str, Any]:
    return {
        "id": pb.id,
        "user_id": pb.user_id if pb.HasField("user_id") else None,
        "app_id": pb.app_id,
        "project_id": pb.project_id,
        "profile_data": struct_json(pb.profile_data) if pb.HasField("profile_data") else None,
    }


def get_agent_case_item_json(pb: memory_pb2.GetAgentCaseItem, zone: tzinfo) -> dict[str, Any]:
    return {
        "id": pb.id,
        "agent_id": pb.agent_id,
        "app_id": pb.app_id,
        "project_id": pb.project_id,
        "session_id": pb.session_id,
        "task_intent": pb.task_intent,
        "approach": pb.approach,
        "quality_score": pb.quality_score,
        "key_insight": pb.key_insight if pb.HasField("key_insight") else None,
        "timestamp": timestamp_text(pb.timestamp, zone) if pb.HasField("timestamp") else None,
    }


def get_agent_skill_item_json(pb: memory_pb2.GetAgentSkillItem, zone: tzinfo) -> dict[str, Any]:
    return {
        "id": pb.id,
        "agent_id": pb.agent_id,
        "app_id": pb.app_id,
        "project_id": pb.project_id,
        "name": pb.name,
        "description": pb.description,
        "content": pb.content,
        "confidence": pb.confidence,
        "maturity_score": pb.maturity_score,
        "source_case_ids": list(pb.source_case_ids),
    }


def get_response_json(pb: memory_pb2.GetResponse, zone: tzinfo) -> dict[str, Any]:
    data: dict[str, Any] = {
        "episodes": [get_episode_item_json(item, zone) for item in pb.episodes],
        "profiles": [get_profile_item_json(item, zone) for item in pb.profiles],
        "agent_cases": [get_agent_case_item_json(item, zone) for item in pb.agent_cases],
        "agent_skills": [get_agent_skill_item_json(item, zone) for item in pb.agent_skills],
        "total_count": pb.total_count,
        "count": pb.count,
    }
    if pb.HasField("truncated"):
        data["truncated"] = pb.truncated
    if pb.HasField("next_page_token"):
        data["next_page_token"] = pb.next_page_token
    return data


def delete_response_json(pb: memory_pb2.DeleteResponse, zone: tzinfo) -> dict[str, Any]:
    return {
        "deleted": pb.deleted,
        "episodes": pb.episodes,
        "atomic_facts": pb.atomic_facts,
        "agent_cases": pb.agent_cases,
        "agent_skills": pb.agent_skills,
        "profile_items": pb.profile_items,
        "messages": pb.messages,
    }


class MemoryServiceProtocol(Protocol):
    """Conversations and tool runs in; episodes, facts, profiles, cases and skills out.

    Every call is bounded by a scope, (app_id, project_id), and memory by an owner within it: a user
    or an agent. Nothing of one scope or owner is ever visible in another.

    All methods fail with INVALID_ARGUMENT (INVALID_INPUT) naming the first offending field, with
    UNAVAILABLE (EXTERNAL_SERVICE_UNAVAILABLE) when storage or a provider cannot take the work now,
    and with INTERNAL (INTERNAL_ERROR) when the fault is ours. Error details carry
    google.rpc.ErrorInfo, whose reason is the error code of the API reference.

    Add, Flush and Delete take an idempotency key (Idempotency-Key): the same request with the same
    key gets the first answer again, and does nothing. They fail with ALREADY_EXISTS (CONFLICT) when
    the key was sent with another request.
    """

    async def Add(
        self, request: memory_pb2.AddRequest, context: CallContext
    ) -> memory_pb2.AddResponse:
        """Appends a batch of messages to the buffer of a session.

        The batch is on disk, whole, before the call answers: there is no partial accept. Unless
        `defer_extraction` is set, the boundary detector then decides whether the buffered segment is
        complete; if it is, the segment becomes a memory cell and its episodes are written before the
        call answers ("extracted").

        Fails with INVALID_ARGUMENT (UNSUPPORTED_FORMAT) for a content item that cannot be read, and
        with RESOURCE_EXHAUSTED (PAYLOAD_TOO_LARGE) for a body over the limit; nothing is stored then.
        """
        ...

    async def Flush(
        self, request: memory_pb2.FlushRequest, context: CallContext
    ) -> memory_pb2.FlushResponse:
        """Closes the buffered segment of a session and extracts it now.

        When the call answers "extracted" the new entries are on disk as Markdown; unless `wait` is
        false it also waits, for a bounded time, until they can be found. An empty buffer is
        "no_extraction", a success.

        Fails with UNAVAILABLE (EXTERNAL_SERVICE_UNAVAILABLE) when the extractor cannot be reached; the
        messages are kept and extraction goes on by itself.
        """
        ...

    async def Search(
        self, request: memory_pb2.SearchRequest, context: CallContext
    ) -> memory_pb2.SearchResponse:
        """Finds the memories of one owner that bear on a query, best first.

        An owner, a session or a scope that does not exist has no memories: that is an empty success.

        Fails with INVALID_ARGUMENT (INVALID_INPUT) for a filter that does not compile, naming the
        field or operator.
        """
        ...

    async def Get(
        self, request: memory_pb2.GetRequest, context: CallContext
    ) -> memory_pb2.GetResponse:
        """Lists the memories of one kind of one owner, unranked, page by page.

        The order is total: ties are broken by id, so no record is skipped or repeated between pages. A
        page past the end is an empty success.

        Fails like Search.
        """
        ...

    async def Delete(
        self, request: memory_pb2.DeleteRequest, context: CallContext
    ) -> memory_pb2.DeleteResponse:
        """Removes memories of one owner from Markdown, state and index, for good. An extension.

        Deleting what does not exist is a success with a count of zero. What is deleted stays deleted:
        a rebuild of the index does not bring it back, nor does an extraction that is running. What
        another owner remembers of a shared session is that owner's.

        Fails with INVALID_ARGUMENT (INVALID_INPUT) when it is not said what to delete, and with
        UNAVAILABLE (EXTERNAL_SERVICE_UNAVAILABLE) when storage refuses; a deletion that was begun goes
        on by itself then.
        """
        ...


def memory_service_router(servicer: MemoryServiceProtocol, binding: HttpBinding) -> APIRouter:
    """HTTP routes of remanence.v2.MemoryService, which call its servicer in process."""
    router = APIRouter()

    async def add(request: Request) -> Response:
        data = await binding.read_object(request)
        model = validate(AddRequest, data)
        context = binding.context(request)
        reply = await servicer.Add(add_request_to_proto(model), context)
        body = add_response_json(reply, binding.zone)
        return binding.enveloped(context, body, status=202 if body["status"] == "queued" else 200)

    add_routes(router, "POST", add, "/api/v2/memory/add", "/api/v1/memory/add")

    async def flush(request: Request) -> Response:
        data = await binding.read_object(request)
        model = validate(FlushRequest, data)
        context = binding.context(request)
        reply = await servicer.Flush(flush_request_to_proto(model), context)
        body = flush_response_json(reply, binding.zone)
        return binding.enveloped(context, body, status=202 if body["status"] == "queued" else 200)

    add_routes(router, "POST", flush, "/api/v2/memory/flush", "/api/v1/memory/flush")

    async def search(request: Request) -> Response:
        data = await binding.read_object(request)
        model = validate(SearchRequest, data)
        context = binding.context(request)
        reply = await binding.while_connected(
            request, servicer.Search(search_request_to_proto(model), context)
        )
        body = search_response_json(reply, binding.zone)
        return binding.enveloped(context, body, status=200)

    add_routes(router, "POST", search, "/api/v2/memory/search", "/api/v1/memory/search")

    async def get(request: Request) -> Response:
        data = await binding.read_object(request)
        model = validate(GetRequest, data)
        context = binding.context(request)
        reply = await binding.while_connected(
            request, servicer.Get(get_request_to_proto(model), context)
        )
        body = get_response_json(reply, binding.zone)
        return binding.enveloped(context, body, status=200)

    add_routes(router, "POST", get, "/api/v2/memory/get", "/api/v1/memory/get")

    async def delete(request: Request) -> Response:
        data = await binding.read_object(request)
        model = validate(DeleteRequest, data)
        context = binding.context(request)
        reply = await servicer.Delete(delete_request_to_proto(model), context)
        body = delete_response_json(reply, binding.zone)
        return binding.enveloped(context, body, status=200)

    add_routes(router, "POST", delete, "/api/v2/memory/delete", "/api/v1/memory/delete")

    return router


MESSAGES: Registry = {
    "remanence.v2.AddRequest": MessageBinding(AddRequest, add_request_to_proto, add_request_input),
    "remanence.v2.FlushRequest": MessageBinding(
        FlushRequest, flush_request_to_proto, flush_request_input
    ),
    "remanence.v2.SearchRequest": MessageBinding(
        SearchRequest, search_request_to_proto, search_request_input
    ),
    "remanence.v2.GetRequest": MessageBinding(GetRequest, get_request_to_proto, get_request_input),
    "remanence.v2.DeleteRequest": MessageBinding(
        DeleteRequest, delete_request_to_proto, delete_request_input
    ),
}
