"""What a job is. A stage of the pipeline, for one owner and one memory cell."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum

from remanence_server.domain.owners import Owner, Scope


class JobStatus(StrEnum):
    """The life of a job. A failed attempt goes back to `queued` until the budget is used up."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    DEAD_LETTER = "dead_letter"
    # Dropped by somebody, or what it worked on was deleted.
    CANCELLED = "cancelled"


class Wanted(IntEnum):
    """How much somebody waits for a job. Those that are wanted more come first."""

    NO = 0
    # It follows from a job that somebody waits for.
    SOON = 1
    NOW = 2


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job to be queued. Jobs of one `serial_key` run one at a time, in the order queued."""

    stage: str
    serial_key: str
    cell_id: str
    owner: Owner
    session_id: str
    maximum_attempts: int
    # What an earlier stage hands on, as JSON.
    input_json: str | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """A claimed job. Whoever holds `lease_token` may finish it."""

    job_id: int
    stage: str
    cell_id: str
    owner: Owner
    session_id: str
    attempts: int
    maximum_attempts: int
    # How often in a row it failed for what says nothing against it.
    waits: int
    lease_token: str
    input_json: str | None
    output_json: str | None


@dataclass(frozen=True, slots=True)
class JobState:
    """Where a job is, as an observer sees it."""

    job_id: int
    stage: str
    status: JobStatus
    attempts: int
    last_error_code: str | None
    last_error: str | None
    # Queued behind a job of its serial key that waits for another attempt.
    blocked: bool = False

    @property
    def has_failed(self) -> bool:
        """Given up, or waiting for another attempt: its own, or that of one before it."""
        waits_after_failure = self.status is JobStatus.QUEUED and self.last_error_code is not None
        return waits_after_failure or self.blocked or self.status is JobStatus.DEAD_LETTER

    @property
    def has_settled(self) -> bool:
        """Nothing is to be waited for: done, dropped, or an attempt has failed."""
        return self.status in (JobStatus.SUCCEEDED, JobStatus.CANCELLED) or self.has_failed


@dataclass(frozen=True, slots=True)
class JobRecord:
    """A job as an operator sees it. It holds no text of a memory."""

    job_id: int
    stage: str
    status: JobStatus
    owner: Owner
    session_id: str
    cell_id: str
    attempts: int
    maximum_attempts: int
    error_code: str | None
    error: str | None
    created_at_ms: int
    available_at_ms: int
    finished_at_ms: int | None

    @property
    def waits_for_retry(self) -> bool:
        """Queued because an attempt has failed."""
        return self.status is JobStatus.QUEUED and self.error_code is not None


@dataclass(frozen=True, slots=True)
class JobFilter:
    """Which jobs of a scope to list. None stands for all."""

    scope: Scope
    session_id: str | None = None
    stage: str | None = None
    status: JobStatus | None = None
    # Tells the queued jobs that failed before from those that did not.
    waits_for_retry: bool | None = None


@dataclass(frozen=True, slots=True)
class JobCounts:
    """How much is waiting, running and given up.

    `retrying` are those of `queued` that failed before; `retry_reason` says why one of them did.
    """

    queued: int
    running: int
    dead_letter: int
    retrying: int = 0
    retry_reason: str = ""
