"""The job table: claim, save, finish, fail. Every transition is one transaction."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence

import apsw

from remanence_server.domain.owners import Scope
from remanence_server.state.database import Database
from remanence_server.state.deletions import is_under_way
from remanence_server.state.jobs.claim import CLAIM, NEXT_AVAILABLE
from remanence_server.state.jobs.model import (
    Job,
    JobCounts,
    JobState,
    JobStatus,
    NewJob,
    Wanted,
)
from remanence_server.state.jobs.rows import (
    FRESH_BUDGET,
    are_wanted,
    claimed_job,
    delete_cell_without_jobs,
    insert_jobs,
    want_stages,
)

# Failure texts are for operators; a longer one would be somebody's stack trace.
_LONGEST_ERROR = 500

# One claim in so many goes to what has been due longest, so that nothing starves behind jobs that
# somebody waits for.
_CLAIMS_PER_LONGEST_DUE = 4

# It had failed for what says nothing against it and was being tried again. That excuses one stop.
_EXCUSED = "waits > 0"
_USED_UP = f"attempts >= maximum_attempts AND NOT ({_EXCUSED})"
_LAST_IS_LEFT = "attempts = maximum_attempts - 1"
_WAITS_FOR_RETRY = "status = 'queued' AND last_error_code IS NOT NULL"


class LeaseLostError(Exception):
    """The job was given to somebody else, or is gone: what was just done must not count."""


class JobStore:
    """Jobs in system.db."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._claims = 0

    async def recover(self, now_ms: int) -> int:
        """Gives back what a dead process was running; its attempt counts. Returns how many.

        The last attempt is made alone: a job is given up for its own doing only.
        Call it once, before the first claim, under the lock of the memory root.
        """

        def run(connection: apsw.Connection) -> int:
            connection.execute(
                "UPDATE job SET lease_token = NULL, lease_until_ms = NULL,"
                " available_at_ms = min(available_at_ms, ?1),"
                " last_error_code = 'CRASHED', last_error = 'the server stopped meanwhile',"
                f" attempts = attempts - ({_EXCUSED}),"
                f" alone = {_LAST_IS_LEFT} AND NOT ({_EXCUSED}), waits = 0,"
                f" status = CASE WHEN {_USED_UP} THEN 'dead_letter' ELSE 'queued' END,"
                f" finished_at_ms = CASE WHEN {_USED_UP} THEN ?1 END"
                " WHERE status = 'running'",
                (now_ms,),
            )
            return connection.changes()

        return await self._database.write(run)

    async def retry_given_up(self, error_code: str, now_ms: int) -> int:
        """Gives dead letters of one code a fresh budget; returns how many there were."""

        def run(connection: apsw.Connection) -> int:
            connection.execute(
                f"UPDATE job SET {FRESH_BUDGET} WHERE status = 'dead_letter'"
                " AND finished_at_ms IS NOT NULL AND last_error_code = ?2",
                (now_ms, error_code),
            )
            return connection.changes()

        return await self._database.write(run)

    async def claim(self, now_ms: int, lease_ms: int) -> Job | None:
        """Takes the next job that may run, counts the attempt and leases it.

        Jobs that somebody waits for come first; one claim in four goes to what is due longest.
        """
        self._claims += 1
        values: dict[str, str | int] = {
            "token": uuid.uuid4().hex,
            "lease_until_ms": now_ms + lease_ms,
            "now_ms": now_ms,
            "longest_due": self._claims % _CLAIMS_PER_LONGEST_DUE == 0,
        }

        def run(connection: apsw.Connection) -> Job | None:
            row = connection.execute(CLAIM, values).fetchone()
            return None if row is None else claimed_job(row)

        return await self._database.write(run)

    async def may_publish(self, job: Job) -> bool:
        """Whether a job may write what it produced.

        Raises LeaseLostError when the lease is no longer held. False while a deletion of the owner
        is not through with the Markdown.
        """

        def run(connection: apsw.Connection) -> bool | None:
            held = connection.execute(
                "SELECT 1 FROM job WHERE job_id = ? AND lease_token = ?",
                (job.job_id, job.lease_token),
            ).get
            if held is None:
                return None
            return not is_under_way(connection, job.owner)

        allowed = await self._database.read(run)
        if allowed is None:
            raise LeaseLostError
        return allowed

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

        What follows from a job that somebody waits for is wanted soon. The cell goes when this was
        its last job. Returns the ids of the following jobs. Raises LeaseLostError when the lease is
        no longer held.
        """

        def run(connection: apsw.Connection) -> list[int]:
            wanted = connection.execute(
                "UPDATE job SET status = 'succeeded', finished_at_ms = ?, lease_token = NULL,"
                " lease_until_ms = NULL, output_json = NULL, last_error_code = NULL,"
                " last_error = NULL WHERE job_id = ? AND lease_token = ? RETURNING wanted",
                (now_ms, job.job_id, job.lease_token),
            ).get
            if wanted is None:
                raise LeaseLostError
            soon = Wanted.SOON if wanted == Wanted.NOW else Wanted.NO
            ids = insert_jobs(connection, following, now_ms, soon)
            delete_cell_without_jobs(connection, job.cell_id)
            return ids

        return await self._database.write(run)

    async def fail(
        self,
        job: Job,
        error_code: str,
        error: str,
        retry_at_ms: int | None,
        now_ms: int,
        waits: bool = False,
    ) -> None:
        """Puts a failed job back for `retry_at_ms`, or gives it up when that is None.

        With `waits` the failure says nothing against the job, and gives the attempt back. Raises
        LeaseLostError when the lease is no longer held.
        """
        dead = retry_at_ms is None

        def run(connection: apsw.Connection) -> None:
            connection.execute(
                "UPDATE job SET status = ?, available_at_ms = ?, finished_at_ms = ?,"
                " lease_token = NULL, lease_until_ms = NULL, last_error_code = ?, last_error = ?,"
                " attempts = attempts - ?, waits = iif(?, waits + 1, 0), alone = 0"
                " WHERE job_id = ? AND lease_token = ?",
                (
                    JobStatus.DEAD_LETTER.value if dead else JobStatus.QUEUED.value,
                    now_ms if retry_at_ms is None else retry_at_ms,
                    now_ms if dead else None,
                    error_code,
                    error[:_LONGEST_ERROR],
                    waits,
                    waits,
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
            at_ms = connection.execute(NEXT_AVAILABLE).get
            return None if at_ms is None else int(at_ms)

        return await self._database.read(run)

    async def states_of_cell(self, cell_id: str) -> list[JobState]:
        """Every job of a cell, in the order queued."""

        def run(connection: apsw.Connection) -> list[JobState]:
            rows = connection.execute(
                "SELECT job_id, stage, status, attempts, last_error_code, last_error,"
                " status = 'queued' AND EXISTS (SELECT 1 FROM job AS first"
                "   WHERE first.serial_key = job.serial_key AND first.is_next = 1"
                "     AND first.job_id <> job.job_id"
                "     AND first.status = 'queued' AND first.last_error_code IS NOT NULL)"
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

    async def hurry(
        self, scope: Scope, session_id: str, stages: Collection[str], now_ms: int
    ) -> bool:
        """Says that somebody waits for some stages of a session: its jobs come before others.

        Those that wait for another attempt get it at once. False when nothing had to be changed.
        """

        def is_urged(connection: apsw.Connection) -> bool:
            return are_wanted(connection, scope, session_id, stages)

        def run(connection: apsw.Connection) -> None:
            want_stages(connection, scope, session_id, stages)
            connection.execute(
                "UPDATE job SET available_at_ms = ?, waits = 0, last_error_code = NULL,"
                " last_error = NULL WHERE app_id = ? AND project_id = ? AND session_id = ?"
                f" AND {_WAITS_FOR_RETRY}",
                (now_ms, scope.app_id, scope.project_id, session_id),
            )

        # Most flushes find nothing to change, and need not wait for a commit to know it.
        if await self._database.read(is_urged):
            return False
        await self._database.write(run)
        return True

    async def counts(self) -> JobCounts:
        """How many jobs are queued, running and given up."""

        def run(connection: apsw.Connection) -> JobCounts:
            unfinished, running, dead, waiting = (
                int(connection.execute(f"SELECT count(*) FROM job WHERE {where}").get)
                for where in (
                    "status IN ('queued', 'running')",
                    "status = 'running'",
                    "status = 'dead_letter' AND finished_at_ms IS NOT NULL",
                    _WAITS_FOR_RETRY,
                )
            )
            reason = connection.execute(
                f"SELECT last_error FROM job WHERE {_WAITS_FOR_RETRY} LIMIT 1"
            ).get
            return JobCounts(unfinished - running, running, dead, waiting, str(reason or ""))

        return await self._database.read(run)

    async def purge_finished(self, finished_before_ms: int) -> int:
        """Deletes jobs that succeeded or were cancelled before an instant; returns how many."""

        def run(connection: apsw.Connection) -> int:
            connection.execute(
                "DELETE FROM job WHERE status IN ('succeeded', 'cancelled') AND finished_at_ms < ?",
                (finished_before_ms,),
            )
            return connection.changes()

        return await self._database.write(run)
