"""Looks at databases that no server has open."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw


@contextmanager
def copy_of(path: Path) -> Iterator[apsw.Connection]:
    """A connection to a copy, found to be sound.

    Opening the file itself would recover what the next server is to recover. Not through the
    `sqlite3` module: the SQLite in it can be older than the tables, and finds fault with them.
    """
    with tempfile.TemporaryDirectory() as folder:
        for suffix in ("", "-wal"):
            source = path.with_name(path.name + suffix)
            if source.exists():
                shutil.copy(source, folder)
        with closing(apsw.Connection(str(Path(folder) / path.name))) as database:
            found = database.execute("PRAGMA integrity_check").fetchall()
            assert found == [("ok",)], (path, found)
            yield database


def assert_sound(root: Path) -> None:
    """Every database under a memory root passes SQLite's own check."""
    for path in databases(root):
        with copy_of(path):
            pass


def databases(root: Path) -> Iterator[Path]:
    """The databases of a memory root."""
    yield root / "system.db"
    yield from (root / ".index").rglob("*.db")
