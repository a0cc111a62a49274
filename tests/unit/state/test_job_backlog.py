"""What a step of the job table costs must not depend on how much waits behind it.

Costs are instructions of SQLite's virtual machine: the same on every machine, however busy it is.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import apsw
import pytest

from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.state.database import Database
from remanence_server.state.inbox import InboxStore
from remanence_server.state.jobs.board import JobBoard
from remanence_server.state.jobs.model import Job, NewJob
from remanence_server.state.jobs.rows import insert_jobs
from remanence_server.state.jobs.store import JobStore
from remanence_server.state.schema import SCHEMA, SCHEMA_VERSION

_LEASE_MS = 60_000
_NOW_MS = 1_000
_FEW, _MANY = 20, 2_000
_ALICE = Owner(Scope(), Track.USER, "alice")


def _new(key: str, session: str = "mine") -> NewJob:
    return NewJob("episode", key, f"mc_{key}", _ALICE, session, 3)


def _queue_sessions(connection: apsw.Connection, count: int) -> None:
    insert_jobs(connection, [_new(f"k{n}", f"s{n}") for n in range(count)], 0)


def _queue_one_session(connection: apsw.Connection, count: int) -> None:
    """All behind one that waits for another attempt."""
    insert_jobs(connection, [_new("k", "s") for _ in range(count)], 0)
    connection.execute(
        "UPDATE job SET attempts = 1, available_at_ms = 9e9, last_error_code = 'TIMEOUT'"
        " WHERE job_id = 1"
    )


def _queue_retries(connection: apsw.Connection, count: int) -> None:
    _queue_sessions(connection, count)
    connection.execute(
        "UPDATE job SET attempts = 1, available_at_ms = 9000000000, last_error_code = 'TIMEOUT'"
    )


def _queue_finished(connection: apsw.Connection, count: int) -> None:
    _queue_sessions(connection, count)
    connection.execute("UPDATE job SET status = 'succeeded', finished_at_ms = 1")
    connection.executemany(
        "INSERT INTO memorize_inbox (request_id, app_id, project_id, session_id, is_final,"
        " defer_extraction, payload_json, message_count, status, created_at_ms, updated_at_ms)"
        " VALUES (?, 'default', 'default', 's', 0, 0, '', 1, 'success', 0, 0)",
        [(f"r{number}",) for number in range(count)],
    )


_BACKLOGS = [_queue_sessions, _queue_one_session, _queue_retries, _queue_finished]


class _Meter:
    """Counts what the connections of a database do."""

    def __init__(self, database: Database) -> None:
        self.instructions = 0
        self.database = database

    def _count(self) -> bool:
        self.instructions += 1
        return False

    async def of(self, act: Callable[[], Awaitable[object]]) -> int:
        def watch(connection: apsw.Connection) -> None:
            connection.set_progress_handler(self._count, 1)

        await self.database.write(watch)
        # One reader at least is warm; both are watched when they are first used.
        for _ in range(8):
            await self.database.read(watch)
        before = self.instructions
        await act()
        return self.instructions - before


async def _costs(
    path: Path, queue: Callable[[apsw.Connection, int], None], count: int
) -> dict[str, int]:
    database = Database(path, SCHEMA, SCHEMA_VERSION)
    store, meter = JobStore(database), _Meter(database)
    await database.write(lambda connection: queue(connection, count))
    await database.write(lambda connection: insert_jobs(connection, [_new("mine")], 0))
    costs = {}

    async def measure(name: str, act: Callable[[], Awaitable[object]]) -> None:
        costs[name] = await meter.of(act)

    await measure("next_available_ms", store.next_available_ms)
    await measure("hurry", lambda: store.hurry(Scope(), "mine", {"episode"}, _NOW_MS))
    claimed: list[Job] = []

    async def claim() -> None:
        job = await store.claim(_NOW_MS, _LEASE_MS)
        assert job is not None
        claimed.append(job)

    await measure("claim", claim)
    assert claimed[0].session_id == "mine"
    await measure("fail", lambda: store.fail(claimed[0], "TIMEOUT", "slow", 0, _NOW_MS))
    await measure("claim of a retry", claim)
    await measure("states_of_cell", lambda: store.states_of_cell("mc_mine"))
    await measure("unfinished_cells", lambda: store.unfinished_cells(Scope(), "mine"))
    await measure("succeed", lambda: store.succeed(claimed[1], [_new("next")], _NOW_MS))
    await measure("claim of what follows", claim)
    await measure("recover", lambda: store.recover(_NOW_MS))
    await measure("recover of nothing", lambda: store.recover(_NOW_MS))
    await measure("recover of the inbox", lambda: InboxStore(database).recover(3, _NOW_MS))
    await measure("idle claim", lambda: store.claim(-1, _LEASE_MS))
    database.close()
    return costs


@pytest.mark.parametrize("queue", _BACKLOGS)
async def test_no_step_of_a_job_costs_more_behind_a_backlog(
    queue: Callable[[apsw.Connection, int], None], tmp_path: Path
) -> None:
    few = await _costs(tmp_path / "few.db", queue, _FEW)
    many = await _costs(tmp_path / "many.db", queue, _MANY)
    grown = {name: (few[name], many[name]) for name in few if many[name] > few[name] * 1.5 + 50}
    assert grown == {}


async def _costs_in_a_serial_key(path: Path, count: int) -> dict[str, int]:
    """What the turns of one serial key cost, with so many jobs behind."""
    database = Database(path, SCHEMA, SCHEMA_VERSION)
    store, board, meter = JobStore(database), JobBoard(database), _Meter(database)
    await database.write(
        lambda connection: insert_jobs(connection, [_new("k") for _ in range(count)], 0)
    )
    costs = {}
    claimed: list[Job] = []

    async def claim() -> None:
        job = await store.claim(_NOW_MS, _LEASE_MS)
        assert job is not None
        claimed.append(job)

    costs["claim"] = await meter.of(claim)
    costs["succeed"] = await meter.of(lambda: store.succeed(claimed[0], [], _NOW_MS))
    await claim()
    await store.fail(claimed[1], "REFUSED", "no", None, _NOW_MS)
    dead = claimed[1].job_id
    costs["retry"] = await meter.of(lambda: board.retry(Scope(), dead, _NOW_MS))
    costs["drop"] = await meter.of(lambda: board.drop(Scope(), dead, _NOW_MS))
    costs["purge"] = await meter.of(lambda: store.purge_finished(0))
    database.close()
    return costs


async def test_a_turn_of_a_serial_key_costs_the_same_however_many_jobs_it_has(
    tmp_path: Path,
) -> None:
    few = await _costs_in_a_serial_key(tmp_path / "few.db", _FEW)
    many = await _costs_in_a_serial_key(tmp_path / "many.db", _MANY)
    grown = {name: (few[name], many[name]) for name in few if many[name] > few[name] * 1.5 + 50}
    assert grown == {}
