"""Records as lines of `memories.jsonl`: one JSON object each, with names that stay.

A line has `kind`, `id` and the fields of the record; instants are there twice, as ISO-8601 text for
people and as `..._ms` for programs, which is the one that is read. The owner is not in it. Keys
that are not known are ignored, so lines of a later version can be read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from datetime import date
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError

from remanence_server.domain.owners import Owner, Track
from remanence_server.domain.records import (
    ID_PREFIX,
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
    record_key,
)
from remanence_server.runtime.ids import entry_sequence
from remanence_server.runtime.instants import LATEST_INSTANT_MS, render_iso

# The kinds that an owner of each track has.
KINDS_OF_TRACK: Mapping[Track, tuple[Kind, ...]] = {
    Track.USER: (Kind.EPISODE, Kind.TRANSCRIPT, Kind.ATOMIC_FACT, Kind.PROFILE),
    Track.AGENT: (Kind.AGENT_CASE, Kind.AGENT_SKILL),
}
_ADAPTERS: Mapping[Kind, TypeAdapter[Any]] = {
    Kind.EPISODE: TypeAdapter(Episode),
    Kind.TRANSCRIPT: TypeAdapter(Transcript),
    Kind.ATOMIC_FACT: TypeAdapter(AtomicFact),
    Kind.PROFILE: TypeAdapter(Profile),
    Kind.AGENT_CASE: TypeAdapter(AgentCase),
    Kind.AGENT_SKILL: TypeAdapter(AgentSkill),
}
# An id that a person gave to an entry written by hand.
_GIVEN_ID = re.compile(r"(?!.*--)[\w.@:+-]{1,128}", re.ASCII)
# The next number of the day must still be one.
_LARGEST_SEQUENCE = 10**12
_EARLIEST_INSTANT_MS = 0


class LineError(Exception):
    """A line that is no record; the text says why and quotes nothing of it."""


def encode_line(record: Record) -> bytes:
    """The line of a record, with its line break."""
    values = {"kind": kind_of(record).value, "id": record_key(record), **_values(record)}
    return orjson.dumps(values, default=_plain, option=orjson.OPT_APPEND_NEWLINE)


def decode_line(line: bytes, owner: Owner) -> Record:
    """The record of a line, as one of `owner`. Raises LineError."""
    try:
        values = orjson.loads(line)
    except ValueError:
        raise LineError("is not JSON") from None
    if not isinstance(values, dict):
        raise LineError("should be an object")
    kind = _kind(values.get("kind"), owner.track)
    scope = {"app_id": owner.scope.app_id, "project_id": owner.scope.project_id}
    values["owner"] = {"scope": scope, "track": owner.track.value, "owner_id": owner.owner_id}
    if kind in ID_PREFIX:
        values["entry_id"] = values.get("id")
    elif kind is Kind.AGENT_SKILL:
        values["name"] = values.get("id")
    try:
        record: Record = _ADAPTERS[kind].validate_json(orjson.dumps(values), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise LineError(f"{first['msg']}: {_place(first['loc'])}") from None
    _check(record, kind)
    return record


def _values(part: Record | Turn) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for field in fields(part):
        if field.name in ("owner", "entry_id"):
            continue
        value = getattr(part, field.name)
        if field.name == "timestamp_ms":
            values["timestamp"] = render_iso(value)
        if field.name == "turns":
            value = [_values(turn) for turn in value]
        values[field.name] = value
    return values


def _kind(name: object, track: Track) -> Kind:
    try:
        kind = Kind(name) if isinstance(name, str) else None
    except ValueError:
        kind = None
    if kind is None:
        raise LineError("kind is not a kind of record")
    if kind not in KINDS_OF_TRACK[track]:
        raise LineError(f"{kind.value} is not what the {track.value} track holds")
    return kind


def _check(record: Record, kind: Kind) -> None:
    instants = [record.timestamp_ms]
    if isinstance(record, Transcript):
        instants += [turn.timestamp_ms for turn in record.turns]
    if not all(_EARLIEST_INSTANT_MS <= instant <= LATEST_INSTANT_MS for instant in instants):
        raise LineError("Input should be an instant of the calendar: timestamp_ms")
    for name in ("quality_score", "confidence", "maturity_score"):
        if not 0 <= getattr(record, name, 0) <= 1:
            raise LineError(f"Input should be from 0 to 1: {name}")
    if kind in ID_PREFIX and not _is_id(record_key(record), ID_PREFIX[kind]):
        raise LineError(f"Input should be an id of {kind.value}: id")
    if kind is Kind.AGENT_SKILL and not record_key(record).strip():
        raise LineError("Input should have at least 1 character: id")


def _is_id(entry_id: str, prefix: str) -> bool:
    sequence = entry_sequence(entry_id)
    if sequence is None:
        return _GIVEN_ID.fullmatch(entry_id) is not None
    given_prefix, day, _ = entry_id.split("_")
    try:
        date.fromisoformat(day)
    except ValueError:
        return False
    return given_prefix == prefix and 0 < sequence < _LARGEST_SEQUENCE


def _place(location: tuple[int | str, ...]) -> str:
    names = {"entry_id": "id", "name": "id"}
    return ".".join(str(names.get(str(part), part)) for part in location)


def _plain(value: object) -> object:
    # Profile data is any mapping.
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a record holds a {type(value).__name__}")
