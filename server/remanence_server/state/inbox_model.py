"""What a queued request is: as it is offered, as it is delivered, and as its client sees it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from remanence_server.domain.owners import Scope

# Error codes of rows that did not fail by what their delivery raised.
STATUS_WRITE_LOST = "status_write_lost"
REPLAYS_EXHAUSTED = "replays_exhausted"


class InboxStatus(StrEnum):
    """The life of a row: each is delivered once, unless the process dies meanwhile."""

    QUEUED = "queued"
    PROCESSING = "processing"
    SUCCESS = "success"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class NewEntry:
    """A request to be queued. `payload_json` is what its delivery will need."""

    request_id: str
    scope: Scope
    session_id: str
    is_flush: bool
    defer_extraction: bool
    payload_json: str
    message_count: int


@dataclass(frozen=True, slots=True)
class InboxEntry:
    """A claimed row."""

    entry_id: int
    request_id: str
    scope: Scope
    session_id: str
    is_flush: bool
    defer_extraction: bool
    payload_json: str


@dataclass(frozen=True, slots=True)
class InboxTask:
    """A row as its client sees it."""

    request_id: str
    status: InboxStatus
    is_flush: bool
    error_code: str | None
    error: str | None
    created_at_ms: int
    finished_at_ms: int | None


@dataclass(frozen=True, slots=True)
class InboxCaps:
    """The most unfinished rows that there may be."""

    per_session: int
    total: int


@dataclass(frozen=True, slots=True)
class InboxCounts:
    """How much waits or runs, since when, and how much has failed."""

    pending: int
    oldest_created_at_ms: int | None
    failed: int


@dataclass(frozen=True, slots=True)
class Recovered:
    """What became of the rows that were in flight when the process died."""

    requeued: int
    given_up: int


@dataclass(frozen=True, slots=True)
class TaskFilter:
    """Which rows a listing shows: always of one scope."""

    scope: Scope
    session_id: str | None = None
    status: InboxStatus | None = None
