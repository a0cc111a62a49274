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
from remanence_server.runtime.faults import describe_fault
from remanence_server.runtime.logging import get_logger
from remanence_server.state.jobs.model import JobState, JobStatus
from remanence_server.state.jobs.runner import JobRunner
from remanence_server.state.jobs.store import JobStore
from remanence_server.state.sessions import BufferedMessage, PlannedCell, SessionStore

_log = get_logger(__name__)


class WriteStatus(StrEnum):
    """What a call did with the buffer."""

    ACCUMULATED = "accumulated"
    EXTRACTED = "extracted"
    NO_EXTRACTION = "no_extraction"


@dataclass(frozen=True, slots=True)
class AddBatch:
    """Messages for one session, in the order in which they are to be remembered."""

    scope: Scope
    session_id: str
    messages: Sequence[Message]
    defer_extraction: bool


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


async def add_messages(path: WritePath, batch: AddBatch) -> WriteStatus:
    """Accepts a batch; it is on disk when this returns. Extracts what is complete, unless deferred.

    Raises ServiceError for content that cannot be read, or when storage refuses the batch; nothing
    of it is stored then. A trouble after that is not the caller's: the batch is kept, the answer is
    "accumulated", and the extraction goes on by itself.
    """
    check_contents(batch.messages)
    await path.sessions.append(batch.scope, batch.session_id, batch.messages, path.clock.now_ms())
    if batch.defer_extraction:
        return WriteStatus.ACCUMULATED
    try:
        return await _extract_what_is_complete(path, batch.scope, batch.session_id)
    except Exception as error:
        # A caller who is told of it would send the batch again.
        _log.warning("extraction_not_started", **describe_fault(error))
        return WriteStatus.ACCUMULATED


async def _extract_what_is_complete(path: WritePath, scope: Scope, session_id: str) -> WriteStatus:
    cells = await _cut(path, scope, session_id, final=False)
    if not cells:
        return WriteStatus.ACCUMULATED
    for cell in cells:
        states = await path.runner.wait_for_stages(cell, frozenset({EPISODE}), None)
        if any(state.has_failed for state in states):
            return WriteStatus.ACCUMULATED
    return WriteStatus.EXTRACTED


async def flush_session(
    path: WritePath, scope: Scope, session_id: str, *, wait_until_visible: bool
) -> WriteStatus:
    """Closes the open segment of a session and waits until its episodes are on disk.

    So it does with segments closed before that are still being extracted: they come first, and
    those that wait for another attempt get it at once. Raises ServiceError
    (EXTERNAL_SERVICE_UNAVAILABLE) when an extraction failed; the messages are kept in its job,
    which is tried again by itself and by the next flush.
    """
    earlier = await path.job_store.unfinished_cells(scope, session_id)
    cells = [*earlier, *await _cut(path, scope, session_id, final=True)]
    if not cells:
        # Another flush may have cut in between.
        cells = await path.job_store.unfinished_cells(scope, session_id)
        if not cells:
            return WriteStatus.NO_EXTRACTION
    if await path.job_store.retry_now(cells, path.clock.now_ms()):
        await path.runner.wake()
    for cell_id in cells:
        for state in await path.runner.wait_for_stages(cell_id, frozenset({EPISODE}), None):
            if state.has_failed:
                raise _extraction_failed(state)
    if wait_until_visible:
        await _wait_until_visible(path, cells)
    return WriteStatus.EXTRACTED


async def _cut(path: WritePath, scope: Scope, session_id: str, *, final: bool) -> list[str]:
    """Cuts what is complete out of a session's buffer; returns the ids of the new cells."""
    while True:
        async with path.locks.of(scope, session_id):
            buffered = await path.sessions.buffered(scope, session_id)
            if not buffered:
                return []
            messages = [entry.message for entry in buffered]
            ends = await path.boundary.detect(messages, final=final)
            planned = _plan(path.pipeline, scope, session_id, buffered, ends)
            if not planned:
                return []
            done = await path.sessions.cut(planned, path.clock.now_ms())
        if done is not None:
            await path.runner.wake()
            return [plan.cell.cell_id for plan in planned]
        # A caller that was cancelled gives back the lock, but its cut is seen through.


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


async def _wait_until_visible(path: WritePath, cells: Sequence[str]) -> None:
    """Waits, for a bounded time, until all that came of the cells is in the index."""
    try:
        async with asyncio.timeout(path.visibility_timeout_seconds):
            for cell_id in cells:
                await path.runner.wait_for_stages(cell_id, None, None)
            await path.projector.wait_until_visible()
    except TimeoutError:
        # The entries are on disk and the index follows: the caller asked for a bounded wait.
        return


def _extraction_failed(state: JobState) -> ServiceError:
    # The text is a public one: the runner keeps no other.
    reason = state.last_error or state.last_error_code or "unknown"
    if state.status is JobStatus.DEAD_LETTER:
        return ServiceError(
            ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE,
            f"extraction was given up after {state.attempts} attempts ({reason}); "
            "the messages are kept in its job",
        )
    return ServiceError(
        ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE,
        f"extraction failed ({reason}) and will be tried again; the messages are kept",
        retry_after_seconds=5.0,
    )
