"""The job table: claim, save, finish, fail. Every transition is one transaction."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

import apsw

from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.runtime.errors import ErrorCode
from remanence_server.state.database import Database
from remanence_server.state.jobs.model import Job, JobCounts, JobState, JobStatus, NewJob

# Failure texts are for operators; a longer one would be somebody's stack trace.
_LONGEST_ERROR = 500

# Of its serial key, which runs in order.
_IS_FIRST = """
NOT EXISTS (SELECT 1 FROM job AS earlier
    WHERE earlier.serial_key = candidate.serial_key AND earlier.job_id < candidate.job_id
      AND earlier.status IN ('queued', 'running'))
"""

_CLAIM = f"""
UPDATE job SET status = 'running', attempts = attempts + 1, lease_token = ?, lease_until_ms = ?
WHERE job_id = (
    SELECT candidate.job_id FROM job AS candidate
    WHERE ((candidate.status = 'queued'
            -- What was never tried waits for nothing, whatever a clock that was set back says.
            AND (candidate.available_at_ms <= ? OR candidate.attempts = 0))
           OR (candidate.status = 'running' AND candidate.lease_until_ms <= ?))
      AND {_IS_FIRST}
    ORDER BY candidate.job_id LIMIT 1)
RETURNING job_id, stage, cell_id, app_id, project_id, track, owner_id, session_id, attempts,
    maximum_attempts, lease_token, input_json, output_json
"""


# A stop in the middle of an outage says nothing against the job.
_USED_UP = "attempts >= maximum_attempts AND coalesce(last_error_code, '') <> ?2"


class LeaseLostError(Exception):
    """The job was given to somebody else, or is gone: what was just done must not count."""


def insert_jobs(connection: apsw.Connection, jobs: Sequence[NewJob], now_ms: int) -> list[int]:
    """Queues jobs inside the caller's transaction; returns their ids, in order."""
    ids = []
    for job in jobs:
        connection.execute(
            "INSERT INTO job (stage, serial_key, cell_id, app_id, project_id, track, owner_id,"
            " session_id, status, maximum_attempts, input_json, available_at_ms, created_at_ms)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?)",
            (
                job.stage,
                job.serial_key,
                job.cell_id,
                job.owner.scope.app_id,
                job.owner.scope.project_id,
                job.owner.track.value,
                job.owner.owner_id,
                job.session_id,
                job.maximum_attempts,
                job.input_json,
                now_ms,
                now_ms,
            ),
        )
        ids.append(connection.last_insert_rowid())
    return ids


class JobStore:
    """Jobs in system.db."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def recover(self, now_ms: int) -> int:
        """Gives back what a dead process was running; its attempt counts. Returns how many.

        Call it once, before the first claim, under the lock of the memory root.
        """

        def run(connection: apsw.Connection) -> int:
            connection.execute(
                "UPDATE job SET lease_token = NULL, lease_until_ms = NULL, available_at_ms = ?1,"
                " last_error_code = 'CRASHED', last_error = 'the server stopped meanwhile',"
                f" status = CASE WHEN {_USED_UP} THEN 'dead_letter' ELSE 'queued' END,"
                f" finished_at_ms = CASE WHEN {_USED_UP} THEN ?1 END"
                " WHERE status = 'running'",
                (now_ms, ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE.value),
            )
            return connection.changes()

        return await self._database.write(run)

    async def claim(self, now_ms: int, lease_ms: int) -> Job | None:
        """Takes the next job that may run, counts the attempt and leases it."""
        token = uuid.uuid4().hex

        def run(connection: apsw.Connection) -> Job | None:
            row = connection.execute(_CLAIM, (token, now_ms + lease_ms, now_ms, now_ms)).fetchone()
            return None if row is None else _job(row)

        return await self._database.write(run)

    async def extend(self, job: Job, lease_until_ms: int) -> None:
        """Renews the lease of a job that takes long."""

        def run(connection: apsw.Connection) -> None:
            connection.execute(
                "UPDATE job SET lease_until_ms = ? WHERE job_id = ? AND lease_token = ?",
                (lease_until_ms, job.job_id, job.lease_token),
            )

        await self._database.write(run)

    async def succeed(self, job: Job, following: Sequence[NewJob], now_ms: int) -> list[int]:
        """Marks a job done and queues what comes after it, in one transaction.

        The cell goes when this was its last job. Returns the ids of the following jobs. Raises
        LeaseLostError when the lease is no longer held.
        """

        def run(connection: apsw.Connection) -> list[int]:
            connection.execute(
                "UPDATE job SET status = 'succeeded', finished_at_ms = ?, lease_token = NULL,"
                " lease_until_ms = NULL, output_json = NULL, last_error_code = NULL,"
                " last_error = NULL WHERE job_id = ? AND lease_token = ?",
                (now_ms, job.job_id, job.lease_token),
            )
            if not connection.changes():
                raise LeaseLostError
            ids = insert_jobs(connection, following, now_ms)
            connection.execute(
                "DELETE FROM memory_cell WHERE cell_id = ?1 AND NOT EXISTS ("
                " SELECT 1 FROM job WHERE cell_id = ?1 AND status <> 'succeeded')",
                (job.cell_id,),
            )
            return ids

        return await self._database.write(run)

    async def fail(
        self, job: Job, error_code: str, error: str, retry_at_ms: int | None, now_ms: int
    ) -> None:
        """Puts a failed job back for `retry_at_ms`, or gives it up when that is None.

        One that is put back though its budget is used up has a last attempt left.
        """

        def run(connection: apsw.Connection) -> None:
            dead = retry_at_ms is None
            connection.execute(
                "UPDATE job SET status = ?, available_at_ms = ?, finished_at_ms = ?,"
                " lease_token = NULL, lease_until_ms = NULL, last_error_code = ?, last_error = ?,"
                " attempts = CASE WHEN ? THEN attempts"
                " ELSE max(1, min(attempts, maximum_attempts - 1)) END"
                " WHERE job_id = ? AND lease_token = ?",
                (
                    JobStatus.DEAD_LETTER.value if dead else JobStatus.QUEUED.value,
                    now_ms if retry_at_ms is None else retry_at_ms,
                    now_ms if dead else None,
                    error_code,
                    error[:_LONGEST_ERROR],
                    dead,
                    job.job_id,
                    job.lease_token,
                ),
            )
            if not connection.changes():
                raise LeaseLostError

        await self._database.write(run)

    async def next_available_ms(self) -> int | None:
        """When the next job can be claimed, or the next lease ends; None when nothing will be.

        A job behind another of its serial key does not count: that one's end will wake it.
        """

        def run(connection: apsw.Connection) -> int | None:
            row = connection.execute(
                "SELECT min(CASE WHEN status = 'running' THEN lease_until_ms"
                " WHEN attempts = 0 THEN 0 ELSE available_at_ms END)"
                f" FROM job AS candidate WHERE status IN ('queued', 'running') AND {_IS_FIRST}"
            ).fetchone()
            return None if row is None or row[0] is None else int(row[0])

        return await self._database.read(run)

    async def states_of_cell(self, cell_id: str) -> list[JobState]:
        """Every job of a cell, in the order queued."""

        def run(connection: apsw.Connection) -> list[JobState]:
            rows = connection.execute(
                "SELECT job_id, stage, status, attempts, last_error_code, last_error,"
                " status = 'queued' AND EXISTS (SELECT 1 FROM job AS earlier"
                "   WHERE earlier.serial_key = job.serial_key AND earlier.job_id < job.job_id"
                "     AND earlier.status = 'queued' AND earlier.last_error_code IS NOT NULL)"
                " FROM job WHERE cell_id = ? ORDER BY job_id",
                (cell_id,),
            )
            return [
                JobState(job_id, stage, JobStatus(status), attempts, code, error, bool(blocked))
                for job_id, stage, status, attempts, code, error, blocked in rows
            ]

        return await self._database.read(run)

    async def unfinished_cells(self, scope: Scope, session_id: str) -> list[str]:
        """Cells of a session with jobs that are queued or running, oldest first."""

        def run(connection: apsw.Connection) -> list[str]:
            rows = connection.execute(
                "SELECT cell_id, min(job_id) AS first FROM job WHERE app_id = ? AND project_id = ?"
                " AND session_id = ? AND status IN ('queued', 'running')"
                " GROUP BY cell_id ORDER BY first",
                (scope.app_id, scope.project_id, session_id),
            )
            return [cell_id for cell_id, _ in rows]

        return await self._database.read(run)

    async def retry_now(self, cell_ids: Sequence[str], now_ms: int) -> int:
        """Makes the waiting retries of some cells due at once; returns how many there were."""

        def waiting(connection: apsw.Connection) -> int:
            return sum(
                connection.execute(
                    "SELECT count(*) FROM job WHERE cell_id = ? AND status = 'queued'"
                    " AND attempts > 0",
                    (cell_id,),
                ).get
                for cell_id in cell_ids
            )

        def run(connection: apsw.Connection) -> int:
            before = connection.total_changes()
            connection.executemany(
                "UPDATE job SET available_at_ms = ?, last_error_code = NULL, last_error = NULL"
                " WHERE cell_id = ? AND status = 'queued' AND attempts > 0",
                [(now_ms, cell_id) for cell_id in cell_ids],
            )
            return connection.total_changes() - before

        # Most flushes find none, and need not wait for a commit to know it.
        return await self._database.write(run) if await self._database.read(waiting) else 0

    async def counts(self) -> JobCounts:
        """How many jobs are queued, running and dead."""

        def run(connection: apsw.Connection) -> JobCounts:
            rows = connection.execute(
                "SELECT status, count(*) FROM job WHERE status <> 'succeeded' GROUP BY status"
            )
            found = {str(status): int(str(count)) for status, count in rows}
            retrying, reason = connection.execute(
                "SELECT count(*), coalesce(max(last_error), '') FROM job"
                " WHERE status = 'queued' AND last_error_code IS NOT NULL"
            ).fetchall()[0]
            return JobCounts(
                found.get("queued", 0),
                found.get("running", 0),
                found.get("dead_letter", 0),
                int(str(retrying)),
                str(reason),
            )

        return await self._database.read(run)

    async def purge_succeeded(self, finished_before_ms: int) -> int:
        """Deletes finished jobs from before an instant; returns how many."""

        def run(connection: apsw.Connection) -> int:
            connection.execute(
                "DELETE FROM job WHERE status = 'succeeded' AND finished_at_ms < ?",
                (finished_before_ms,),
            )
            return connection.changes()

        return await self._database.write(run)


def _job(row: Sequence[object]) -> Job:
    (
        job_id,
        stage,
        cell_id,
        app_id,
        project_id,
        track,
        owner_id,
        session_id,
        attempts,
        maximum_attempts,
        lease_token,
        input_json,
        output_json,
    ) = row
    return Job(
        job_id=int(str(job_id)),
        stage=str(stage),
        cell_id=str(cell_id),
        owner=Owner(Scope(str(app_id), str(project_id)), Track(str(track)), str(owner_id)),
        session_id=str(session_id),
        attempts=int(str(attempts)),
        maximum_attempts=int(str(maximum_attempts)),
        lease_token=str(lease_token),
        input_json=None if input_json is None else str(input_json),
        output_json=None if output_json is None else str(output_json),
    )
