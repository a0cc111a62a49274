"""A copy of a SQLite file as it is at one instant, whoever writes to it meanwhile."""

from __future__ import annotations

from pathlib import Path

import apsw

from remanence_server.state.database import storage_error

_BUSY_TIMEOUT_MS = 10_000


def copy_database(source: Path, target: Path) -> None:
    """Copies a database that may be in use; blocks, and holds up neither readers nor writers.

    Raises ServiceError (EXTERNAL_SERVICE_UNAVAILABLE) when the disk refuses.
    """
    connections: list[apsw.Connection] = []
    try:
        for path, flags in (
            (source, apsw.SQLITE_OPEN_READWRITE),
            (target, apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE),
        ):
            connections.append(apsw.Connection(str(path), flags=flags))
            connections[-1].set_busy_timeout(_BUSY_TIMEOUT_MS)
        reading, writing = connections
        with writing.backup("main", reading, "main") as backup:
            # All pages in one step are one read transaction: one instant.
            backup.step(-1)
    except (apsw.Error, OSError) as error:
        raise storage_error(error) from error
    finally:
        for connection in connections:
            connection.close()
