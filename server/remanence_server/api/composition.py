"""Puts the service together: the one place that knows which implementation stands behind what."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from functools import partial

from remanence_server.api.engines import Engines
from remanence_server.api.grpc_server.server import Servicers
from remanence_server.api.servicers.jobs import JobServicer
from remanence_server.api.servicers.knowledge import KnowledgeServicer
from remanence_server.api.servicers.memory import MemoryServicer
from remanence_server.api.servicers.ome import OmeServicer
from remanence_server.api.servicers.ops import HealthSources, OpsServicer
from remanence_server.api.servicers.tasks import TaskServicer
from remanence_server.api.servicers.transfer import TransferServicer
from remanence_server.extraction.heuristic import HeuristicExtractor
from remanence_server.index.catalogue import SqliteCatalogue
from remanence_server.index.dense import FaissDenseIndex
from remanence_server.index.lexical.lucene_index import LuceneIndex
from remanence_server.ingest.boundary import BoundaryLimits, HeuristicBoundaryDetector
from remanence_server.markdown.store import MarkdownStore
from remanence_server.memory.delivery import deliver
from remanence_server.memory.queue import MemorizeQueue, QueuePolicy
from remanence_server.memory.read import ReadPath
from remanence_server.memory.stages import Pipeline
from remanence_server.memory.write import WritePath
from remanence_server.projection.follower import Follower
from remanence_server.projection.indexer import Indexer
from remanence_server.projection.projector import Projector
from remanence_server.projection.publisher import Publisher
from remanence_server.retrieval.recall import Indexes
from remanence_server.retrieval.retriever import MemoryRetriever, SearchDefaults
from remanence_server.runtime.clock import SystemClock
from remanence_server.runtime.errors import ServiceError
from remanence_server.runtime.settings import AsyncQueueSettings, Settings
from remanence_server.runtime.supervision import Supervisor
from remanence_server.state.database import Database
from remanence_server.state.entry_ids import EntryIds
from remanence_server.state.housekeeping import Housekeeping
from remanence_server.state.inbox import InboxStore
from remanence_server.state.inbox_model import InboxCaps
from remanence_server.state.jobs.runner import JobRunner, RunnerPolicy
from remanence_server.state.jobs.store import JobStore
from remanence_server.state.schema import SCHEMA, SCHEMA_VERSION
from remanence_server.state.sessions import SessionStore

_INDEX_FOLDER = ".index"
_STATE_FILE = "system.db"


@dataclass(frozen=True, slots=True)
class Service:
    """The running service behind both surfaces."""

    servicers: Servicers
    _queue: MemorizeQueue
    _runner: JobRunner
    _projector: Projector
    _supervisor: Supervisor
    _resources: AsyncExitStack

    async def close(self, grace_seconds: float) -> None:
        """Lets deliveries and jobs that run end, makes the index durable, closes every file."""
        await self._queue.stop(grace_seconds)
        await self._runner.stop(grace_seconds)
        # What the index has not seen by then is in the Markdown, and the next start reads it.
        with suppress(TimeoutError):
            async with asyncio.timeout(grace_seconds):
                await self._projector.wait_until_visible()
        await self._supervisor.stop()
        with suppress(ServiceError):
            await self._projector.commit()
        with suppress(ServiceError):
            await self._resources.aclose()


async def open_service(settings: Settings, engines: Engines) -> Service:
    """Opens every store under the root, takes up unfinished work, and starts the loops.

    Raises ServiceError when something that the service cannot do without is missing.
    """
    resources = AsyncExitStack()
    try:
        return await _open(settings, engines, resources)
    except BaseException:
        await resources.aclose()
        raise


async def _open(settings: Settings, engines: Engines, resources: AsyncExitStack) -> Service:
    clock, supervisor, zone = SystemClock(), Supervisor(), settings.memory.zone
    index_folder = settings.root / _INDEX_FOLDER
    state = Database(settings.root / _STATE_FILE, SCHEMA, SCHEMA_VERSION)
    resources.push_async_callback(asyncio.to_thread, state.close)
    embedder, lexical = await asyncio.gather(
        asyncio.wrap_future(engines.embedder),
        LuceneIndex.open(
            index_folder / "lexical", engines.java, k1=settings.lexical.k1, b=settings.lexical.b
        ),
    )
    resources.push_async_callback(embedder.close)
    resources.push_async_callback(lexical.close)
    catalogue = SqliteCatalogue(
        index_folder, fingerprint=embedder.fingerprint, dimensions=embedder.dimensions
    )
    resources.push_async_callback(catalogue.close)
    dense = FaissDenseIndex(
        catalogue.load_partition,
        memory_budget_bytes=settings.dense.memory_budget_megabytes * 1024 * 1024,
    )
    resources.push_async_callback(dense.close)

    markdown = MarkdownStore(settings.root, zone)
    indexer = Indexer(catalogue, lexical, dense, embedder)
    projector = Projector(markdown, catalogue, indexer, clock, supervisor)
    follower = Follower(
        markdown,
        catalogue,
        projector,
        supervisor,
        settings.projection.watch,
        settings.projection.scan_interval_seconds,
    )
    sessions, job_store = SessionStore(state), JobStore(state)
    pipeline = Pipeline(
        sessions=sessions,
        entry_ids=EntryIds(state),
        extractor=HeuristicExtractor(zone=zone),
        publisher=Publisher(markdown, projector),
        zone=zone,
        maximum_attempts=settings.jobs.maximum_attempts,
    )
    policy = RunnerPolicy(
        workers=settings.jobs.workers,
        lease_seconds=settings.jobs.lease_seconds,
        retry_backoff_seconds=settings.jobs.retry_backoff_seconds,
    )
    runner = JobRunner(job_store, pipeline.stages(), clock, policy, supervisor)
    write_path = WritePath(
        sessions=sessions,
        boundary=HeuristicBoundaryDetector(
            BoundaryLimits(
                maximum_messages=settings.boundary.maximum_messages,
                maximum_tokens=settings.boundary.maximum_tokens,
                idle_gap_ms=int(settings.boundary.idle_gap_seconds * 1000),
            )
        ),
        pipeline=pipeline,
        job_store=job_store,
        runner=runner,
        projector=projector,
        clock=clock,
        visibility_timeout_seconds=settings.flush.visibility_timeout_seconds,
    )
    retriever = MemoryRetriever(
        Indexes(catalogue, lexical, dense, embedder),
        clock,
        zone,
        SearchDefaults(
            settings.search.default_radius,
            settings.search.default_top_k,
            settings.search.agent_default_top_k,
        ),
    )
    inbox = InboxStore(state)
    queue = MemorizeQueue(
        inbox,
        partial(deliver, write_path),
        clock,
        queue_policy(settings.memorize.async_queue),
        supervisor,
    )
    servicers = Servicers(
        memory=MemoryServicer(write_path, ReadPath(catalogue, retriever, sessions), queue, zone),
        tasks=TaskServicer(inbox),
        jobs=JobServicer(),
        transfer=TransferServicer(),
        ome=OmeServicer(),
        knowledge=KnowledgeServicer(),
        ops=OpsServicer(
            HealthSources(supervisor, state, job_store, queue, projector, follower, catalogue)
        ),
    )
    await asyncio.to_thread(markdown.remove_temporary_files)
    await projector.start()
    await follower.start()
    await runner.start()
    await queue.start()
    supervisor.start("housekeeping", Housekeeping(sessions, job_store, clock).run)
    return Service(servicers, queue, runner, projector, supervisor, resources)


def queue_policy(settings: AsyncQueueSettings) -> QueuePolicy:
    """What the settings say of the queue."""
    return QueuePolicy(
        enabled=settings.enabled,
        caps=InboxCaps(settings.max_pending_per_session, settings.max_pending_total),
        max_payload_bytes=settings.max_payload_bytes,
        max_concurrency=settings.max_concurrency,
        scan_interval_seconds=settings.scan_interval_seconds,
        max_attempts=settings.max_attempts,
        retry_backoff_seconds=settings.retry_backoff_seconds,
        max_replays=settings.max_replays,
        row_retention_ms=int(settings.row_retention_hours * 3_600_000),
    )
