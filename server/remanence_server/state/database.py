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
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from remanence_server.runtime.errors import ErrorCode, ServiceError

# More writers than this in one transaction would only lengthen the wait of the first.
_LARGEST_GROUP = 512
_READER_THREADS = 2
# A second connection may hold the lock for a checkpoint or a backup step.
_BUSY_TIMEOUT_MS = 5_000


@dataclass(slots=True)
class _Work:
    function: Callable[[apsw.Connection], Any]
    future: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop
    result: Any = None
    error: BaseException | None = None


def storage_error(error: apsw.Error | OSError) -> ServiceError:
    """What a client is told when the disk refuses: retry later, with the kind of reason."""
    if isinstance(error, apsw.FullError):
        reason = "storage is full"
    elif isinstance(error, apsw.ReadOnlyError | apsw.PermissionsError | apsw.CantOpenError):
        reason = "storage cannot be written"
    else:
        reason = "storage failed"
    return ServiceError(ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE, reason, retry_after_seconds=5.0)


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

    def __init__(self, path: Path, schema: str, version: int) -> None:
        """Opens the file, or creates it with `schema`, which is that of `version`.

        Raises ServiceError: CONFIGURATION_ERROR when the file is damaged or of a later version,
        EXTERNAL_SERVICE_UNAVAILABLE when the disk refuses.
        """
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._writer = self._connect()
            self._writer.execute("PRAGMA journal_mode=WAL")
            found = int(self._writer.pragma("user_version"))
            if found > version:
                raise ServiceError(
                    ErrorCode.CONFIGURATION_ERROR,
                    f"{path.name} was written by a later release (version {found}, this one knows"
                    f" {version}); start that release again",
                )
            with self._writer:
                self._writer.execute(schema)
                self._writer.execute(f"PRAGMA user_version={version}")
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
        if self._closed:
            raise ServiceError(
                ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE, "the server is shutting down"
            )
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._queue.put(_Work(function, future, loop))
        # A caller that goes away must not leave its neighbours' transaction half told.
        return await asyncio.shield(future)

    async def read[T](self, function: Callable[[apsw.Connection], T]) -> T:
        """Runs `function` on a reader connection, which sees all that was committed before."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, self._read, function)

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
        return connection

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
            self._commit(group)
            self._answer(group)

    def _commit(self, group: list[_Work]) -> None:
        connection = self._writer
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
            self.refusal = None
        except Exception as error:
            # A failed ROLLBACK leaves nothing to roll back, and this thread must not end.
            with suppress(apsw.Error):
                if not connection.get_autocommit():
                    connection.execute("ROLLBACK")
            public: Exception = error
            if isinstance(error, apsw.Error | OSError):
                refused = storage_error(error)
                self.refusal, public = refused.message, refused
            for work in group:
                work.error = public

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
