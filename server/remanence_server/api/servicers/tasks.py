"""TaskService: comes with the asynchronous queue."""

from __future__ import annotations

from remanence.v2 import tasks_pb2 as pb
from remanence.v2 import tasks_pb2_grpc
from remanence_server.api.servicers.unavailable import unavailable

_FEATURE = "the asynchronous queue"


class TaskServicer(tasks_pb2_grpc.TaskServiceServicer):
    """No request is accepted with 202 yet, so there is no task to tell of."""

    async def GetTask(self, request: pb.GetTaskRequest, context: object) -> pb.GetTaskResponse:
        """Refuses."""
        raise unavailable(_FEATURE)

    async def ListTasks(
        self, request: pb.ListTasksRequest, context: object
    ) -> pb.ListTasksResponse:
        """Refuses."""
        raise unavailable(_FEATURE)
