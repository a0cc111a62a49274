"""The durable work behind add and flush, for people: look at it, retry it, drop it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from remanence_server.domain.owners import Scope
from remanence_server.runtime.clock import Clock
from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.runtime.logging import get_logger
from remanence_server.state.jobs.board import JobBoard
from remanence_server.state.jobs.model import JobFilter, JobRecord, JobStatus
from remanence_server.state.jobs.runner import JobRunner

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class JobDesk:
    """Looks at jobs and steers them; workers and those who wait for a job hear of it.

    Methods for one job raise ServiceError NOT_FOUND when its scope has none of that id.
    """

    board: JobBoard
    runner: JobRunner
    clock: Clock

    async def page(
        self, wanted: JobFilter, *, page: int, page_size: int
    ) -> tuple[int, Sequence[JobRecord]]:
        """How many jobs match, and a page of them, newest first. Pages count from 1."""
        return await self.board.page(wanted, limit=page_size, offset=(page - 1) * page_size)

    async def get(self, scope: Scope, job_id: int) -> JobRecord:
        """One job."""
        return _found(await self.board.get(scope, job_id), job_id)

    async def retry(self, scope: Scope, job_id: int) -> JobRecord:
        """Gives a job that was given up, or waits for another attempt, a fresh budget, now.

        One that is queued or running stays as it is. Raises ServiceError CONFLICT for one that
        succeeded or was cancelled.
        """
        job = _found(await self.board.retry(scope, job_id, self.clock.now_ms()), job_id)
        if job.status in (JobStatus.SUCCEEDED, JobStatus.CANCELLED):
            raise _conflict(job, "retried")
        _log.info("job_retried", job_id=job_id, stage=job.stage)
        await self.runner.announce(job.cell_id)
        return job

    async def drop(self, scope: Scope, job_id: int) -> JobRecord:
        """Gives up a job for good; what only it needed is deleted, and nothing follows from it.

        An attempt that runs is not interrupted: what it has written by its end stays. Dropping a
        job twice is as good as once. Raises ServiceError CONFLICT for one that succeeded.
        """
        job = _found(await self.board.drop(scope, job_id, self.clock.now_ms()), job_id)
        if job.status is not JobStatus.CANCELLED:
            raise _conflict(job, "dropped")
        _log.info("job_dropped", job_id=job_id, stage=job.stage)
        await self.runner.announce(job.cell_id)
        return job


def _found(job: JobRecord | None, job_id: int) -> JobRecord:
    if job is None:
        raise ServiceError(ErrorCode.NOT_FOUND, f"job {job_id} not found")
    return job


def _conflict(job: JobRecord, participle: str) -> ServiceError:
    return ServiceError(
        ErrorCode.CONFLICT, f"job {job.job_id} is {job.status.value} and cannot be {participle}"
    )
