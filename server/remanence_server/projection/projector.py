"""Follows Markdown: one queue of changes, taken up in order, into the catalogue and the indexes.

Own writes come with their records and are not read back. Files that somebody else touched come as
paths and are read. Both end in the same place: a change of the catalogue, which the indexes follow.
If the indexes fail, nothing is lost: the catalogue knows what they have not seen, and the Markdown
knows what the catalogue has not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from remanence_server.index.catalogue.changes import ChangeSet, FileState
from remanence_server.index.catalogue.interface import Catalogue
from remanence_server.markdown.daily_files import WrittenEntry
from remanence_server.markdown.disk import stamp_of
from remanence_server.markdown.store import MarkdownStore
from remanence_server.projection.backlog import EMBEDDING_STEP, EmbeddingBacklog
from remanence_server.projection.changes import Batch, Change, ChangeQueue
from remanence_server.projection.files import FileProjection
from remanence_server.projection.indexer import Indexer
from remanence_server.projection.own_writes import OwnWrites
from remanence_server.projection.problems import ProblemBook
from remanence_server.projection.records import (
    file_state,
    indexed_entries,
    is_unchanged,
    relative_path,
)
from remanence_server.runtime.clock import Clock
from remanence_server.runtime.errors import ServiceError
from remanence_server.runtime.fault_points import FaultPoint, reach
from remanence_server.runtime.faults import describe_fault
from remanence_server.runtime.logging import get_logger
from remanence_server.runtime.metrics import ProjectionMetrics
from remanence_server.runtime.storage import StorageReason, storage_trouble
from remanence_server.runtime.supervision import Supervisor
from remanence_server.runtime.tracing import NoTracing, Tracing

# The lexical index is made durable this often; what a crash takes is fed again from the catalogue.
_COMMIT_INTERVAL_SECONDS = 5.0
_FIRST_RETRY_SECONDS = 0.5
_LONGEST_RETRY_SECONDS = 30.0
# The steps that can fail, for the metrics.
_INDEX, _COMMIT = "index", "commit"

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ProjectionState:
    """How far the index is behind, and why."""

    pending: int
    consecutive_failures: int
    broken_entries: int
    reasons: list[str]
    # How long the oldest change has been waiting; 0 when none is.
    lag_seconds: float = 0.0


class Projector:
    """The one consumer of the queue."""

    def __init__(
        self,
        markdown: MarkdownStore,
        catalogue: Catalogue,
        indexer: Indexer,
        clock: Clock,
        supervisor: Supervisor,
        *,
        metrics: ProjectionMetrics | None = None,
        tracing: Tracing | None = None,
    ) -> None:
        self._markdown = markdown
        self._catalogue = catalogue
        self._indexer = indexer
        self._clock = clock
        self._supervisor = supervisor
        self._metrics = metrics or ProjectionMetrics.of()
        self._tracing = tracing or NoTracing()
        self._queue = ChangeQueue(clock, self._tracing)
        self._own_writes = OwnWrites()
        self._submitted = 0
        self._done = 0
        self._arrived = asyncio.Event()
        self._progressed = asyncio.Condition()
        self._failures = 0
        # Until the first look has shown that they are not.
        self._indexes_behind = True
        self._uncommitted = False
        self.backlog = EmbeddingBacklog(indexer, clock, self._metrics)
        self.problems = ProblemBook()
        self._files = FileProjection(markdown, catalogue, clock, self.problems, self._metrics)
        # Held by whoever changes the index, or changes it for another one.
        self.turn = asyncio.Lock()

    async def start(self) -> None:
        """Starts to follow the queue, after what the indexes missed when the last process ended.

        Searches answer meanwhile from what there is.
        """
        if self._catalogue.was_reset:
            await self._indexer.clear()
        self.problems.begin(await self._catalogue.problem_files())
        self._supervisor.start("projection", self._follow)
        self._supervisor.start("projection-embedding", self.backlog.run)
        self._supervisor.start("projection-commit", self._commit_now_and_then)

    def start_over(self) -> None:
        """The index is another one now. To be called in a turn."""
        self._indexes_behind = True
        self._arrived.set()

    @contextmanager
    def own_write(self) -> Iterator[None]:
        """Encloses a write and its `submit_entries`: the watcher may be quicker than either."""
        try:
            with self._own_writes.running():
                yield
        finally:
            for path in self._own_writes.due():
                self._submit(path)

    def submit_entries(self, entries: Sequence[WrittenEntry]) -> None:
        """Takes entries that have just been written."""
        if entries:
            self._own_writes.submitted(entries)
            self._submit(tuple(entries))

    def submit_file(self, path: Path) -> None:
        """Takes a file that may have been changed or removed by somebody else."""
        self._submit(path)

    async def read_now(self, paths: Iterable[Path]) -> None:
        """Makes the index agree with files at once, before anything that waits.

        For a caller who sees to it that nobody of us writes them meanwhile. Vectors follow. Raises
        ServiceError when a file cannot be read, or the index cannot be written.
        """
        async with self.turn:
            try:
                await self._catch_up_if_behind()
                queue = list(paths)
                for path in queue:
                    projected = await self._files.project(path)
                    if projected.change is None:
                        raise storage_trouble(StorageReason.FAILED)
                    self._uncommitted = True
                    await self._indexer.apply(projected.change)
                    queue += [other for other in projected.again if other not in queue]
            except BaseException:
                self._indexes_behind = True
                self._arrived.set()
                raise
        self.backlog.look()

    async def expunge(self) -> None:
        """Leaves nothing of what was deleted in any file of the index. Raises ServiceError."""
        await self._indexer.expunge()

    async def wait_until_visible(self) -> None:
        """Returns when everything submitted so far can be found."""
        target = self._submitted
        async with self._progressed:
            await self._progressed.wait_for(lambda: self._done >= target)

    def state(self) -> ProjectionState:
        """How far the index is behind."""
        reasons = self.problems.reasons()
        if self._failures:
            reasons.insert(0, f"the index could not be updated {self._failures} times in a row")
        if self.backlog.waits:
            reasons.append("some passages wait for their vectors; keyword search finds them")
        return ProjectionState(
            # What the indexes missed when the last process ended waits, too.
            max(self._submitted - self._done, int(self._indexes_behind)),
            self._failures,
            self.problems.count,
            reasons,
            self._queue.lag_seconds(),
        )

    async def commit(self) -> None:
        """Makes the lexical index durable now."""
        self._uncommitted = False
        try:
            async with self.turn:
                await self._indexer.commit()
        except ServiceError:
            # The keyword index may have gone back to its last commit: it must be fed again.
            self._metrics.failures.labels(_COMMIT).inc()
            self._uncommitted = self._indexes_behind = True
            self._arrived.set()
            raise

    def _submit(self, change: Change) -> None:
        self._queue.put(change)
        self._submitted += 1
        self._arrived.set()

    async def _follow(self) -> None:
        await self._project_until_done(Batch())
        while True:
            await self._arrived.wait()
            self._arrived.clear()
            if self._indexes_behind:
                await self._project_until_done(Batch())
            while self._queue:
                changes, origins = self._queue.take()
                with self._tracing.work("projection", origins, {"remanence.changes": len(changes)}):
                    await self._project_until_done(Batch.of(changes))
                self._queue.done()
                async with self._progressed:
                    self._done += len(changes)
                    self._progressed.notify_all()

    async def _project_until_done(self, batch: Batch) -> None:
        pause = _FIRST_RETRY_SECONDS
        while True:
            try:
                async with self.turn:
                    await self._project(batch)
            except Exception as error:
                self._failures += 1
                self._metrics.failures.labels(_INDEX).inc()
                self._indexes_behind = True
                code = error.code.value if isinstance(error, ServiceError) else "INTERNAL_ERROR"
                _log.warning("projection_failed", error_code=code, **describe_fault(error))
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LONGEST_RETRY_SECONDS)
            else:
                break
        self._failures = 0

    async def _project(self, batch: Batch) -> None:
        await self._catch_up_if_behind()
        if batch.entries:
            states = await self._states_after(batch.entries)
            records = await asyncio.to_thread(indexed_entries, self._markdown.root, batch.entries)
            change = await self._catalogue.upsert(records, self._clock.now_ms(), states)
            self._own_writes.projected(batch.entries)
            batch.entries.clear()
            await self._index(change)
        # What was moved is found in its new place before it is missed in its old one.
        batch.files.sort(key=lambda path: stamp_of(path) is None)
        while batch.files:
            await self._project_file(batch.files[0])
            del batch.files[0]

    async def _catch_up_if_behind(self) -> None:
        if self._indexes_behind:
            await self._indexer.catch_up()
            # Of a change that failed half-way nobody knows which passages lack their vectors.
            self.backlog.look()
            self._indexes_behind = False
            self._uncommitted = True

    async def _index(self, change: ChangeSet) -> None:
        reach(FaultPoint.CATALOGUE_COMMITTED)
        self._uncommitted = True
        await self._indexer.apply(change)
        try:
            await self._indexer.embed(change)
        except Exception as error:
            # A model that fails must not keep what follows from being found by its words.
            self._metrics.failures.labels(EMBEDDING_STEP).inc()
            _log.warning("embedding_failed", **describe_fault(error))
            self.backlog.waits = True
            self.backlog.look()

    async def _states_after(self, entries: Sequence[WrittenEntry]) -> list[FileState]:
        """States of files that nobody else had changed before our writes; others are read later."""
        known: dict[str, FileState | None] = {}
        # Two writers may have submitted in another order than they wrote.
        for entry in sorted(entries, key=lambda entry: (entry.stamp.modified_ns, entry.stamp.size)):
            path = relative_path(self._markdown.root, entry.path)
            if path not in known:
                known[path] = await self._catalogue.file_state(path)
            before = known[path]
            if entry.stamp_before is None:
                seen = before is None
            else:
                seen = before is not None and is_unchanged(before, entry.stamp_before)
            if seen:
                problems = before.problems if before is not None else ()
                known[path] = file_state(path, entry.stamp, problems)
        return [state for state in known.values() if state is not None]

    async def _project_file(self, path: Path) -> None:
        known = await self._catalogue.file_state(relative_path(self._markdown.root, path))
        stamp = await asyncio.to_thread(stamp_of, path)
        if stamp is not None and self._own_writes.explain(path, known, stamp):
            self._own_writes.settle(path)
            return  # the watcher saw our own write
        if self._own_writes.postpone(path):
            # Perhaps the write that is under way; if it was somebody else's, that shows after it.
            return
        due = [path]
        for file in due:
            projected = await self._files.project(file)
            if projected.change is not None:
                await self._index(projected.change)
            due += [other for other in projected.again if other not in due]

    async def _commit_now_and_then(self) -> None:
        while True:
            await asyncio.sleep(_COMMIT_INTERVAL_SECONDS)
            if self._uncommitted:
                try:
                    await self.commit()
                except ServiceError as error:
                    _log.warning("index_not_committed", error_code=error.code.value)
