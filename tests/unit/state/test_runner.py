from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from prometheus_client import CollectorRegistry

from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.providers.models.interface import (
    FINAL,
    OUTAGES,
    FailureReason,
    ModelError,
)
from remanence_server.runtime.clock import SystemClock
from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.runtime.metrics import JobMetrics
from remanence_server.runtime.supervision import Supervisor
from remanence_server.state.database import Database
from remanence_server.state.jobs.model import Job, JobState, JobStatus, NewJob
from remanence_server.state.jobs.rows import insert_jobs
from remanence_server.state.jobs.runner import JobRunner, RunnerPolicy, Stage
from remanence_server.state.jobs.store import JobStore

_ALICE = Owner(Scope(), Track.USER, "alice")


def _new(stage: str, key: str = "k", attempts: int = 3) -> NewJob:
    return NewJob(stage, key, "mc_1", _ALICE, "s", attempts)


@asynccontextmanager
async def _running(
    database: Database, workers: int = 2, **stages: Stage
) -> AsyncIterator[JobRunner]:
    supervisor = Supervisor()
    policy = RunnerPolicy(workers=workers, lease_seconds=60, retry_backoff_seconds=0.01)
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
            raise ServiceError(ErrorCode.INTERNAL_ERROR, "not this time")
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


async def test_attempts_are_counted_by_stage_and_outcome(database: Database) -> None:
    registry = CollectorRegistry()

    def act(job: Job) -> Sequence[NewJob]:
        if job.stage == "facts" or (job.stage == "episode" and job.attempts == 1):
            raise RuntimeError("broken")
        return ()

    stages = {name: _stage(act) for name in ("episode", "facts", "case")}
    supervisor = Supervisor()
    policy = RunnerPolicy(workers=1, lease_seconds=60, retry_backoff_seconds=0.0)
    metrics = JobMetrics.of(registry)
    runner = JobRunner(
        JobStore(database), stages, SystemClock(), policy, supervisor, metrics=metrics
    )
    await runner.start()
    await _queue(database, runner, _new("episode"), _new("facts", "k2", attempts=1))

    def attempts(stage: str, outcome: str) -> float | None:
        labels = {"stage": stage, "outcome": outcome}
        return registry.get_sample_value("remanence_job_attempts_total", labels)

    async with asyncio.timeout(10):
        while not (attempts("episode", "succeeded") and attempts("facts", "dead_letter")):
            await asyncio.sleep(0.01)
    await runner.stop(5)
    await supervisor.stop()
    assert attempts("episode", "retried") == 1
    assert attempts("episode", "succeeded") == attempts("facts", "dead_letter") == 1
    # A stage that never ran is there, with zeroes.
    assert attempts("case", "succeeded") == 0
    name = "remanence_job_stage_duration_seconds_count"
    assert registry.get_sample_value(name, {"stage": "episode"}) == 2


@pytest.mark.parametrize("workers", [1, 3])
async def test_as_many_jobs_run_at_once_as_there_are_workers(
    database: Database, workers: int
) -> None:
    running, most = 0, 0

    async def run(job: Job) -> Sequence[NewJob]:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.05)
        running -= 1
        return ()

    async with _running(database, workers, episode=run) as runner:
        await _queue(database, runner, *(_new("episode", f"k{number}") for number in range(6)))
        await runner.wait_for_stages("mc_1", None, 5)
    assert most == workers


@pytest.mark.parametrize(
    ("reason", "attempts"),
    [
        *((reason, 3) for reason in FailureReason if reason not in OUTAGES | FINAL),
        *((reason, 1) for reason in sorted(FINAL)),
    ],
)
async def test_an_answer_of_no_use_is_asked_for_again_as_often_as_that_can_help(
    reason: FailureReason, attempts: int, database: Database
) -> None:
    def act(job: Job) -> Sequence[NewJob]:
        raise ModelError(reason)

    async with _running(database, episode=_stage(act)) as runner:
        await _queue(database, runner, _new("episode", attempts=3))
        state = await _once_dead(runner)
    assert (state.attempts, state.last_error_code) == (attempts, reason.value)


@pytest.mark.parametrize(
    "error",
    [
        *(ModelError(reason) for reason in sorted(OUTAGES)),
        ServiceError(ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE, "storage is full"),
        ServiceError(ErrorCode.CONFLICT, "the profile was edited and cannot be read"),
    ],
)
async def test_what_says_nothing_against_a_job_is_waited_for_as_long_as_it_takes(
    error: ServiceError, database: Database
) -> None:
    seen: list[tuple[int, int]] = []

    def act(job: Job) -> Sequence[NewJob]:
        seen.append((job.attempts, job.waits))
        if job.waits < 3:
            raise error
        return ()

    async with _running(database, episode=_stage(act)) as runner:
        await _queue(database, runner, _new("episode", attempts=1))
        async with asyncio.timeout(10):
            while len(seen) < 4:
                await asyncio.sleep(0.01)
        state = (await runner.wait_for_stages("mc_1", None, 5))[0]
    assert state.status is JobStatus.SUCCEEDED
    assert seen == [(1, waits) for waits in range(4)]


def test_pauses_grow_to_a_limit() -> None:
    policy = RunnerPolicy(workers=1, lease_seconds=60, retry_backoff_seconds=1.0)
    job = Job(1, "episode", "mc", _ALICE, "s", 1, 5, 0, "token", None, None)
    pauses = [policy.pause_seconds(replace(job, attempts=n), waits=False) for n in (1, 2, 3, 50)]
    assert pauses == [1.0, 2.0, 4.0, 300.0]
    pauses = [policy.pause_seconds(replace(job, waits=n), waits=True) for n in (0, 1, 2, 500)]
    assert pauses == [1.0, 2.0, 4.0, 60.0]


async def _once_dead(runner: JobRunner) -> JobState:
    async with asyncio.timeout(10):
        while True:
            state = (await runner.wait_for_stages("mc_1", None, 5))[0]
            if state.status is JobStatus.DEAD_LETTER:
                return state
            await asyncio.sleep(0.01)
