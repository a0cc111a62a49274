"""TaskService: comes with the asynchronous queue."""

from __future__ import annotations

from remanence.v2 import tasks_pb2 as pb
from remanence_server.api.servicers.unavailable import unavailable
from remanence_server.api.transcoding import CallContext

_FEATURE = "the asynchronous queue"


class TaskServicer:
    """No request is accepted with 202 yet, so there is no task to tell of."""

    async def GetTask(self, request: pb.GetTaskRequest, context: CallContext) -> pb.GetTaskResponse:  # noqa: N802
        """Refuses."""
        raise unavailable(_FEATURE)

    async def ListTasks(  # noqa: N802
        self, request: pb.ListTasksRequest, context: CallContext
    ) -> pb.ListTasksResponse:
        """Refuses."""
        raise unavailable(_FEATURE)
