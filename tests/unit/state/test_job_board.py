"""Jobs as an operator sees and steers them."""

from __future__ import annotations

import pytest

from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.state.database import Database
from remanence_server.state.jobs.board import JobBoard
from remanence_server.state.jobs.model import Job, JobFilter, JobRecord, JobStatus, NewJob
from remanence_server.state.jobs.rows import insert_jobs
from remanence_server.state.jobs.store import JobStore, LeaseLostError

_SCOPE, _OTHER = Scope(), Scope("other", "default")
_LEASE_MS = 60_000


def _new(
    session: str = "s", stage: str = "episode", key: str = "k", scope: Scope = _SCOPE
) -> NewJob:
    return NewJob(stage, key, f"mc_{session}", Owner(scope, Track.USER, "alice"), session, 1)


async def _queue(database: Database, *jobs: NewJob, now_ms: int = 5) -> list[int]:
    return await database.write(lambda connection: insert_jobs(connection, jobs, now_ms))


async def _claim(store: JobStore, now_ms: int = 10) -> Job:
    job = await store.claim(now_ms, _LEASE_MS)
    assert job is not None
    return job


async def _bury(store: JobStore) -> int:
    job = await _claim(store)
    await store.fail(job, "REFUSED", "no", None, 20)
    return job.job_id


async def _add_cell(database: Database, session: str = "s") -> None:
    await database.write(
        lambda connection: (
            connection.execute(
                "INSERT INTO memory_cell VALUES (?, 'default', 'default', ?, '[]', 0)",
                (f"mc_{session}", session),
            )
            and None
        )
    )


async def _cells(database: Database) -> int:
    return int(await database.read(lambda c: c.execute("SELECT count(*) FROM memory_cell").get))


@pytest.fixture
def store(database: Database) -> JobStore:
    return JobStore(database)


@pytest.fixture
def board(database: Database) -> JobBoard:
    return JobBoard(database)


async def _ids(board: JobBoard, wanted: JobFilter) -> list[int]:
    total, jobs = await board.page(wanted, limit=100, offset=0)
    assert total == len(jobs)
    return [job.job_id for job in jobs]


async def test_a_page_tells_waiting_jobs_from_queued_ones(
    database: Database, store: JobStore, board: JobBoard
) -> None:
    done, waiting, dead, running, queued, foreign = await _queue(
        database,
        *(_new(key=key) for key in "abcde"),
        _new(key="f", scope=_OTHER),
    )
    await store.succeed(await _claim(store), (), 20)
    await store.fail(await _claim(store), "TIMEOUT", "slow", 900, 20)
    assert await _bury(store) == dead
    await _claim(store)
    found = {status: await _ids(board, JobFilter(_SCOPE, status=status)) for status in JobStatus}
    assert found == {
        JobStatus.QUEUED: [queued, waiting],
        JobStatus.RUNNING: [running],
        JobStatus.SUCCEEDED: [done],
        JobStatus.DEAD_LETTER: [dead],
        JobStatus.CANCELLED: [],
    }
    waits = JobFilter(_SCOPE, status=JobStatus.QUEUED, waits_for_retry=True)
    assert await _ids(board, waits) == [waiting]
    fresh = JobFilter(_SCOPE, status=JobStatus.QUEUED, waits_for_retry=False)
    assert await _ids(board, fresh) == [queued]
    assert await _ids(board, JobFilter(_OTHER)) == [foreign]
    seen = await board.get(_SCOPE, waiting)
    assert seen == JobRecord(
        job_id=waiting,
        stage="episode",
        status=JobStatus.QUEUED,
        owner=Owner(_SCOPE, Track.USER, "alice"),
        session_id="s",
        cell_id="mc_s",
        attempts=1,
        maximum_attempts=1,
        error_code="TIMEOUT",
        error="slow",
        created_at_ms=5,
        available_at_ms=900,
        finished_at_ms=None,
    )
    assert seen is not None
    assert seen.waits_for_retry


async def test_filters_narrow_a_page_and_pages_go_from_new_to_old(
    database: Database, board: JobBoard
) -> None:
    ids = await _queue(
        database, *(_new(session, stage) for session in "ab" for stage in ("episode", "facts"))
    )
    assert await _ids(board, JobFilter(_SCOPE)) == ids[::-1]
    assert await _ids(board, JobFilter(_SCOPE, session_id="a")) == [ids[1], ids[0]]
    assert await _ids(board, JobFilter(_SCOPE, stage="facts")) == [ids[3], ids[1]]
    assert await _ids(board, JobFilter(_SCOPE, session_id="b", stage="facts")) == [ids[3]]
    total, page = await board.page(JobFilter(_SCOPE), limit=3, offset=3)
    assert (total, [job.job_id for job in page]) == (4, ids[:1])


async def test_a_dead_letter_that_is_retried_goes_before_what_was_queued_after_it(
    database: Database, store: JobStore, board: JobBoard
) -> None:
    await _queue(database, _new("a"), _new("b"), _new("c"))
    dead = await _bury(store)
    running = await _claim(store)
    job = await board.retry(_SCOPE, dead, 30)
    assert job is not None
    assert (job.status, job.attempts, job.error_code, job.finished_at_ms) == (
        JobStatus.QUEUED,
        0,
        None,
        None,
    )
    # One of its serial key is running.
    assert await store.claim(30, _LEASE_MS) is None
    await store.succeed(running, (), 40)
    again = await _claim(store, 40)
    assert (again.job_id, again.attempts) == (dead, 1)
    await store.succeed(again, (), 50)
    assert (await _claim(store, 50)).session_id == "c"


async def test_a_dead_letter_that_is_retried_takes_the_turn_of_one_that_does_not_run_yet(
    database: Database, store: JobStore, board: JobBoard
) -> None:
    await _queue(database, _new("a"), _new("b"))
    dead = await _bury(store)
    await board.retry(_SCOPE, dead, 30)
    assert (await _claim(store, 30)).job_id == dead
    assert await store.claim(30, _LEASE_MS) is None


async def test_a_waiting_job_that_is_retried_is_due_now_with_a_fresh_budget(
    database: Database, store: JobStore, board: JobBoard
) -> None:
    (job_id,) = await _queue(database, _new())
    await store.fail(await _claim(store), "CONFLICT", "edited", 10_000, 20)
    job = await board.retry(_SCOPE, job_id, 30)
    assert job is not None
    assert not job.waits_for_retry
    again = await _claim(store, 30)
    assert (again.attempts, again.waits) == (1, 0)


async def test_a_retry_changes_nothing_of_jobs_that_need_none(
    database: Database, store: JobStore, board: JobBoard
) -> None:
    running, queued = await _queue(database, _new(key="a"), _new(key="b"))
    await _claim(store)
    for job_id in (running, queued):
        before = await board.get(_SCOPE, job_id)
        assert before is not None
        assert await board.retry(_SCOPE, job_id, 30) == before
    assert await board.retry(_OTHER, queued, 30) is None
    assert await board.retry(_SCOPE, 999, 30) is None


async def test_a_dropped_job_takes_what_only_it_needed(
    database: Database, store: JobStore, board: JobBoard
) -> None:
    await _add_cell(database)
    await _queue(database, _new(key="a"), _new(key="b"), _new(key="c"))
    await store.succeed(await _claim(store), (), 20)
    dead = await _bury(store)
    queued = dead + 1
    first = await board.drop(_SCOPE, dead, 30)
    assert first is not None
    assert (first.status, first.finished_at_ms) == (JobStatus.CANCELLED, 30)
    assert await _cells(database) == 1  # another job needs it
    await board.drop(_SCOPE, queued, 40)
    assert await _cells(database) == 0
    assert await board.drop(_SCOPE, dead, 50) == first
    assert await store.claim(60, _LEASE_MS) is None


async def test_a_running_job_that_is_dropped_cannot_succeed_and_nothing_follows(
    database: Database, store: JobStore, board: JobBoard
) -> None:
    await _add_cell(database)
    await _queue(database, _new("s"), _new("next"))
    running = await _claim(store)
    dropped = await board.drop(_SCOPE, running.job_id, 30)
    assert dropped is not None
    assert dropped.status is JobStatus.CANCELLED
    with pytest.raises(LeaseLostError):
        await store.succeed(running, (_new("s", "facts"),), 40)
    with pytest.raises(LeaseLostError):
        await store.fail(running, "X", "x", None, 40)
    assert await _ids(board, JobFilter(_SCOPE, stage="facts")) == []
    assert (await _claim(store, 40)).session_id == "next"  # its turn has come
    left = await database.read(
        lambda connection: (
            connection.execute(
                "SELECT count(*) FROM job WHERE status = 'cancelled' AND"
                " (input_json IS NOT NULL OR output_json IS NOT NULL OR lease_token IS NOT NULL)"
            ).get
        )
    )
    assert left == 0


async def test_a_job_that_succeeded_or_belongs_to_others_is_not_dropped(
    database: Database, store: JobStore, board: JobBoard
) -> None:
    (job_id,) = await _queue(database, _new())
    assert await board.drop(_OTHER, job_id, 10) is None
    await store.succeed(await _claim(store), (), 20)
    kept = await board.drop(_SCOPE, job_id, 30)
    assert kept is not None
    assert kept.status is JobStatus.SUCCEEDED


async def test_one_job_of_a_serial_key_has_the_turn_whatever_happens_to_the_others(
    database: Database, store: JobStore, board: JobBoard
) -> None:
    """Every way a job comes and goes, and after each the first unfinished one is next."""
    ids = await _queue(database, *(_new(f"s{number}") for number in range(6)))

    async def turn() -> list[int]:
        rows = await database.read(
            lambda connection: connection.execute("SELECT job_id FROM job WHERE is_next").fetchall()
        )
        return [int(str(job_id)) for (job_id,) in rows]

    assert await turn() == [ids[0]]
    await board.drop(_SCOPE, ids[1], 10)
    assert await turn() == [ids[0]]
    await _bury(store)
    assert await turn() == [ids[2]]
    await board.drop(_SCOPE, ids[2], 10)
    assert await turn() == [ids[3]]
    await store.succeed(await _claim(store), (_new("later"),), 20)
    assert await turn() == [ids[4]]
    await board.retry(_SCOPE, ids[0], 30)
    assert await turn() == [ids[0]]
    await database.write(
        lambda c: c.execute("DELETE FROM job WHERE job_id = ?", (ids[0],)) and None
    )
    assert await turn() == [ids[4]]
    for _ in range(3):
        await store.succeed(await _claim(store, 40), (), 40)
    assert await turn() == []
