"""One SQLite file with one writer thread that shares commits (group commit).

A commit in WAL mode with `synchronous=FULL` costs one fsync, about 4 ms; a row costs microseconds.
So writers queue small functions, the thread runs all that are waiting in one transaction, and every
caller is answered after the commit that holds its work. A function that raises is rolled back to
its own savepoint and does not harm its neighbours.

Readers use connections of their own and, thanks to WAL, never wait for the writer.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.runtime.metrics import DatabaseMetrics
from remanence_server.runtime.storage import (
    StorageReason,
    reason_of,
    refuse_without_room,
    storage_trouble,
)
from remanence_server.state.migrations import bring_up_to_date

# More writers than this in one transaction would only lengthen the wait of the first.
_LARGEST_GROUP = 512
_READER_THREADS = 2
# A second connection may hold the lock for a checkpoint or a backup step.
_BUSY_TIMEOUT_MS = 5_000
# A reader that is in the way of emptying the log may be a backup.
_LOG_TRIES = 300
_LOG_PAUSE_SECONDS = 0.1


@dataclass(slots=True)
class _Work:
    function: Callable[[apsw.Connection], Any]
    future: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop
    # It runs by itself and outside of any transaction.
    alone: bool = False
    result: Any = None
    error: BaseException | None = None


def storage_error(error: apsw.Error | OSError) -> ServiceError:
    """What a client is told when the disk refuses: retry later, with the kind of reason."""
    if isinstance(error, OSError):
        return storage_trouble(reason_of(error))
    if isinstance(error, apsw.FullError):
        return storage_trouble(StorageReason.FULL)
    if isinstance(error, apsw.ReadOnlyError | apsw.PermissionsError | apsw.CantOpenError):
        return storage_trouble(StorageReason.READ_ONLY)
    return storage_trouble(StorageReason.FAILED)


_STORAGE_ERRORS = (
    apsw.FullError,
    apsw.ReadOnlyError,
    apsw.PermissionsError,
    apsw.CantOpenError,
    apsw.IOError,
    apsw.BusyError,
    apsw.LockedError,
)


class Database:
    """A SQLite file: serial group-committed writes, concurrent reads."""

    def __init__(
        self,
        path: Path,
        schema: str,
        version: int,
        metrics: DatabaseMetrics | None = None,
        *,
        migrations: Mapping[int, str] | None = None,
    ) -> None:
        """Opens the file, or creates it with `schema`, which is that of `version`.

        A file of an earlier version is taken through `migrations`, by the version they start from.
        Raises ServiceError: CONFIGURATION_ERROR when the file is damaged or of a later version,
        EXTERNAL_SERVICE_UNAVAILABLE when the disk refuses.
        """
        self._path = path
        self._version = version
        self._metrics = metrics or DatabaseMetrics.of()
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._writer = self._connect()
            self._writer.execute("PRAGMA journal_mode=WAL")
            bring_up_to_date(self._writer, path.name, schema, version, migrations or {})
        except (apsw.CorruptError, apsw.NotADBError) as error:
            raise ServiceError(
                ErrorCode.CONFIGURATION_ERROR,
                f"{path.name} is damaged; restore a backup of it, or move it away to begin anew"
                " (the Markdown is not affected, messages that were not extracted yet are lost)",
            ) from error
        except _STORAGE_ERRORS as error:
            raise storage_error(error) from error
        # Why the last transaction was refused by the disk; None when it was not. For health.
        self.refusal: str | None = None
        self._queue: queue.SimpleQueue[_Work | None] = queue.SimpleQueue()
        self._thread = threading.Thread(
            target=self._run_writer, name=f"{path.stem}-writer", daemon=True
        )
        self._thread.start()
        self._local = threading.local()
        self._readers = ThreadPoolExecutor(_READER_THREADS, thread_name_prefix=f"{path.stem}-read")
        self._reader_connections: list[apsw.Connection] = []
        self._closed = False

    async def write[T](self, function: Callable[[apsw.Connection], T]) -> T:
        """Runs `function` in the next shared transaction; returns after its commit is on disk.

        Raises ServiceError (EXTERNAL_SERVICE_UNAVAILABLE) when the disk refuses; nothing was
        written then.
        """
        return await self._hand_in(function)

    async def _hand_in[T](
        self, function: Callable[[apsw.Connection], T], *, alone: bool = False
    ) -> T:
        if self._closed:
            raise ServiceError(
                ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE, "the server is shutting down"
            )
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._queue.put(_Work(function, future, loop, alone))
        # A caller that goes away must not leave its neighbours' transaction half told.
        return await asyncio.shield(future)

    async def read[T](self, function: Callable[[apsw.Connection], T]) -> T:
        """Runs `function` on a reader connection, which sees all that was committed before."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, self._read, function)

    async def empty_log(self) -> None:
        """Packs the database file anew, and empties the write-ahead log.

        Then nothing that was deleted is left in either. Writers wait while the file is packed,
        which takes seconds for each 100 MB, but not for readers. Raises ServiceError when a long
        read or the disk does not allow it.
        """
        await self._hand_in(self._pack, alone=True)
        for attempt in range(_LOG_TRIES):
            if attempt:
                await asyncio.sleep(_LOG_PAUSE_SECONDS)
            if await self._hand_in(self._truncate_log, alone=True):
                return
        raise storage_trouble(StorageReason.FAILED)

    async def probe(self) -> None:
        """Writes a page and changes nothing, so that `refusal` says how the disk is now."""
        with suppress(ServiceError):
            await self.write(self._touch)

    def close(self) -> None:
        """Finishes the queued writes, then closes the file."""
        if self._closed:
            return
        self._closed = True
        self._queue.put(None)
        self._thread.join()
        self._readers.shutdown(wait=True)
        for connection in self._reader_connections:
            connection.close()
        self._writer.close()

    def _connect(self) -> apsw.Connection:
        connection = apsw.Connection(str(self._path))
        connection.set_busy_timeout(_BUSY_TIMEOUT_MS)
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
        # What is deleted is overwritten: it may be somebody's words.
        connection.execute("PRAGMA secure_delete=ON")
        return connection

    def _pack(self, connection: apsw.Connection) -> None:
        # A copy beside it and one in the log. Half-way on a full disk, nobody could write any more.
        size_bytes = self._path.stat().st_size
        refuse_without_room(self._path.parent, 2 * size_bytes)
        # Overwriting is not enough: where SQLite has moved a row, its old place keeps a copy.
        connection.execute("VACUUM")

    @staticmethod
    def _truncate_log(connection: apsw.Connection) -> bool:
        """Whether no reader was in the way."""
        # Who waits for a reader in this thread keeps all writers waiting.
        connection.set_busy_timeout(0)
        try:
            row = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            connection.set_busy_timeout(_BUSY_TIMEOUT_MS)
        return row is not None and not row[0]

    def _read[T](self, function: Callable[[apsw.Connection], T]) -> T:
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        try:
            if connection is None:
                connection = self._local.connection = self._connect()
                self._reader_connections.append(connection)
            return function(connection)
        except _STORAGE_ERRORS as error:
            raise storage_error(error) from error

    def _run_writer(self) -> None:
        closing = False
        while not closing:
            first = self._queue.get()
            if first is None:
                return
            group = [first]
            while len(group) < _LARGEST_GROUP:
                try:
                    work = self._queue.get_nowait()
                except queue.Empty:
                    break
                if work is None:
                    closing = True
                    break
                group.append(work)
            together = [work for work in group if not work.alone]
            if together:
                self._commit(together)
            for work in group:
                if work.alone:
                    self._run_alone(work)
            self._answer(group)

    def _commit(self, group: list[_Work]) -> None:
        connection = self._writer
        began_seconds, changes_before = time.perf_counter(), connection.total_changes()
        try:
            connection.execute("BEGIN IMMEDIATE")
            for work in group:
                connection.execute("SAVEPOINT work")
                try:
                    work.result = work.function(connection)
                except _STORAGE_ERRORS:
                    # SQLite may have rolled back all of it: nobody's work counts.
                    raise
                except Exception as error:
                    work.error = error
                    connection.execute("ROLLBACK TO work")
                connection.execute("RELEASE work")
            connection.execute("COMMIT")
            # A full disk refuses no transaction that had nothing to write.
            if connection.total_changes() != changes_before or any(
                work.function == self._touch for work in group
            ):
                self.refusal = None
            self._metrics.transactions.labels("committed").inc()
            self._metrics.works_per_commit.observe(len(group))
            self._metrics.commit_seconds.observe(time.perf_counter() - began_seconds)
        except Exception as error:
            # A failed ROLLBACK leaves nothing to roll back, and this thread must not end.
            with suppress(apsw.Error):
                if not connection.get_autocommit():
                    connection.execute("ROLLBACK")
            public: Exception = error
            self._metrics.transactions.labels("refused").inc()
            if isinstance(error, apsw.Error | OSError):
                refused = storage_error(error)
                self.refusal, public = refused.message, refused
            for work in group:
                work.error = public

    def _run_alone(self, work: _Work) -> None:
        try:
            work.result = work.function(self._writer)
        except (*_STORAGE_ERRORS, OSError) as error:
            work.error = storage_error(error)
        except Exception as error:
            work.error = error

    def _touch(self, connection: apsw.Connection) -> None:
        connection.pragma("user_version", self._version)

    @staticmethod
    def _answer(group: list[_Work]) -> None:
        by_loop: dict[asyncio.AbstractEventLoop, list[_Work]] = {}
        for work in group:
            by_loop.setdefault(work.loop, []).append(work)
        for loop, works in by_loop.items():
            # One wake-up of the event loop for the whole group.
            try:
                loop.call_soon_threadsafe(_resolve, works)
            except RuntimeError:
                # The loop is closed: its callers are gone, the work is committed all the same.
                continue


def _resolve(works: list[_Work]) -> None:
    for work in works:
        if work.future.cancelled():
            continue
        if work.error is not None:
            work.future.set_exception(work.error)
        else:
            work.future.set_result(work.result)
