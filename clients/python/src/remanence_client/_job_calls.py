"""The calls that look at the durable work behind add and flush, and steer it."""

from __future__ import annotations

from remanence.v2 import jobs_pb2
from remanence_client import results
from remanence_client._calls import Call, optional_number

_SERVICE = "/remanence.v2.JobService"


def list_jobs(
    *,
    session_id: str | None,
    status: str | None,
    stage: str | None,
    page: int | None,
    page_size: int | None,
    app_id: str | None,
    project_id: str | None,
) -> Call[results.JobPage]:
    """Jobs of a scope."""
    request = jobs_pb2.ListJobsRequest(
        session_id=session_id,
        status=optional_number(jobs_pb2.JobStatus, status, "status"),
        stage=stage,
        page=page,
        page_size=page_size,
        app_id=app_id,
        project_id=project_id,
    )
    return Call(f"{_SERVICE}/ListJobs", request, jobs_pb2.ListJobsResponse, results.JobPage)


def get_job(job_id: int, *, app_id: str | None, project_id: str | None) -> Call[results.Job]:
    """One job."""
    request = jobs_pb2.GetJobRequest(job_id=job_id, app_id=app_id, project_id=project_id)
    return Call(f"{_SERVICE}/GetJob", request, jobs_pb2.GetJobResponse, results.Job, part="job")


def retry_job(job_id: int, *, app_id: str | None, project_id: str | None) -> Call[results.Job]:
    """Gives a job a fresh budget of attempts."""
    request = jobs_pb2.RetryJobRequest(job_id=job_id, app_id=app_id, project_id=project_id)
    return Call(f"{_SERVICE}/RetryJob", request, jobs_pb2.RetryJobResponse, results.Job, part="job")


def drop_job(job_id: int, *, app_id: str | None, project_id: str | None) -> Call[results.Job]:
    """Gives a job up for good."""
    request = jobs_pb2.DropJobRequest(job_id=job_id, app_id=app_id, project_id=project_id)
    return Call(f"{_SERVICE}/DropJob", request, jobs_pb2.DropJobResponse, results.Job, part="job")
