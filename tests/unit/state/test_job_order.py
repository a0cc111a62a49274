"""Who comes next: what somebody waits for, and what has been due longest."""

from __future__ import annotations

from collections.abc import Sequence

from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.state.database import Database
from remanence_server.state.jobs.model import Job, JobStatus, NewJob
from remanence_server.state.jobs.rows import insert_jobs
from remanence_server.state.jobs.store import JobStore

_ALICE = Owner(Scope(), Track.USER, "alice")
_STAGES = frozenset({"episode"})


def _new(session: str, stage: str = "episode", key: str = "", scope: Scope | None = None) -> NewJob:
    owner = Owner(scope or Scope(), Track.USER, "alice")
    return NewJob(stage, key or f"{stage}-{session}", f"mc_{session}", owner, session, 3)


async def _queue(database: Database, jobs: Sequence[NewJob], now_ms: int = 0) -> list[int]:
    return await database.write(lambda connection: insert_jobs(connection, jobs, now_ms))


async def _run_next(
    store: JobStore, now_ms: int = 1, following: Sequence[NewJob] = ()
) -> Job | None:
    job = await store.claim(now_ms, 60_000)
    if job is not None:
        await store.succeed(job, following, now_ms)
    return job


async def _run_all(store: JobStore, now_ms: int = 1) -> list[str]:
    done = []
    while job := await _run_next(store, now_ms):
        done.append(job.session_id)
    return done


async def test_what_somebody_waits_for_comes_before_a_backlog(database: Database) -> None:
    store = JobStore(database)
    await _queue(database, [_new(f"s{number}") for number in range(5_000)])
    await _queue(database, [_new("mine"), _new("mine")])
    assert await store.hurry(Scope(), "mine", _STAGES, 1)
    order = [job.session_id for _ in range(4) if (job := await _run_next(store)) is not None]
    assert order == ["mine", "mine", "s0", "s1"]


async def test_what_follows_from_a_wanted_job_comes_before_a_backlog_but_after_what_is_awaited(
    database: Database,
) -> None:
    store = JobStore(database)
    await _queue(database, [_new(f"s{number}") for number in range(50)])
    await _queue(database, [_new("mine")])
    await store.hurry(Scope(), "mine", _STAGES, 1)
    await _run_next(store, 1, [_new("mine", "facts")])
    await _queue(database, [_new("other")], 2)
    await store.hurry(Scope(), "other", _STAGES, 2)
    awaited = await _run_next(store, 2)
    # What follows from a follower is nobody's concern.
    follower = await _run_next(store, 2, [_new("mine", "later")])
    assert awaited is not None
    assert follower is not None
    assert (awaited.session_id, awaited.stage) == ("other", "episode")
    assert (follower.session_id, follower.stage) == ("mine", "facts")
    assert await _run_all(store, 2) == [*(f"s{number}" for number in range(50)), "mine"]


async def test_nothing_starves_behind_what_is_wanted(database: Database) -> None:
    store = JobStore(database)
    await _queue(database, [_new(f"patient{number}") for number in range(3)])
    done: list[str] = []
    for number in range(12):
        # There is always something that somebody waits for.
        await _queue(database, [_new(f"eager{number}")], number)
        await store.hurry(Scope(), f"eager{number}", _STAGES, number)
        job = await _run_next(store, number)
        assert job is not None
        done.append(job.session_id)
    assert [session for session in done if session.startswith("patient")] == [
        "patient0",
        "patient1",
        "patient2",
    ]


async def test_those_who_wait_are_served_in_the_order_they_came(database: Database) -> None:
    store = JobStore(database)
    for number in range(3):
        await _queue(database, [_new(f"s{number}")], number)
    for number in (2, 1, 0):
        await store.hurry(Scope(), f"s{number}", _STAGES, 5)
    assert await _run_all(store, 5) == ["s0", "s1", "s2"]


async def test_a_hurry_concerns_one_session_of_one_scope(database: Database) -> None:
    store = JobStore(database)
    other = Scope("other", "default")
    await _queue(database, [_new("s", key="theirs", scope=other), _new("s", key="mine")])
    assert await store.hurry(Scope(), "s", _STAGES, 1)
    job = await store.claim(1, 60_000)
    assert job is not None
    assert job.owner.scope == Scope()


async def test_the_order_of_a_serial_key_holds_whatever_is_wanted(database: Database) -> None:
    store = JobStore(database)
    await _queue(database, [_new("first", key="k"), _new("second", key="k")])
    await store.hurry(Scope(), "second", _STAGES, 1)
    assert await _run_all(store) == ["first", "second"]


async def test_retries_and_new_jobs_come_in_the_order_they_became_due(database: Database) -> None:
    store = JobStore(database)
    await _queue(database, [_new("retried")], 0)
    job = await store.claim(0, 60_000)
    assert job is not None
    await store.fail(job, "TIMEOUT", "slow", 10, 1)
    await _queue(database, [_new("early")], 5)
    await _queue(database, [_new("late")], 15)
    assert await _run_all(store, 20) == ["early", "retried", "late"]


async def test_a_clock_that_is_set_back_holds_up_no_job_that_has_not_failed(
    database: Database,
) -> None:
    store = JobStore(database)
    await _queue(database, [_new("s")], 3_600_000)
    assert await store.next_available_ms() == 0
    assert await _run_all(store, 1) == ["s"]


async def test_the_last_attempt_after_kills_is_made_alone_so_that_only_the_culprit_is_given_up(
    database: Database,
) -> None:
    store = JobStore(database)
    innocent, culprit, later = await _queue(database, [_new(name) for name in ("a", "b", "c")])

    async def claim() -> Job | None:
        return await store.claim(10, 60_000)

    for _ in range(2):
        assert [job.job_id for _ in range(2) if (job := await claim())] == [innocent, culprit]
        await store.recover(5)
    # Both have one attempt left. Nothing runs beside them.
    first = await claim()
    assert first is not None
    assert first.job_id == innocent
    assert await claim() is None
    assert await store.next_available_ms() == 10 + 60_000
    await store.succeed(first, (), 10)
    assert await store.next_available_ms() == 0
    second = await claim()
    assert second is not None
    assert second.job_id == culprit
    assert await claim() is None
    await store.recover(15)
    states = [(await store.states_of_cell(f"mc_{name}"))[0].status for name in "abc"]
    assert states == [JobStatus.SUCCEEDED, JobStatus.DEAD_LETTER, JobStatus.QUEUED]
    third = await claim()
    assert third is not None
    assert third.job_id == later
