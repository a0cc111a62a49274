"""JobService: the durable work behind add and flush, seen and steered from outside."""

from __future__ import annotations

from remanence.v2 import jobs_pb2 as pb
from remanence.v2 import jobs_pb2_grpc
from remanence_server.api.servicers.unavailable import unavailable


class JobServicer(jobs_pb2_grpc.JobServiceServicer):
    """Jobs of a scope."""

    async def ListJobs(self, request: pb.ListJobsRequest, context: object) -> pb.ListJobsResponse:
        """A page of jobs, newest first."""
        raise unavailable("jobs")

    async def GetJob(self, request: pb.GetJobRequest, context: object) -> pb.GetJobResponse:
        """One job."""
        raise unavailable("jobs")

    async def RetryJob(self, request: pb.RetryJobRequest, context: object) -> pb.RetryJobResponse:
        """Gives a job a fresh budget of attempts."""
        raise unavailable("jobs")

    async def DropJob(self, request: pb.DropJobRequest, context: object) -> pb.DropJobResponse:
        """Gives a job up for good."""
        raise unavailable("jobs")
