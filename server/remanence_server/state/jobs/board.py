"""The job table for people: look at jobs, retry them, drop them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.state.database import Database
from remanence_server.state.jobs.model import JobFilter, JobRecord, JobStatus
from remanence_server.state.jobs.rows import FRESH_BUDGET, cancel_jobs

_COLUMNS = (
    "job_id, stage, status, app_id, project_id, track, owner_id, session_id, cell_id, attempts,"
    " maximum_attempts, last_error_code, last_error, created_at_ms, available_at_ms, finished_at_ms"
)
_OF_SCOPE = "job_id = ? AND app_id = ? AND project_id = ?"


class JobBoard:
    """Jobs as an operator sees and steers them. A job of another scope does not exist."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(
        self, wanted: JobFilter, *, limit: int, offset: int
    ) -> tuple[int, Sequence[JobRecord]]:
        """How many jobs match, and a page of them, newest first."""
        where, values = _conditions(wanted)
        # The plus keeps SQLite from walking a whole scope for the few jobs of one session.
        order = "job_id" if wanted.session_id is None else "+job_id"

        def run(connection: apsw.Connection) -> tuple[int, Sequence[JobRecord]]:
            total = int(
                connection.execute(f"SELECT count(*) FROM job WHERE {where}", values).get or 0
            )
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM job WHERE {where} ORDER BY {order} DESC LIMIT ? OFFSET ?",
                (*values, limit, offset),
            )
            return total, [_record(row) for row in rows]

        return await self._database.read(run)

    async def get(self, scope: Scope, job_id: int) -> JobRecord | None:
        """One job."""
        return await self._database.read(lambda connection: _find(connection, scope, job_id))

    async def owners_of_session(self, scope: Scope, session_id: str) -> list[Owner]:
        """For whom a session has jobs that are not finished."""

        def run(connection: apsw.Connection) -> list[Owner]:
            rows = connection.execute(
                "SELECT DISTINCT track, owner_id FROM job WHERE app_id = ? AND project_id = ?"
                " AND session_id = ? AND status IN ('queued', 'running', 'dead_letter')",
                (scope.app_id, scope.project_id, session_id),
            )
            return [Owner(scope, Track(track), owner_id) for track, owner_id in rows]

        return await self._database.read(run)

    async def retry(self, scope: Scope, job_id: int, now_ms: int) -> JobRecord | None:
        """Gives a dead letter, or a job that waits for another attempt, a fresh budget, now.

        It keeps its place in the queue: before what was queued after it. Others stay as they are.
        Returns the job as it is then.
        """

        def run(connection: apsw.Connection) -> JobRecord | None:
            connection.execute(
                f"UPDATE job SET {FRESH_BUDGET} WHERE {_OF_SCOPE}"
                " AND (status = 'dead_letter'"
                "   OR (status = 'queued' AND last_error_code IS NOT NULL))",
                (now_ms, job_id, scope.app_id, scope.project_id),
            )
            return _find(connection, scope, job_id)

        return await self._database.write(run)

    async def drop(self, scope: Scope, job_id: int, now_ms: int) -> JobRecord | None:
        """Cancels a job that is not finished, with what only it needed.

        Returns the job as it is then.
        """

        def run(connection: apsw.Connection) -> JobRecord | None:
            if _find(connection, scope, job_id) is not None:
                cancel_jobs(connection, (job_id,), now_ms)
            return _find(connection, scope, job_id)

        return await self._database.write(run)


def _conditions(wanted: JobFilter) -> tuple[str, list[Any]]:
    where = "app_id = ? AND project_id = ?"
    values: list[Any] = [wanted.scope.app_id, wanted.scope.project_id]
    status = None if wanted.status is None else wanted.status.value
    columns = (("session_id", wanted.session_id), ("stage", wanted.stage), ("status", status))
    for column, value in columns:
        if value is not None:
            where += f" AND {column} = ?"
            values.append(value)
    if wanted.waits_for_retry is not None:
        # A literal, so that SQLite sees that the index of those that wait has them all.
        is_null = "IS NOT NULL" if wanted.waits_for_retry else "IS NULL"
        where += f" AND status = 'queued' AND last_error_code {is_null}"
    return where, values


def _find(connection: apsw.Connection, scope: Scope, job_id: int) -> JobRecord | None:
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM job WHERE {_OF_SCOPE}", (job_id, scope.app_id, scope.project_id)
    ).fetchone()
    return None if row is None else _record(row)


def _record(row: tuple[Any, ...]) -> JobRecord:
    job_id, stage, status, app_id, project_id, track, owner_id, session_id, cell_id, *rest = row
    owner = Owner(Scope(app_id, project_id), Track(track), owner_id)
    return JobRecord(job_id, stage, JobStatus(status), owner, session_id, cell_id, *rest)
