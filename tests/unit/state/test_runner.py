from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.runtime.clock import SystemClock
from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.runtime.supervision import Supervisor
from remanence_server.state.database import Database
from remanence_server.state.jobs.model import Job, JobStatus, NewJob
from remanence_server.state.jobs.runner import JobRunner, RunnerPolicy, Stage
from remanence_server.state.jobs.store import JobStore, insert_jobs

_ALICE = Owner(Scope(), Track.USER, "alice")


def _new(stage: str, key: str = "k", attempts: int = 3) -> NewJob:
    return NewJob(stage, key, "mc_1", _ALICE, "s", attempts)


@asynccontextmanager
async def _running(database: Database, **stages: Stage) -> AsyncIterator[JobRunner]:
    supervisor = Supervisor()
    policy = RunnerPolicy(workers=2, lease_seconds=60, retry_backoff_seconds=0.01)
    runner = JobRunner(JobStore(database), stages, SystemClock(), policy, supervisor)
    await runner.start()
    try:
        yield runner
    finally:
        await runner.stop(5)
        await supervisor.stop()


async def _queue(database: Database, runner: JobRunner, *jobs: NewJob) -> None:
    await database.write(lambda connection: insert_jobs(connection, jobs, 0))
    await runner.wake()


def _stage(act: Callable[[Job], Sequence[NewJob]]) -> Stage:
    async def run(job: Job) -> Sequence[NewJob]:
        return act(job)

    return run


async def test_a_waiter_learns_of_all_that_follows_from_a_job(database: Database) -> None:
    async with _running(
        database, episode=_stage(lambda job: (_new("facts", "k2"),)), facts=_stage(lambda job: ())
    ) as runner:
        await _queue(database, runner, _new("episode"))
        states = await runner.wait_for_stages("mc_1", None, 5)
    assert [(s.stage, s.status) for s in states] == [
        ("episode", JobStatus.SUCCEEDED),
        ("facts", JobStatus.SUCCEEDED),
    ]


async def test_a_failed_attempt_is_told_and_tried_again(database: Database) -> None:
    attempts: list[int] = []

    def act(job: Job) -> Sequence[NewJob]:
        attempts.append(job.attempts)
        if job.attempts == 1:
            raise ServiceError(ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE, "overloaded")
        return ()

    async with _running(database, episode=_stage(act)) as runner:
        await _queue(database, runner, _new("episode"))
        async with asyncio.timeout(5):
            while attempts != [1, 2]:
                await asyncio.sleep(0.01)
        states = await runner.wait_for_stages("mc_1", None, 5)
    assert states[0].status is JobStatus.SUCCEEDED


async def test_a_job_without_hope_ends_as_a_dead_letter_without_its_text(
    database: Database,
) -> None:
    def act(job: Job) -> Sequence[NewJob]:
        raise RuntimeError("the secret words of alice")

    async with _running(database, episode=_stage(act)) as runner:
        await _queue(database, runner, _new("episode", attempts=2))
        async with asyncio.timeout(5):
            while True:
                state = (await runner.wait_for_stages("mc_1", None, 5))[0]
                if state.status is JobStatus.DEAD_LETTER:
                    break
                await asyncio.sleep(0.01)
    assert (state.attempts, state.last_error_code) == (2, "RuntimeError")
    assert "secret" not in (state.last_error or "")


async def test_input_that_cannot_be_used_is_not_tried_again(database: Database) -> None:
    def act(job: Job) -> Sequence[NewJob]:
        raise ServiceError(ErrorCode.UNSUPPORTED_FORMAT, "unreadable")

    async with _running(database, episode=_stage(act)) as runner:
        await _queue(database, runner, _new("episode"))
        state = (await runner.wait_for_stages("mc_1", None, 5))[0]
    assert (state.status, state.attempts) == (JobStatus.DEAD_LETTER, 1)


async def test_a_wait_ends_in_time_when_the_job_does_not(database: Database) -> None:
    release = asyncio.Event()

    async def slow(job: Job) -> Sequence[NewJob]:
        await release.wait()
        return ()

    async with _running(database, episode=slow) as runner:
        await _queue(database, runner, _new("episode"))
        states = await runner.wait_for_stages("mc_1", None, 0.1)
        assert states[0].status in (JobStatus.RUNNING, JobStatus.QUEUED)
        release.set()


async def test_what_a_dead_process_was_running_is_taken_up_at_start(database: Database) -> None:
    store = JobStore(database)
    await database.write(lambda connection: insert_jobs(connection, (_new("episode"),), 0))
    assert await store.claim(SystemClock().now_ms(), 60_000) is not None
    async with _running(database, episode=_stage(lambda job: ())) as runner:
        async with asyncio.timeout(5):
            while (await store.states_of_cell("mc_1"))[0].status is not JobStatus.SUCCEEDED:
                await asyncio.sleep(0.01)
        assert runner is not None
