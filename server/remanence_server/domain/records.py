"""What is remembered. Every record has an owner and an entry id that is unique within the owner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from remanence_server.domain.messages import Role
from remanence_server.domain.owners import Owner


class Kind(StrEnum):
    """Kinds of records, as written in Markdown and in the catalogue."""

    EPISODE = "episode"
    ATOMIC_FACT = "atomic_fact"
    TRANSCRIPT = "transcript"
    PROFILE = "profile"
    AGENT_CASE = "agent_case"
    AGENT_SKILL = "agent_skill"


# Prefix of the entry ids of the kinds that are kept as entries of daily files.
ID_PREFIX: Mapping[Kind, str] = {
    Kind.EPISODE: "ep",
    Kind.ATOMIC_FACT: "af",
    Kind.TRANSCRIPT: "tr",
    Kind.AGENT_CASE: "ac",
}


@dataclass(frozen=True, slots=True)
class Episode:
    """What happened in one memory cell, as one owner remembers it."""

    owner: Owner
    entry_id: str
    session_id: str
    timestamp_ms: int
    sender_ids: tuple[str, ...]
    subject: str
    summary: str
    content: str
    parent_type: str = "memcell"
    parent_id: str = ""


@dataclass(frozen=True, slots=True)
class AtomicFact:
    """One sentence that holds on its own. Its parent is an episode (by entry id)."""

    owner: Owner
    entry_id: str
    session_id: str
    timestamp_ms: int
    content: str
    parent_id: str
    sender_ids: tuple[str, ...] = ()
    # The messages that say so.
    message_ids: tuple[str, ...] = ()
    parent_type: str = "episode"


@dataclass(frozen=True, slots=True)
class Turn:
    """One message as kept in a transcript."""

    message_id: str
    sender_id: str
    speaker: str
    role: Role
    timestamp_ms: int
    text: str


@dataclass(frozen=True, slots=True)
class Transcript:
    """The words behind an episode, verbatim: evidence for people, a recall channel for search."""

    owner: Owner
    entry_id: str
    session_id: str
    timestamp_ms: int
    sender_ids: tuple[str, ...]
    turns: tuple[Turn, ...]
    parent_id: str
    parent_type: str = "episode"


@dataclass(frozen=True, slots=True)
class Profile:
    """What is known of a user; one for each owner. `data` is the contract's `profile_data`.

    Keys: `summary` (text), `explicit_info` (list of {category, description, evidence, timestamp_ms,
    superseded: [...]}), `implicit_traits` (list), `profile_timestamp_ms`.
    """

    owner: Owner
    data: Mapping[str, Any]
    timestamp_ms: int


@dataclass(frozen=True, slots=True)
class AgentCase:
    """One tool run of an agent: what was wanted, what was done, how well it went."""

    owner: Owner
    entry_id: str
    session_id: str
    timestamp_ms: int
    task_intent: str
    approach: str
    quality_score: float
    key_insight: str | None
    sender_ids: tuple[str, ...] = ()
    parent_type: str = "memcell"
    parent_id: str = ""


@dataclass(frozen=True, slots=True)
class AgentSkill:
    """A named procedure, distilled from cases that cluster."""

    owner: Owner
    name: str
    description: str
    content: str
    confidence: float
    maturity_score: float
    source_case_ids: tuple[str, ...]
    timestamp_ms: int


Record = Episode | AtomicFact | Transcript | Profile | AgentCase | AgentSkill

_KIND_OF: Mapping[type, Kind] = {
    Episode: Kind.EPISODE,
    AtomicFact: Kind.ATOMIC_FACT,
    Transcript: Kind.TRANSCRIPT,
    Profile: Kind.PROFILE,
    AgentCase: Kind.AGENT_CASE,
    AgentSkill: Kind.AGENT_SKILL,
}


def kind_of(record: Record) -> Kind:
    """The kind of a record."""
    return _KIND_OF[type(record)]


def record_key(record: Record) -> str:
    """The id of a record within its owner and kind: entry id, skill name, or `profile`."""
    match record:
        case Profile():
            return "profile"
        case AgentSkill(name=name):
            return name
        case _:
            return record.entry_id


def public_id(record: Record) -> str:
    """The id a client sees, unique within the scope: `<owner>_<entry id>`."""
    owner_id = record.owner.owner_id
    match record:
        case Profile():
            return owner_id
        case AgentSkill(name=name):
            return f"{owner_id}_{name}"
        case _:
            return f"{owner_id}_{record.entry_id}"
