"""Puts the service together: the one place that knows which implementation stands behind what."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from functools import partial

from remanence_server import __version__
from remanence_server.api.engines import Engines
from remanence_server.api.grpc_server.server import Servicers
from remanence_server.api.health import HealthSources
from remanence_server.api.health_watch import watch_health
from remanence_server.api.idempotency import Idempotency
from remanence_server.api.observation import CallObserver
from remanence_server.api.policies import (
    boundary_limits,
    queue_policy,
    retention_of,
    runner_policy,
    search_defaults,
)
from remanence_server.api.sampled_metrics import SampledSources
from remanence_server.api.servicers.jobs import JobServicer
from remanence_server.api.servicers.knowledge import KnowledgeServicer
from remanence_server.api.servicers.memory import MemoryServicer
from remanence_server.api.servicers.ome import OmeServicer
from remanence_server.api.servicers.ops import OpsServicer
from remanence_server.api.servicers.tasks import TaskServicer
from remanence_server.api.servicers.transfer import TransferServicer
from remanence_server.api.serving import ServingState
from remanence_server.extraction.factory import create_extraction
from remanence_server.index.generation import IndexFolder
from remanence_server.index.lexical.lucene_index import LuceneIndex
from remanence_server.index.live import LiveIndex
from remanence_server.ingest.boundary import HeuristicBoundaryDetector
from remanence_server.markdown.paths import WORK_FOLDER
from remanence_server.markdown.store import MarkdownStore
from remanence_server.memory.delete import DeletePath
from remanence_server.memory.deletion_worker import DeletionWorker
from remanence_server.memory.delivery import deliver
from remanence_server.memory.jobs import JobDesk
from remanence_server.memory.queue import MemorizeQueue
from remanence_server.memory.read import ReadPath
from remanence_server.memory.stages import FIRST_STAGES, Pipeline
from remanence_server.memory.write import WritePath
from remanence_server.projection.follower import Follower
from remanence_server.projection.indexer import Indexer
from remanence_server.projection.keeper import IndexKeeper
from remanence_server.projection.projector import Projector
from remanence_server.projection.publisher import Publisher
from remanence_server.providers.embeddings.checked import CheckedEmbedder
from remanence_server.providers.embeddings.metered import MeteredEmbedder
from remanence_server.retrieval.recall import Indexes
from remanence_server.retrieval.retriever import MemoryRetriever
from remanence_server.runtime.clock import SystemClock
from remanence_server.runtime.errors import ServiceError
from remanence_server.runtime.metrics import Metrics, create_metrics
from remanence_server.runtime.root import INDEX_FOLDER, STATE_FILE
from remanence_server.runtime.settings import Settings
from remanence_server.runtime.supervision import Supervisor
from remanence_server.runtime.tracing import create_tracing
from remanence_server.state.database import Database
from remanence_server.state.deletions import DeletionStore
from remanence_server.state.entry_ids import EntryIds
from remanence_server.state.housekeeping import Housekeeping
from remanence_server.state.inbox import InboxStore
from remanence_server.state.jobs.board import JobBoard
from remanence_server.state.jobs.runner import JobRunner
from remanence_server.state.jobs.store import JobStore
from remanence_server.state.migrations import MIGRATIONS
from remanence_server.state.receipts import ReceiptStore
from remanence_server.state.schema import SCHEMA, SCHEMA_VERSION
from remanence_server.state.sessions import SessionStore
from remanence_server.state.unextracted import UnextractedMessages
from remanence_server.state.waiting_note import NOTE_FILE, WaitingNote
from remanence_server.transfer.backup import BackupSource, remove_leftovers
from remanence_server.transfer.export import ExportSource
from remanence_server.transfer.importing import ImportPath


@dataclass(frozen=True, slots=True)
class Service:
    """The running service behind both surfaces."""

    servicers: Servicers
    serving: ServingState
    metrics: Metrics
    observer: CallObserver
    _queue: MemorizeQueue
    _runner: JobRunner
    _projector: Projector
    _supervisor: Supervisor
    _resources: AsyncExitStack

    def watch_health(self, set_serving: Callable[[bool], Awaitable[None]]) -> None:
        """Tells `set_serving` from now on whether calls are welcome, whenever that changes."""
        self._supervisor.start("health-watch", partial(watch_health, self.serving, set_serving))

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
    metrics = create_metrics(__version__)
    tracing = create_tracing(settings.tracing, __version__)
    resources.push_async_callback(asyncio.to_thread, tracing.close)
    extraction = create_extraction(
        settings.extraction, settings.claude, os.environ, zone, metrics.providers
    )
    if extraction.model is not None:
        resources.push_async_callback(extraction.model.close)
    note = WaitingNote.look(settings.root / WORK_FOLDER / NOTE_FILE, settings.root / STATE_FILE)
    state = Database(
        settings.root / STATE_FILE,
        SCHEMA,
        SCHEMA_VERSION,
        migrations=MIGRATIONS,
        metrics=metrics.database,
    )
    resources.push_async_callback(asyncio.to_thread, state.close)
    resources.push_async_callback(note.write, state)
    loaded = await asyncio.wrap_future(engines.embedder)
    checked = CheckedEmbedder(loaded)
    embedder = MeteredEmbedder(checked, settings.embeddings.provider, metrics.providers)
    resources.push_async_callback(embedder.close)
    index_folder = IndexFolder(
        settings.root / INDEX_FOLDER,
        fingerprint=embedder.fingerprint,
        dimensions=embedder.dimensions,
        open_lexical=partial(
            LuceneIndex.open, thread=engines.java, k1=settings.lexical.k1, b=settings.lexical.b
        ),
        dense_memory_bytes=settings.dense.memory_budget_megabytes * 1024 * 1024,
    )
    index = LiveIndex(await index_folder.open_latest())
    resources.push_async_callback(index.close)

    markdown = MarkdownStore(settings.root, zone)
    indexer = Indexer(index.catalogue, index.lexical, index.dense, embedder)
    projector = Projector(
        markdown,
        index.catalogue,
        indexer,
        clock,
        supervisor,
        metrics=metrics.projection,
        tracing=tracing,
    )
    keeper = IndexKeeper(index, index_folder, markdown, indexer, projector, clock, supervisor)
    resources.push_async_callback(keeper.close)
    follower = Follower(
        markdown,
        index.catalogue,
        projector,
        supervisor,
        keeper.fill,
        settings.projection.watch,
        settings.projection.scan_interval_seconds,
    )
    sessions, job_store, receipts = SessionStore(state), JobStore(state), ReceiptStore(state)
    entry_ids, publisher = EntryIds(state), Publisher(markdown, projector)
    pipeline = Pipeline(
        sessions=sessions,
        entry_ids=entry_ids,
        extractor=extraction.extractor,
        publisher=publisher,
        zone=zone,
        maximum_attempts=settings.jobs.maximum_attempts,
        job_store=job_store,
    )
    runner = JobRunner(
        job_store,
        pipeline.stages(),
        clock,
        runner_policy(settings.jobs),
        supervisor,
        metrics=metrics.jobs,
        tracing=tracing,
    )
    write_path = WritePath(
        sessions=sessions,
        boundary=HeuristicBoundaryDetector(boundary_limits(settings.boundary)),
        pipeline=pipeline,
        job_store=job_store,
        runner=runner,
        projector=projector,
        clock=clock,
        visibility_timeout_seconds=settings.flush.visibility_timeout_seconds,
    )
    retriever = MemoryRetriever(
        Indexes(index.catalogue, index.lexical, index.dense, embedder),
        clock,
        zone,
        search_defaults(settings.search),
        metrics.search,
    )
    board, deletions = JobBoard(state), DeletionStore(state, FIRST_STAGES)
    deletion_worker = DeletionWorker(
        deletions,
        board,
        markdown,
        index.catalogue,
        projector,
        clock,
        pipeline.locks,
    )
    inbox, serving = InboxStore(state), ServingState(state)
    queue = MemorizeQueue(
        inbox,
        partial(deliver, write_path),
        clock,
        queue_policy(settings.memorize.async_queue),
        supervisor,
        metrics=metrics.queue,
        tracing=tracing,
    )
    health = HealthSources(
        serving,
        supervisor,
        job_store,
        queue,
        projector,
        follower,
        index.catalogue,
        keeper,
        note,
        has_model=extraction.model is not None,
        deletions=deletion_worker,
    )
    SampledSources(health, index.lexical, index.dense).declare(metrics.sampler)
    servicers = Servicers(
        memory=MemoryServicer(
            write_path,
            ReadPath(index, retriever, sessions),
            DeletePath(deletion_worker, runner, write_path.locks),
            queue,
            Idempotency(receipts, clock),
            zone,
        ),
        tasks=TaskServicer(inbox),
        jobs=JobServicer(JobDesk(board, runner, clock)),
        transfer=TransferServicer(
            ExportSource(markdown, UnextractedMessages(state, FIRST_STAGES), clock, __version__),
            ImportPath(
                publisher,
                entry_ids,
                deletions,
                pipeline.locks.of,
                settings.flush.visibility_timeout_seconds,
            ),
            BackupSource(settings.root, markdown.gate, clock, __version__),
        ),
        ome=OmeServicer(),
        knowledge=KnowledgeServicer(),
        ops=OpsServicer(health),
    )
    await asyncio.to_thread(markdown.remove_temporary_files)
    await asyncio.to_thread(remove_leftovers, settings.root)
    await projector.start()
    await follower.start()
    keeper.start()
    # Before anything is published: what is being deleted must not come back.
    supervisor.start("deletions", deletion_worker.run)
    await runner.start()
    await queue.start()
    housekeeping = Housekeeping(
        sessions, job_store, receipts, clock, retention_of(settings.memorize)
    )
    supervisor.start("housekeeping", housekeeping.run)
    supervisor.start("waiting-note", partial(note.keep, state))
    return Service(
        servicers=servicers,
        serving=serving,
        metrics=metrics,
        observer=CallObserver(metrics.requests, tracing),
        _queue=queue,
        _runner=runner,
        _projector=projector,
        _supervisor=supervisor,
        _resources=resources,
    )
