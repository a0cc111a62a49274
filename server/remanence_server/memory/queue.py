"""The asynchronous queue: takes requests in, delivers them in the order of their sessions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from remanence_server.runtime.clock import Clock
from remanence_server.runtime.errors import INTERNAL_ERROR_MESSAGE, ErrorCode, ServiceError
from remanence_server.runtime.faults import describe_fault
from remanence_server.runtime.logging import get_logger, request_context
from remanence_server.runtime.supervision import Supervisor
from remanence_server.state.inbox import InboxStore
from remanence_server.state.inbox_model import InboxCaps, InboxEntry, NewEntry

# Does what a queued request asks for; raises when it cannot be done.
Deliver = Callable[[InboxEntry], Awaitable[None]]

_LOOP = "memorize-queue"
_PURGE_INTERVAL_SECONDS = 60.0
_STATUS_WRITE_TRIES = 3

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
    ) -> None:
        self._inbox = inbox
        self._deliver = deliver
        self._clock = clock
        self._policy = policy
        self._supervisor = supervisor
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

    async def offer(self, make_entry: Callable[[], NewEntry], *, asynchronous: bool) -> int | None:
        """Queues a request that asks for it, or whose session has unfinished requests before it.

        Returns how many unfinished requests the session has then, this one included; the request is
        on disk. None says that it is to be done at once, by the caller.

        Raises ServiceError, and nothing is stored: PAYLOAD_TOO_LARGE for an asynchronous request
        that is too large for the queue, QUEUE_SATURATED when the queue is full.
        """
        asynchronous = asynchronous and self._policy.enabled
        if not asynchronous and not self._may_have_rows:
            return None
        entry = make_entry()
        size_bytes, most = len(entry.payload_json.encode()), self._policy.max_payload_bytes
        if asynchronous and size_bytes > most:
            raise ServiceError(
                ErrorCode.PAYLOAD_TOO_LARGE,
                f"the batch has {size_bytes} bytes as JSON; with async_mode it may have {most}",
            )
        if asynchronous:
            self._offers += 1
            self._may_have_rows = True
        pending = await self._inbox.enqueue(
            entry, self._policy.caps, self._clock.now_ms(), only_behind_others=not asynchronous
        )
        if pending is not None:
            self._wake.set()
            self._supervisor.restart_now(_LOOP)
        return pending

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
        for entry in claimed:
            self._in_flight[entry.entry_id] = asyncio.create_task(
                self._process(entry), name=f"{_LOOP}-{entry.entry_id}"
            )
        if not self._in_flight and not (await self._inbox.counts()).pending:
            # Unless one has been offered since: its row may have come after the count.
            self._may_have_rows = self._offers != offers

    async def _process(self, entry: InboxEntry) -> None:
        try:
            with request_context(entry.request_id):
                await self._settle(entry, await self._try_to_deliver(entry))
        finally:
            del self._in_flight[entry.entry_id]
            self._wake.set()

    async def _try_to_deliver(self, entry: InboxEntry) -> Exception | None:
        """Delivers a request; returns what its last attempt failed with."""
        attempt = 1
        while True:
            try:
                await self._deliver(entry)
            except Exception as error:
                gives_up = attempt >= self._policy.max_attempts
                _log.warning(
                    "queue_delivery_failed",
                    attempt=attempt,
                    gives_up=gives_up,
                    **describe_fault(error),
                )
                if gives_up:
                    return error
            else:
                return None
            attempt += 1
            await asyncio.sleep(self._policy.retry_backoff_seconds)

    async def _settle(self, entry: InboxEntry, failure: Exception | None) -> None:
        """Writes down what became of a delivery. If the disk refuses, a later sweep says so."""
        for number in range(_STATUS_WRITE_TRIES):
            if number:
                await asyncio.sleep(self._policy.status_write_pause_seconds)
            try:
                if failure is None:
                    await self._inbox.succeed(entry.entry_id, self._clock.now_ms())
                else:
                    code, text = _describe(failure)
                    await self._inbox.fail(entry.entry_id, code, text, self._clock.now_ms())
            except Exception as error:
                _log.error("queue_status_not_written", **describe_fault(error))
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
