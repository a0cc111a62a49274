from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.domain.records import Kind
from remanence_server.state.database import Database
from remanence_server.state.entry_ids import EntryIds
from remanence_server.state.jobs.model import Job, JobStatus, NewJob
from remanence_server.state.jobs.rows import cancel_jobs, insert_jobs
from remanence_server.state.jobs.store import JobStore, LeaseLostError

_ALICE = Owner(Scope(), Track.USER, "alice")
_DAY = date(2026, 5, 28)
_LEASE_MS = 60_000


def _new(stage: str = "episode", key: str = "k1", cell: str = "mc_1", attempts: int = 3) -> NewJob:
    return NewJob(stage, key, cell, _ALICE, "s", attempts)


async def _queue(database: Database, *jobs: NewJob, now_ms: int = 0) -> list[int]:
    return await database.write(lambda connection: insert_jobs(connection, jobs, now_ms))


async def _claim(store: JobStore, now_ms: int = 0) -> Job:
    job = await store.claim(now_ms, _LEASE_MS)
    assert job is not None
    return job


async def test_a_claim_leases_the_oldest_job_and_counts_the_attempt(database: Database) -> None:
    store = JobStore(database)
    ids = await _queue(database, _new(key="a"), _new(key="b"))
    job = await _claim(store)
    assert (job.job_id, job.attempts, job.owner) == (ids[0], 1, _ALICE)
    assert (await _claim(store)).job_id == ids[1]
    assert await store.claim(0, _LEASE_MS) is None


async def test_jobs_of_one_key_run_one_at_a_time_in_order(database: Database) -> None:
    store = JobStore(database)
    first, second = await _queue(database, _new(), _new())
    running = await _claim(store)
    assert running.job_id == first
    assert await store.claim(0, _LEASE_MS) is None
    await store.succeed(running, (), 1)
    assert (await _claim(store, 1)).job_id == second


async def test_a_failed_job_waits_for_its_retry_and_holds_its_key(database: Database) -> None:
    store = JobStore(database)
    await _queue(database, _new(), _new())
    job = await _claim(store)
    await store.fail(job, "TIMEOUT", "too slow", 500, 10)
    assert await store.claim(499, _LEASE_MS) is None
    assert await store.next_available_ms() == 500  # the second of the key is due, but not first
    again = await _claim(store, 500)
    assert (again.job_id, again.attempts) == (job.job_id, 2)


async def test_a_dead_letter_keeps_its_reason_and_lets_its_key_move_on(database: Database) -> None:
    store = JobStore(database)
    first, second = await _queue(database, _new(), _new(cell="mc_2"))
    await store.fail(await _claim(store), "REFUSED", "no", None, 10)
    state = (await store.states_of_cell("mc_1"))[0]
    assert (state.job_id, state.status, state.last_error_code) == (
        first,
        JobStatus.DEAD_LETTER,
        "REFUSED",
    )
    assert (await _claim(store, 10)).job_id == second
    assert (await store.counts()).dead_letter == 1


async def test_a_lease_that_ran_out_is_given_to_somebody_else_and_its_holder_cannot_finish(
    database: Database,
) -> None:
    store = JobStore(database)
    await _queue(database, _new())
    late = await _claim(store)
    holder = await _claim(store, _LEASE_MS)
    assert holder.attempts == 2
    with pytest.raises(LeaseLostError):
        await store.succeed(late, (_new("facts"),), _LEASE_MS)
    with pytest.raises(LeaseLostError):
        await store.fail(late, "X", "x", None, _LEASE_MS)
    await store.succeed(holder, (), _LEASE_MS)
    assert [state.stage for state in await store.states_of_cell("mc_1")] == ["episode"]


async def test_an_extended_lease_is_not_given_away(database: Database) -> None:
    store = JobStore(database)
    await _queue(database, _new())
    job = await _claim(store)
    await store.extend(job, 3 * _LEASE_MS)
    assert await store.claim(2 * _LEASE_MS, _LEASE_MS) is None


async def test_recovery_gives_back_what_was_running_and_buries_what_killed_the_process_too_often(
    database: Database,
) -> None:
    store = JobStore(database)
    await _queue(database, _new(key="a", attempts=1), _new(key="b", cell="mc_2"))
    await _claim(store)
    await _claim(store)
    assert await store.recover(5) == 2
    poisoned = (await store.states_of_cell("mc_1"))[0]
    assert (poisoned.status, poisoned.last_error_code) == (JobStatus.DEAD_LETTER, "CRASHED")
    assert (await _claim(store, 5)).attempts == 2


async def test_the_last_job_of_a_cell_takes_the_cell_with_it(database: Database) -> None:
    store = JobStore(database)

    def cells(connection) -> int:
        return connection.execute("SELECT count(*) FROM memory_cell").fetchone()[0]

    await database.write(
        lambda c: c.execute("INSERT INTO memory_cell VALUES ('mc_1','a','p','s','[]',0)") and None
    )
    await _queue(database, _new())
    await store.succeed(await _claim(store), (_new("facts", "k2"), _new("profile", "k3")), 1)
    assert await database.read(cells) == 1
    await store.succeed(await _claim(store, 1), (), 2)
    dead = await _claim(store, 2)
    await store.fail(dead, "X", "x", None, 3)
    assert await database.read(cells) == 1  # a dead letter can be tried again: it keeps its words


async def test_finished_jobs_are_purged_by_age_and_others_are_not(database: Database) -> None:
    store = JobStore(database)
    dropped, *_ = await _queue(database, *(_new(key=key) for key in "abcde"))
    await database.write(lambda connection: cancel_jobs(connection, (dropped,), 100))
    await store.succeed(await _claim(store), (), 100)
    await store.succeed(await _claim(store), (), 200)
    await store.fail(await _claim(store), "X", "x", None, 100)
    assert await store.purge_finished(150) == 2
    assert [state.status for state in await store.states_of_cell("mc_1")] == [
        JobStatus.SUCCEEDED,
        JobStatus.DEAD_LETTER,
        JobStatus.QUEUED,
    ]


async def test_a_flush_makes_waiting_retries_of_its_session_due(database: Database) -> None:
    store = JobStore(database)
    await _queue(database, _new())
    await store.fail(await _claim(store), "TIMEOUT", "too slow", 10_000, 10)
    assert await store.unfinished_cells(Scope(), "s") == ["mc_1"]
    assert await store.unfinished_cells(Scope(), "other") == []
    assert await store.hurry(Scope(), "s", {"episode"}, 20)
    assert not await store.hurry(Scope(), "s", {"episode"}, 21)
    assert (await _claim(store, 20)).attempts == 2


async def test_numbers_are_given_once_and_saved_with_the_output(database: Database) -> None:
    store, entry_ids = JobStore(database), EntryIds(database)
    await _queue(database, _new(key="a"), _new(key="b"))
    needs = {(Kind.ATOMIC_FACT, _DAY): (3, 0)}
    job = await _claim(store)
    saved = await entry_ids.reserve_and_save(job, needs, lambda first: str(list(first.values())))
    assert saved == "[1]"
    other = await _claim(store)
    again = await entry_ids.reserve_and_save(other, needs, lambda first: str(list(first.values())))
    assert again == "[4]"
    await store.recover(0)
    assert (await _claim(store)).output_json == "[1]"


async def test_numbers_continue_behind_markdown_that_outlived_the_counters(
    database: Database,
) -> None:
    store, entry_ids = JobStore(database), EntryIds(database)
    await _queue(database, _new())
    job = await _claim(store)
    needs = {(Kind.EPISODE, _DAY): (1, 41)}
    assert await entry_ids.reserve_and_save(job, needs, lambda f: str(list(f.values()))) == "[42]"


async def test_a_job_that_lost_its_lease_reserves_nothing(database: Database) -> None:
    store, entry_ids = JobStore(database), EntryIds(database)
    await _queue(database, _new())
    job = await _claim(store)
    with pytest.raises(LeaseLostError):
        await entry_ids.reserve_and_save(
            replace(job, lease_token="stolen"), {(Kind.EPISODE, _DAY): (1, 0)}, lambda f: "x"
        )
    needs = {(Kind.EPISODE, _DAY): (1, 0)}
    first = await entry_ids.reserve_and_save(job, needs, lambda f: str(*f.values()))
    assert first == "1"


async def test_jobs_that_wait_after_a_failure_are_counted_with_a_reason(
    database: Database,
) -> None:
    store = JobStore(database)
    await _queue(database, _new(key="a"), _new(key="b"))
    assert (await store.counts()).retrying == 0
    await store.fail(await _claim(store), "TIMEOUT", "too slow", 10_000, 10)
    counts = await store.counts()
    assert (counts.queued, counts.retrying, counts.retry_reason) == (2, 1, "too slow")


async def test_a_job_behind_one_that_waits_after_a_failure_counts_as_failed(
    database: Database,
) -> None:
    store = JobStore(database)
    await _queue(database, _new(), _new(cell="mc_2"))
    assert not (await store.states_of_cell("mc_2"))[0].has_failed
    await store.fail(await _claim(store), "TIMEOUT", "too slow", 10_000, 10)
    assert (await store.states_of_cell("mc_2"))[0].has_failed


async def test_what_says_nothing_against_a_job_uses_up_none_of_its_attempts(
    database: Database,
) -> None:
    store = JobStore(database)
    await _queue(database, _new(attempts=2))
    for number in range(5):
        job = await _claim(store, 10 * number)
        assert (job.attempts, job.waits) == (1, number)
        await store.fail(job, "OUTAGE", "not now", 10 * (number + 1), 10 * number, True)
    await store.fail(await _claim(store, 50), "RuntimeError", "its own fault", 60, 50)
    job = await _claim(store, 60)
    assert (job.attempts, job.waits) == (2, 0)


async def test_three_kills_in_a_row_bury_a_job_and_the_others_go_on(database: Database) -> None:
    store = JobStore(database)
    poisoned, waiting = await _queue(database, _new(attempts=3), _new(cell="mc_2"))
    for kill in range(1, 4):
        assert (await _claim(store, kill)).job_id == poisoned
        assert await store.recover(kill) == 1
        state = (await store.states_of_cell("mc_1"))[0]
        assert (state.attempts, state.last_error_code) == (kill, "CRASHED")
        assert (state.status is JobStatus.DEAD_LETTER) == (kill == 3)
    assert (await _claim(store, 3)).job_id == waiting


async def test_a_restart_in_the_middle_of_an_outage_buries_nothing(database: Database) -> None:
    store = JobStore(database)
    await _queue(database, _new(attempts=1))
    job = await _claim(store)
    await store.fail(job, "EXTERNAL_SERVICE_UNAVAILABLE", "storage is full", 20, 10, True)
    await _claim(store, 20)
    await store.recover(30)
    state = (await store.states_of_cell("mc_1"))[0]
    assert (state.status, state.attempts) == (JobStatus.QUEUED, 0)
    # That excuses one stop, not one after the other.
    await _claim(store, 30)
    await store.recover(40)
    assert (await store.states_of_cell("mc_1"))[0].status is JobStatus.DEAD_LETTER
