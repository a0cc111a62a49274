"""Which thread talks to the database: one writes, two read, and quick reads stay on the loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw

from remanence_server.index.catalogue.queries import DAMAGE, value
from remanence_server.index.catalogue.rows import Owners
from remanence_server.index.catalogue.schema import (
    CATALOGUE_FILE,
    meta_value,
    open_reader,
    open_writer,
    put_meta,
    remove_damaged,
)
from remanence_server.index.catalogue.writes import Change
from remanence_server.index.damage import IndexDamagedError
from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.runtime.storage import refuse_without_room

_READER_THREADS = 2
# Up to this size the catalogue is packed in memory.
_MEGABYTES_IN_MEMORY = 128
_DISK_ERRORS = (
    apsw.FullError,
    apsw.IOError,
    apsw.ReadOnlyError,
    apsw.CantOpenError,
    apsw.BusyError,
)


class Reading:
    """A connection that reads, and the owners it has met. For one thread."""

    def __init__(self, index_directory: Path) -> None:
        self.connection = open_reader(index_directory)
        self.owners = Owners()


class Connections:
    """The connections to the two files, each used by one thread only."""

    def __init__(self, index_directory: Path, fingerprint: str, first_id: int) -> None:
        """Opens them. Raises IndexDamagedError when the files turn out not to be usable."""
        try:
            self._open(index_directory, fingerprint, first_id)
        except DAMAGE as error:
            raise IndexDamagedError("catalogue") from error

    def _open(self, index_directory: Path, fingerprint: str, first_id: int) -> None:
        self._directory = index_directory
        self._write_connection = open_writer(index_directory, fingerprint, first_id)
        self._write_owners = Owners()
        # The change counter after the last commit.
        self.stamp = int(meta_value(self._write_connection, "stamp") or 0)
        # For reads on the event loop itself.
        self.inline = Reading(index_directory)
        # Opened now: later their files may be gone, and others in their place.
        self._idle = [Reading(index_directory) for _ in range(_READER_THREADS)]
        self._readings = [self.inline, *self._idle]
        self._local = threading.local()
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="catalogue-write")
        self._readers = ThreadPoolExecutor(_READER_THREADS, thread_name_prefix="catalogue-read")

    def is_filled(self) -> bool:
        """Whether Markdown has been read whole into this catalogue."""
        return bool(meta_value(self.inline.connection, "filled"))

    async def read[Result](self, work: Callable[[Reading], Result]) -> Result:
        """Runs a read on a thread."""
        return await asyncio.get_running_loop().run_in_executor(
            self._readers, lambda: work(self._thread_reading())
        )

    async def write[Result](self, work: Callable[[Change], Result]) -> Result:
        """Runs a change as one transaction on the thread that writes.

        Raises:
            IndexDamagedError: the files are not what was written.
            ServiceError: EXTERNAL_SERVICE_UNAVAILABLE when the disk does not take it.
        """
        job = asyncio.get_running_loop().run_in_executor(self._writer, self._transact, work)
        # Shielded: a write that has begun is seen through, whoever waited for it.
        return await asyncio.shield(job)

    async def copy_vectors(self, target: Path) -> None:
        """Copies the embedding store, whole, to a file that is not there yet.

        Raises IndexDamagedError, or ServiceError when the disk does not take it.
        """
        await asyncio.get_running_loop().run_in_executor(self._writer, self._copy_vectors, target)

    async def expunge(self) -> None:
        """Empties the write-ahead logs, which hold old pages. See `Catalogue.expunge`."""
        await asyncio.get_running_loop().run_in_executor(self._writer, self._expunge)

    async def close(self) -> None:
        """Finishes what has been handed in and closes the files."""
        await asyncio.to_thread(self._writer.shutdown)
        await asyncio.to_thread(self._readers.shutdown)
        for reading in self._readings:
            reading.connection.close()
        self._write_connection.close()

    def _expunge(self) -> None:
        connection = self._write_connection
        try:
            # Overwriting is not enough: where SQLite has moved a row, its old place keeps a copy.
            size_bytes = self._directory.joinpath(CATALOGUE_FILE).stat().st_size
            # A copy beside it and one in the log. Half-way on a full disk, nobody could write.
            refuse_without_room(self._directory, 2 * size_bytes)
            in_memory = size_bytes >> 20 <= _MEGABYTES_IN_MEMORY
            connection.execute(f"PRAGMA temp_store = {'memory' if in_memory else 'file'}")
            connection.execute("VACUUM main")
            for database in ("main", "embeddings"):
                busy = value(connection, f"PRAGMA {database}.wal_checkpoint(TRUNCATE)")
                if busy:
                    raise _disk_refuses()
            remove_damaged(self._directory)
        except DAMAGE as error:
            raise IndexDamagedError("catalogue") from error
        except (*_DISK_ERRORS, OSError) as error:
            raise _disk_refuses() from error

    def _copy_vectors(self, target: Path) -> None:
        copy = apsw.Connection(str(target))
        try:
            with copy.backup("main", self._write_connection, "embeddings") as backup:
                backup.step()
            # Pages are copied as they are, whatever is in them.
            if value(copy, "PRAGMA quick_check(1)") != "ok":
                raise IndexDamagedError("embeddings")
        except DAMAGE as error:
            raise IndexDamagedError("embeddings") from error
        except _DISK_ERRORS as error:
            raise _disk_refuses() from error
        finally:
            copy.close()

    def _transact[Result](self, work: Callable[[Change], Result]) -> Result:
        connection = self._write_connection
        change = Change(connection, self._write_owners, self.stamp)
        try:
            connection.execute("BEGIN IMMEDIATE")
            try:
                result = work(change)
                if change.stamp != change.start:
                    put_meta(connection, "stamp", change.stamp)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                self._write_owners.forget()
                raise
        except DAMAGE as error:
            raise IndexDamagedError("catalogue") from error
        except _DISK_ERRORS as error:
            raise _disk_refuses() from error
        self.stamp = change.stamp
        return result

    def _thread_reading(self) -> Reading:
        reading: Reading | None = getattr(self._local, "reading", None)
        if reading is None:
            reading = self._local.reading = self._idle.pop()
        return reading


def _disk_refuses() -> ServiceError:
    return ServiceError(
        ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE,
        "The index cannot be written: the disk is full, read-only or in use",
    )
