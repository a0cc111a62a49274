"""The asynchronous queue over its real table, with deliveries that do what a test says."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from remanence_server.domain.owners import Scope
from remanence_server.memory.queue import MemorizeQueue, QueuePolicy
from remanence_server.runtime import supervision
from remanence_server.runtime.clock import ManualClock
from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.runtime.metrics import QueueMetrics
from remanence_server.runtime.supervision import Supervisor
from remanence_server.state.database import Database
from remanence_server.state.inbox import InboxStore
from remanence_server.state.inbox_model import (
    InboxCaps,
    InboxEntry,
    InboxStatus,
    InboxTask,
    NewEntry,
)
from remanence_server.state.schema import SCHEMA, SCHEMA_VERSION

# No test waits for the scan: what is to happen is woken for, or the interval is made short.
POLICY = QueuePolicy(
    enabled=True,
    caps=InboxCaps(per_session=50, total=200),
    max_payload_bytes=1_000,
    max_concurrency=4,
    scan_interval_seconds=60,
    max_attempts=1,
    retry_backoff_seconds=0,
    max_replays=3,
    row_retention_ms=3_600_000,
    status_write_pause_seconds=0,
)
_numbers = itertools.count()


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "system.db", SCHEMA, SCHEMA_VERSION)
    yield opened
    opened.close()


@dataclass
class Deliveries:
    """What was delivered, in order, and what is being delivered."""

    done: list[str] = field(default_factory=list)
    running: list[InboxEntry] = field(default_factory=list)
    most_at_once: int = 0
    open: asyncio.Event = field(default_factory=asyncio.Event)
    # What a delivery does before it counts as done.
    act: Callable[[InboxEntry], None] = lambda entry: None

    async def __call__(self, entry: InboxEntry) -> None:
        assert entry.session_id not in [other.session_id for other in self.running]
        self.running.append(entry)
        self.most_at_once = max(self.most_at_once, len(self.running))
        try:
            await self.open.wait()
            self.act(entry)
        finally:
            self.running.remove(entry)
        self.done.append(entry.request_id)


@dataclass
class Running:
    queue: MemorizeQueue
    inbox: InboxStore
    deliveries: Deliveries
    clock: ManualClock
    supervisor: Supervisor

    async def add(self, session_id: str = "s", *, asynchronous: bool = True, size: int = 2) -> str:
        """Offers a request, which must be queued; returns its id."""
        entry = new_entry(session_id, size)
        assert await self.queue.offer(lambda: entry, asynchronous=asynchronous) is not None
        return entry.request_id

    async def task(self, request_id: str) -> InboxTask:
        task = await self.inbox.task(request_id)
        assert task is not None
        return task

    async def finished(self, *request_ids: str) -> list[InboxTask]:
        """The tasks once all of them have ended."""
        async with asyncio.timeout(5):
            while True:
                tasks = [await self.task(request_id) for request_id in request_ids]
                if all(task.finished_at_ms is not None for task in tasks):
                    return tasks
                await asyncio.sleep(0.005)


def new_entry(session_id: str = "s", size: int = 2) -> NewEntry:
    return NewEntry(f"r{next(_numbers):04d}", Scope(), session_id, False, False, "x" * size, 1)


@asynccontextmanager
async def running(
    database: Database,
    policy: QueuePolicy = POLICY,
    inbox: InboxStore | None = None,
    metrics: QueueMetrics | None = None,
) -> AsyncIterator[Running]:
    clock, supervisor, deliveries = ManualClock(), Supervisor(), Deliveries()
    inbox = inbox or InboxStore(database)
    queue = MemorizeQueue(inbox, deliveries, clock, policy, supervisor, metrics=metrics)
    await queue.start()
    try:
        yield Running(queue, inbox, deliveries, clock, supervisor)
    finally:
        await queue.stop(0)
        await supervisor.stop()


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not holds():
            await asyncio.sleep(0.005)


async def test_sessions_are_delivered_in_order_and_side_by_side(database: Database) -> None:
    async with running(database) as run:
        ids = {name: [await run.add(name) for _ in range(5)] for name in ("a", "b", "c")}
        await until(lambda: len(run.deliveries.running) == 3)
        run.deliveries.open.set()
        await run.finished(*ids["a"], *ids["b"], *ids["c"])
        for of_session in ids.values():
            assert [done for done in run.deliveries.done if done in of_session] == of_session


@pytest.mark.parametrize("most", [1, 2])
async def test_no_more_run_at_once_than_the_policy_allows(database: Database, most: int) -> None:
    async with running(database, replace(POLICY, max_concurrency=most)) as run:
        ids = [await run.add(f"s{number}") for number in range(5)]
        await until(lambda: len(run.deliveries.running) == most)
        run.deliveries.open.set()
        await run.finished(*ids)
        assert run.deliveries.most_at_once == most


async def test_a_synchronous_request_runs_at_once_where_nothing_waits(database: Database) -> None:
    async with running(database) as run:
        blocked = await run.add("busy")
        made = 0

        def make() -> NewEntry:
            nonlocal made
            made += 1
            return new_entry("idle")

        assert await run.queue.offer(make, asynchronous=False) is None
        assert made == 1
        run.deliveries.open.set()
        await run.finished(blocked)
        # Once the table is seen to be empty, synchronous calls do not even ask it.
        async with asyncio.timeout(5):
            while True:
                made = 0
                assert await run.queue.offer(make, asynchronous=False) is None
                if not made:
                    break
                await asyncio.sleep(0.005)


async def test_a_synchronous_request_stands_behind_its_session(database: Database) -> None:
    async with running(database) as run:
        first = await run.add("s")
        entry = new_entry("s")
        assert await run.queue.offer(lambda: entry, asynchronous=False) == 2
        run.deliveries.open.set()
        await run.finished(first, entry.request_id)
        assert run.deliveries.done == [first, entry.request_id]


async def test_switched_off_it_takes_nothing_new_and_delivers_what_it_has(
    database: Database,
) -> None:
    waiting = new_entry("s")
    now_ms = ManualClock().now_ms()
    await InboxStore(database).enqueue(waiting, POLICY.caps, now_ms, only_behind_others=False)
    async with running(database, replace(POLICY, enabled=False)) as run:
        large = new_entry("elsewhere", size=5_000)
        assert await run.queue.offer(lambda: large, asynchronous=True) is None
        behind = await run.add("s", asynchronous=True, size=5_000)
        assert not (await run.queue.health()).accepting
        run.deliveries.open.set()
        await run.finished(waiting.request_id, behind)
        assert run.deliveries.done == [waiting.request_id, behind]


async def test_an_asynchronous_batch_that_is_too_large_is_refused(database: Database) -> None:
    async with running(database) as run:
        with pytest.raises(ServiceError) as raised:
            await run.add(size=1_001)
        assert raised.value.code is ErrorCode.PAYLOAD_TOO_LARGE
        await run.add(size=1_000)
        # One that could have run at once, were it not for its session, may be as large as any.
        await run.add(asynchronous=False, size=1_001)


async def test_a_full_queue_refuses(database: Database) -> None:
    policy = replace(POLICY, caps=InboxCaps(per_session=2, total=3))
    async with running(database, policy) as run:
        await run.add("a")
        await run.add("a")
        for asynchronous in (True, False):
            with pytest.raises(ServiceError, match="this session has 2") as raised:
                await run.add("a", asynchronous=asynchronous)
            assert raised.value.code is ErrorCode.QUEUE_SATURATED
        await run.add("b")
        with pytest.raises(ServiceError, match="the server has 3"):
            await run.add("c")


async def test_a_failed_delivery_is_told_and_the_session_moves_on(database: Database) -> None:
    failures: dict[str, Exception] = {}

    def act(entry: InboxEntry) -> None:
        if entry.request_id in failures:
            raise failures[entry.request_id]

    async with running(database) as run:
        run.deliveries.act = act
        known, unknown, good = [await run.add() for _ in range(3)]
        failures[known] = ServiceError(ErrorCode.UNSUPPORTED_FORMAT, "not a picture")
        failures[unknown] = RuntimeError("memory text")
        run.deliveries.open.set()
        tasks = await run.finished(known, unknown, good)
        told = [(task.status.value, task.error_code, task.error) for task in tasks]
        assert told == [
            ("failed", "UNSUPPORTED_FORMAT", "not a picture"),
            ("failed", "RuntimeError", "Internal server error"),
            ("success", None, None),
        ]
        assert (await run.queue.health()).failed == 2


@pytest.mark.parametrize(("attempts", "status"), [(2, "failed"), (3, "success")])
async def test_a_delivery_is_tried_as_often_as_the_policy_says(
    database: Database, attempts: int, status: str
) -> None:
    tries = 0

    def act(entry: InboxEntry) -> None:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise RuntimeError

    async with running(database, replace(POLICY, max_attempts=attempts)) as run:
        run.deliveries.act = act
        run.deliveries.open.set()
        (task,) = await run.finished(await run.add())
        assert (tries, task.status.value) == (attempts, status)


async def test_between_two_tries_it_waits(database: Database) -> None:
    times: list[float] = []

    def act(entry: InboxEntry) -> None:
        times.append(asyncio.get_running_loop().time())
        raise RuntimeError

    policy = replace(POLICY, max_attempts=2, retry_backoff_seconds=0.08)
    async with running(database, policy) as run:
        run.deliveries.act = act
        run.deliveries.open.set()
        await run.finished(await run.add())
        assert times[1] - times[0] >= 0.08


class ForgetfulInbox(InboxStore):
    """Its disk refuses the first writes of a success."""

    refusals = 0

    async def succeed(self, entry_id: int, now_ms: int) -> None:
        if self.refusals:
            self.refusals -= 1
            raise ServiceError(ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE, "storage is full")
        await super().succeed(entry_id, now_ms)


@pytest.mark.parametrize(("refusals", "code"), [(2, None), (3, "status_write_lost")])
async def test_a_status_that_cannot_be_written_is_tried_thrice_then_swept(
    database: Database, refusals: int, code: str | None
) -> None:
    inbox = ForgetfulInbox(database)
    inbox.refusals = refusals
    async with running(database, inbox=inbox) as run:
        run.deliveries.open.set()
        first, second = await run.add(), await run.add()
        tasks = await run.finished(first, second)
        assert [task.error_code for task in tasks] == [code, None]
        assert run.deliveries.done == [first, second]
        assert (await run.queue.health()).pending == 0


class BreakingInbox(InboxStore):
    """Its disk refuses claims while it is broken."""

    broken = False
    claims = 0

    async def claim(self, limit: int, now_ms: int) -> list[InboxEntry]:
        self.claims += 1
        if self.broken:
            raise ServiceError(ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE, "storage failed")
        return await super().claim(limit, now_ms)


async def test_a_loop_that_dies_shows_in_health_and_the_next_offer_starts_it(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervision, "_FIRST_PAUSE_SECONDS", 60.0)
    inbox = BreakingInbox(database)
    async with running(database, inbox=inbox) as run:
        run.deliveries.open.set()
        await until(lambda: inbox.claims == 1)
        assert (await run.queue.health()).loop_alive
        inbox.broken = True
        first = await run.add()
        await until(lambda: run.supervisor.failing() == ["memorize-queue"])
        health = await run.queue.health()
        assert (health.loop_alive, health.loop_restarts, health.pending) == (False, 1, 1)
        assert health.last_loop_error_at_ms is not None
        inbox.broken = False
        second = await run.add()
        await run.finished(first, second)
        health = await run.queue.health()
        assert (health.loop_alive, health.loop_restarts, health.pending) == (True, 1, 0)


async def test_a_row_that_nobody_announced_is_found_by_the_scan(database: Database) -> None:
    async with running(database, replace(POLICY, scan_interval_seconds=0.05)) as run:
        run.deliveries.open.set()
        await asyncio.sleep(0.02)
        entry = new_entry()
        now_ms = run.clock.now_ms()
        await run.inbox.enqueue(entry, POLICY.caps, now_ms, only_behind_others=False)
        await run.finished(entry.request_id)


async def test_rows_are_deleted_at_their_age_with_a_warning_for_undelivered_ones(
    database: Database,
) -> None:
    async with running(database, replace(POLICY, max_concurrency=1)) as run:
        running_one = await run.add("a")
        undelivered = await run.add("a")
        await until(lambda: len(run.deliveries.running) == 1)
        run.clock.advance_ms(POLICY.row_retention_ms - 1_000)
        young = await run.add("b")
        run.clock.advance_ms(61_000)
        with capture_logs() as lines:
            await run.add("c")
            async with asyncio.timeout(5):
                while await run.inbox.task(undelivered) is not None:
                    await asyncio.sleep(0.005)
        warned = [line for line in lines if line["event"] == "queue_rows_aged_out_undelivered"]
        assert [line["count"] for line in warned] == [1]
        assert (await run.task(running_one)).status is InboxStatus.PROCESSING
        assert (await run.task(young)).status is InboxStatus.QUEUED


async def test_stopping_lets_deliveries_end_and_starts_no_more(database: Database) -> None:
    async with running(database, replace(POLICY, max_concurrency=1)) as run:
        first, second = await run.add("a"), await run.add("b")
        await until(lambda: len(run.deliveries.running) == 1)
        stopping = asyncio.create_task(run.queue.stop(5))
        await asyncio.sleep(0.02)
        assert not stopping.done()
        run.deliveries.open.set()
        await stopping
        assert (await run.task(first)).status is InboxStatus.SUCCESS
        assert (await run.task(second)).status is InboxStatus.QUEUED


async def test_what_does_not_end_in_time_is_delivered_after_the_next_start(
    database: Database,
) -> None:
    async with running(database) as run:
        late = await run.add()
        await until(lambda: len(run.deliveries.running) == 1)
        await run.queue.stop(0.01)
        assert run.deliveries.running == []
        assert (await run.task(late)).status is InboxStatus.PROCESSING
    async with running(database) as run:
        run.deliveries.open.set()
        (task,) = await run.finished(late)
        assert task.status is InboxStatus.SUCCESS


async def test_a_row_that_outlives_too_many_processes_is_given_up(database: Database) -> None:
    policy = replace(POLICY, max_replays=1)
    async with running(database, policy) as run:
        deadly = await run.add()
        await until(lambda: len(run.deliveries.running) == 1)
    async with running(database, policy) as run:
        await until(lambda: len(run.deliveries.running) == 1)
    async with running(database, policy) as run:
        task = await run.task(deadly)
        assert (task.status.value, task.error_code) == ("failed", "replays_exhausted")
        assert run.deliveries.running == []


async def test_the_age_is_that_of_the_oldest_that_waits(database: Database) -> None:
    async with running(database) as run:
        assert (await run.queue.health()).oldest_pending_age_seconds is None
        await run.add()
        run.clock.advance_ms(2_500)
        await run.add()
        assert (await run.queue.health()).oldest_pending_age_seconds == 2.5


async def test_deliveries_and_rejections_are_counted(database: Database) -> None:
    registry = CollectorRegistry()
    policy = replace(POLICY, max_attempts=2, caps=InboxCaps(per_session=1, total=200))
    async with running(database, policy, metrics=QueueMetrics.of(registry)) as run:

        def fails_for_b(entry: InboxEntry) -> None:
            if entry.session_id == "b":
                raise RuntimeError("broken")

        def counted(name: str, **labels: str) -> float | None:
            return registry.get_sample_value(f"remanence_queue_{name}_total", labels)

        assert counted("rejected", code="QUEUE_SATURATED") == 0
        run.deliveries.act = fails_for_b
        good, bad = await run.add("a"), await run.add("b")
        with pytest.raises(ServiceError):
            await run.add("a")
        with pytest.raises(ServiceError):
            await run.add("c", size=1_001)
        run.deliveries.open.set()
        await run.finished(good, bad)
        assert counted("deliveries", outcome="succeeded") == 1
        assert counted("deliveries", outcome="retried") == 1
        assert counted("deliveries", outcome="failed") == 1
        assert counted("rejected", code="QUEUE_SATURATED") == 1
        assert counted("rejected", code="PAYLOAD_TOO_LARGE") == 1
