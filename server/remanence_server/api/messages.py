"""Messages between the contract and the domain, both ways."""

from __future__ import annotations

from collections.abc import Mapping

from google.protobuf import json_format, struct_pb2, timestamp_pb2

from remanence.v2 import memory_pb2 as pb
from remanence_server.domain.messages import ContentItem, Message, Role, ToolCall
from remanence_server.domain.owners import Scope

_ROLES: Mapping[pb.Role, Role] = {
    pb.ROLE_USER: Role.USER,
    pb.ROLE_ASSISTANT: Role.ASSISTANT,
    pb.ROLE_TOOL: Role.TOOL,
}
_ROLE_NUMBERS = {role: number for number, role in _ROLES.items()}
_TYPE_PREFIX = "CONTENT_TYPE_"


def timestamp(instant_ms: int) -> timestamp_pb2.Timestamp:
    """An instant as the contract carries it."""
    seconds, milliseconds = divmod(instant_ms, 1000)
    return timestamp_pb2.Timestamp(seconds=seconds, nanos=milliseconds * 1_000_000)


def read_message(item: pb.MessageItem) -> Message:
    """A message of a request. Its id is empty when the client gave none."""
    content: str | tuple[ContentItem, ...]
    if item.WhichOneof("content") == "items":
        content = tuple(_read_item(part) for part in item.items.items)
    else:
        content = item.text
    return Message(
        message_id=item.message_id,
        sender_id=item.sender_id,
        role=_ROLES[item.role],
        timestamp_ms=item.timestamp,
        content=content,
        sender_name=item.sender_name if item.HasField("sender_name") else None,
        tool_calls=tuple(
            ToolCall(call.id, call.function.name, call.function.arguments, call.type)
            for call in item.tool_calls
        ),
        tool_call_id=item.tool_call_id if item.HasField("tool_call_id") else None,
    )


def unprocessed_message(scope: Scope, session_id: str, message: Message) -> pb.UnprocessedMessage:
    """A buffered message, as a search for its session returns it."""
    result = pb.UnprocessedMessage(
        id=message.message_id,
        app_id=scope.app_id,
        project_id=scope.project_id,
        session_id=session_id,
        sender_id=message.sender_id,
        sender_name=message.sender_name,
        role=_ROLE_NUMBERS[message.role],
        timestamp=timestamp(message.timestamp_ms),
        tool_calls=[
            pb.ToolCall(
                id=call.id,
                type=call.type,
                function=pb.ToolFunction(name=call.name, arguments=call.arguments),
            )
            for call in message.tool_calls
        ],
        tool_call_id=message.tool_call_id,
    )
    text = _shorthand(message)
    if text is not None:
        result.text = text
    else:
        result.items.SetInParent()
        result.items.items.extend(
            _item(part) for part in message.content if isinstance(part, ContentItem)
        )
    return result


def _shorthand(message: Message) -> str | None:
    """The bare text of a message that is a single text item, or was sent as one."""
    if isinstance(message.content, str):
        return message.content
    if len(message.content) == 1 and message.content[0].type == "text":
        return message.content[0].text or ""
    return None


def _read_item(item: pb.ContentItem) -> ContentItem:
    def optional(name: str) -> str | None:
        return getattr(item, name) if item.HasField(name) else None

    return ContentItem(
        type=pb.ContentType.Name(item.type).removeprefix(_TYPE_PREFIX).lower(),
        text=optional("text"),
        uri=optional("uri"),
        base64=optional("base64"),
        ext=optional("ext"),
        name=optional("name"),
        extras=json_format.MessageToDict(item.extras) if item.HasField("extras") else None,
    )


def _item(item: ContentItem) -> pb.ContentItem:
    extras = None
    if item.extras is not None:
        extras = struct_pb2.Struct()
        extras.update(dict(item.extras))
    return pb.ContentItem(
        type=_TYPE_PREFIX + item.type.upper(),
        text=item.text,
        uri=item.uri,
        base64=item.base64,
        ext=item.ext,
        name=item.name,
        extras=extras,
    )
