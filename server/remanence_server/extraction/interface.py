"""What an extractor does; the heuristic one and a model-backed one are behind this interface.

Drafts hold no ids and no owner: the caller knows both, and gives them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from remanence_server.domain.messages import MemoryCell
from remanence_server.domain.owners import Owner
from remanence_server.domain.records import Profile


@dataclass(frozen=True, slots=True)
class EpisodeDraft:
    """What happened in a cell as one owner remembers it. No field is ever empty."""

    subject: str
    summary: str
    content: str


@dataclass(frozen=True, slots=True)
class FactDraft:
    """One statement that holds on its own, with the messages that say it and who said it.

    `timestamp_ms` is the epoch of the message the statement is in.
    """

    content: str
    message_ids: tuple[str, ...]
    timestamp_ms: int
    sender_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CaseDraft:
    """One tool run of an agent; `quality_score` is in [0, 1]."""

    task_intent: str
    approach: str
    quality_score: float
    key_insight: str | None


class CaseSkipReason(StrEnum):
    """Why a cell is no case. Stable: logs and tests name them."""

    NO_USER_REQUEST = "no_user_request"
    NO_AGENT_TURN = "no_agent_turn"
    NOT_CLOSED = "not_closed"
    TOO_FEW_TOOL_ROUNDS = "too_few_tool_rounds"
    NOT_WORTH_KEEPING = "not_worth_keeping"


@dataclass(frozen=True, slots=True)
class CaseSkipped:
    """The cell is no case; `reason` is a `CaseSkipReason`."""

    reason: str


class Extractor(Protocol):
    """Turns a closed cell into drafts. Each call is a stage that may be repeated.

    A provider that cannot be reached raises ServiceError with EXTERNAL_SERVICE_UNAVAILABLE.
    """

    name: str

    async def extract_episode(self, cell: MemoryCell, owner: Owner) -> EpisodeDraft:
        """The episode of a user: what was said to, by and about them."""
        ...

    async def extract_facts(self, cell: MemoryCell, owner: Owner) -> tuple[FactDraft, ...]:
        """The facts of a user's episode, the most telling speakers first; may be empty."""
        ...

    async def update_profile(
        self, cell: MemoryCell, owner: Owner, current: Profile | None, source: str | None = None
    ) -> Profile | None:
        """The user's profile with what the cell adds to it, or None when it adds nothing.

        `source` is the entry id of the cell's episode; statements keep it under `sources`.
        """
        ...

    async def extract_case(self, cell: MemoryCell, owner: Owner) -> CaseDraft | CaseSkipped:
        """The case of an agent's tool run, or why it is none."""
        ...
