"""TaskService: what became of requests that were answered with 202."""

from __future__ import annotations

from collections.abc import Mapping

from remanence.v2 import tasks_pb2 as pb
from remanence.v2 import tasks_pb2_grpc
from remanence_server.api.messages import timestamp
from remanence_server.domain.owners import Scope
from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.state.inbox import InboxStore
from remanence_server.state.inbox_model import InboxStatus, InboxTask, TaskFilter

_LARGEST_PAGE = 100
_LONGEST_SHOWN_ID = 100
_STATUS_NUMBERS: Mapping[InboxStatus, pb.TaskStatus] = {
    InboxStatus.QUEUED: pb.TASK_STATUS_QUEUED,
    InboxStatus.PROCESSING: pb.TASK_STATUS_PROCESSING,
    InboxStatus.SUCCESS: pb.TASK_STATUS_SUCCESS,
    InboxStatus.FAILED: pb.TASK_STATUS_FAILED,
}
_STATUSES = {number: status for status, number in _STATUS_NUMBERS.items()}


class TaskServicer(tasks_pb2_grpc.TaskServiceServicer):
    """Accepted requests as tasks."""

    def __init__(self, inbox: InboxStore) -> None:
        self._inbox = inbox

    async def GetTask(self, request: pb.GetTaskRequest, context: object) -> pb.GetTaskResponse:
        """One task, by the request id of its 202."""
        task = await self._inbox.task(request.task_id)
        if task is None:
            shown = request.task_id[:_LONGEST_SHOWN_ID]
            raise ServiceError(ErrorCode.NOT_FOUND, f"task {shown} not found or expired")
        return pb.GetTaskResponse(
            id=task.request_id,
            status=_STATUS_NUMBERS[task.status],
            task_type=_task_type(task),
            error=task.error,
            error_code=task.error_code,
            created_at=timestamp(task.created_at_ms),
            finished_at=None if task.finished_at_ms is None else timestamp(task.finished_at_ms),
        )

    async def ListTasks(
        self, request: pb.ListTasksRequest, context: object
    ) -> pb.ListTasksResponse:
        """A page of the tasks of one scope, newest first."""
        page_size = min(request.page_size, _LARGEST_PAGE)
        wanted = TaskFilter(
            scope=Scope(request.app_id, request.project_id),
            session_id=request.session_id if request.HasField("session_id") else None,
            status=_STATUSES.get(request.status),
        )
        total, tasks = await self._inbox.tasks(
            wanted, limit=page_size, offset=(request.page - 1) * page_size
        )
        return pb.ListTasksResponse(
            total=total, page=request.page, page_size=page_size, items=map(_item, tasks)
        )


def _item(task: InboxTask) -> pb.TaskItem:
    return pb.TaskItem(
        id=task.request_id,
        status=_STATUS_NUMBERS[task.status],
        task_type=_task_type(task),
        error=task.error,
        error_code=task.error_code,
        created_at=timestamp(task.created_at_ms),
        finished_at=None if task.finished_at_ms is None else timestamp(task.finished_at_ms),
    )


def _task_type(task: InboxTask) -> pb.TaskType:
    return pb.TASK_TYPE_MEMORY_FLUSH if task.is_flush else pb.TASK_TYPE_MEMORY_ADD
