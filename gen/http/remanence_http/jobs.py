# Generated from remanence/v2/jobs.proto by remanence_generator. Do not edit.
"""Requests, responses and routes of remanence/v2/jobs.proto."""

from __future__ import annotations

from datetime import tzinfo
from typing import Annotated, Any, Literal, Protocol

from fastapi import APIRouter, Request, Response
from pydantic import Field
from remanence.v2 import jobs_pb2
from remanence_server.api.transcoding.bindings import HttpBinding, add_routes
from remanence_server.api.transcoding.context import CallContext
from remanence_server.api.transcoding.fields import WHOLE, WHOLE_OR_DIGITS, RequestModel
from remanence_server.api.transcoding.texts import TextReaders, integer_from_text, query_fields
from remanence_server.api.transcoding.validation import MessageBinding, Registry, validate
from remanence_server.api.transcoding.values import timestamp_text

_JOB_STATUS_NUMBERS = {
    "queued": jobs_pb2.JOB_STATUS_QUEUED,
    "waiting_retry": jobs_pb2.JOB_STATUS_WAITING_RETRY,
    "running": jobs_pb2.JOB_STATUS_RUNNING,
    "succeeded": jobs_pb2.JOB_STATUS_SUCCEEDED,
    "dead_letter": jobs_pb2.JOB_STATUS_DEAD_LETTER,
    "cancelled": jobs_pb2.JOB_STATUS_CANCELLED,
}
_JOB_STATUS_NAMES = {number: name for name, number in _JOB_STATUS_NUMBERS.items()}


class ListJobsRequest(RequestModel):
    """Request message remanence.v2.ListJobsRequest."""

    session_id: Annotated[str, Field(strict=True)] | None = None
    status: Literal[
        "queued", "waiting_retry", "running", "succeeded", "dead_letter", "cancelled"
    ] | None = None
    stage: Annotated[str, Field(strict=True)] | None = None
    page: Annotated[int, Field(strict=True, ge=1, le=2147483647), WHOLE] = 1
    page_size: Annotated[int, Field(strict=True, ge=1, le=100), WHOLE] = 20
    app_id: Annotated[str, Field(strict=True)] = "default"
    project_id: Annotated[str, Field(strict=True)] = "default"


def list_jobs_request_to_proto(model: ListJobsRequest) -> jobs_pb2.ListJobsRequest:
    return jobs_pb2.ListJobsRequest(
        session_id=model.session_id,
        status=None if model.status is None else _JOB_STATUS_NUMBERS[model.status],
        stage=model.stage,
        page=model.page,
        page_size=model.page_size,
        app_id=model.app_id,
        project_id=model.project_id,
    )


def list_jobs_request_input(pb: jobs_pb2.ListJobsRequest) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if pb.HasField("session_id"):
        data["session_id"] = pb.session_id
    if pb.status:
        data["status"] = _JOB_STATUS_NAMES.get(pb.status, pb.status)
    if pb.HasField("stage"):
        data["stage"] = pb.stage
    if pb.HasField("page"):
        data["page"] = pb.page
    if pb.HasField("page_size"):
        data["page_size"] = pb.page_size
    if pb.HasField("app_id"):
        data["app_id"] = pb.app_id
    if pb.HasField("project_id"):
        data["project_id"] = pb.project_id
    return data


class GetJobRequest(RequestModel):
    """Request message remanence.v2.GetJobRequest."""

    job_id: Annotated[
        int, Field(strict=True, ge=-9223372036854775808, le=9223372036854775807), WHOLE_OR_DIGITS
    ]
    app_id: Annotated[str, Field(strict=True)] = "default"
    project_id: Annotated[str, Field(strict=True)] = "default"


def get_job_request_to_proto(model: GetJobRequest) -> jobs_pb2.GetJobRequest:
    return jobs_pb2.GetJobRequest(
        job_id=model.job_id,
        app_id=model.app_id,
        project_id=model.project_id,
    )


def get_job_request_input(pb: jobs_pb2.GetJobRequest) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if pb.job_id:
        data["job_id"] = pb.job_id
    if pb.HasField("app_id"):
        data["app_id"] = pb.app_id
    if pb.HasField("project_id"):
        data["project_id"] = pb.project_id
    return data


class RetryJobRequest(RequestModel):
    """Request message remanence.v2.RetryJobRequest."""

    job_id: Annotated[
        int, Field(strict=True, ge=-9223372036854775808, le=9223372036854775807), WHOLE_OR_DIGITS
    ]
    app_id: Annotated[str, Field(strict=True)] = "default"
    project_id: Annotated[str, Field(strict=True)] = "default"


def retry_job_request_to_proto(model: RetryJobRequest) -> jobs_pb2.RetryJobRequest:
    return jobs_pb2.RetryJobRequest(
        job_id=model.job_id,
        app_id=model.app_id,
        project_id=model.project_id,
    )


def retry_job_request_input(pb: jobs_pb2.RetryJobRequest) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if pb.job_id:
        data["job_id"] = pb.job_id
    if pb.HasField("app_id"):
        data["app_id"] = pb.app_id
    if pb.HasField("project_id"):
        data["project_id"] = pb.project_id
    return data


class DropJobRequest(RequestModel):
    """Request message remanence.v2.DropJobRequest."""

    job_id: Annotated[
        int, Field(strict=True, ge=-9223372036854775808, le=9223372036854775807), WHOLE_OR_DIGITS
    ]
    app_id: Annotated[str, Field(strict=True)] = "default"
    project_id: Annotated[str, Field(strict=True)] = "default"


def drop_job_request_to_proto(model: DropJobRequest) -> jobs_pb2.DropJobRequest:
    return jobs_pb2.DropJobRequest(
        job_id=model.job_id,
        app_id=model.app_id,
        project_id=model.project_id,
    )


def drop_job_request_input(pb: jobs_pb2.DropJobRequest) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if pb.job_id:
        data["job_id"] = pb.job_id
    if pb.HasField("app_id"):
        data["app_id"] = pb.app_id
    if pb.HasField("project_id"):
        data["project_id"] = pb.project_id
    return data


def job_json(pb: jobs_pb2.Job, zone: tzinfo) -> dict[str, Any]:
    return {
        "id": pb.id,
        "stage": pb.stage,
        "status": _JOB_STATUS_NAMES.get(pb.status, ""),
        "app_id": pb.app_id,
        "project_id": pb.project_id,
        "session_id": pb.session_id,
        "user_id": pb.user_id if pb.HasField("user_id") else None,
        "agent_id": pb.agent_id if pb.HasField("agent_id") else None,
        "attempts": pb.attempts,
        "maximum_attempts": pb.maximum_attempts,
        "error_code": pb.error_code if pb.HasField("error_code") else None,
        "error": pb.error if pb.HasField("error") else None,
        "created_at": timestamp_text(pb.created_at, zone) if pb.HasField("created_at") else None,
        "next_attempt_at": timestamp_text(pb.next_attempt_at, zone) if pb.HasField(
            "next_attempt_at"
        ) else None,
        "finished_at": timestamp_text(pb.finished_at, zone) if pb.HasField("finished_at") else None,
    }


def list_jobs_response_json(pb: jobs_pb2.ListJobsResponse, zone: tzinfo) -> dict[str, Any]:
    return {
        "total": pb.total,
        "page": pb.page,
        "page_size": pb.page_size,
        "items": [job_json(item, zone) for item in pb.items],
    }


def get_job_response_json(pb: jobs_pb2.GetJobResponse, zone: tzinfo) -> dict[str, Any]:
    return {
        "job": job_json(pb.job, zone) if pb.HasField("job") else None,
    }


def retry_job_response_json(pb: jobs_pb2.RetryJobResponse, zone: tzinfo) -> dict[str, Any]:
    return {
        "job": job_json(pb.job, zone) if pb.HasField("job") else None,
    }


def drop_job_response_json(pb: jobs_pb2.DropJobResponse, zone: tzinfo) -> dict[str, Any]:
    return {
        "job": job_json(pb.job, zone) if pb.HasField("job") else None,
    }


class JobServiceProtocol(Protocol):
    """The durable work behind add and flush: what waits, what runs, what was given up. An extension.

    A job is one stage of the pipeline for one owner and one memory cell. Every call is bounded by a
    scope: a job of another one is not found.
    """

    async def ListJobs(
        self, request: jobs_pb2.ListJobsRequest, context: CallContext
    ) -> jobs_pb2.ListJobsResponse:
        """Lists jobs of a scope, newest first, page by page. Jobs that succeeded are kept for some
        days."""
        ...

    async def GetJob(
        self, request: jobs_pb2.GetJobRequest, context: CallContext
    ) -> jobs_pb2.GetJobResponse:
        """One job. Fails with NOT_FOUND when the scope has none of that id."""
        ...

    async def RetryJob(
        self, request: jobs_pb2.RetryJobRequest, context: CallContext
    ) -> jobs_pb2.RetryJobResponse:
        """Gives a job that was given up, or that waits for another attempt, a fresh budget of attempts,
        now. For one that is queued or running it does nothing.

        Fails with NOT_FOUND, and with ALREADY_EXISTS (CONFLICT) for one that succeeded or was
        cancelled.
        """
        ...

    async def DropJob(
        self, request: jobs_pb2.DropJobRequest, context: CallContext
    ) -> jobs_pb2.DropJobResponse:
        """Gives up a job for good: it is cancelled, and what only it needed is deleted. Memories that its
        cell has led to before stay.

        Fails with NOT_FOUND, and with ALREADY_EXISTS (CONFLICT) for one that succeeded.
        """
        ...


_LIST_JOBS_TEXTS: TextReaders = {
    "session_id": str,
    "status": str,
    "stage": str,
    "page": integer_from_text,
    "page_size": integer_from_text,
    "app_id": str,
    "project_id": str,
}
_LIST_JOBS_PLACES = {
    "session_id": "query",
    "status": "query",
    "stage": "query",
    "page": "query",
    "page_size": "query",
    "app_id": "query",
    "project_id": "query",
}
_GET_JOB_TEXTS: TextReaders = {
    "app_id": str,
    "project_id": str,
}
_GET_JOB_PLACES = {
    "job_id": "path",
    "app_id": "query",
    "project_id": "query",
}
_RETRY_JOB_PLACES = {
    "job_id": "path",
}
_DROP_JOB_TEXTS: TextReaders = {
    "app_id": str,
    "project_id": str,
}
_DROP_JOB_PLACES = {
    "job_id": "path",
    "app_id": "query",
    "project_id": "query",
}


def job_service_router(servicer: JobServiceProtocol, binding: HttpBinding) -> APIRouter:
    """HTTP routes of remanence.v2.JobService, which call its servicer in process."""
    router = APIRouter()

    async def list_jobs(request: Request) -> Response:
        data = query_fields(request, _LIST_JOBS_TEXTS)
        model = validate(ListJobsRequest, data, _LIST_JOBS_PLACES)
        context = binding.context(request)
        reply = await servicer.ListJobs(list_jobs_request_to_proto(model), context)
        body = list_jobs_response_json(reply, binding.zone)
        return binding.enveloped(context, body, status=200)

    add_routes(router, "GET", list_jobs, "/api/v2/jobs")

    async def get_job(request: Request) -> Response:
        data = query_fields(request, _GET_JOB_TEXTS)
        data["job_id"] = request.path_params["job_id"]
        model = validate(GetJobRequest, data, _GET_JOB_PLACES)
        context = binding.context(request)
        reply = await servicer.GetJob(get_job_request_to_proto(model), context)
        body = get_job_response_json(reply, binding.zone)
        return binding.enveloped(context, body, status=200)

    add_routes(router, "GET", get_job, "/api/v2/jobs/{job_id}")

    async def retry_job(request: Request) -> Response:
        data = await binding.read_object(request)
        data["job_id"] = request.path_params["job_id"]
        model = validate(RetryJobRequest, data, _RETRY_JOB_PLACES)
        context = binding.context(request)
        reply = await servicer.RetryJob(retry_job_request_to_proto(model), context)
        body = retry_job_response_json(reply, binding.zone)
        return binding.enveloped(context, body, status=200)

    add_routes(router, "POST", retry_job, "/api/v2/jobs/{job_id}/retry")

    async def drop_job(request: Request) -> Response:
        data = query_fields(request, _DROP_JOB_TEXTS)
        data["job_id"] = request.path_params["job_id"]
        model = validate(DropJobRequest, data, _DROP_JOB_PLACES)
        context = binding.context(request)
        reply = await servicer.DropJob(drop_job_request_to_proto(model), context)
        body = drop_job_response_json(reply, binding.zone)
        return binding.enveloped(context, body, status=200)

    add_routes(router, "DELETE", drop_job, "/api/v2/jobs/{job_id}")

    return router


MESSAGES: Registry = {
    "remanence.v2.ListJobsRequest": MessageBinding(
        ListJobsRequest, list_jobs_request_to_proto, list_jobs_request_input
    ),
    "remanence.v2.GetJobRequest": MessageBinding(
        GetJobRequest, get_job_request_to_proto, get_job_request_input
    ),
    "remanence.v2.RetryJobRequest": MessageBinding(
        RetryJobRequest, retry_job_request_to_proto, retry_job_request_input
    ),
    "remanence.v2.DropJobRequest": MessageBinding(
        DropJobRequest, drop_job_request_to_proto, drop_job_request_input
    ),
}
