"""What is known of the Markdown files."""

from __future__ import annotations

import apsw
import orjson

from remanence_server.index.catalogue.changes import EntryProblem, FileState
from remanence_server.index.catalogue.queries import Row, row, rows

_SELECT = "SELECT path, size, mtime_ns, content_hash, problems FROM file"


def file_states(connection: apsw.Connection) -> dict[str, FileState]:
    """Every file that has been projected."""
    return {item[0]: _state(item) for item in rows(connection, _SELECT)}


def file_state(connection: apsw.Connection, path: str) -> FileState | None:
    """One file, or None when it has never been projected."""
    found = row(connection, f"{_SELECT} WHERE path = ?", (path,))
    return _state(found) if found is not None else None


def problem_files(connection: apsw.Connection) -> list[FileState]:
    """Files with entries that could not be read, by path."""
    found = rows(connection, f"{_SELECT} WHERE problems <> CAST('[]' AS BLOB) ORDER BY path")
    return [_state(item) for item in found]


def _state(columns: Row) -> FileState:
    path, size, mtime_ns, content_hash, problems = columns
    entries = tuple(EntryProblem(*fields) for fields in orjson.loads(problems))
    return FileState(path, size, mtime_ns, content_hash, entries)
