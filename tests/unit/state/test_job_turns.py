"""Whatever happens to jobs, one of each serial key is next, and each comes to its turn."""

from __future__ import annotations

from contextlib import suppress
from random import Random

import apsw
import pytest

from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.state.database import Database
from remanence_server.state.jobs.board import JobBoard
from remanence_server.state.jobs.model import Job, NewJob
from remanence_server.state.jobs.rows import cancel_jobs, insert_jobs
from remanence_server.state.jobs.store import JobStore, LeaseLostError

_OWNER = Owner(Scope(), Track.USER, "alice")
_LEASE_MS = 50
_STEPS = 250
_LONG_AFTER_MS = 1_000_000_000
_UNFINISHED = ("queued", "running")
# id, serial key, status, is_next, end of the lease
_Row = tuple[int, str, str, int, int | None]


class _Walk:
    """Does to the job table, in any order, everything that is ever done to it."""

    def __init__(self, database: Database, random: Random) -> None:
        self.database, self.random = database, random
        self.store, self.board = JobStore(database), JobBoard(database)
        self.now_ms = 1_000
        # Claimed and not finished, as far as their workers know.
        self.claimed: list[Job] = []

    async def rows(self) -> list[_Row]:
        def run(connection: apsw.Connection) -> list[_Row]:
            found = connection.execute(
                "SELECT job_id, serial_key, status, is_next, lease_until_ms FROM job"
                " ORDER BY job_id"
            )
            return [
                (job_id, key, status, is_next, until)
                for job_id, key, status, is_next, until in found
            ]

        return await self.database.read(run)

    async def step(self) -> None:
        steps = (self.queue, self.claim, self.claim, self.claim, self.finish, self.finish)
        rare = (self.process_dies, self.settings_are_mended, self.retry, self.drop, self.hurry)
        await self.random.choice((*steps, *steps, *rare, self.purge, self.time_passes))()

    def new_jobs(self) -> list[NewJob]:
        session = self.random.choice(["s1", "s2"])
        keys = self.random.choices(["a", "b", "c"], k=self.random.randint(0, 2))
        return [NewJob("episode", key, f"mc_{session}", _OWNER, session, 3) for key in keys]

    async def job_of(self, *statuses: str) -> int:
        return self.random.choice(
            [row[0] for row in await self.rows() if row[2] in statuses] or [0]
        )

    async def queue(self) -> None:
        jobs, now_ms = self.new_jobs(), self.now_ms
        await self.database.write(lambda connection: insert_jobs(connection, jobs, now_ms))

    async def time_passes(self) -> None:
        self.now_ms += self.random.randint(-30, 80)

    async def claim(self) -> None:
        before = await self.rows()
        due_ms = await self.store.next_available_ms()
        job = await self.store.claim(self.now_ms, _LEASE_MS)
        # Workers sleep until then: neither too long nor in vain.
        assert (job is not None) == (due_ms is not None and due_ms <= self.now_ms)
        if job is None:
            return
        self.claimed.append(job)
        ((_, key, status, is_next, lease_until_ms),) = (r for r in before if r[0] == job.job_id)
        assert is_next
        if status == "running":
            assert lease_until_ms is not None
            assert lease_until_ms <= self.now_ms
        else:
            assert job.job_id == min(r[0] for r in before if r[1] == key and r[2] in _UNFINISHED)

    async def finish(self) -> None:
        if not self.claimed:
            return
        job = self.claimed.pop(self.random.randrange(len(self.claimed)))
        # A worker that lost its lease is told so.
        with suppress(LeaseLostError):
            match self.random.randint(0, 2):
                case 0:
                    await self.store.succeed(job, self.new_jobs(), self.now_ms)
                case 1:
                    await self.store.fail(job, "CONFIGURATION", "no", None, self.now_ms)
                case _:
                    due_ms, waits = self.now_ms + self.random.randint(0, 60), self.random.random()
                    await self.store.fail(job, "SLOW", "no", due_ms, self.now_ms, waits < 0.5)

    async def process_dies(self) -> None:
        self.claimed.clear()
        await self.store.recover(self.now_ms)

    async def settings_are_mended(self) -> None:
        await self.store.retry_given_up("CONFIGURATION", self.now_ms)

    async def retry(self) -> None:
        await self.board.retry(Scope(), await self.job_of("dead_letter"), self.now_ms)

    async def drop(self) -> None:
        ids, now_ms = [await self.job_of(*_UNFINISHED) for _ in range(2)], self.now_ms
        await self.board.drop(Scope(), await self.job_of("dead_letter"), now_ms)
        await self.database.write(lambda connection: cancel_jobs(connection, ids, now_ms))

    async def hurry(self) -> None:
        await self.store.hurry(Scope(), self.random.choice(["s1", "s2"]), {"episode"}, self.now_ms)

    async def purge(self) -> None:
        await self.store.purge_finished(self.now_ms)

    async def check(self) -> None:
        rows = await self.rows()
        for key in {row[1] for row in rows}:
            unfinished = [row for row in rows if row[1] == key and row[2] in _UNFINISHED]
            running = [row[0] for row in unfinished if row[2] == "running"]
            assert len(running) <= 1
            expected = running or [row[0] for row in unfinished[:1]]
            assert [row[0] for row in rows if row[1] == key and row[3]] == expected


@pytest.mark.parametrize("seed", range(3))
async def test_one_job_of_each_key_is_next_and_none_is_forgotten(
    database: Database, seed: int
) -> None:
    walk = _Walk(database, Random(seed))
    for _ in range(_STEPS):
        await walk.step()
        await walk.check()
    # The process dies, and then nothing goes wrong any more.
    await walk.process_dies()
    while job := await walk.store.claim(walk.now_ms + _LONG_AFTER_MS, _LEASE_MS):
        await walk.store.succeed(job, (), walk.now_ms)
        await walk.check()
    assert not {row[2] for row in await walk.rows()} & {"queued", "running"}
