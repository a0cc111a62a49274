# Generated from remanence/v2/tasks.proto by remanence_generator. Do not edit.
"""Requests, responses and routes of remanence/v2/tasks.proto."""

from __future__ import annotations

from datetime import tzinfo
from typing import Annotated, Any, Literal, Protocol

from fastapi import APIRouter, Request, Response
from pydantic import Field
from remanence.v2 import tasks_pb2
from remanence_server.api.transcoding.bindings import HttpBinding, add_routes
from remanence_server.api.transcoding.context import CallContext
from remanence_server.api.transcoding.fields import WHOLE, RequestModel
from remanence_server.api.transcoding.texts import TextReaders, integer_from_text, query_fields
from remanence_server.api.transcoding.validation import MessageBinding, Registry, validate
from remanence_server.api.transcoding.values import timestamp_text

_TASK_STATUS_NUMBERS = {
    "queued": tasks_pb2.TASK_STATUS_QUEUED,
    "processing": tasks_pb2.TASK_STATUS_PROCESSING,
    "success": tasks_pb2.TASK_STATUS_SUCCESS,
    "failed": tasks_pb2.TASK_STATUS_FAILED,
}
_TASK_STATUS_NAMES = {number: name for name, number in _TASK_STATUS_NUMBERS.items()}


_TASK_TYPE_NUMBERS = {
    "memory_add": tasks_pb2.TASK_TYPE_MEMORY_ADD,
    "memory_flush": tasks_pb2.TASK_TYPE_MEMORY_FLUSH,
}
_TASK_TYPE_NAMES = {number: name for name, number in _TASK_TYPE_NUMBERS.items()}


class GetTaskRequest(RequestModel):
    """Request message remanence.v2.GetTaskRequest."""

    task_id: Annotated[str, Field(strict=True)]


def get_task_request_to_proto(model: GetTaskRequest) -> tasks_pb2.GetTaskRequest:
    return tasks_pb2.GetTaskRequest(
        task_id=model.task_id,
    )


def get_task_request_input(pb: tasks_pb2.GetTaskRequest) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if pb.task_id:
        data["task_id"] = pb.task_id
    return data


class ListTasksRequest(RequestModel):
    """Request message remanence.v2.ListTasksRequest."""

    session_id: Annotated[str, Field(strict=True)] | None = None
    status: Literal["queued", "processing", "success", "failed"] | None = None
    page: Annotated[int, Field(strict=True, ge=1, le=2147483647), WHOLE] = 1
    page_size: Annotated[int, Field(strict=True, ge=1, le=2147483647), WHOLE] = 20
    app_id: Annotated[str, Field(strict=True)] = "default"
    project_id: Annotated[str, Field(strict=True)] = "default"


def list_tasks_request_to_proto(model: ListTasksRequest) -> tasks_pb2.ListTasksRequest:
    return tasks_pb2.ListTasksRequest(
        session_id=model.session_id,
        status=None if model.status is None else _TASK_STATUS_NUMBERS[model.status],
        page=model.page,
        page_size=model.page_size,
        app_id=model.app_id,
        project_id=model.project_id,
    )


def list_tasks_request_input(pb: tasks_pb2.ListTasksRequest) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if pb.HasField("session_id"):
        data["session_id"] = pb.session_id
    if pb.status:
        data["status"] = _TASK_STATUS_NAMES.get(pb.status, pb.status)
    if pb.HasField("page"):
        data["page"] = pb.page
    if pb.HasField("page_size"):
        data["page_size"] = pb.page_size
    if pb.HasField("app_id"):
        data["app_id"] = pb.app_id
    if pb.HasField("project_id"):
        data["project_id"] = pb.project_id
    return data


def get_task_response_json(pb: tasks_pb2.GetTaskResponse, zone: tzinfo) -> dict[str, Any]:
    return {
        "id": pb.id,
        "status": _TASK_STATUS_NAMES.get(pb.status, ""),
        "task_type": _TASK_TYPE_NAMES.get(pb.task_type, ""),
        "error": pb.error if pb.HasField("error") else None,
        "error_code": pb.error_code if pb.HasField("error_code") else None,
        "created_at": timestamp_text(pb.created_at, zone) if pb.HasField("created_at") else None,
        "finished_at": timestamp_text(pb.finished_at, zone) if pb.HasField("finished_at") else None,
    }


def task_item_json(pb: tasks_pb2.TaskItem, zone: tzinfo) -> dict[str, Any]:
    return {
        "id": pb.id,
        "status": _TASK_STATUS_NAMES.get(pb.status, ""),
        "task_type": _TASK_TYPE_NAMES.get(pb.task_type, ""),
        "error": pb.error if pb.HasField("error") else None,
        "error_code": pb.error_code if pb.HasField("error_code") else None,
        "created_at": timestamp_text(pb.created_at, zone) if pb.HasField("created_at") else None,
        "finished_at": timestamp_text(pb.finished_at, zone) if pb.HasField("finished_at") else None,
    }


def list_tasks_response_json(pb: tasks_pb2.ListTasksResponse, zone: tzinfo) -> dict[str, Any]:
    return {
        "total": pb.total,
        "page": pb.page,
        "page_size": pb.page_size,
        "items": [task_item_json(item, zone) for item in pb.items],
    }


class TaskServiceProtocol(Protocol):
    """The outcome of requests that were accepted with 202."""

    async def GetTask(
        self, request: tasks_pb2.GetTaskRequest, context: CallContext
    ) -> tasks_pb2.GetTaskResponse:
        """Returns the state of one accepted request; its id is the request id that the 202 carried.

        Fails with NOT_FOUND when there is no such request or it has aged out.
        """
        ...

    async def ListTasks(
        self, request: tasks_pb2.ListTasksRequest, context: CallContext
    ) -> tasks_pb2.ListTasksResponse:
        """Lists accepted requests of one scope, newest first, page by page.

        Fails with INVALID_ARGUMENT for an unknown status. Larger page sizes than 100 are capped.
        """
        ...


_GET_TASK_PLACES = {
    "task_id": "path",
}
_LIST_TASKS_TEXTS: TextReaders = {
    "session_id": str,
    "status": str,
    "page": integer_from_text,
    "page_size": integer_from_text,
    "app_id": str,
    "project_id": str,
}
_LIST_TASKS_PLACES = {
    "session_id": "query",
    "status": "query",
    "page": "query",
    "page_size": "query",
    "app_id": "query",
    "project_id": "query",
}


def task_service_router(servicer: TaskServiceProtocol, binding: HttpBinding) -> APIRouter:
    """HTTP routes of remanence.v2.TaskService, which call its servicer in process."""
    router = APIRouter()

    async def get_task(request: Request) -> Response:
        data: dict[str, object] = {}
        data["task_id"] = request.path_params["task_id"]
        model = validate(GetTaskRequest, data, _GET_TASK_PLACES)
        context = binding.context(request)
        reply = await servicer.GetTask(get_task_request_to_proto(model), context)
        body = get_task_response_json(reply, binding.zone)
        return binding.enveloped(context, body, status=200)

    add_routes(router, "GET", get_task, "/api/v2/tasks/{task_id}", "/api/v1/tasks/{task_id}")

    async def list_tasks(request: Request) -> Response:
        data = query_fields(request, _LIST_TASKS_TEXTS)
        model = validate(ListTasksRequest, data, _LIST_TASKS_PLACES)
        context = binding.context(request)
        reply = await servicer.ListTasks(list_tasks_request_to_proto(model), context)
        body = list_tasks_response_json(reply, binding.zone)
        return binding.enveloped(context, body, status=200)

    add_routes(router, "GET", list_tasks, "/api/v2/tasks", "/api/v1/tasks")

    return router


MESSAGES: Registry = {
    "remanence.v2.GetTaskRequest": MessageBinding(
        GetTaskRequest, get_task_request_to_proto, get_task_request_input
    ),
    "remanence.v2.ListTasksRequest": MessageBinding(
        ListTasksRequest, list_tasks_request_to_proto, list_tasks_request_input
    ),
}
