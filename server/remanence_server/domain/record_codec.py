"""Records as compact JSON: how the catalogue keeps them, and jobs what they will write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from remanence_server.domain.messages import Role
from remanence_server.domain.owners import Owner
from remanence_server.domain.records import (
    AgentCase,
    AgentSkill,
    AtomicFact,
    Episode,
    Kind,
    Profile,
    Record,
    Transcript,
    Turn,
)


def encode_payload(record: Record) -> bytes:
    """Everything of a record but its owner, as a JSON array in the order of its fields."""
    return orjson.dumps(_fields(record), default=_plain)


def _fields(record: Record) -> list[Any]:
    match record:
        case Episode():
            return [
                record.entry_id,
                record.session_id,
                record.timestamp_ms,
                record.sender_ids,
                record.subject,
                record.summary,
                record.content,
                record.parent_type,
                record.parent_id,
            ]
        case AtomicFact():
            return [
                record.entry_id,
                record.session_id,
                record.timestamp_ms,
                record.content,
                record.parent_id,
                record.sender_ids,
                record.message_ids,
                record.parent_type,
            ]
        case Transcript():
            return [
                record.entry_id,
                record.session_id,
                record.timestamp_ms,
                record.sender_ids,
                [
                    (t.message_id, t.sender_id, t.speaker, t.role, t.timestamp_ms, t.text)
                    for t in record.turns
                ],
                record.parent_id,
                record.parent_type,
            ]
        case Profile():
            return [record.data, record.timestamp_ms]
        case AgentCase():
            return [
                record.entry_id,
                record.session_id,
                record.timestamp_ms,
                record.task_intent,
                record.approach,
                record.quality_score,
                record.key_insight,
                record.sender_ids,
                record.parent_type,
                record.parent_id,
            ]
        case AgentSkill():
            return [
                record.name,
                record.description,
                record.content,
                record.confidence,
                record.maturity_score,
                record.source_case_ids,
                record.timestamp_ms,
            ]


def decode_record(owner: Owner, kind: Kind, payload: bytes | str) -> Record:
    """The record that `encode_payload` wrote."""
    fields = orjson.loads(payload)
    match kind:
        case Kind.EPISODE:
            fields[3] = tuple(fields[3])
            return Episode(owner, *fields)
        case Kind.ATOMIC_FACT:
            fields[5], fields[6] = tuple(fields[5]), tuple(fields[6])
            return AtomicFact(owner, *fields)
        case Kind.TRANSCRIPT:
            fields[3], fields[4] = tuple(fields[3]), tuple(map(_turn, fields[4]))
            return Transcript(owner, *fields)
        case Kind.PROFILE:
            return Profile(owner, *fields)
        case Kind.AGENT_CASE:
            fields[7] = tuple(fields[7])
            return AgentCase(owner, *fields)
        case Kind.AGENT_SKILL:
            fields[5] = tuple(fields[5])
            return AgentSkill(owner, *fields)


def transcript_message_ids(payload: bytes) -> list[str]:
    """The message ids of the turns of an encoded transcript, without building the turns."""
    return [turn[0] for turn in orjson.loads(payload)[4]]


def encoded_text(text: str) -> bytes:
    """How a text stands in a payload: one that does not contain this has no such text."""
    return orjson.dumps(text)


def _turn(fields: Sequence[Any]) -> Turn:
    message_id, sender_id, speaker, role, timestamp_ms, text = fields
    return Turn(message_id, sender_id, speaker, Role(role), timestamp_ms, text)


def _plain(value: object) -> object:
    # Profile data is any mapping; what comes from YAML brings subclasses of dict and list.
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, str):
        return str(value)
    raise TypeError(f"profile data holds a {type(value).__name__}")
