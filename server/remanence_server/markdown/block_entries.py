"""Episodes and agent cases as blocks: a heading, inline keys, sections.

    <!-- entry:ep_20260528_00000001 -->
    ## Alice: climbing in Yosemite

    **timestamp**: 2026-05-28T11:30:36Z
    **session_id**: demo-002
    …

    ### Summary
    …
    ### Content
    …
    <!-- /entry:ep_20260528_00000001 -->

The heading is the subject of an episode or the intent of a case. One that does not fit a heading
has a section of its own, and the heading shows the id.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime, tzinfo

from remanence_server.domain.owners import Owner
from remanence_server.domain.records import AgentCase, Episode, Kind
from remanence_server.markdown.escape import decode_block, decode_line, encode_block, encode_line
from remanence_server.markdown.values import (
    decode_value,
    decode_values,
    encode_value,
    encode_values,
)
from remanence_server.runtime.instants import from_datetime, render_iso

_HEADING = re.compile(r"\s*##[ \t]+(.*)")
_KEY = re.compile(r"^\*\*([a-z_]+)\*\*:[ \t]*(.*?)[ \t]*$", re.MULTILINE)
_SECTIONS: Mapping[Kind, re.Pattern[str]] = {
    Kind.EPISODE: re.compile(r"^### (Subject|Summary|Content)[ \t]*$", re.MULTILINE),
    Kind.AGENT_CASE: re.compile(r"^### (TaskIntent|Approach|KeyInsight)[ \t]*$", re.MULTILINE),
    Kind.ATOMIC_FACT: re.compile(r"^### (Fact)[ \t]*$", re.MULTILINE),
}
_LONGEST_HEADING = 160


class EntryError(Exception):
    """An entry cannot be read. The reason is shown to people and quotes nothing of the entry."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def wrap_block(entry_id: str, heading: str, keys: Mapping[str, str], body: str) -> str:
    """A block entry. `heading`, the values and `body` are encoded already."""
    # Two spaces break the line when rendered, else the keys would run together.
    inline = "  \n".join(f"**{key}**: {value}" for key, value in keys.items())
    return (
        f"<!-- entry:{entry_id} -->\n## {heading}\n\n{inline}\n\n{body}\n\n"
        f"<!-- /entry:{entry_id} -->\n"
    )


def common_keys(
    timestamp_ms: int,
    session_id: str,
    sender_ids: tuple[str, ...],
    parent_type: str,
    parent_id: str,
    zone: tzinfo,
) -> dict[str, str]:
    """The inline keys that every block has."""
    return {
        "timestamp": render_iso(timestamp_ms, zone),
        "session_id": encode_value(session_id),
        "sender_ids": encode_values(sender_ids),
        "parent_type": encode_value(parent_type),
        "parent_id": encode_value(parent_id),
    }


def encode_episode(episode: Episode, zone: tzinfo) -> str:
    """The entry of an episode."""
    heading, sections = _title(episode.entry_id, "Subject", episode.subject)
    sections["Summary"] = episode.summary
    sections["Content"] = episode.content
    keys = common_keys(
        episode.timestamp_ms,
        episode.session_id,
        episode.sender_ids,
        episode.parent_type,
        episode.parent_id,
        zone,
    )
    return wrap_block(episode.entry_id, heading, keys, _join(sections))


def encode_case(case: AgentCase, zone: tzinfo) -> str:
    """The entry of an agent case."""
    heading, sections = _title(case.entry_id, "TaskIntent", case.task_intent)
    sections["Approach"] = case.approach
    if case.key_insight is not None:
        sections["KeyInsight"] = case.key_insight
    keys = common_keys(
        case.timestamp_ms, case.session_id, case.sender_ids, case.parent_type, case.parent_id, zone
    )
    keys["quality_score"] = repr(float(case.quality_score))
    return wrap_block(case.entry_id, heading, keys, _join(sections))


def decode_episode(owner: Owner, entry_id: str, body: str, zone: tzinfo) -> Episode:
    """Undoes `encode_episode`. Raises EntryError."""
    heading, keys, sections = split_block(body, Kind.EPISODE)
    if "Content" not in sections:
        raise EntryError("the section Content is missing")
    return Episode(
        owner=owner,
        entry_id=entry_id,
        session_id=decode_value(keys.get("session_id", "")),
        timestamp_ms=read_timestamp(keys.get("timestamp"), zone),
        sender_ids=decode_values(keys.get("sender_ids", "")),
        subject=sections.get("Subject", heading),
        summary=sections.get("Summary", ""),
        content=sections["Content"],
        parent_type=decode_value(keys.get("parent_type", "memcell")),
        parent_id=decode_value(keys.get("parent_id", "")),
    )


def decode_case(owner: Owner, entry_id: str, body: str, zone: tzinfo) -> AgentCase:
    """Undoes `encode_case`. Raises EntryError."""
    heading, keys, sections = split_block(body, Kind.AGENT_CASE)
    if "Approach" not in sections:
        raise EntryError("the section Approach is missing")
    try:
        quality_score = float(keys.get("quality_score", "0.5"))
    except ValueError:
        raise EntryError("quality_score is not a number") from None
    return AgentCase(
        owner=owner,
        entry_id=entry_id,
        session_id=decode_value(keys.get("session_id", "")),
        timestamp_ms=read_timestamp(keys.get("timestamp"), zone),
        task_intent=sections.get("TaskIntent", heading),
        approach=sections["Approach"],
        quality_score=quality_score,
        key_insight=sections.get("KeyInsight"),
        sender_ids=decode_values(keys.get("sender_ids", "")),
        parent_type=decode_value(keys.get("parent_type", "memcell")),
        parent_id=decode_value(keys.get("parent_id", "")),
    )


def split_block(body: str, kind: Kind) -> tuple[str, dict[str, str], dict[str, str]]:
    """Heading, inline keys and sections of the text between the markers. Raises EntryError."""
    parts = _SECTIONS[kind].split(body)
    heading, keys = split_head(parts[0])
    sections: dict[str, str] = {}
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        if name in sections:
            raise EntryError(f"the section {name} is there twice")
        sections[name] = decode_block(text)
    return heading, keys, sections


def split_head(head: str) -> tuple[str, dict[str, str]]:
    """Heading and inline keys of a block. Raises EntryError."""
    match = _HEADING.match(head)
    keys: dict[str, str] = {}
    for key, value in _KEY.findall(head, match.end() if match else 0):
        if key in keys:
            raise EntryError(f"{key} is there twice")
        keys[key] = value
    return (decode_line(match[1]) if match else ""), keys


def read_timestamp(value: object, zone: tzinfo) -> int:
    """Epoch milliseconds of ISO text; a date or time without offset is of the display zone.

    YAML may have made a date of the text already.

    Raises EntryError.
    """
    if not value:
        raise EntryError("timestamp is missing")
    try:
        if not isinstance(value, str | date):
            raise TypeError
        moment = datetime.fromisoformat(str(value))
        return from_datetime(moment if moment.tzinfo else moment.replace(tzinfo=zone))
    except (TypeError, ValueError, OverflowError):
        raise EntryError("timestamp is not an ISO-8601 date and time") from None


def _title(entry_id: str, section: str, text: str) -> tuple[str, dict[str, str]]:
    if text and "\n" not in text and len(text) <= _LONGEST_HEADING:
        return encode_line(text), {}
    return entry_id, {section: text}


def _join(sections: Mapping[str, str]) -> str:
    return "\n\n".join(
        f"### {name}\n\n{encoded}" if (encoded := encode_block(text)) else f"### {name}"
        for name, text in sections.items()
    )
