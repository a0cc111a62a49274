"""What goes in: messages and their parts, in the words of the API."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Self

from remanence.v2 import memory_pb2
from remanence_client._enums import enum_number
from remanence_client.errors import invalid_input


@dataclass(frozen=True, slots=True)
class ToolFunction:
    """The function that is called; `arguments` is JSON as text."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool invocation by the assistant, in the shape of OpenAI's Chat Completions."""

    id: str
    function: ToolFunction
    type: str = "function"


@dataclass(frozen=True, slots=True)
class ContentItem:
    """One part of a message body. The payload is in exactly one of `text`, `uri`, `base64`.

    `type` is text, image, audio, doc, pdf, html or email; `base64` needs `ext`.
    """

    type: str
    text: str | None = field(default=None, metadata={"json": "unless_none"})
    uri: str | None = field(default=None, metadata={"json": "unless_none"})
    base64: str | None = field(default=None, metadata={"json": "unless_none"})
    ext: str | None = field(default=None, metadata={"json": "unless_none"})
    name: str | None = field(default=None, metadata={"json": "unless_none"})
    extras: Mapping[str, Any] | None = field(default=None, metadata={"json": "unless_none"})


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation or of a tool run.

    Attributes:
        sender_id: who produced the turn; for role `user`, the user who owns the memories.
        content: a text, or content items.
        role: `user`, `assistant` or `tool`.
        timestamp: an aware datetime or Unix epoch milliseconds; None means now.
        sender_name: display name, used in the text of memories.
        tool_calls: what the assistant called in this turn.
        tool_call_id: the call that a message of role `tool` answers.
        message_id: your own id; sending it twice in a session stores it once.
    """

    sender_id: str
    content: str | Sequence[ContentItem]
    role: str = "user"
    timestamp: datetime | int | None = None
    sender_name: str | None = None
    tool_calls: Sequence[ToolCall] = ()
    tool_call_id: str | None = None
    message_id: str | None = None

    @classmethod
    def from_json(cls, item: Mapping[str, Any], where: str = "") -> Self:
        """Reads a message in the JSON of the API. Keys that the API does not know are ignored.

        Raises:
            InvalidInputError: a part is missing or has the wrong type; `where` prefixes its name.
        """
        known = _known(cls, item, where, required=("sender_id", "content"))
        if not isinstance(known["content"], str):
            known["content"] = tuple(
                ContentItem(**_known(ContentItem, part, place, required=("type",)))
                for part, place in _listed(known["content"], f"{where}content")
            )
        known["tool_calls"] = tuple(
            _tool_call(call, place)
            for call, place in _listed(known.get("tool_calls") or (), f"{where}tool_calls")
        )
        return cls(**{name: value for name, value in known.items() if value is not None})


def message_item(message: Message | Mapping[str, Any], where: str) -> memory_pb2.MessageItem:
    """The wire form of a message; `where`, such as `messages[3].`, prefixes names in errors."""
    if not isinstance(message, Message):
        message = Message.from_json(message, where)
    item = memory_pb2.MessageItem()
    item.role = enum_number(memory_pb2.Role, message.role, f"{where}role")
    _assign(item, "sender_id", message.sender_id, f"{where}sender_id")
    timestamp_ms = _epoch_ms(message.timestamp, f"{where}timestamp")
    _assign(item, "timestamp", timestamp_ms, f"{where}timestamp")
    _assign_present(item, message, ("sender_name", "tool_call_id", "message_id"), where)
    if isinstance(message.content, str):
        _assign(item, "text", message.content, f"{where}content")
    else:
        item.items.SetInParent()
        for index, part in enumerate(message.content):
            _fill_content_item(item.items.items.add(), part, f"{where}content[{index}].")
    for index, call in enumerate(message.tool_calls):
        place = f"{where}tool_calls[{index}]."
        target = item.tool_calls.add()
        _assign_present(target, call, ("id", "type"), place)
        _assign_present(target.function, call.function, ("name", "arguments"), f"{place}function.")
    return item


def _fill_content_item(target: memory_pb2.ContentItem, part: ContentItem, where: str) -> None:
    target.type = enum_number(memory_pb2.ContentType, part.type, f"{where}type")
    _assign_present(target, part, ("text", "uri", "base64", "ext", "name"), where)
    if part.extras is not None:
        try:
            target.extras.update(dict(part.extras))
        except (TypeError, ValueError):
            raise invalid_input("Not a JSON object", f"{where}extras") from None


def _epoch_ms(moment: datetime | int | None, where: str) -> int:
    if moment is None:
        return time.time_ns() // 1_000_000
    if isinstance(moment, datetime):
        if moment.tzinfo is None:
            raise invalid_input("A datetime needs a time zone", where)
        return round(moment.timestamp() * 1000)
    return moment


def _tool_call(call: object, where: str) -> ToolCall:
    known = _known(ToolCall, call, where, required=("id", "function"))
    function = _known(
        ToolFunction, known["function"], f"{where}function.", required=("name", "arguments")
    )
    return ToolCall(**{**known, "function": ToolFunction(**function)})


def _known(cls: type[Any], item: object, where: str, *, required: Sequence[str]) -> dict[str, Any]:
    """The parts of a JSON object that a dataclass has fields for."""
    if not isinstance(item, Mapping):
        raise invalid_input("Input should be an object", where.rstrip(".") or None)
    for name in required:
        if item.get(name) is None:
            raise invalid_input("Field required", f"{where}{name}")
    return {each.name: item[each.name] for each in fields(cls) if each.name in item}


def _listed(items: object, where: str) -> list[tuple[Any, str]]:
    if not isinstance(items, Sequence) or isinstance(items, (str, bytes)):
        raise invalid_input("Input should be a list", where)
    return [(item, f"{where}[{index}].") for index, item in enumerate(items)]


def _assign_present(target: Any, source: object, names: Sequence[str], where: str) -> None:
    for name in names:
        if (value := getattr(source, name)) is not None:
            _assign(target, name, value, f"{where}{name}")


def _assign(target: Any, name: str, value: Any, where: str) -> None:
    """Sets a field; protobuf's own complaints do not name it."""
    try:
        # Protobuf would take True for the number 1.
        setattr(target, name, None if isinstance(value, bool) else value)
    except (TypeError, ValueError):
        raise invalid_input("Value has the wrong type or is out of range", where) from None
