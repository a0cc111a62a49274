"""Follows Markdown: one queue of changes, taken up in order, into the catalogue and the indexes.

Own writes come with their records and are not read back. Files that somebody else touched come as
paths and are read. Both end in the same place: a change of the catalogue, which the indexes follow.
If the indexes fail, nothing is lost: the catalogue knows what they have not seen, and the Markdown
knows what the catalogue has not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from remanence_server.index.catalogue.changes import ChangeSet, FileState
from remanence_server.index.catalogue.interface import Catalogue
from remanence_server.markdown.daily_files import WrittenEntry
from remanence_server.markdown.disk import stamp_of
from remanence_server.markdown.store import MarkdownStore
from remanence_server.projection.backlog import EmbeddingBacklog
from remanence_server.projection.indexer import Indexer
from remanence_server.projection.records import (
    file_state,
    indexed_entries,
    indexed_file,
    is_unchanged,
    relative_path,
)
from remanence_server.runtime.clock import Clock
from remanence_server.runtime.errors import ServiceError
from remanence_server.runtime.faults import describe_fault
from remanence_server.runtime.logging import get_logger
from remanence_server.runtime.supervision import Supervisor

# The lexical index is made durable this often; what a crash takes is fed again from the catalogue.
_COMMIT_INTERVAL_SECONDS = 5.0
_FIRST_RETRY_SECONDS = 0.5
_LONGEST_RETRY_SECONDS = 30.0

_log = get_logger(__name__)

type _Change = tuple[WrittenEntry, ...] | Path


@dataclass(slots=True)
class _Batch:
    """Changes taken up together; what the catalogue has is taken out, so no repeat brings it back.

    A file that was read again may say something newer than our own entries did.
    """

    entries: list[WrittenEntry] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)

    @classmethod
    def of(cls, changes: Sequence[_Change]) -> _Batch:
        """The entries, and each file once. Entries come first: a file knows all that is in it."""
        entries = [entry for change in changes if isinstance(change, tuple) for entry in change]
        files = dict.fromkeys(change for change in changes if isinstance(change, Path))
        return cls(entries, list(files))


@dataclass(frozen=True, slots=True)
class ProjectionState:
    """How far the index is behind, and why."""

    pending: int
    consecutive_failures: int
    broken_entries: int
    reasons: list[str]


class Projector:
    """The one consumer of the queue."""

    def __init__(
        self,
        markdown: MarkdownStore,
        catalogue: Catalogue,
        indexer: Indexer,
        clock: Clock,
        supervisor: Supervisor,
    ) -> None:
        self._markdown = markdown
        self._catalogue = catalogue
        self._indexer = indexer
        self._clock = clock
        self._supervisor = supervisor
        self._queue: list[_Change] = []
        # Own writes that have begun and are not submitted yet; files left to wait for them once.
        self._writing = 0
        self._waiting_files: set[Path] = set()
        self._submitted = 0
        self._done = 0
        self._arrived = asyncio.Event()
        self._progressed = asyncio.Condition()
        self._failures = 0
        # Until the first look has shown that they are not.
        self._indexes_behind = True
        self._backlog = EmbeddingBacklog(indexer)
        self._uncommitted = False
        self._broken: dict[str, int] = {}
        self._unreadable: set[str] = set()
        self._unreadable_root = False

    async def start(self) -> None:
        """Starts to follow the queue, after what the indexes missed when the last process ended.

        Searches answer meanwhile from what there is.
        """
        if self._catalogue.was_reset:
            await self._indexer.clear()
        for state in await self._catalogue.problem_files():
            self._broken[state.path] = len(state.problems)
        self._supervisor.start("projection", self._follow)
        self._supervisor.start("projection-embedding", self._backlog.run)
        self._supervisor.start("projection-commit", self._commit_now_and_then)

    @contextmanager
    def own_write(self) -> Iterator[None]:
        """Encloses a write and its `submit_entries`: the watcher may be quicker than either."""
        self._writing += 1
        try:
            yield
        finally:
            self._writing -= 1
            if not self._writing and self._waiting_files:
                for path in self._waiting_files:
                    self._submit(path)

    def submit_entries(self, entries: Sequence[WrittenEntry]) -> None:
        """Takes entries that have just been written."""
        if entries:
            self._submit(tuple(entries))

    def submit_file(self, path: Path) -> None:
        """Takes a file that may have been changed or removed by somebody else."""
        self._submit(path)

    async def wait_until_visible(self) -> None:
        """Returns when everything submitted so far can be found."""
        target = self._submitted
        async with self._progressed:
            await self._progressed.wait_for(lambda: self._done >= target)

    def mark_root_unreadable(self, unreadable: bool) -> None:
        """Remembers, for health, that a scan could not see all of the root."""
        self._unreadable_root = unreadable

    def state(self) -> ProjectionState:
        """How far the index is behind."""
        broken = sum(self._broken.values())
        reasons = []
        if self._failures:
            reasons.append(f"the index could not be updated {self._failures} times in a row")
        if broken:
            reasons.append(
                f"{broken} Markdown entries cannot be read; `remanence doctor` lists them"
            )
        if self._unreadable:
            reasons.append(
                f"{len(self._unreadable)} Markdown files cannot be read; they are tried again"
            )
        if self._backlog.waits:
            reasons.append("some passages wait for their vectors; keyword search finds them")
        if self._unreadable_root:
            reasons.append("part of the memory root cannot be read; nothing is taken as deleted")
        return ProjectionState(self._submitted - self._done, self._failures, broken, reasons)

    async def commit(self) -> None:
        """Makes the lexical index durable now."""
        self._uncommitted = False
        try:
            await self._indexer.commit()
        except ServiceError:
            # The keyword index may have gone back to its last commit: it must be fed again.
            self._uncommitted = self._indexes_behind = True
            self._arrived.set()
            raise

    def _submit(self, change: _Change) -> None:
        self._queue.append(change)
        self._submitted += 1
        self._arrived.set()

    async def _follow(self) -> None:
        await self._project_until_done(_Batch())
        while True:
            await self._arrived.wait()
            self._arrived.clear()
            if self._indexes_behind:
                await self._project_until_done(_Batch())
            while self._queue:
                changes, self._queue = self._queue, []
                await self._project_until_done(_Batch.of(changes))
                async with self._progressed:
                    self._done += len(changes)
                    self._progressed.notify_all()

    async def _project_until_done(self, batch: _Batch) -> None:
        pause = _FIRST_RETRY_SECONDS
        while True:
            try:
                await self._project(batch)
            except Exception as error:
                self._failures += 1
                self._indexes_behind = True
                code = error.code.value if isinstance(error, ServiceError) else "INTERNAL_ERROR"
                _log.warning("projection_failed", error_code=code, **describe_fault(error))
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LONGEST_RETRY_SECONDS)
            else:
                break
        self._failures = 0

    async def _project(self, batch: _Batch) -> None:
        if self._indexes_behind:
            await self._indexer.catch_up()
            # Of a change that failed half-way nobody knows which passages lack their vectors.
            self._backlog.look()
            self._indexes_behind = False
            self._uncommitted = True
        if batch.entries:
            states = await self._states_after(batch.entries)
            records = await asyncio.to_thread(indexed_entries, self._markdown.root, batch.entries)
            change = await self._catalogue.upsert(records, self._clock.now_ms(), states)
            batch.entries.clear()
            await self._index(change)
        while batch.files:
            await self._project_file(batch.files[0])
            del batch.files[0]

    async def _index(self, change: ChangeSet) -> None:
        self._uncommitted = True
        await self._indexer.apply(change)
        try:
            await self._indexer.embed(change)
        except Exception as error:
            # A model that fails must not keep what follows from being found by its words.
            _log.warning("embedding_failed", **describe_fault(error))
            self._backlog.waits = True
            self._backlog.look()

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
        key = relative_path(self._markdown.root, path)
        known = await self._catalogue.file_state(key)
        stamp = await asyncio.to_thread(stamp_of, path)
        if known is not None and stamp is not None and is_unchanged(known, stamp):
            self._waiting_files.discard(path)
            return  # the watcher saw our own write
        if self._writing and path not in self._waiting_files:
            # Perhaps the write that is under way; if it was somebody else's, that shows after it.
            self._waiting_files.add(path)
            return
        self._waiting_files.discard(path)
        try:
            parsed = await asyncio.to_thread(self._markdown.read, path)
            state, records = await asyncio.to_thread(indexed_file, self._markdown.root, parsed)
        except FileNotFoundError:
            self._unreadable.discard(key)
            self._broken.pop(key, None)
            await self._index(await self._catalogue.delete_file(key))
            return
        except Exception as error:
            # One file must not hold up all others. The next scan finds that it differs still.
            _log.warning("markdown_file_unreadable", path=key, **describe_fault(error))
            self._unreadable.add(key)
            return
        self._unreadable.discard(key)
        if parsed.problems:
            self._broken[key] = len(parsed.problems)
            _log.warning("markdown_entries_unreadable", path=key, count=len(parsed.problems))
        else:
            self._broken.pop(key, None)
        await self._index(await self._catalogue.replace_file(state, records, self._clock.now_ms()))

    async def _commit_now_and_then(self) -> None:
        while True:
            await asyncio.sleep(_COMMIT_INTERVAL_SECONDS)
            if self._uncommitted:
                try:
                    await self.commit()
                except ServiceError as error:
                    _log.warning("index_not_committed", error_code=error.code.value)
