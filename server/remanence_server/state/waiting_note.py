"""A note beside system.db of whose messages wait in it, so that its loss can be told by name.

Messages that are not Markdown yet are in system.db and nowhere else. Should somebody delete it, the
next start could not even say that something is missing. The note holds names and counts, no text.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path

import apsw

from remanence_server.runtime.errors import ServiceError
from remanence_server.runtime.logging import get_logger
from remanence_server.state.database import Database

NOTE_FILE = "waiting.json"

# As much as a kill may hide: what was accepted in the last second is not in the note yet.
_INTERVAL_SECONDS = 1.0
# Between two counts, in the time that the last one took.
_PAUSE_SHARE = 50
_NOTED_SESSIONS = 1_000
_NAMED_SESSIONS = 20

# Messages in the buffer and in queued requests, and segments (one each) that are being extracted.
_WAITING = """
SELECT session_id, sum(messages), sum(segments) FROM (
    SELECT app_id, project_id, session_id, count(*) AS messages, 0 AS segments
        FROM unprocessed_buffer GROUP BY app_id, project_id, session_id
    UNION ALL
    SELECT app_id, project_id, session_id, message_count, 0
        FROM memorize_inbox WHERE status IN ('queued', 'processing')
    UNION ALL
    SELECT app_id, project_id, session_id, 0, 1 FROM memory_cell
) GROUP BY app_id, project_id, session_id ORDER BY app_id, project_id, session_id
"""

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits in system.db: messages, segments in extraction, names of their sessions."""

    messages: int = 0
    segments: int = 0
    sessions: tuple[str, ...] = ()

    def lost_reason(self) -> str:
        """What health says when the database is gone."""
        what = [_counted(self.messages, "accepted message")] if self.messages else []
        if self.segments:
            what.append(_counted(self.segments, "segment in extraction"))
        names = ", ".join(f"'{name}'" for name in self.sessions[:_NAMED_SESSIONS])
        rest = len(self.sessions) - _NAMED_SESSIONS
        more = f" and {rest} more" if rest > 0 else ""
        return (
            f"system.db was missing at the start: {' and '.join(what)} that waited in it are lost, "
            f"of the sessions {names}{more}"
        )


@dataclass(slots=True)
class WaitingNote:
    """Keeps the note, and remembers what the last one said if its database is gone."""

    note_path: Path
    database_path: Path
    lost: Waiting | None = None
    _written: Waiting | None = None
    _inode: int | None = None
    # Set while the database that is in use has no name on disk any more.
    _deleted: bool = field(default=False)

    @classmethod
    def look(cls, note_path: Path, database_path: Path) -> WaitingNote:
        """Compares the note with the disk. To be called before the database is opened."""
        note = cls(note_path, database_path)
        if not database_path.exists():
            waiting = _read(note_path)
            if waiting.messages or waiting.segments:
                note.lost = waiting
                _log.error(
                    "state_lost",
                    messages=waiting.messages,
                    segments=waiting.segments,
                    sessions=list(waiting.sessions[:_NAMED_SESSIONS]),
                )
        return note

    def reasons(self) -> list[str]:
        """What health says of it, until the next start."""
        reasons = [] if self.lost is None else [self.lost.lost_reason()]
        if self._deleted:
            reasons.append(
                "system.db was deleted while it is in use: messages that are not extracted when "
                "the server stops will be lost"
            )
        return reasons

    async def keep(self, database: Database) -> None:
        """Writes the note whenever something changes; goes on until cancelled."""
        while True:
            began_seconds = time.monotonic()
            await self.write(database)
            took_seconds = time.monotonic() - began_seconds
            # Counting a long backlog must not become a part of the load that made it.
            await asyncio.sleep(max(_INTERVAL_SECONDS, took_seconds * _PAUSE_SHARE))

    async def write(self, database: Database) -> None:
        """Writes the note if it says something else than the last one."""
        try:
            waiting = await database.read(_count)
            await asyncio.to_thread(self._write, waiting)
        except (OSError, ServiceError) as error:
            # A disk that refuses is told by whoever needs it.
            _log.debug("waiting_note_not_written", exception=type(error).__name__)

    def _write(self, waiting: Waiting) -> None:
        inode = _inode_of(self.database_path)
        if self._inode is None:
            self._inode = inode
        self._deleted = inode != self._inode
        if waiting == self._written:
            return
        text = json.dumps(
            {
                "messages": waiting.messages,
                "segments": waiting.segments,
                "sessions": waiting.sessions[:_NOTED_SESSIONS],
            }
        )
        temporary = self.note_path.with_suffix(".tmp")
        temporary.write_text(text + "\n", encoding="utf-8")
        os.replace(temporary, self.note_path)  # noqa: PTH105 - atomic on every platform
        self._written = waiting


def _count(connection: apsw.Connection) -> Waiting:
    found = list(connection.execute(_WAITING))
    return Waiting(
        messages=sum(messages for _, messages, _ in found),
        segments=sum(segments for _, _, segments in found),
        sessions=tuple(session_id for session_id, _, _ in found),
    )


def _read(path: Path) -> Waiting:
    """What a note says; nothing when there is none, or it is no good."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return Waiting(
            messages=int(content["messages"]),
            segments=int(content["segments"]),
            sessions=tuple(str(name) for name in content["sessions"]),
        )
    except (OSError, ValueError, TypeError, KeyError):
        return Waiting()


def _inode_of(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
