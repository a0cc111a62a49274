"""Transcripts as blocks: each turn a speaker's line and a quote.

**Alice** 2026-05-28T11:30:36.123Z <!-- turn:m_1 sender=alice role=user -->
> I love climbing in Yosemite.
"""

from __future__ import annotations

import re
from datetime import tzinfo

from remanence_server.domain.messages import Role
from remanence_server.domain.owners import Owner
from remanence_server.domain.records import Transcript, Turn
from remanence_server.markdown.block_entries import (
    EntryError,
    common_keys,
    read_timestamp,
    split_head,
    wrap_block,
)
from remanence_server.markdown.escape import decode_line, decode_quote, encode_line, encode_quote
from remanence_server.markdown.values import (
    as_text,
    decode_attributes,
    decode_value,
    decode_values,
    encode_attributes,
)
from remanence_server.runtime.instants import render_iso

_TURN = re.compile(
    r"^\*\*(.*)\*\*[ \t]+(\S+)[ \t]+<!--[ \t]*turn[ \t]+([^<>\n]*?)[ \t]*-->[ \t]*$", re.M
)
_LONGEST_HEADING = 160


def encode_transcript(transcript: Transcript, zone: tzinfo) -> str:
    """The entry of a transcript. Its heading is for people only."""
    keys = common_keys(
        transcript.timestamp_ms,
        transcript.session_id,
        transcript.sender_ids,
        transcript.parent_type,
        transcript.parent_id,
        zone,
    )
    heading = encode_line(f"Session {transcript.session_id}"[:_LONGEST_HEADING])
    turns = "\n\n".join(_encode_turn(turn, zone) for turn in transcript.turns)
    return wrap_block(transcript.entry_id, heading, keys, turns)


def decode_transcript(owner: Owner, entry_id: str, body: str, zone: tzinfo) -> Transcript:
    """Undoes `encode_transcript`. Raises EntryError."""
    parts = _TURN.split(body)
    _, keys = split_head(parts[0])
    turns = tuple(
        _decode_turn(*parts[index : index + 4], zone=zone) for index in range(1, len(parts), 4)
    )
    return Transcript(
        owner=owner,
        entry_id=entry_id,
        session_id=decode_value(keys.get("session_id", "")),
        timestamp_ms=read_timestamp(keys.get("timestamp"), zone),
        sender_ids=decode_values(keys.get("sender_ids", "")),
        turns=turns,
        parent_id=decode_value(keys.get("parent_id", "")),
        parent_type=decode_value(keys.get("parent_type", "episode")),
    )


def _encode_turn(turn: Turn, zone: tzinfo) -> str:
    details = encode_attributes(
        {"message": turn.message_id, "sender": turn.sender_id, "role": turn.role.value}
    )
    return (
        f"**{encode_line(turn.speaker)}** {render_iso(turn.timestamp_ms, zone)}"
        f" <!-- turn {details} -->\n{encode_quote(turn.text)}"
    )


def _decode_turn(speaker: str, timestamp: str, details: str, text: str, *, zone: tzinfo) -> Turn:
    try:
        attributes = decode_attributes(details)
        role = Role(as_text(attributes.get("role")))
    except ValueError:
        raise EntryError("the details of a turn cannot be read") from None
    return Turn(
        message_id=as_text(attributes.get("message")),
        sender_id=as_text(attributes.get("sender")),
        speaker=decode_line(speaker),
        role=role,
        timestamp_ms=read_timestamp(timestamp, zone),
        text=decode_quote(text.split("\n")),
    )
