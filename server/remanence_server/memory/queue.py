"""The asynchronous queue: takes requests in, delivers them in the order of their sessions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from remanence_server.runtime.clock import Clock
from remanence_server.runtime.errors import INTERNAL_ERROR_MESSAGE, ErrorCode, ServiceError
from remanence_server.runtime.fault_points import FaultPoint, reach
from remanence_server.runtime.faults import describe_fault
from remanence_server.runtime.logging import get_logger, request_context
from remanence_server.runtime.metrics import QueueMetrics
from remanence_server.runtime.storage import is_storage_trouble
from remanence_server.runtime.supervision import Supervisor
from remanence_server.runtime.tasks import see_through
from remanence_server.runtime.tracing import NoTracing, Origins, Tracing
from remanence_server.state.inbox import InboxStore
from remanence_server.state.inbox_model import InboxCaps, InboxEntry, NewEntry
from remanence_server.state.receipts import PendingReceipt

# Does what a queued request asks for; raises when it cannot be done.
Deliver = Callable[[InboxEntry], Awaitable[None]]

_LOOP = "memorize-queue"
_PURGE_INTERVAL_SECONDS = 60.0
_STATUS_WRITE_TRIES = 3
# Between tries to deliver to a disk that refuses.
_DISK_PAUSE_SECONDS = 1.0
# How an attempt at a delivery can end, for the metrics.
_SUCCEEDED, _RETRIED, _FAILED = "succeeded", "retried", "failed"

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class QueuePolicy:
    """What is taken in, how it is delivered, how long it is kept."""

    # Whether requests that ask for it are queued. What is queued is delivered in any case.
    enabled: bool
    caps: InboxCaps
    max_payload_bytes: int
    max_concurrency: int
    scan_interval_seconds: float
    max_attempts: int
    retry_backoff_seconds: float
    max_replays: int
    row_retention_ms: int
    # Between tries to write down what became of a delivery.
    status_write_pause_seconds: float = 1.0


@dataclass(frozen=True, slots=True)
class QueueHealth:
    """How the queue is doing; the age is that of the oldest unfinished request."""

    loop_alive: bool
    accepting: bool
    pending: int
    oldest_pending_age_seconds: float | None
    failed: int
    loop_restarts: int
    last_loop_error_at_ms: int | None


class MemorizeQueue:
    """One instance per process, under the lock of the memory root."""

    def __init__(
        self,
        inbox: InboxStore,
        deliver: Deliver,
        clock: Clock,
        policy: QueuePolicy,
        supervisor: Supervisor,
        *,
        metrics: QueueMetrics | None = None,
        tracing: Tracing | None = None,
    ) -> None:
        self._inbox = inbox
        self._deliver = deliver
        self._clock = clock
        self._policy = policy
        self._supervisor = supervisor
        self._metrics = metrics or QueueMetrics.of()
        self._tracing = tracing or NoTracing()
        self._origins = Origins(self._tracing)
        for outcome in (_SUCCEEDED, _RETRIED, _FAILED):
            self._metrics.deliveries.labels(outcome)
        for code in (ErrorCode.PAYLOAD_TOO_LARGE, ErrorCode.QUEUE_SATURATED):
            self._metrics.rejected.labels(code.value)
        self._wake = asyncio.Event()
        self._in_flight: dict[int, asyncio.Task[None]] = {}
        self._stopping = False
        self._next_purge_seconds = float("-inf")
        # Held while deliveries are started: whoever stops the queue must see them all.
        self._starting = asyncio.Lock()
        # Synchronous calls ask the table about their session only while something may be queued.
        self._may_have_rows = True
        # Asynchronous requests so far; a synchronous one is never the first of its session.
        self._offers = 0

    async def start(self) -> None:
        """Takes back what a dead process had in flight, and starts to deliver."""
        recovered = await self._inbox.recover(self._policy.max_replays, self._clock.now_ms())
        if recovered.requeued or recovered.given_up:
            _log.warning(
                "queue_recovered", requeued=recovered.requeued, given_up=recovered.given_up
            )
        self._supervisor.start(_LOOP, self._run)

    async def stop(self, grace_seconds: float) -> None:
        """Starts no more deliveries and waits for those in flight.

        What does not end in time is delivered again after the next start.
        """
        self._stopping = True
        self._wake.set()
        async with self._starting:
            running = list(self._in_flight.values())
        if not running:
            return
        _, late = await asyncio.wait(running, timeout=grace_seconds)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    async def offer(
        self,
        make_entry: Callable[[], NewEntry],
        *,
        asynchronous: bool,
        receipt: PendingReceipt | None = None,
    ) -> int | None:
        """Queues a request that asks for it, or whose session has unfinished requests before it.

        Returns how many unfinished requests the session has then, this one included; the request is
        on disk, and its receipt with it. None says that it is to be done at once, by the caller.

        Raises ServiceError, and nothing is stored: PAYLOAD_TOO_LARGE for an asynchronous request
        that is too large for the queue, QUEUE_SATURATED when the queue is full.
        """
        asynchronous = asynchronous and self._policy.enabled
        if not asynchronous and not self._may_have_rows:
            return None
        entry = make_entry()
        size_bytes, most = len(entry.payload_json.encode()), self._policy.max_payload_bytes
        if asynchronous and size_bytes > most:
            self._metrics.rejected.labels(ErrorCode.PAYLOAD_TOO_LARGE.value).inc()
            raise ServiceError(
                ErrorCode.PAYLOAD_TOO_LARGE,
                f"the batch has {size_bytes} bytes as JSON; with async_mode it may have {most}",
            )
        if asynchronous:
            self._offers += 1
            self._may_have_rows = True
        # A caller that leaves now must not keep the queue from hearing of the row.
        return await see_through(self._enqueue(entry, asynchronous, receipt))

    async def health(self) -> QueueHealth:
        """How much waits, and whether it is being delivered."""
        counts = await self._inbox.counts()
        loop = self._supervisor.loops[_LOOP]
        age_seconds = None
        if counts.oldest_created_at_ms is not None:
            age_seconds = max(0, self._clock.now_ms() - counts.oldest_created_at_ms) / 1000
        return QueueHealth(
            loop_alive=loop.alive,
            accepting=self._policy.enabled and not self._stopping,
            pending=counts.pending,
            oldest_pending_age_seconds=age_seconds,
            failed=counts.failed,
            loop_restarts=loop.restarts,
            last_loop_error_at_ms=loop.last_error_at_ms,
        )

    async def _enqueue(
        self, entry: NewEntry, asynchronous: bool, receipt: PendingReceipt | None
    ) -> int | None:
        self._origins.remember(entry.request_id)
        try:
            pending = await self._inbox.enqueue(
                entry,
                self._policy.caps,
                self._clock.now_ms(),
                only_behind_others=not asynchronous,
                receipt=receipt,
            )
        except ServiceError as error:
            self._metrics.rejected.labels(error.code.value).inc()
            raise
        if pending is not None:
            reach(FaultPoint.INBOX_ACCEPTED)
            self._wake.set()
            self._supervisor.restart_now(_LOOP)
        return pending

    async def _run(self) -> None:
        while not self._stopping:
            self._wake.clear()
            await self._purge()
            async with self._starting:
                await self._start_deliveries()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), self._policy.scan_interval_seconds)

    async def _start_deliveries(self) -> None:
        if self._stopping:
            return
        offers = self._offers
        lost = await self._inbox.sweep(self._in_flight.keys(), self._clock.now_ms())
        if lost:
            _log.error("queue_outcome_unknown", count=lost)
        free = self._policy.max_concurrency - len(self._in_flight)
        if free <= 0:
            return
        claimed = await self._inbox.claim(free, self._clock.now_ms())
        if claimed:
            reach(FaultPoint.INBOX_CLAIMED)
        for entry in claimed:
            self._in_flight[entry.entry_id] = asyncio.create_task(
                self._process(entry), name=f"{_LOOP}-{entry.entry_id}"
            )
        if not self._in_flight and not (await self._inbox.counts()).pending:
            # Unless one has been offered since: its row may have come after the count.
            self._may_have_rows = self._offers != offers

    async def _process(self, entry: InboxEntry) -> None:
        try:
            with (
                request_context(entry.request_id),
                self._tracing.work("queue delivery", self._origins.of(entry.request_id)) as work,
            ):
                failure = await self._try_to_deliver(entry)
                if failure is not None:
                    work.fail(_describe(failure)[0])
                await self._settle(entry, failure)
        finally:
            del self._in_flight[entry.entry_id]
            self._wake.set()

    async def _try_to_deliver(self, entry: InboxEntry) -> Exception | None:
        """Delivers a request; returns what its last attempt failed with."""
        attempt = 1
        while True:
            try:
                await self._deliver(entry)
                reach(FaultPoint.DELIVERY_DONE)
            except Exception as error:
                # A disk that refuses says nothing against the request: it waits until it is taken.
                is_held_up = is_storage_trouble(error)
                gives_up = attempt >= self._policy.max_attempts and not is_held_up
                self._metrics.deliveries.labels(_FAILED if gives_up else _RETRIED).inc()
                _log.warning(
                    "queue_delivery_failed",
                    attempt=attempt,
                    gives_up=gives_up,
                    **describe_fault(error),
                )
                if gives_up:
                    return error
            else:
                self._metrics.deliveries.labels(_SUCCEEDED).inc()
                return None
            attempt += not is_held_up
            pause = _DISK_PAUSE_SECONDS if is_held_up else 0.0
            await asyncio.sleep(max(pause, self._policy.retry_backoff_seconds))

    async def _settle(self, entry: InboxEntry, failure: Exception | None) -> None:
        """Writes down what became of a delivery, as soon as the disk takes it.

        What cannot be written for another reason is left to a later sweep, which says so.
        """
        tries_left = _STATUS_WRITE_TRIES
        while tries_left:
            try:
                if failure is None:
                    await self._inbox.succeed(entry.entry_id, self._clock.now_ms())
                else:
                    code, text = _describe(failure)
                    await self._inbox.fail(entry.entry_id, code, text, self._clock.now_ms())
            except Exception as error:
                _log.error("queue_status_not_written", **describe_fault(error))
                tries_left -= not is_storage_trouble(error)
                if tries_left:
                    await asyncio.sleep(self._policy.status_write_pause_seconds)
            else:
                return

    async def _purge(self) -> None:
        now_seconds = self._clock.monotonic_seconds()
        if now_seconds < self._next_purge_seconds:
            return
        self._next_purge_seconds = now_seconds + _PURGE_INTERVAL_SECONDS
        before_ms = self._clock.now_ms() - self._policy.row_retention_ms
        deleted, undelivered = await self._inbox.purge(before_ms)
        if undelivered:
            _log.warning("queue_rows_aged_out_undelivered", count=undelivered, deleted=deleted)


def _describe(failure: Exception) -> tuple[str, str]:
    if isinstance(failure, ServiceError):
        return failure.code.value, failure.message
    # The text of a foreign exception may hold memory text: only its type is told.
    return type(failure).__name__, INTERNAL_ERROR_MESSAGE
