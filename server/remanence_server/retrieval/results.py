"""What a search asks, and what it finds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from remanence_server.domain.filters import Filter
from remanence_server.domain.owners import Owner
from remanence_server.domain.records import AgentCase, AgentSkill, AtomicFact, Episode


class Method(StrEnum):
    """How recall and ranking are done."""

    KEYWORD = "keyword"
    VECTOR = "vector"
    HYBRID = "hybrid"
    AGENTIC = "agentic"


@dataclass(frozen=True, slots=True)
class Query:
    """A question to the memory of one owner.

    `top_k` is the number of items wanted of each kind, or None for the server's own cap, in which
    case a default `radius` applies unless the caller gave one. `radius` is the cosine floor of
    dense recall, `minimum_score` the floor of the final score; both lie in [0, 1].
    """

    owner: Owner
    text: str
    method: Method
    top_k: int | None = None
    radius: float | None = None
    minimum_score: float | None = None
    where: Filter | None = None


@dataclass(frozen=True, slots=True)
class FactHit:
    """A fact that matched, on the score scale of its episode."""

    fact: AtomicFact
    score: float


@dataclass(frozen=True, slots=True)
class EpisodeHit:
    """An episode that matched, with those of its facts that did. Scores lie in [0, 1]."""

    episode: Episode
    score: float
    facts: tuple[FactHit, ...]


@dataclass(frozen=True, slots=True)
class CaseHit:
    """A case that matched."""

    case: AgentCase
    score: float


@dataclass(frozen=True, slots=True)
class SkillHit:
    """A skill that matched."""

    skill: AgentSkill
    score: float
