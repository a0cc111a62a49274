"""Whether a SQLite file is sound, asked from outside of the server that may be using it."""

from __future__ import annotations

from pathlib import Path

import apsw

_BUSY_TIMEOUT_MS = 2_000


def is_sound(path: Path) -> bool:
    """Whether SQLite finds nothing wrong with a file. Raises OSError when it cannot be read."""
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    except apsw.CantOpenError:
        raise PermissionError(path.name) from None
    try:
        connection.set_busy_timeout(_BUSY_TIMEOUT_MS)
        return bool(connection.execute("PRAGMA quick_check(1)").get == "ok")
    except (apsw.CorruptError, apsw.NotADBError):
        return False
    except apsw.Error as error:
        raise OSError(f"{path.name} cannot be read") from error
    finally:
        connection.close()
