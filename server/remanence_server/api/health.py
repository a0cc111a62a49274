"""The health report: what works, what does not, and how much waits. It never fails."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass

from remanence.v2 import ops_pb2 as pb
from remanence_server import __version__
from remanence_server.api.messages import timestamp
from remanence_server.api.serving import ServingState
from remanence_server.index.catalogue.interface import Catalogue
from remanence_server.memory.deletion_worker import DeletionWorker
from remanence_server.memory.queue import MemorizeQueue, QueueHealth
from remanence_server.projection.follower import Follower
from remanence_server.projection.keeper import IndexKeeper
from remanence_server.projection.problems import ListedProblem
from remanence_server.projection.projector import ProjectionState, Projector
from remanence_server.runtime.fault_points import armed_fault
from remanence_server.runtime.faults import describe_fault
from remanence_server.runtime.logging import get_logger
from remanence_server.runtime.supervision import Supervisor
from remanence_server.state.jobs.model import JobCounts
from remanence_server.state.jobs.store import JobStore
from remanence_server.state.waiting_note import WaitingNote

OK = "ok"
DEGRADED = "degraded"
UNAVAILABLE = "unavailable"

# Features of the contract that this build does not carry, under the names of the reference.
_DISABLED_FEATURES = (
    "knowledge",
    "multimodal_upload",
    "ome",
    "reflection",
    "skill_extraction",
)
# A disk that hangs must not make the probe hang.
_LONGEST_READ_SECONDS = 2.0

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class HealthSources:
    """Where health is read from."""

    serving: ServingState
    supervisor: Supervisor
    job_store: JobStore
    queue: MemorizeQueue
    projector: Projector
    follower: Follower
    catalogue: Catalogue
    keeper: IndexKeeper
    note: WaitingNote
    # Whether a language model extracts.
    has_model: bool = False
    # None: nothing is ever deleted here.
    deletions: DeletionWorker | None = None


async def health_report(sources: HealthSources) -> pb.GetHealthResponse:
    """Reads every source. One that cannot be read is a reason, not a failure."""
    jobs, counts, queue = await asyncio.gather(
        _read("jobs", sources.job_store.counts()),
        _read("the index", sources.catalogue.counts()),
        _read("the queue", sources.queue.health()),
    )
    projection = sources.projector.state()
    index_reasons = [*sources.keeper.reasons(), *projection.reasons]
    failing = sources.supervisor.failing()
    unavailable = sources.serving.unavailable_reasons()
    reasons = [
        *unavailable,
        *sources.note.reasons(),
        *(f"background loop '{name}' is being restarted" for name in failing),
        *(read for read in (jobs, counts, queue) if isinstance(read, str)),
        *_job_reasons(jobs),
        *(sources.deletions.reasons() if sources.deletions else ()),
        *index_reasons,
    ]
    fault = armed_fault()
    if fault is not None:
        reasons.append(f"a fault is armed, for tests only: {fault}")
    if sources.follower.quiesced:
        reasons.append("quiesced: hand edits are not followed until the next start")
    return pb.GetHealthResponse(
        status=UNAVAILABLE if unavailable else DEGRADED if reasons else OK,
        version=__version__,
        capabilities=pb.HealthCapabilities(
            llm=sources.has_model, embed=True, rerank=False, multimodal_llm=False, parser=False
        ),
        disabled_features=_DISABLED_FEATURES,
        cascade=_cascade_health(
            projection,
            index_reasons,
            sources.projector.problems.listed(),
            {} if isinstance(counts, str) else {kind.value: rows for kind, rows in counts.items()},
        ),
        memorize_queue=_queue_health(queue),
        reasons=reasons,
        jobs=_jobs_health(jobs, healthy=not failing),
        activities=[
            pb.Activity(
                name=activity.name,
                done=activity.done,
                total=activity.total,
                started_at=timestamp(activity.started_at_ms),
            )
            for activity in sources.keeper.activities()
        ],
    )


async def _read[T](what: str, reading: Awaitable[T]) -> T | str:
    """What a source says, or a reason why it does not."""
    try:
        async with asyncio.timeout(_LONGEST_READ_SECONDS):
            return await reading
    except Exception as error:
        _log.warning("health_not_read", source=what, **describe_fault(error))
        return f"the state of {what} cannot be read"


def _job_reasons(jobs: JobCounts | str) -> list[str]:
    reasons = []
    if not isinstance(jobs, str):
        if jobs.retrying:
            reasons.append(f"{jobs.retrying} jobs wait for another attempt: {jobs.retry_reason}")
        if jobs.dead_letter:
            reasons.append(f"{jobs.dead_letter} jobs were given up")
    return reasons


def _jobs_health(jobs: JobCounts | str, *, healthy: bool) -> pb.JobsHealth:
    if isinstance(jobs, str):
        return pb.JobsHealth(healthy=False)
    return pb.JobsHealth(
        healthy=healthy, pending=jobs.queued, running=jobs.running, dead_letters=jobs.dead_letter
    )


def _cascade_health(
    projection: ProjectionState,
    reasons: list[str],
    problems: list[ListedProblem],
    rows: dict[str, int],
) -> pb.CascadeHealth:
    return pb.CascadeHealth(
        healthy=not reasons,
        reasons=reasons,
        pending=projection.pending,
        failed_permanent=projection.broken_entries,
        failed_retryable=projection.consecutive_failures,
        drain_consecutive_failures=projection.consecutive_failures,
        index_rows=rows,
        problems=[
            pb.MarkdownProblem(path=problem.path, line=problem.line, reason=problem.reason)
            for problem in problems
        ],
    )


def _queue_health(health: QueueHealth | str) -> pb.MemorizeQueueHealth:
    if isinstance(health, str):
        return pb.MemorizeQueueHealth(healthy=False, reasons=[health])
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
