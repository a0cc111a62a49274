"""OpsService: health, rebuild and quiesce."""

from __future__ import annotations

from remanence.v2 import ops_pb2 as pb
from remanence.v2 import ops_pb2_grpc
from remanence_server.api.health import OK, UNAVAILABLE, HealthSources, health_report


class OpsServicer(ops_pb2_grpc.OpsServiceServicer):
    """Probes and switches."""

    def __init__(self, sources: HealthSources) -> None:
        self._sources = sources

    async def GetHealth(
        self, request: pb.GetHealthRequest, context: object
    ) -> pb.GetHealthResponse:
        """Reports what works and what waits."""
        return await health_report(self._sources)

    async def GetLiveness(
        self, request: pb.GetLivenessRequest, context: object
    ) -> pb.GetLivenessResponse:
        """Answers."""
        return pb.GetLivenessResponse(status=OK)

    async def GetReadiness(
        self, request: pb.GetReadinessRequest, context: object
    ) -> pb.GetReadinessResponse:
        """Says whether calls are welcome and messages can be accepted."""
        reasons = self._sources.serving.unavailable_reasons()
        return pb.GetReadinessResponse(status=UNAVAILABLE if reasons else OK, reasons=reasons)

    async def Rebuild(self, request: pb.RebuildRequest, context: object) -> pb.RebuildResponse:
        """Makes the index anew, in the background."""
        return pb.RebuildResponse(started=self._sources.keeper.rebuild())

    async def Quiesce(self, request: pb.QuiesceRequest, context: object) -> pb.QuiesceResponse:
        """Drains the projection and stops following hand edits until the next start."""
        before = self._sources.projector.state().pending
        await self._sources.follower.quiesce()
        after = self._sources.projector.state()
        return pb.QuiesceResponse(
            quiesced=True,
            drained=before - after.pending,
            pending_before=before,
            pending_after=after.pending,
            failed_permanent=after.broken_entries,
        )
