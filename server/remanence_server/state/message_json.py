"""Messages as JSON text, the form in which the buffer and memory cells keep them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from remanence_server.domain.messages import ContentItem, Message, Role, ToolCall

_ITEM_KEYS = ("type", "text", "uri", "base64", "ext", "name", "extras")


def dump_message(message: Message) -> str:
    """The message as JSON text."""
    return orjson.dumps(_to_object(message)).decode()


def load_message(text: str) -> Message:
    """The message that `dump_message` wrote."""
    return _from_object(orjson.loads(text))


def dump_messages(messages: Sequence[Message]) -> str:
    """The messages of a cell as JSON text."""
    return orjson.dumps([_to_object(message) for message in messages]).decode()


def load_messages(text: str) -> tuple[Message, ...]:
    """The messages that `dump_messages` wrote."""
    return tuple(_from_object(item) for item in orjson.loads(text))


def _to_object(message: Message) -> dict[str, Any]:
    content: str | list[dict[str, Any]]
    if isinstance(message.content, str):
        content = message.content
    else:
        content = [
            {key: value for key in _ITEM_KEYS if (value := getattr(item, key)) is not None}
            for item in message.content
        ]
    return {
        "message_id": message.message_id,
        "sender_id": message.sender_id,
        "sender_name": message.sender_name,
        "role": message.role.value,
        "timestamp_ms": message.timestamp_ms,
        "content": content,
        "tool_calls": [
            {"id": call.id, "type": call.type, "name": call.name, "arguments": call.arguments}
            for call in message.tool_calls
        ],
        "tool_call_id": message.tool_call_id,
    }


def _from_object(value: dict[str, Any]) -> Message:
    content = value["content"]
    return Message(
        message_id=value["message_id"],
        sender_id=value["sender_id"],
        sender_name=value["sender_name"],
        role=Role(value["role"]),
        timestamp_ms=value["timestamp_ms"],
        content=content
        if isinstance(content, str)
        else tuple(ContentItem(**item) for item in content),
        tool_calls=tuple(ToolCall(**call) for call in value["tool_calls"]),
        tool_call_id=value["tool_call_id"],
    )
