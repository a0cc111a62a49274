"""What happens to rows of the table `job` inside a transaction of the caller."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import apsw

from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.state.jobs.model import Job, NewJob, Wanted

_UNFINISHED_OF_SESSION = (
    "app_id = ?1 AND project_id = ?2 AND session_id = ?3 AND status IN ('queued', 'running')"
)
# What a retry sets; ?1 is now. The job keeps its place in the queue.
FRESH_BUDGET = (
    "status = 'queued', attempts = 0, waits = 0, alone = 0,"
    " available_at_ms = min(created_at_ms, ?1), finished_at_ms = NULL,"
    " last_error_code = NULL, last_error = NULL"
)
# While a job of it is one of these, a cell is needed.
_NEEDS_ITS_CELL = "status IN ('queued', 'running', 'dead_letter')"


def insert_jobs(
    connection: apsw.Connection,
    jobs: Sequence[NewJob],
    now_ms: int,
    wanted: Wanted = Wanted.NO,
) -> list[int]:
    """Queues jobs; returns their ids, in order."""
    ids = []
    for job in jobs:
        connection.execute(
            "INSERT INTO job (stage, serial_key, cell_id, app_id, project_id, track, owner_id,"
            " session_id, status, maximum_attempts, input_json, available_at_ms, created_at_ms,"
            " wanted) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'queued', ?9, ?10, ?11, ?11, ?12)",
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
                wanted.value,
            ),
        )
        ids.append(connection.last_insert_rowid())
    return ids


def want_stages(
    connection: apsw.Connection, scope: Scope, session_id: str, stages: Collection[str]
) -> None:
    """Says that somebody waits for some stages of a session: its jobs come before others.

    All unfinished ones of the session, because jobs of one serial key run in order, and because one
    that is done hands on to the next stage how much it was wanted.
    """
    wanted = _wanted_of_stages(stages)
    connection.execute(
        f"UPDATE job SET wanted = {wanted} WHERE {_UNFINISHED_OF_SESSION} AND wanted < {wanted}",
        (scope.app_id, scope.project_id, session_id, *stages),
    )


def are_wanted(
    connection: apsw.Connection, scope: Scope, session_id: str, stages: Collection[str]
) -> bool:
    """Whether `want_stages` would change nothing, and no job of the session waits for a retry."""
    wanted = _wanted_of_stages(stages)
    row = connection.execute(
        f"SELECT 1 FROM job WHERE {_UNFINISHED_OF_SESSION}"
        f" AND (wanted < {wanted} OR (status = 'queued' AND last_error_code IS NOT NULL)) LIMIT 1",
        (scope.app_id, scope.project_id, session_id, *stages),
    ).fetchone()
    return row is None


def _wanted_of_stages(stages: Collection[str]) -> str:
    # Behind the three parameters of `_UNFINISHED_OF_SESSION`.
    names = ", ".join(f"?{number}" for number in range(4, 4 + len(stages)))
    return f"iif(stage IN ({names}), {Wanted.NOW}, {Wanted.SOON})"


def cancel_jobs(connection: apsw.Connection, job_ids: Iterable[int], now_ms: int) -> int:
    """Cancels jobs that are not finished, with what they carried; returns how many.

    A running one loses its lease: what it ends with will not count, and nothing follows from it.
    Cells that no job needs any more go.
    """
    cancelled = 0
    for job_id in job_ids:
        cell_id = connection.execute(
            "UPDATE job SET status = 'cancelled', finished_at_ms = ?, lease_token = NULL,"
            " lease_until_ms = NULL, input_json = NULL, output_json = NULL"
            f" WHERE job_id = ? AND {_NEEDS_ITS_CELL} RETURNING cell_id",
            (now_ms, job_id),
        ).get
        if cell_id is not None:
            cancelled += 1
            delete_cell_without_jobs(connection, str(cell_id))
    return cancelled


def delete_cell_without_jobs(connection: apsw.Connection, cell_id: str) -> None:
    """Deletes a cell that no job needs: all of its jobs have succeeded or were cancelled."""
    connection.execute(
        "DELETE FROM memory_cell WHERE cell_id = ?1 AND NOT EXISTS ("
        f" SELECT 1 FROM job WHERE cell_id = ?1 AND {_NEEDS_ITS_CELL})",
        (cell_id,),
    )


def claimed_job(row: Sequence[object]) -> Job:
    """The job of a row, in the columns that a claim returns."""
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
        waits,
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
        waits=int(str(waits)),
        lease_token=str(lease_token),
        input_json=None if input_json is None else str(input_json),
        output_json=None if output_json is None else str(output_json),
    )
