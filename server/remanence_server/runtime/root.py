"""The memory root as one process holds it: its lock, and the note that says where it answers."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from filelock import FileLock, Timeout

# Names at the top of a root: what belongs to the running process, work that is accepted but not yet
# Markdown, and what comes back by itself. Everything else is memory, and the settings.
RUN_FOLDER = ".run"
STATE_FILE = "system.db"
INDEX_FOLDER = ".index"

_LOCK_FILE = "lock"
_NOTE_FILE = "server.json"


class RootInUseError(Exception):
    """Another server holds the root."""


@dataclass(frozen=True, slots=True)
class ServerNote:
    """Where a running server answers; `ROOT/.run/server.json`."""

    pid: int
    http: str
    grpc: str
    version: str
    started_at: str


class MemoryRoot:
    """An exclusive hold on a memory root, until `release`."""

    def __init__(self, path: Path) -> None:
        """Creates the root if need be and locks it. Raises RootInUseError, or OSError."""
        self.path = path
        self._run = path / RUN_FOLDER
        self._run.mkdir(parents=True, exist_ok=True)
        # The kernel drops this lock when the process dies, however it dies.
        self._lock = FileLock(self._run / _LOCK_FILE)
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise RootInUseError from None
        # A killed server leaves its note behind, and it would lead clients astray.
        for left in (self._note, self._unfinished_note):
            left.unlink(missing_ok=True)

    @property
    def _note(self) -> Path:
        return self._run / _NOTE_FILE

    @property
    def _unfinished_note(self) -> Path:
        return self._note.with_suffix(".tmp")

    def publish(self, note: ServerNote) -> None:
        """Writes the note, whole or not at all."""
        temporary = self._unfinished_note
        temporary.write_text(json.dumps(asdict(note), indent=2) + "\n", encoding="utf-8")
        os.replace(temporary, self._note)  # noqa: PTH105 - atomic on every platform

    def release(self) -> None:
        """Removes the note and gives the root back."""
        self._note.unlink(missing_ok=True)
        self._lock.release()


def read_server_note(root: Path) -> ServerNote | None:
    """The note of a root's running server; None when there is none or it cannot be read."""
    try:
        return ServerNote(**json.loads((root / RUN_FOLDER / _NOTE_FILE).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None
