"""Messages as lines of `messages.jsonl`: a message in the JSON of the API, with its session."""

from __future__ import annotations

from typing import Any

import orjson

from remanence_server.domain.messages import ContentItem, Message

_ITEM_KEYS = ("type", "text", "uri", "base64", "ext", "name", "extras")


def encode_message_line(session_id: str, message: Message) -> bytes:
    """The line of a message, with its line break. `timestamp` is in milliseconds."""
    content = message.content
    line: dict[str, Any] = {
        "session_id": session_id,
        "message_id": message.message_id,
        "sender_id": message.sender_id,
        "sender_name": message.sender_name,
        "role": message.role.value,
        "timestamp": message.timestamp_ms,
        "content": content if isinstance(content, str) else [_item(part) for part in content],
    }
    if message.tool_calls:
        line["tool_calls"] = [
            {
                "id": call.id,
                "type": call.type,
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        line["tool_call_id"] = message.tool_call_id
    return orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)


def _item(part: ContentItem) -> dict[str, Any]:
    return {key: value for key in _ITEM_KEYS if (value := getattr(part, key)) is not None}
