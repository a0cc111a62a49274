"""Add and flush: from messages in to memories on disk."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from weakref import WeakValueDictionary

from remanence_server.domain.messages import MemoryCell, Message
from remanence_server.domain.owners import Scope
from remanence_server.ingest.boundary import BoundaryDetector
from remanence_server.ingest.content import check_contents
from remanence_server.memory.stages import EPISODE, Pipeline
from remanence_server.projection.projector import Projector
from remanence_server.runtime.clock import Clock
from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.runtime.fault_points import FaultPoint, reach
from remanence_server.runtime.faults import describe_fault
from remanence_server.runtime.logging import get_logger
from remanence_server.runtime.storage import details_of
from remanence_server.runtime.tasks import see_through
from remanence_server.runtime.tracing import span
from remanence_server.state.jobs.model import JobState, JobStatus
from remanence_server.state.jobs.runner import JobRunner
from remanence_server.state.jobs.store import JobStore
from remanence_server.state.receipts import PendingReceipt
from remanence_server.state.sessions import BufferedMessage, PlannedCell, SessionStore

# What it takes to bring an answer to a caller before its deadline.
_ANSWER_SECONDS = 0.1
# What add and flush wait for: with the episode the words are Markdown.
_AWAITED = frozenset({EPISODE})

_log = get_logger(__name__)


class WriteStatus(StrEnum):
    """What a call did with the buffer."""

    ACCUMULATED = "accumulated"
    EXTRACTED = "extracted"
    NO_EXTRACTION = "no_extraction"


@dataclass(frozen=True, slots=True)
class Added:
    """What became of a batch; `known_count` messages were in the session before."""

    status: WriteStatus
    known_count: int


@dataclass(frozen=True, slots=True)
class AddBatch:
    """Messages for one session, in the order in which they are to be remembered."""

    scope: Scope
    session_id: str
    messages: Sequence[Message]
    defer_extraction: bool
    # The row of the queue it was taken from: what is deleted from that meanwhile is not stored.
    queued_as: int | None = None


class SessionLocks:
    """One lock a session, alive while somebody holds or awaits it."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[tuple[Scope, str], asyncio.Lock] = WeakValueDictionary()

    def of(self, scope: Scope, session_id: str) -> asyncio.Lock:
        """The lock of a session, to be entered with `async with`."""
        key = (scope, session_id)
        lock = self._locks.get(key)
        if lock is None:
            lock = self._locks[key] = asyncio.Lock()
        return lock


@dataclass(frozen=True, slots=True)
class WritePath:
    """What add and flush need."""

    sessions: SessionStore
    boundary: BoundaryDetector
    pipeline: Pipeline
    job_store: JobStore
    runner: JobRunner
    projector: Projector
    clock: Clock
    # How long a flush waits, after the Markdown is written, until its entries can be found.
    visibility_timeout_seconds: float
    locks: SessionLocks = field(default_factory=SessionLocks)


async def add_messages(
    path: WritePath,
    batch: AddBatch,
    *,
    receipt: PendingReceipt | None = None,
    remaining_seconds: float | None = None,
) -> Added:
    """Accepts a batch; it is on disk when this returns. Extracts what is complete, unless deferred.

    Raises ServiceError for content that cannot be read, or when storage refuses the batch; nothing
    of it is stored then. A trouble after that is not the caller's: the batch is kept, the answer is
    "accumulated", and the extraction goes on by itself. Raises ReceiptExistsError, and stores
    nothing, when a request with this receipt's key has been accepted before.

    `remaining_seconds` is how long the caller still waits: it is told that the batch is kept before
    it gives up. A caller that is cancelled stops the waiting, not the work: a batch is accepted and
    cut, or it is not accepted.
    """
    check_contents(batch.messages)
    answer_by = _answer_by(remaining_seconds)
    new_count, cells = await see_through(_accept(path, batch, receipt))
    reach(FaultPoint.ADD_ACCEPTED)
    status = WriteStatus.ACCUMULATED
    try:
        async with asyncio.timeout_at(answer_by):
            status = await _outcome(path, cells)
    except TimeoutError:
        pass
    except Exception as error:
        _log.warning("extraction_not_awaited", **describe_fault(error))
    return Added(status, len(batch.messages) - new_count)


async def _accept(
    path: WritePath, batch: AddBatch, receipt: PendingReceipt | None
) -> tuple[int, list[str]]:
    """Stores a batch and cuts what it completes: how many messages were new, and the cells."""
    new_count = await path.sessions.append(
        batch.scope,
        batch.session_id,
        batch.messages,
        path.clock.now_ms(),
        receipt,
        batch.queued_as,
    )
    reach(FaultPoint.BUFFER_APPENDED)
    if batch.defer_extraction:
        return new_count, []
    try:
        return new_count, await _cut(path, batch.scope, batch.session_id, final=False)
    except Exception as error:
        # A caller who is told of it would send the batch again.
        _log.warning("extraction_not_started", **describe_fault(error))
        return new_count, []


async def _outcome(path: WritePath, cells: Sequence[str]) -> WriteStatus:
    for cell in cells:
        states = await path.runner.wait_for_stages(cell, _AWAITED, None)
        if any(state.status is not JobStatus.SUCCEEDED for state in states):
            return WriteStatus.ACCUMULATED
    return WriteStatus.EXTRACTED if cells else WriteStatus.ACCUMULATED


async def flush_session(
    path: WritePath,
    scope: Scope,
    session_id: str,
    *,
    wait_until_visible: bool,
    remaining_seconds: float | None = None,
) -> WriteStatus:
    """Closes the open segment of a session and waits until its episodes are on disk.

    So it does with segments closed before that are still being extracted: they come first, and
    those that wait for another attempt get it at once. Raises ServiceError
    (EXTERNAL_SERVICE_UNAVAILABLE) when an extraction failed; the messages are kept in its job,
    which is tried again by itself and by the next flush.

    `remaining_seconds` is how long the caller still waits: an answer that the entries are on disk
    is worth more to it than none, so it is given before they can be found. A caller that is
    cancelled stops the waiting, not the work.
    """
    answer_by = _answer_by(remaining_seconds)
    earlier = await path.job_store.unfinished_cells(scope, session_id)
    cells = [*earlier, *await see_through(_cut(path, scope, session_id, final=True))]
    if not cells:
        # Another flush may have cut in between.
        cells = await path.job_store.unfinished_cells(scope, session_id)
        if not cells:
            return WriteStatus.NO_EXTRACTION
    if await path.job_store.hurry(scope, session_id, _AWAITED, path.clock.now_ms()):
        await path.runner.wake()
    states = []
    for cell_id in cells:
        states += await path.runner.wait_for_stages(cell_id, _AWAITED, None)
        for state in states:
            if state.has_failed:
                raise _extraction_failed(state)
    if states and all(state.status is JobStatus.CANCELLED for state in states):
        # Somebody has dropped or deleted what was to be extracted.
        return WriteStatus.NO_EXTRACTION
    if wait_until_visible:
        await _wait_until_visible(path, cells, answer_by)
    return WriteStatus.EXTRACTED


async def _cut(path: WritePath, scope: Scope, session_id: str, *, final: bool) -> list[str]:
    """Cuts what is complete out of a session's buffer; returns the ids of the new cells."""
    while True:
        async with path.locks.of(scope, session_id):
            buffered = await path.sessions.buffered(scope, session_id)
            if not buffered:
                return []
            messages = [entry.message for entry in buffered]
            reach(FaultPoint.BOUNDARY)
            with span("boundary", {"remanence.messages": len(messages)}):
                ends = await path.boundary.detect(messages, final=final)
            planned = _plan(path.pipeline, scope, session_id, buffered, ends)
            if not planned:
                return []
            for plan in planned:
                path.runner.asked_for(plan.cell.cell_id)
            done = await path.sessions.cut(planned, path.clock.now_ms(), _AWAITED)
        if done is not None:
            reach(FaultPoint.CUT_COMMITTED)
            await path.runner.wake()
            return [plan.cell.cell_id for plan in planned]


def _plan(
    pipeline: Pipeline,
    scope: Scope,
    session_id: str,
    buffered: Sequence[BufferedMessage],
    ends: Sequence[int],
) -> list[PlannedCell]:
    planned = []
    start = 0
    for end in ends:
        segment = buffered[start:end]
        start = end
        cell = MemoryCell(
            cell_id=f"mc_{uuid.uuid4().hex}",
            scope=scope,
            session_id=session_id,
            messages=tuple(entry.message for entry in segment),
        )
        planned.append(
            PlannedCell(
                cell=cell,
                sequences=tuple(entry.sequence for entry in segment),
                jobs=pipeline.first_jobs(cell),
            )
        )
    return planned


async def _wait_until_visible(
    path: WritePath, cells: Sequence[str], answer_by: float | None
) -> None:
    """Waits, for a bounded time, until all that came of the cells is in the index."""
    until = asyncio.get_running_loop().time() + path.visibility_timeout_seconds
    try:
        async with asyncio.timeout_at(until if answer_by is None else min(until, answer_by)):
            for cell_id in cells:
                await path.runner.wait_for_stages(cell_id, None, None)
            await path.projector.wait_until_visible()
    except TimeoutError:
        # The entries are on disk and the index follows: the caller asked for a bounded wait.
        return


def _answer_by(remaining_seconds: float | None) -> float | None:
    """When to answer a caller that waits so long, in the time of the event loop."""
    if remaining_seconds is None:
        return None
    return asyncio.get_running_loop().time() + remaining_seconds - _ANSWER_SECONDS


def _extraction_failed(state: JobState) -> ServiceError:
    # The text is a public one: the runner keeps no other.
    reason = state.last_error or state.last_error_code or "unknown"
    if state.status is JobStatus.DEAD_LETTER:
        return ServiceError(
            ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE,
            f"extraction was given up after {state.attempts} attempts ({reason}); "
            "the messages are kept in its job",
            details=details_of(state.last_error),
        )
    return ServiceError(
        ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE,
        f"extraction failed ({reason}) and will be tried again; the messages are kept",
        retry_after_seconds=5.0,
        details=details_of(state.last_error),
    )
