"""Requests that were answered with 202: queued, delivered in order, kept for a while as tasks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import apsw

from remanence_server.domain.owners import Scope
from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.state.database import Database
from remanence_server.state.inbox_model import (
    REPLAYS_EXHAUSTED,
    STATUS_WRITE_LOST,
    InboxCaps,
    InboxCounts,
    InboxEntry,
    InboxStatus,
    InboxTask,
    NewEntry,
    Recovered,
    TaskFilter,
)
from remanence_server.state.receipts import PendingReceipt, insert_receipt

# Failure texts are shown to clients; a longer one would be somebody's stack trace.
_LONGEST_ERROR = 500
_UNFINISHED = "status IN ('queued', 'processing')"
_OF_SESSION = "app_id = ? AND project_id = ? AND session_id = ?"

# The oldest queued row of each session that has none in flight.
_CLAIM = f"""
UPDATE memorize_inbox SET status = 'processing', updated_at_ms = ?
WHERE id IN (
    SELECT first.id FROM memorize_inbox AS first
    WHERE first.status = 'queued' AND NOT EXISTS (
        SELECT 1 FROM memorize_inbox AS earlier
        WHERE earlier.app_id = first.app_id AND earlier.project_id = first.project_id
          AND earlier.session_id = first.session_id AND earlier.id < first.id
          AND earlier.{_UNFINISHED})
    ORDER BY first.id LIMIT ?)
RETURNING id, request_id, app_id, project_id, session_id, is_final, defer_extraction, payload_json
"""
_TASK_COLUMNS = "request_id, status, is_final, error_code, last_error, created_at_ms, updated_at_ms"


class InboxStore:
    """The table `memorize_inbox` of system.db."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def enqueue(
        self,
        entry: NewEntry,
        caps: InboxCaps,
        now_ms: int,
        *,
        only_behind_others: bool,
        receipt: PendingReceipt | None = None,
    ) -> int | None:
        """Queues a request; it is on disk when this returns.

        Returns the number of unfinished rows of its session, this one included. With
        `only_behind_others`, a session that has none is left alone and the result is None. Raises
        ServiceError QUEUE_SATURATED when a cap is reached; nothing was stored then. The receipt is
        written of the number returned, in the same transaction; ReceiptExistsError says that its
        key is taken, and nothing was stored either.
        """

        def run(connection: apsw.Connection) -> int | None:
            of_session = _count(
                connection,
                f"{_OF_SESSION} AND {_UNFINISHED}",
                (entry.scope.app_id, entry.scope.project_id, entry.session_id),
            )
            if only_behind_others and not of_session:
                return None
            if of_session >= caps.per_session:
                raise _saturated("this session", of_session)
            total = _count(connection, _UNFINISHED)
            if total >= caps.total:
                raise _saturated("the server", total)
            connection.execute(
                "INSERT INTO memorize_inbox (request_id, app_id, project_id, session_id, is_final,"
                " defer_extraction, payload_json, message_count, status, created_at_ms,"
                " updated_at_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'queued', ?9, ?9)",
                (
                    entry.request_id,
                    entry.scope.app_id,
                    entry.scope.project_id,
                    entry.session_id,
                    entry.is_flush,
                    entry.defer_extraction,
                    entry.payload_json,
                    entry.message_count,
                    now_ms,
                ),
            )
            if receipt is not None:
                insert_receipt(connection, receipt, of_session + 1, now_ms)
            return of_session + 1

        return await self._database.write(run)

    async def recover(self, max_replays: int, now_ms: int) -> Recovered:
        """Gives back what a dead process had in flight, unless that has happened too often.

        Call it once, before the first claim, under the lock of the memory root.
        """

        def run(connection: apsw.Connection) -> Recovered:
            connection.execute(
                "UPDATE memorize_inbox SET status = 'failed', error_code = ?, last_error = ?,"
                " updated_at_ms = ? WHERE status = 'processing' AND attempt >= ?",
                (
                    REPLAYS_EXHAUSTED,
                    f"the server stopped during this delivery and {max_replays} repetitions of it",
                    now_ms,
                    max_replays,
                ),
            )
            given_up = connection.changes()
            connection.execute(
                "UPDATE memorize_inbox SET status = 'queued', attempt = attempt + 1,"
                " updated_at_ms = ? WHERE status = 'processing'",
                (now_ms,),
            )
            return Recovered(requeued=connection.changes(), given_up=given_up)

        return await self._database.write(run)

    async def claim(self, limit: int, now_ms: int) -> list[InboxEntry]:
        """Takes up to `limit` rows, oldest first: the first unfinished one of a session each."""

        def run(connection: apsw.Connection) -> list[InboxEntry]:
            rows = connection.execute(_CLAIM, (now_ms, limit)).fetchall()
            return sorted(map(_entry, rows), key=lambda entry: entry.entry_id)

        return await self._database.write(run)

    async def succeed(self, entry_id: int, now_ms: int) -> None:
        """Marks a row as delivered; what it carried is dropped."""

        def run(connection: apsw.Connection) -> None:
            connection.execute(
                "UPDATE memorize_inbox SET status = 'success', payload_json = '',"
                " updated_at_ms = ? WHERE id = ? AND status = 'processing'",
                (now_ms, entry_id),
            )

        await self._database.write(run)

    async def fail(self, entry_id: int, error_code: str, error: str, now_ms: int) -> None:
        """Marks a row as failed; what it carried is kept."""

        def run(connection: apsw.Connection) -> None:
            connection.execute(
                "UPDATE memorize_inbox SET status = 'failed', error_code = ?, last_error = ?,"
                " updated_at_ms = ? WHERE id = ? AND status = 'processing'",
                (error_code, error[:_LONGEST_ERROR], now_ms, entry_id),
            )

        await self._database.write(run)

    async def sweep(self, in_flight: Collection[int], now_ms: int) -> int:
        """Fails the rows that are `processing` though nobody delivers them; returns how many."""

        def run(connection: apsw.Connection) -> int:
            lost = [
                (STATUS_WRITE_LOST, "status write lost; outcome unknown", now_ms, entry_id)
                for (entry_id,) in connection.execute(
                    f"SELECT id FROM memorize_inbox WHERE {_UNFINISHED} AND status = 'processing'"
                )
                if entry_id not in in_flight
            ]
            connection.executemany(
                "UPDATE memorize_inbox SET status = 'failed', error_code = ?, last_error = ?,"
                " updated_at_ms = ? WHERE id = ?",
                lost,
            )
            return len(lost)

        return await self._database.write(run)

    async def purge(self, created_before_ms: int) -> tuple[int, int]:
        """Deletes old rows that are not in flight.

        Returns how many, and how many of them had never been delivered.
        """

        def run(connection: apsw.Connection) -> tuple[int, int]:
            old = "created_at_ms < ? AND status != 'processing'"
            undelivered = _count(connection, f"{old} AND status = 'queued'", (created_before_ms,))
            connection.execute(f"DELETE FROM memorize_inbox WHERE {old}", (created_before_ms,))
            return connection.changes(), undelivered

        return await self._database.write(run)

    async def counts(self) -> InboxCounts:
        """What health tells."""

        def run(connection: apsw.Connection) -> InboxCounts:
            row: tuple[Any, ...] = connection.execute(
                f"SELECT count(*), min(created_at_ms) FROM memorize_inbox WHERE {_UNFINISHED}"
            ).fetchall()[0]
            pending, oldest = row
            return InboxCounts(pending, oldest, _count(connection, "status = 'failed'"))

        return await self._database.read(run)

    async def task(self, request_id: str) -> InboxTask | None:
        """The row of one request."""

        def run(connection: apsw.Connection) -> InboxTask | None:
            row = connection.execute(
                f"SELECT {_TASK_COLUMNS} FROM memorize_inbox WHERE request_id = ?", (request_id,)
            ).fetchone()
            return None if row is None else _task(row)

        return await self._database.read(run)

    async def tasks(
        self, wanted: TaskFilter, *, limit: int, offset: int
    ) -> tuple[int, Sequence[InboxTask]]:
        """How many rows match, and a page of them, newest first."""
        where = "app_id = ? AND project_id = ?"
        values: list[Any] = [wanted.scope.app_id, wanted.scope.project_id]
        for column, value in (("session_id", wanted.session_id), ("status", wanted.status)):
            if value is not None:
                where += f" AND {column} = ?"
                values.append(str(value))

        def run(connection: apsw.Connection) -> tuple[int, Sequence[InboxTask]]:
            rows = connection.execute(
                f"SELECT {_TASK_COLUMNS} FROM memorize_inbox WHERE {where}"
                " ORDER BY id DESC LIMIT ? OFFSET ?",
                (*values, limit, offset),
            )
            page = [_task(row) for row in rows]
            return _count(connection, where, values), page

        return await self._database.read(run)


def _count(connection: apsw.Connection, where: str, values: Sequence[Any] = ()) -> int:
    rows = connection.execute(f"SELECT count(*) FROM memorize_inbox WHERE {where}", values)
    row: tuple[Any, ...] = rows.fetchall()[0]
    return int(row[0])


def _saturated(who: str, unfinished: int) -> ServiceError:
    return ServiceError(
        ErrorCode.QUEUE_SATURATED,
        f"{who} has {unfinished} unfinished batches, the most it may have;"
        " this one was not accepted, send it again later",
        retry_after_seconds=1.0,
    )


def _entry(row: tuple[Any, ...]) -> InboxEntry:
    entry_id, request_id, app_id, project_id, session_id, is_flush, defer, payload_json = row
    return InboxEntry(
        entry_id,
        request_id,
        Scope(app_id, project_id),
        session_id,
        bool(is_flush),
        bool(defer),
        payload_json,
    )


def _task(row: tuple[Any, ...]) -> InboxTask:
    request_id, status_text, is_flush, error_code, error, created_at_ms, updated_at_ms = row
    status = InboxStatus(status_text)
    finished = status in (InboxStatus.SUCCESS, InboxStatus.FAILED)
    return InboxTask(
        request_id,
        status,
        bool(is_flush),
        error_code,
        error,
        created_at_ms,
        updated_at_ms if finished else None,
    )
