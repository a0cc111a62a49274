"""Whatever happens to jobs, one of each serial key is next, and each comes to its turn."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.state.database import Database
from remanence_server.state.jobs.board import JobBoard
from remanence_server.state.jobs.model import Job, NewJob
from remanence_server.state.jobs.rows import cancel_jobs, insert_jobs
from remanence_server.state.jobs.store import JobStore, LeaseLostError
from remanence_server.state.schema import SCHEMA, SCHEMA_VERSION

_OWNER = Owner(Scope(), Track.USER, "alice")
_LEASE_MS = 50
_LONG_AFTER_MS = 1_000_000_000
_keys = st.sampled_from(["a", "b"])
_sessions = st.sampled_from(["s1", "s2"])
_new_jobs = st.builds(
    lambda key, session: NewJob("episode", key, f"mc_{session}", _OWNER, session, 3),
    _keys,
    _sessions,
)


class _Jobs(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory()
        self.database = Database(Path(self.folder.name) / "system.db", SCHEMA, SCHEMA_VERSION)
        self.store, self.board = JobStore(self.database), JobBoard(self.database)
        self.now_ms = 1_000
        # Claimed and not finished, as far as their workers know.
        self.claimed: list[Job] = []
        self.count = 0

    def do[T](self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    def rows(self) -> list[tuple[int, str, str, int, int | None]]:
        return self.do(
            self.database.read(
                lambda connection: connection.execute(
                    "SELECT job_id, serial_key, status, is_next, lease_until_ms FROM job"
                    " ORDER BY job_id"
                ).fetchall()
            )
        )

    def any_job(self, data: st.DataObject, *statuses: str) -> int:
        """A job, of these statuses if there is one."""
        ids = [row[0] for row in self.rows() if row[2] in statuses]
        return data.draw(st.sampled_from(ids) if ids else st.integers(1, self.count))

    def take(self, data: st.DataObject) -> Job:
        return self.claimed.pop(data.draw(st.integers(0, len(self.claimed) - 1)))

    @rule(jobs=st.lists(_new_jobs, min_size=1, max_size=4))
    def queue(self, jobs: list[NewJob]) -> None:
        now_ms = self.now_ms
        ids = self.do(self.database.write(lambda connection: insert_jobs(connection, jobs, now_ms)))
        self.count = max(ids)

    @rule(milliseconds=st.integers(-30, 100))
    def time_passes(self, milliseconds: int) -> None:
        self.now_ms += milliseconds

    @rule()
    def claim(self) -> None:
        before = self.rows()
        due_ms = self.do(self.store.next_available_ms())
        job = self.do(self.store.claim(self.now_ms, _LEASE_MS))
        # Workers sleep until then: neither too long nor in vain.
        assert (job is not None) == (due_ms is not None and due_ms <= self.now_ms)
        if job is None:
            return
        self.claimed.append(job)
        (was,) = (row for row in before if row[0] == job.job_id)
        assert was[3] == 1
        if was[2] == "running":
            assert was[4] is not None
            assert was[4] <= self.now_ms
        else:
            waiting = [row[0] for row in before if row[1] == was[1] and row[2] == "queued"]
            assert was[0] == min(waiting)

    @precondition(lambda self: self.claimed)
    @rule(data=st.data(), following=st.lists(_new_jobs, max_size=2))
    def succeed(self, data: st.DataObject, following: list[NewJob]) -> None:
        try:
            ids = self.do(self.store.succeed(self.take(data), following, self.now_ms))
        except LeaseLostError:
            return
        self.count = max([self.count, *ids])

    @precondition(lambda self: self.claimed)
    @rule(data=st.data(), pause_ms=st.none() | st.integers(0, 80), waits=st.booleans())
    def fail(self, data: st.DataObject, pause_ms: int | None, *, waits: bool) -> None:
        job, retry_at_ms = self.take(data), None if pause_ms is None else self.now_ms + pause_ms
        code = "CONFIGURATION" if pause_ms is None else "TIMEOUT"
        try:
            self.do(self.store.fail(job, code, "no", retry_at_ms, self.now_ms, waits))
        except LeaseLostError:
            return

    @rule()
    def process_dies(self) -> None:
        self.claimed.clear()
        self.do(self.store.recover(self.now_ms))

    @rule()
    def settings_are_mended(self) -> None:
        self.do(self.store.retry_given_up("CONFIGURATION", self.now_ms))

    @precondition(lambda self: self.count)
    @rule(data=st.data())
    def retry(self, data: st.DataObject) -> None:
        self.do(self.board.retry(Scope(), self.any_job(data, "dead_letter"), self.now_ms))

    @precondition(lambda self: self.count)
    @rule(data=st.data())
    def drop(self, data: st.DataObject) -> None:
        job_id = self.any_job(data, "queued", "running", "dead_letter")
        self.do(self.board.drop(Scope(), job_id, self.now_ms))

    @precondition(lambda self: self.count)
    @rule(data=st.data(), count=st.integers(1, 4))
    def cancel(self, data: st.DataObject, count: int) -> None:
        ids = [self.any_job(data) for _ in range(count)]
        now_ms = self.now_ms
        self.do(self.database.write(lambda connection: cancel_jobs(connection, ids, now_ms)))

    @rule(session=_sessions)
    def hurry(self, session: str) -> None:
        self.do(self.store.hurry(Scope(), session, {"episode"}, self.now_ms))

    @rule()
    def purge(self) -> None:
        self.do(self.store.purge_finished(self.now_ms))

    @invariant()
    def one_of_each_key_is_next(self) -> None:
        rows = self.rows()
        for key in {row[1] for row in rows}:
            unfinished = [row for row in rows if row[1] == key and row[2] in ("queued", "running")]
            running = [row[0] for row in unfinished if row[2] == "running"]
            assert len(running) <= 1
            expected = running or [row[0] for row in unfinished[:1]]
            assert [row[0] for row in rows if row[1] == key and row[3]] == expected

    def teardown(self) -> None:
        try:
            # The process dies, and then nothing goes wrong any more.
            self.do(self.store.recover(self.now_ms))
            while job := self.do(self.store.claim(self.now_ms + _LONG_AFTER_MS, _LEASE_MS)):
                self.do(self.store.succeed(job, (), self.now_ms))
            assert {row[2] for row in self.rows()} <= {"succeeded", "cancelled", "dead_letter"}
        finally:
            self.database.close()
            self.runner.close()
            self.folder.cleanup()


TestJobs = _Jobs.TestCase
TestJobs.settings = settings(max_examples=15, stateful_step_count=40, deadline=None)
