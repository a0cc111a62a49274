"""What comes back: frozen values whose fields have the names of the JSON API.

Every instant is an aware datetime. `to_json` gives a result as the API's JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from remanence_client.inputs import ContentItem, ToolCall
from remanence_client.words import JobStatus

# How `to_json` treats a field: left out, left out where it is None, null where it is empty.
_NEVER = {"json": "never"}
_UNLESS_NONE = {"json": "unless_none"}
_NULL_WHEN_EMPTY = {"json": "null_when_empty"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AddResult:
    """`status`: accumulated, extracted, or queued; then `request_id` is the id of the task."""

    message_count: int
    status: Literal["accumulated", "extracted", "queued"]
    pending: int | None = field(default=None, metadata=_UNLESS_NONE)
    # Messages whose `message_id` the session had already: they were not stored again.
    known_count: int | None = field(default=None, metadata=_UNLESS_NONE)
    request_id: str | None = field(default=None, metadata=_NEVER)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlushResult:
    """`status`: extracted, no_extraction (nothing was buffered), or queued behind other batches."""

    status: Literal["extracted", "no_extraction", "queued"]
    message_count: int | None = field(default=None, metadata=_UNLESS_NONE)
    pending: int | None = field(default=None, metadata=_UNLESS_NONE)
    request_id: str | None = field(default=None, metadata=_NEVER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """What happened in one segment of a conversation; `episode` is the full narrative."""

    id: str
    user_id: str | None
    app_id: str
    project_id: str
    session_id: str
    timestamp: datetime
    sender_ids: tuple[str, ...]
    summary: str
    subject: str
    episode: str
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AtomicFact:
    """One sentence of an episode that matched the query."""

    id: str
    content: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundEpisode(Episode):
    """An episode that a search found, with its facts that matched."""

    score: float
    atomic_facts: tuple[AtomicFact, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What is known of a user."""

    id: str
    user_id: str | None
    app_id: str
    project_id: str
    profile_data: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundProfile(Profile):
    """A profile beside the results of a search; it is fetched, not ranked: `score` is None."""

    score: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCase:
    """One tool run of an agent: what was wanted, what was done, how well it went (0 to 1)."""

    id: str
    agent_id: str
    app_id: str
    project_id: str
    session_id: str
    task_intent: str
    approach: str
    quality_score: float
    key_insight: str | None
    timestamp: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundAgentCase(AgentCase):
    """A case that a search found."""

    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSkill:
    """A procedure distilled from cases; `confidence` and `maturity_score` are 0 to 1."""

    id: str
    agent_id: str
    app_id: str
    project_id: str
    name: str
    description: str
    content: str
    confidence: float
    maturity_score: float
    source_case_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundAgentSkill(AgentSkill):
    """A skill that a search found."""

    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class UnprocessedMessage:
    """A message that was accepted and is not yet part of a memory."""

    id: str
    app_id: str
    project_id: str
    session_id: str
    sender_id: str
    sender_name: str | None
    role: str
    content: str | tuple[ContentItem, ...]
    timestamp: datetime
    tool_calls: tuple[ToolCall, ...] = field(metadata=_NULL_WHEN_EMPTY)
    tool_call_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """What a search found, best first, by kind."""

    episodes: tuple[FoundEpisode, ...]
    profiles: tuple[FoundProfile, ...]
    agent_cases: tuple[FoundAgentCase, ...]
    agent_skills: tuple[FoundAgentSkill, ...]
    unprocessed_messages: tuple[UnprocessedMessage, ...]
    request_id: str | None = field(default=None, metadata=_NEVER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page of memories of one kind; `total_count` counts all pages, `count` this one."""

    episodes: tuple[Episode, ...]
    profiles: tuple[Profile, ...]
    agent_cases: tuple[AgentCase, ...]
    agent_skills: tuple[AgentSkill, ...]
    total_count: int
    count: int
    request_id: str | None = field(default=None, metadata=_NEVER)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteResult:
    """How much was removed: `deleted` is the sum of the counts that follow."""

    deleted: int
    episodes: int = 0
    atomic_facts: int = 0
    agent_cases: int = 0
    agent_skills: int = 0
    # Statements of the profile that came from nothing else.
    profile_items: int = 0
    # Messages that were accepted and not yet part of a memory.
    messages: int = 0
    request_id: str | None = field(default=None, metadata=_NEVER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """The state of a queued request: queued, processing, success or failed."""

    id: str
    status: Literal["queued", "processing", "success", "failed"]
    task_type: Literal["memory_add", "memory_flush"]
    error: str | None
    error_code: str | None
    created_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPage:
    """One page of queued requests, newest first; `total` counts all pages."""

    total: int
    page: int
    page_size: int
    items: tuple[Task, ...]
    request_id: str | None = field(default=None, metadata=_NEVER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One stage of the pipeline, for one owner; `error` is why the last attempt failed.

    `status`: queued, waiting_retry (an attempt failed; the next is due at `next_attempt_at`),
    running, succeeded, dead_letter (given up; it can be retried) or cancelled.
    """

    id: int
    stage: str
    status: JobStatus
    app_id: str
    project_id: str
    session_id: str
    user_id: str | None
    agent_id: str | None
    attempts: int
    maximum_attempts: int
    error_code: str | None
    error: str | None
    created_at: datetime
    next_attempt_at: datetime | None
    finished_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPage:
    """One page of jobs, newest first; `total` counts all pages."""

    total: int
    page: int
    page_size: int
    items: tuple[Job, ...]
    request_id: str | None = field(default=None, metadata=_NEVER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of a strategy: running, success, failed, dead_letter or crashed."""

    run_id: str
    status: str
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerResult:
    """`status`: ok (every run has settled), timeout, or not_dispatched."""

    status: Literal["ok", "timeout", "not_dispatched"]
    name: str
    dispatched: int
    runs: tuple[Run, ...]
    request_id: str | None = field(default=None, metadata=_NEVER)


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildResult:
    """`started` is false when a rebuild was running already."""

    started: bool
    request_id: str | None = field(default=None, metadata=_NEVER)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedFiles:
    """What a download wrote."""

    files: int
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportResult:
    """Records that were written, and those whose id was there."""

    imported: int
    present: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QuiesceResult:
    """What was drained from the Markdown-to-index queue."""

    quiesced: bool
    drained: int
    pending_before: int
    pending_after: int
    failed_permanent: int
    request_id: str | None = field(default=None, metadata=_NEVER)
