"""What a job is. A stage of the pipeline, for one owner and one memory cell."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from remanence_server.domain.owners import Owner


class JobStatus(StrEnum):
    """The life of a job. A failed attempt goes back to `queued` until the budget is used up."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    DEAD_LETTER = "dead_letter"


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
