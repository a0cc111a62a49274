"""The episode: a dated header, then what was said, verbatim and attributed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from remanence_server.domain.messages import MemoryCell
from remanence_server.domain.owners import Owner
from remanence_server.extraction.heuristic.conversation import Conversation, Line
from remanence_server.extraction.heuristic.dates import annotation
from remanence_server.extraction.heuristic.sentences import (
    Unit,
    UnitKind,
    clip,
    split_units,
)
from remanence_server.extraction.heuristic.spans import MONTH_NAMES, WEEKDAY_NAMES
from remanence_server.runtime.instants import day_of, to_datetime

_MARK = "[…]"
_MAXIMUM_NAMED = 6
# The dates of a quote are for people and for search; in a document they would be noise.
_DATED_QUOTE_CHARACTERS = 4_000


@dataclass(frozen=True, slots=True)
class EpisodeLimits:
    """How much of a reply by the assistant is quoted; the users' own words are never cut."""

    assistant_reply_characters: int = 800


def episode_content(
    conversation: Conversation,
    cell: MemoryCell,
    owner: Owner,
    zone: tzinfo,
    limits: EpisodeLimits,
) -> str:
    """The text of the episode; the header alone if nobody said a word."""
    blocks = [_header(conversation, cell, owner, zone)]
    day = day_of(cell.messages[0].timestamp_ms, zone)
    for line, left_out in zip(conversation.lines, conversation.left_out, strict=False):
        blocks += _left_out(left_out, conversation)
        line_day = day_of(line.message.timestamp_ms, zone)
        if line_day != day:
            day = line_day
            blocks.append(f"{_long_day(to_datetime(line.message.timestamp_ms, zone))}:")
        blocks.append(_quote(line, zone, limits))
    blocks += _left_out(conversation.left_out[-1], conversation)
    return "\n\n".join(blocks)


def _header(conversation: Conversation, cell: MemoryCell, owner: Owner, zone: tzinfo) -> str:
    start = to_datetime(cell.messages[0].timestamp_ms, zone)
    end = to_datetime(cell.messages[-1].timestamp_ms, zone)
    people = _people(conversation)
    if not conversation.lines:
        people, verb = owner.owner_id, "left no words"
    elif len(conversation.speakers) == 1:
        verb = "wrote"
    else:
        verb = "talked"
    when = f"{_long_day(start)}, {_clock(start)}"
    if end.date() > start.date():
        return f"From {when} to {_long_day(end)}, {_clock(end)}, {people} {verb}."
    return f"On {when}, {people} {verb}."


def _long_day(moment: datetime) -> str:
    month = MONTH_NAMES[moment.month - 1]
    return f"{WEEKDAY_NAMES[moment.weekday()]}, {moment.day} {month} {moment.year}"


def _clock(moment: datetime) -> str:
    return f"{moment:%H:%M} {moment.tzname() or ''}".rstrip()


def _people(conversation: Conversation) -> str:
    """The owner's names first, then the others as they appear."""
    owners = conversation.owner_names()
    names = [*owners, *(name for name in conversation.speakers if name not in owners)]
    shown = names[:_MAXIMUM_NAMED]
    if len(names) > _MAXIMUM_NAMED:
        return f"{', '.join(shown)} and {len(names) - _MAXIMUM_NAMED} others"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _left_out(count: int, conversation: Conversation) -> Sequence[str]:
    if not count:
        return ()
    whom = " and ".join(conversation.owner_names()) or "the owner"
    turns = "one turn" if count == 1 else f"{count} turns"
    return (f"[… {turns} of others, not about {whom}]",)


def _quote(line: Line, zone: tzinfo, limits: EpisodeLimits) -> str:
    text = line.text
    if line.is_assistant:
        text = trim_reply(text, line.units, limits.assistant_reply_characters)
    quote = f"{line.speaker}: {text}"
    if len(text) > _DATED_QUOTE_CHARACTERS:
        return quote
    dates = annotation(text, day_of(line.message.timestamp_ms, zone))
    return f"{quote} {dates}" if dates else quote


def trim_reply(text: str, units: Sequence[Unit], limit: int) -> str:
    """A reply in about `limit` characters: whole sentences from its start, then a mark."""
    if len(text) <= limit:
        return text
    end = 0
    for unit in units or split_units(text):
        # Units are trimmed, and list marks are no part of them: their place is looked up.
        lines = unit.text.split("\n")
        position = text.find(lines[0], end)
        stop = position + len(unit.text) if position >= 0 else end + len(unit.text)
        if stop > limit:
            break
        if unit.kind is not UnitKind.CONTEXT:
            end = stop
    if end == 0:
        return clip(text, limit, f" {_MARK}")
    return f"{text[:end].rstrip()} {_MARK}"
