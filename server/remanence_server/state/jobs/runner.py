"""Works off the job table with a few workers, and tells waiters what became of their jobs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from remanence_server.providers.models.interface import FailureReason
from remanence_server.runtime.clock import Clock
from remanence_server.runtime.errors import INTERNAL_ERROR_MESSAGE, Retrying, ServiceError
from remanence_server.runtime.fault_points import FaultPoint, reach
from remanence_server.runtime.faults import describe_fault
from remanence_server.runtime.logging import get_logger
from remanence_server.runtime.metrics import JobMetrics
from remanence_server.runtime.supervision import Supervisor
from remanence_server.runtime.tracing import NoTracing, Origins, Tracing
from remanence_server.state.jobs.model import Job, JobState, JobStatus, NewJob
from remanence_server.state.jobs.store import JobStore, LeaseLostError

# A stage does its work and returns the jobs that follow from it. It may be run again after a crash,
# so what it writes must be the same the second time.
Stage = Callable[[Job], Awaitable[Sequence[NewJob]]]

# When no wake-up comes, look again after this long (a clock that jumped, a retry that became due).
_LONGEST_SLEEP_SECONDS = 5.0
# Between two tries to write down a failure.
_UNRECORDED_RETRY_SECONDS = 1.0

# How an attempt can end, for the metrics.
_SUCCEEDED, _RETRIED, _LEASE_LOST = "succeeded", "retried", "lease_lost"
_OUTCOMES = (_SUCCEEDED, _RETRIED, JobStatus.DEAD_LETTER.value, _LEASE_LOST)

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RunnerPolicy:
    """How many jobs run at once, how long a lease lasts, how retries are spaced."""

    workers: int
    lease_seconds: float
    # The first retry waits this long, every further one twice as long, up to the limit.
    retry_backoff_seconds: float
    retry_backoff_limit_seconds: float = 300.0
    # The limit for jobs that wait until a circumstance has passed: they go on soon after.
    wait_limit_seconds: float = 60.0

    def pause_seconds(self, job: Job, *, waits: bool) -> float:
        """How long to pause after a failure; `waits` when it says nothing against the job."""
        doublings = job.waits if waits else job.attempts - 1
        limit = self.wait_limit_seconds if waits else self.retry_backoff_limit_seconds
        # No power that would be larger than any limit: what waits may wait for days.
        return min(self.retry_backoff_seconds * (1 << min(doublings, 30)), limit)


@dataclass(slots=True, eq=False)
class _Waiter:
    """Somebody who waits for jobs of a cell, and why it makes no sense to wait on."""

    event: asyncio.Event = field(default_factory=asyncio.Event)
    trouble: ServiceError | None = None


class JobRunner:
    """Workers over a job store. One instance per process, under the lock of the memory root."""

    def __init__(
        self,
        store: JobStore,
        stages: Mapping[str, Stage],
        clock: Clock,
        policy: RunnerPolicy,
        supervisor: Supervisor,
        *,
        metrics: JobMetrics | None = None,
        tracing: Tracing | None = None,
    ) -> None:
        self._store = store
        self._stages = stages
        self._clock = clock
        self._policy = policy
        self._supervisor = supervisor
        self._metrics = metrics or JobMetrics.of()
        self._tracing = tracing or NoTracing()
        self._origins = Origins(self._tracing)
        for stage in stages:
            self._metrics.duration_seconds.labels(stage)
            for outcome in _OUTCOMES:
                self._metrics.attempts.labels(stage, outcome)
        self._work_available = asyncio.Condition()
        self._wake_count = 0
        self._cell_waiters: dict[str, set[_Waiter]] = {}
        self._stopping = False
        self._busy = 0

    async def start(self) -> None:
        """Takes back what a dead process left, and starts the workers.

        What was given up for a wrong key or model name is tried again: it may be right now.
        """
        recovered = await self._store.recover(self._clock.now_ms())
        recovered += await self._store.retry_given_up(
            FailureReason.CONFIGURATION, self._clock.now_ms()
        )
        reach(FaultPoint.START_RECOVERY)
        if recovered:
            _log.warning("jobs_recovered", count=recovered)
        for number in range(self._policy.workers):
            self._supervisor.start(f"job-worker-{number}", self._work)

    async def stop(self, grace_seconds: float) -> None:
        """Claims nothing more and waits for running jobs; what does not end stays leased."""
        self._stopping = True
        await self.wake()
        with suppress(TimeoutError):
            async with asyncio.timeout(grace_seconds), self._work_available:
                await self._work_available.wait_for(lambda: not self._busy)

    def asked_for(self, cell_id: str) -> None:
        """Remembers, for traces, that the jobs of a cell are asked for by what runs here."""
        self._origins.remember(cell_id)

    async def wake(self) -> None:
        """Says that there may be new work."""
        async with self._work_available:
            self._wake_count += 1
            self._work_available.notify_all()

    async def announce(self, cell_id: str | None) -> None:
        """Says that jobs have changed: of one cell, or of any with None."""
        for each in self._cell_waiters if cell_id is None else (cell_id,):
            self._tell(each)
        # Following jobs, or the next of a serial key, may run now.
        await self.wake()

    async def wait_for_stages(
        self, cell_id: str, stages: frozenset[str] | None, timeout_seconds: float | None
    ) -> list[JobState]:
        """Waits until the jobs of a cell have settled, or one attempt at them has failed.

        `stages` limits the wait to some stages; None means all, those that follow included.
        Returns the states as they are then, also when the time is up. Raises ServiceError when
        the job table cannot be written: nobody can tell when that ends.
        """
        waiter = _Waiter()
        self._cell_waiters.setdefault(cell_id, set()).add(waiter)
        try:
            async with asyncio.timeout(timeout_seconds):
                while True:
                    waiter.event.clear()
                    states = await self._store.states_of_cell(cell_id)
                    wanted = [s for s in states if stages is None or s.stage in stages]
                    if all(state.has_settled for state in wanted):
                        return wanted
                    await waiter.event.wait()
                    if waiter.trouble is not None:
                        raise waiter.trouble
        except TimeoutError:
            states = await self._store.states_of_cell(cell_id)
            return [s for s in states if stages is None or s.stage in stages]
        finally:
            waiters = self._cell_waiters[cell_id]
            waiters.discard(waiter)
            if not waiters:
                del self._cell_waiters[cell_id]

    async def _work(self) -> None:
        while not self._stopping:
            seen = self._wake_count
            # A claim on its way counts: what it brings must not start while the service closes.
            self._busy += 1
            try:
                job = await self._claim()
                if job is not None:
                    reach(FaultPoint.JOB_CLAIMED)
                outcome = None if job is None else await self._run(job)
            finally:
                self._busy -= 1
            if job is not None:
                # One that failed may hold up jobs of other cells: their waiters are to know.
                concerned = (_SUCCEEDED, _LEASE_LOST)
                await self.announce(job.cell_id if outcome in concerned else None)
            elif self._stopping:
                await self.wake()
            else:
                await self._sleep(seen)

    async def _claim(self) -> Job | None:
        try:
            return await self._store.claim(
                self._clock.now_ms(), int(self._policy.lease_seconds * 1000)
            )
        except ServiceError as error:
            for cell_id in self._cell_waiters:
                self._tell(cell_id, error)
            raise

    async def _sleep(self, seen: int) -> None:
        due_ms = await self._store.next_available_ms()
        seconds = _LONGEST_SLEEP_SECONDS
        if due_ms is not None:
            # It may have become due since the claim that found nothing: then this is no sleep.
            seconds = min(seconds, max(0.0, (due_ms - self._clock.now_ms()) / 1000))
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds), self._work_available:
                await self._work_available.wait_for(
                    lambda: self._stopping or self._wake_count != seen
                )

    async def _run(self, job: Job) -> str:
        """Runs a job; returns how the attempt ended, for the metrics."""
        heartbeat = asyncio.create_task(self._keep_lease(job))
        attributes = {"remanence.job_id": job.job_id, "remanence.attempt": job.attempts}
        origins = self._origins.of(job.cell_id)
        try:
            with self._tracing.work(f"stage {job.stage}", origins, attributes):
                with self._metrics.duration_seconds.labels(job.stage).time():
                    following = await self._stages[job.stage](job)
                reach(FaultPoint.STAGE_DONE)
                await self._store.succeed(job, following, self._clock.now_ms())
            reach(FaultPoint.JOB_SUCCEEDED)
            outcome = _SUCCEEDED
        except LeaseLostError:
            _log.warning("job_lease_lost", job_id=job.job_id, stage=job.stage)
            outcome = _LEASE_LOST
        except Exception as error:
            outcome = await self._record_failure(job, error)
        finally:
            heartbeat.cancel()
        self._metrics.attempts.labels(job.stage, outcome).inc()
        return outcome

    async def _record_failure(self, job: Job, error: Exception) -> str:
        """Writes down a failure; returns what became of the job, for the metrics."""
        if isinstance(error, ServiceError):
            code, text, hint = error.reason, error.message, error.retry_after_seconds
            retrying = error.retrying
        else:
            # The text of a foreign exception may hold memory text: only its type is kept.
            code, text, hint = type(error).__name__, INTERNAL_ERROR_MESSAGE, None
            retrying = Retrying.COUNTS
        retry_at_ms, waits = None, retrying is Retrying.WAITS
        is_left = job.attempts < job.maximum_attempts
        if waits or (retrying is Retrying.COUNTS and is_left):
            backoff = self._policy.pause_seconds(job, waits=waits)
            retry_at_ms = self._clock.now_ms() + int(max(backoff, hint or 0.0) * 1000)
        _log.warning(
            "job_attempt_failed",
            job_id=job.job_id,
            stage=job.stage,
            attempt=job.attempts,
            error_code=code,
            gives_up=retry_at_ms is None,
            **describe_fault(error),
        )
        while True:
            try:
                await self._store.fail(job, code, text, retry_at_ms, self._clock.now_ms(), waits)
            except LeaseLostError:
                _log.warning("job_lease_lost", job_id=job.job_id, stage=job.stage)
                return _LEASE_LOST
            except ServiceError as trouble:
                # A full disk takes no failures either. Given up, the job would wait for its lease.
                self._tell(job.cell_id, trouble)
                if not self._stopping:
                    await asyncio.sleep(_UNRECORDED_RETRY_SECONDS)
                    continue
            return _RETRIED if retry_at_ms is not None else JobStatus.DEAD_LETTER.value

    async def _keep_lease(self, job: Job) -> None:
        while True:
            await asyncio.sleep(self._policy.lease_seconds / 3)
            until = self._clock.now_ms() + int(self._policy.lease_seconds * 1000)
            # The disk may take it the next time; what the job itself does will say if not.
            with suppress(ServiceError):
                await self._store.extend(job, until)

    def _tell(self, cell_id: str, trouble: ServiceError | None = None) -> None:
        for waiter in self._cell_waiters.get(cell_id, ()):
            waiter.trouble = trouble
            waiter.event.set()
