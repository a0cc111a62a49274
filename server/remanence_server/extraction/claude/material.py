"""What a prompt is about: a conversation or a run as text that cannot break out of its frame.

Messages get short names (`m1`, `m2`, …) that cost few tokens and are easy to cite. The tags carry
a mark derived from the cell, which nobody who writes a message can know: text that looks like one
of our tags is therefore only text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from xml.sax.saxutils import quoteattr

from remanence_server.domain.messages import MemoryCell, Message
from remanence_server.extraction.heuristic.conversation import Conversation, Line
from remanence_server.runtime.instants import render_iso

_MARK_CHARACTERS = 8


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a conversation that fits into one request; `messages` by their short names."""

    text: str
    messages: Mapping[str, Message]


@dataclass(frozen=True, slots=True)
class Frame:
    """The tags around material of one cell."""

    mark: str

    @classmethod
    def of(cls, cell: MemoryCell) -> Frame:
        """The frame of a cell, the same each time."""
        return cls(hashlib.sha256(cell.cell_id.encode()).hexdigest()[:_MARK_CHARACTERS])

    def around(self, name: str, body: str, **attributes: str) -> str:
        """The body between tags."""
        shown = "".join(f" {key}={quoteattr(value)}" for key, value in attributes.items())
        return f"<{name}-{self.mark}{shown}>\n{body}\n</{name}-{self.mark}>"


def conversation_parts(
    cell: MemoryCell, conversation: Conversation, zone: tzinfo, limit_characters: int
) -> Iterator[Part]:
    """What concerns an owner of a conversation, in pieces of at most about `limit_characters`.

    Turns that are only context are left out: in free text nobody could tell afterwards whether they
    got in. A message that is longer goes on in the next piece, under the same short name.
    """
    frame = Frame.of(cell)
    shown: list[str] = []
    messages: dict[str, Message] = {}
    size = 0
    concerning = [line for line in conversation.lines if line.concerns_owner]
    for number, line in enumerate(concerning, start=1):
        name = f"m{number}"
        for text in _pieces(line.text, limit_characters):
            if shown and size + len(text) > limit_characters:
                yield Part(frame.around("conversation", "\n".join(shown)), messages)
                shown, messages, size = [], {}, 0
            shown.append(_message(frame, name, line, text, zone))
            messages[name] = line.message
            size += len(text)
    if shown:
        yield Part(frame.around("conversation", "\n".join(shown)), messages)


def _message(frame: Frame, name: str, line: Line, text: str, zone: tzinfo) -> str:
    return frame.around(
        "message",
        text,
        id=name,
        speaker=line.speaker,
        role=line.message.role.value,
        time=render_iso(line.message.timestamp_ms, zone),
    )


def _pieces(text: str, limit: int) -> Sequence[str]:
    """Pieces of a text, cut at a blank where there is one in the last tenth."""
    pieces = []
    start = 0
    while len(text) - start > limit:
        end = text.rfind(" ", start + limit - limit // 10, start + limit)
        end = end + 1 if end > 0 else start + limit
        pieces.append(text[start:end])
        start = end
    pieces.append(text[start:])
    return pieces
