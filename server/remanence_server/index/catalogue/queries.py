"""Rows of a query, read to the end.

A statement that is left half read keeps its snapshot: later reads of the connection would not see
new commits, and the write-ahead log could not be reset.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

import apsw
import numpy as np
import numpy.typing as npt

from remanence_server.index.damage import IndexDamagedError

# What SQLite says of a file that is not what it wrote. Text that is no UTF-8 was text once.
DAMAGE = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError, UnicodeDecodeError)
# Reading finds a file cut short by an I/O error; a disk that fails ends no better.
_UNREADABLE = (*DAMAGE, apsw.IOError)

Ids = npt.NDArray[np.int64]
Row = tuple[Any, ...]


def rows(connection: apsw.Connection, query: str, parameters: Sequence[Any] = ()) -> list[Row]:
    """All rows of a query. Raises IndexDamagedError."""
    try:
        return cast(list[Row], connection.execute(query, parameters).fetchall())
    except _UNREADABLE as error:
        raise IndexDamagedError("catalogue") from error


def row(connection: apsw.Connection, query: str, parameters: Sequence[Any] = ()) -> Row | None:
    """The row of a query that has at most one."""
    found = rows(connection, query, parameters)
    return found[0] if found else None


def value(connection: apsw.Connection, query: str, parameters: Sequence[Any] = ()) -> Any:
    """The first column of the only row, or None when there is none."""
    found = rows(connection, query, parameters)
    return found[0][0] if found else None


def stream(
    connection: apsw.Connection, query: str, parameters: Sequence[Any] = ()
) -> Iterator[Row]:
    """Rows one by one, for results too large to hold; to be read to the end.

    Raises IndexDamagedError.
    """
    try:
        yield from cast(Iterator[Row], connection.execute(query, parameters))
    except _UNREADABLE as error:
        raise IndexDamagedError("catalogue") from error


def bound(ids: Iterable[int] | Ids) -> Any:
    """Ids as one parameter: `… IN (SELECT value FROM carray(?))`."""
    array = ids if isinstance(ids, np.ndarray) else np.fromiter(ids, dtype=np.int64)
    if not len(array):
        return None  # apsw refuses an empty array; for SQLite, NULL is one
    return apsw.carray(np.ascontiguousarray(array), flags=apsw.SQLITE_CARRAY_INT64)


def marks(count: int) -> str:
    """Placeholders of a list of texts: `… IN (?, ?, ?)`.

    Not `carray`, as that one ends a text at its first NUL.
    """
    return ", ".join("?" * count)
