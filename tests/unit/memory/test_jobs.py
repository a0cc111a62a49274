"""Jobs of the whole write path: who goes first, what holds up whom, and what dropping does."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.support.workshop import Workshop, WorkshopPlan, open_workshop, said

from remanence_server.domain.messages import MemoryCell, Message
from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.memory.jobs import JobDesk
from remanence_server.memory.write import AddBatch, WriteStatus, add_messages, flush_session
from remanence_server.runtime import supervision
from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.state.jobs.board import JobBoard
from remanence_server.state.jobs.model import Job, JobFilter, JobStatus, NewJob
from remanence_server.state.sessions import PlannedCell

SCOPE = Scope()


def _desk(workshop: Workshop) -> JobDesk:
    return JobDesk(JobBoard(workshop.state), workshop.runner, workshop.path.clock)


async def _add(workshop: Workshop, message: Message, session: str = "s") -> None:
    await add_messages(workshop.path, AddBatch(SCOPE, session, (message,), defer_extraction=True))


async def _flush(workshop: Workshop, session: str = "s", *, visible: bool = False) -> WriteStatus:
    async with asyncio.timeout(30):
        return await flush_session(workshop.path, SCOPE, session, wait_until_visible=visible)


async def _queue_backlog(workshop: Workshop, count: int) -> None:
    """Episodes of one cell, for so many users and sessions that nobody waits for."""
    cell = MemoryCell("mc_backlog", SCOPE, "backlog", (said("I love climbing.", "m1", "bob"),))
    jobs = tuple(
        NewJob(
            stage="episode",
            serial_key=f"backlog-{number}",
            cell_id=cell.cell_id,
            owner=Owner(SCOPE, Track.USER, f"bob{number}"),
            session_id=f"backlog-{number}",
            maximum_attempts=3,
        )
        for number in range(count)
    )
    await workshop.sessions.cut([PlannedCell(cell, (), jobs)], 0)


async def test_a_flush_does_not_wait_behind_a_backlog(tmp_path: Path) -> None:
    async with open_workshop(tmp_path, WorkshopPlan(work=False)) as workshop:
        await _queue_backlog(workshop, 5_000)
        await workshop.runner.start()
        await _add(workshop, said("My favourite crag is Ettringen."))
        assert await _flush(workshop) is WriteStatus.EXTRACTED
        done, _ = await _desk(workshop).page(
            JobFilter(SCOPE, status=JobStatus.SUCCEEDED), page=1, page_size=1
        )
        # Its own one, and what the workers had in hand while it came, ran and was told of.
        assert done < 100


async def test_an_add_that_completes_a_segment_does_not_wait_behind_a_backlog(
    tmp_path: Path,
) -> None:
    plan = WorkshopPlan(work=False, maximum_messages=1)
    async with open_workshop(tmp_path, plan) as workshop:
        await _queue_backlog(workshop, 2_000)
        await workshop.runner.start()
        batch = AddBatch(SCOPE, "s", (said("One."), said("Two.")), defer_extraction=False)
        async with asyncio.timeout(30):
            assert (await add_messages(workshop.path, batch)).status is WriteStatus.EXTRACTED
        assert (await workshop.jobs.counts()).queued > 1_000


async def test_a_flush_whose_extraction_is_dropped_has_extracted_nothing(
    tmp_path: Path,
) -> None:
    async with open_workshop(tmp_path, WorkshopPlan(work=False)) as workshop:
        desk = _desk(workshop)
        await _add(workshop, said("I love climbing."))
        flush = asyncio.create_task(_flush(workshop))
        async with asyncio.timeout(20):
            while not (page := await desk.page(JobFilter(SCOPE), page=1, page_size=20))[0]:
                await asyncio.sleep(0.01)
        (job,) = page[1]
        await desk.drop(SCOPE, job.job_id)
        assert await flush is WriteStatus.NO_EXTRACTION
        assert await workshop.sessions.cell(job.cell_id) is None
        await workshop.runner.start()
        assert await _flush(workshop) is WriteStatus.NO_EXTRACTION
        assert workshop.turns() == []


async def test_a_dead_letter_can_be_retried_and_then_leads_to_all_that_follows(
    tmp_path: Path,
) -> None:
    async with open_workshop(tmp_path, WorkshopPlan(maximum_attempts=1)) as workshop:
        desk = _desk(workshop)
        workshop.extractor.episode.times = 1
        workshop.extractor.episode.code = ErrorCode.INTERNAL_ERROR
        await _add(workshop, said("I love climbing.", "m1"))
        with pytest.raises(ServiceError, match="given up"):
            await _flush(workshop)
        # The session goes on without it.
        await _add(workshop, said("I moved to Porto.", "m2"))
        assert await _flush(workshop) is WriteStatus.EXTRACTED
        assert workshop.turns() == [("alice", "m2")]
        dead = JobFilter(SCOPE, status=JobStatus.DEAD_LETTER)
        (job,) = (await desk.page(dead, page=1, page_size=20))[1]
        await desk.retry(SCOPE, job.job_id)
        states = await workshop.runner.wait_for_stages(job.cell_id, None, 20)
        assert [(state.stage, state.status) for state in states] == [
            (stage, JobStatus.SUCCEEDED) for stage in ("episode", "facts", "profile")
        ]
        assert sorted(workshop.turns()) == [("alice", "m1"), ("alice", "m2")]
        with pytest.raises(ServiceError) as refused:
            await desk.retry(SCOPE, job.job_id)
        assert refused.value.code is ErrorCode.CONFLICT


async def test_a_worker_that_dies_is_reported_started_again_and_loses_nothing(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervision, "_FIRST_PAUSE_SECONDS", 0.2)
    claim = workshop.jobs.claim
    deaths = 0

    async def deadly(now_ms: int, lease_ms: int) -> Job | None:
        nonlocal deaths
        if deaths < 2:
            deaths += 1
            raise RuntimeError("no worker expects this")
        return await claim(now_ms, lease_ms)

    monkeypatch.setattr(workshop.jobs, "claim", deadly)
    await workshop.runner.wake()
    async with asyncio.timeout(10):
        while workshop.supervisor.failing() != ["job-worker-0", "job-worker-1"]:
            await asyncio.sleep(0.01)
    await _add(workshop, said("I love climbing.", "m1"))
    assert await _flush(workshop) is WriteStatus.EXTRACTED
    assert workshop.turns() == [("alice", "m1")]
    assert workshop.supervisor.loops["job-worker-0"].restarts == 1
