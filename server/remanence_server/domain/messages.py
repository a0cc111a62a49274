"""Messages as accepted, and the memory cells they are cut into."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from remanence_server.domain.owners import Scope


class Role(StrEnum):
    """Who a message came from."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class ContentItem:
    """One part of a message body; the payload is in one of `text`, `uri`, `base64`."""

    type: str
    text: str | None = None
    uri: str | None = None
    base64: str | None = None
    ext: str | None = None
    name: str | None = None
    extras: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool invocation; `arguments` is JSON as text, as the client sent it."""

    id: str
    name: str
    arguments: str
    type: str = "function"


@dataclass(frozen=True, slots=True)
class Message:
    """One accepted message. `message_id` is unique within its scope and session."""

    message_id: str
    sender_id: str
    role: Role
    timestamp_ms: int
    # The body as it was sent: a bare text, or content items.
    content: str | tuple[ContentItem, ...]
    sender_name: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None

    @property
    def text(self) -> str:
        """The readable text of the body; parts that are not text appear as `[kind: name]`."""
        if isinstance(self.content, str):
            return self.content
        parts = (
            item.text if item.text is not None else f"[{item.type}: {item.name or item.ext or ''}]"
            for item in self.content
        )
        return "\n".join(part for part in parts if part)

    @property
    def speaker(self) -> str:
        """The name to show for the sender."""
        return self.sender_name or self.sender_id


@dataclass(frozen=True, slots=True)
class MemoryCell:
    """A closed segment of a session: the unit of extraction. Messages are in the order given."""

    cell_id: str
    scope: Scope
    session_id: str
    messages: tuple[Message, ...]

    @property
    def timestamp_ms(self) -> int:
        """The instant of the cell: that of its last message."""
        return self.messages[-1].timestamp_ms

    def user_ids(self) -> tuple[str, ...]:
        """Distinct senders with role user, in order of appearance: who owns the episodes."""
        return tuple(dict.fromkeys(m.sender_id for m in self.messages if m.role is Role.USER))

    def agent_ids(self) -> tuple[str, ...]:
        """Distinct senders with role assistant, in order of appearance: who owns the cases."""
        return tuple(dict.fromkeys(m.sender_id for m in self.messages if m.role is Role.ASSISTANT))

    def sender_ids(self) -> tuple[str, ...]:
        """Distinct senders, tools apart, in order of appearance."""
        return tuple(dict.fromkeys(m.sender_id for m in self.messages if m.role is not Role.TOOL))
