"""JobService: the durable work behind add and flush, seen and steered from outside."""

from __future__ import annotations

from collections.abc import Mapping

from remanence.v2 import jobs_pb2 as pb
from remanence.v2 import jobs_pb2_grpc
from remanence_server.api.messages import timestamp
from remanence_server.domain.owners import Scope, Track
from remanence_server.memory.jobs import JobDesk
from remanence_server.state.jobs.model import JobFilter, JobRecord, JobStatus

# Of the contract: the row's status, and for queued jobs whether an attempt has failed before.
_STATUSES: Mapping[pb.JobStatus, tuple[JobStatus, bool | None]] = {
    pb.JOB_STATUS_QUEUED: (JobStatus.QUEUED, False),
    pb.JOB_STATUS_WAITING_RETRY: (JobStatus.QUEUED, True),
    pb.JOB_STATUS_RUNNING: (JobStatus.RUNNING, None),
    pb.JOB_STATUS_SUCCEEDED: (JobStatus.SUCCEEDED, None),
    pb.JOB_STATUS_DEAD_LETTER: (JobStatus.DEAD_LETTER, None),
    pb.JOB_STATUS_CANCELLED: (JobStatus.CANCELLED, None),
}
_STATUS_NUMBERS = {standing: number for number, standing in _STATUSES.items()}


class JobServicer(jobs_pb2_grpc.JobServiceServicer):
    """Jobs of a scope."""

    def __init__(self, desk: JobDesk) -> None:
        self._desk = desk

    async def ListJobs(self, request: pb.ListJobsRequest, context: object) -> pb.ListJobsResponse:
        """A page of jobs, newest first."""
        status, waits_for_retry = _STATUSES.get(request.status, (None, None))
        wanted = JobFilter(
            scope=Scope(request.app_id, request.project_id),
            session_id=request.session_id if request.HasField("session_id") else None,
            stage=request.stage if request.HasField("stage") else None,
            status=status,
            waits_for_retry=waits_for_retry,
        )
        total, jobs = await self._desk.page(wanted, page=request.page, page_size=request.page_size)
        return pb.ListJobsResponse(
            total=total, page=request.page, page_size=request.page_size, items=map(_job, jobs)
        )

    async def GetJob(self, request: pb.GetJobRequest, context: object) -> pb.GetJobResponse:
        """One job."""
        return pb.GetJobResponse(job=_job(await self._desk.get(_scope(request), request.job_id)))

    async def RetryJob(self, request: pb.RetryJobRequest, context: object) -> pb.RetryJobResponse:
        """Gives a job a fresh budget of attempts."""
        job = await self._desk.retry(_scope(request), request.job_id)
        return pb.RetryJobResponse(job=_job(job))

    async def DropJob(self, request: pb.DropJobRequest, context: object) -> pb.DropJobResponse:
        """Gives a job up for good."""
        return pb.DropJobResponse(job=_job(await self._desk.drop(_scope(request), request.job_id)))


def _scope(request: pb.GetJobRequest | pb.RetryJobRequest | pb.DropJobRequest) -> Scope:
    return Scope(request.app_id, request.project_id)


def _job(job: JobRecord) -> pb.Job:
    is_user = job.owner.track is Track.USER
    waits = job.waits_for_retry
    return pb.Job(
        id=job.job_id,
        stage=job.stage,
        status=_STATUS_NUMBERS[job.status, waits if job.status is JobStatus.QUEUED else None],
        app_id=job.owner.scope.app_id,
        project_id=job.owner.scope.project_id,
        session_id=job.session_id,
        user_id=job.owner.owner_id if is_user else None,
        agent_id=None if is_user else job.owner.owner_id,
        attempts=job.attempts,
        maximum_attempts=job.maximum_attempts,
        error_code=job.error_code,
        error=job.error,
        created_at=timestamp(job.created_at_ms),
        next_attempt_at=timestamp(job.available_at_ms) if waits else None,
        finished_at=None if job.finished_at_ms is None else timestamp(job.finished_at_ms),
    )
