"""OpsService: health and quiesce."""

from __future__ import annotations

from dataclasses import dataclass

from remanence.v2 import ops_pb2 as pb
from remanence.v2 import ops_pb2_grpc
from remanence_server import __version__
from remanence_server.api.messages import timestamp
from remanence_server.api.servicers.unavailable import unavailable
from remanence_server.index.catalogue.interface import Catalogue
from remanence_server.memory.queue import MemorizeQueue, QueueHealth
from remanence_server.projection.follower import Follower
from remanence_server.projection.projector import Projector
from remanence_server.runtime.supervision import Supervisor
from remanence_server.state.database import Database
from remanence_server.state.jobs.store import JobStore

# Features of the contract that this build does not carry, under the names of the reference.
_DISABLED_FEATURES = (
    "delete",
    "knowledge",
    "multimodal_upload",
    "ome",
    "reflection",
    "skill_extraction",
)


@dataclass(frozen=True, slots=True)
class HealthSources:
    """Where health is read from."""

    supervisor: Supervisor
    state: Database
    job_store: JobStore
    queue: MemorizeQueue
    projector: Projector
    follower: Follower
    catalogue: Catalogue


class OpsServicer(ops_pb2_grpc.OpsServiceServicer):
    """Probes and switches."""

    def __init__(self, sources: HealthSources) -> None:
        self._sources = sources

    async def GetHealth(
        self, request: pb.GetHealthRequest, context: object
    ) -> pb.GetHealthResponse:
        """Reports what works and what waits."""
        sources = self._sources
        jobs = await sources.job_store.counts()
        counts = await sources.catalogue.counts()
        projection = sources.projector.state()
        failing = sources.supervisor.failing()
        reasons = [f"background loop '{name}' is being restarted" for name in failing]
        if sources.state.refusal is not None:
            reasons.append(f"messages cannot be accepted: {sources.state.refusal}")
        if jobs.retrying:
            reasons.append(f"{jobs.retrying} jobs wait for another attempt: {jobs.retry_reason}")
        if jobs.dead_letter:
            reasons.append(f"{jobs.dead_letter} jobs were given up")
        reasons += projection.reasons
        if sources.follower.quiesced:
            reasons.append("quiesced: hand edits are not followed until the next start")
        return pb.GetHealthResponse(
            status="degraded" if reasons else "ok",
            version=__version__,
            capabilities=pb.HealthCapabilities(
                llm=False, embed=True, rerank=False, multimodal_llm=False, parser=False
            ),
            disabled_features=_DISABLED_FEATURES,
            cascade=pb.CascadeHealth(
                healthy=not projection.reasons,
                reasons=projection.reasons,
                pending=projection.pending,
                failed_permanent=projection.broken_entries,
                failed_retryable=projection.consecutive_failures,
                drain_consecutive_failures=projection.consecutive_failures,
                index_rows={kind.value: rows for kind, rows in counts.items()},
            ),
            memorize_queue=_queue_health(await sources.queue.health()),
            reasons=reasons,
            jobs=pb.JobsHealth(
                healthy=not failing,
                pending=jobs.queued,
                running=jobs.running,
                dead_letters=jobs.dead_letter,
            ),
        )

    async def GetLiveness(
        self, request: pb.GetLivenessRequest, context: object
    ) -> pb.GetLivenessResponse:
        """Answers."""
        return pb.GetLivenessResponse(status="ok")

    async def GetReadiness(
        self, request: pb.GetReadinessRequest, context: object
    ) -> pb.GetReadinessResponse:
        """Says whether messages can be accepted."""
        refusal = self._sources.state.refusal
        if refusal is None:
            return pb.GetReadinessResponse(status="ok")
        return pb.GetReadinessResponse(
            status="unavailable", reasons=[f"messages cannot be accepted: {refusal}"]
        )

    async def Rebuild(self, request: pb.RebuildRequest, context: object) -> pb.RebuildResponse:
        """Makes the index anew."""
        raise unavailable("rebuild")

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


def _queue_health(health: QueueHealth) -> pb.MemorizeQueueHealth:
    at_ms = health.last_loop_error_at_ms
    return pb.MemorizeQueueHealth(
        healthy=health.loop_alive,
        reasons=[] if health.loop_alive else ["the delivery loop is being restarted"],
        loop_alive=health.loop_alive,
        accepting=health.accepting,
        pending=health.pending,
        oldest_pending_age_s=health.oldest_pending_age_seconds,
        failed=health.failed,
        loop_restarts=health.loop_restarts,
        last_loop_error_at=None if at_ms is None else timestamp(at_ms),
    )
