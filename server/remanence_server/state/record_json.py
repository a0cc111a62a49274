"""Records as JSON text, the form in which a job keeps its output and the catalogue its payload."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any

import orjson

from remanence_server.domain.messages import Role
from remanence_server.domain.owners import Owner, Scope, Track
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
    kind_of,
)

_CLASS_OF: Mapping[Kind, type[Record]] = {
    Kind.EPISODE: Episode,
    Kind.ATOMIC_FACT: AtomicFact,
    Kind.TRANSCRIPT: Transcript,
    Kind.PROFILE: Profile,
    Kind.AGENT_CASE: AgentCase,
    Kind.AGENT_SKILL: AgentSkill,
}


def _turns(value: list[dict[str, Any]]) -> tuple[Turn, ...]:
    return tuple(Turn(**{**turn, "role": Role(turn["role"])}) for turn in value)


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "sender_ids": tuple,
    "message_ids": tuple,
    "source_case_ids": tuple,
    "turns": _turns,
}


def dump_payload(record: Record) -> bytes:
    """The fields of a record except its owner, as JSON."""
    return orjson.dumps(
        {
            field.name: getattr(record, field.name)
            for field in fields(record)
            if field.name != "owner"
        }
    )


def load_payload(kind: Kind, owner: Owner, payload: bytes | str) -> Record:
    """The record that `dump_payload` wrote."""
    values = {
        name: reader(value) if (reader := _READERS.get(name)) else value
        for name, value in orjson.loads(payload).items()
    }
    return _CLASS_OF[kind](owner=owner, **values)


def dump_records(records: Sequence[Record]) -> str:
    """Records of any owners, as one JSON text."""
    return orjson.dumps(
        [
            {
                "kind": kind_of(record).value,
                "owner": _dump_owner(record.owner),
                "payload": dump_payload(record).decode(),
            }
            for record in records
        ]
    ).decode()


def load_records(text: str) -> tuple[Record, ...]:
    """The records that `dump_records` wrote."""
    return tuple(
        load_payload(Kind(item["kind"]), _load_owner(item["owner"]), item["payload"])
        for item in orjson.loads(text)
    )


def _dump_owner(owner: Owner) -> list[str]:
    return [owner.scope.app_id, owner.scope.project_id, owner.track.value, owner.owner_id]


def _load_owner(value: list[str]) -> Owner:
    app_id, project_id, track, owner_id = value
    return Owner(Scope(app_id, project_id), Track(track), owner_id)
