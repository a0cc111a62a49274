"""Delete: memories go from state, Markdown and index, and do not come back.

The order makes it final. What is to go is chosen while nobody publishes for the owner; then one
transaction of system.db decides it: it takes messages and jobs away and writes a row of what is
left to do. From there on it will be done, by the call or, after a crash or with a disk that
refuses, by `DeletionWorker`: Markdown first, which the index follows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace

from remanence_server.domain.filters import Filter
from remanence_server.domain.owners import Owner, Scope
from remanence_server.domain.records import Kind
from remanence_server.memory.deletion_choice import (
    DAILY_KINDS,
    Choice,
    choose_by_ids,
    choose_everything,
    choose_matching,
    choose_session,
    freed_message_ids,
)
from remanence_server.memory.deletion_worker import DeletionWorker
from remanence_server.memory.write import SessionLocks
from remanence_server.runtime.fault_points import FaultPoint, reach
from remanence_server.runtime.logging import get_logger
from remanence_server.runtime.tasks import see_through
from remanence_server.state.deletions import Recorded
from remanence_server.state.jobs.runner import JobRunner
from remanence_server.state.withdrawal import Withdrawal

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ByIds:
    """Records of one owner by their public ids."""

    ids: Sequence[str]


@dataclass(frozen=True, slots=True)
class OfSession:
    """All that came from a session, and what of it still waits."""

    session_id: str


@dataclass(frozen=True, slots=True)
class Matching:
    """Episodes or cases that a filter matches."""

    where: Filter | None


@dataclass(frozen=True, slots=True)
class Everything:
    """All that an owner has."""


type Target = ByIds | OfSession | Matching | Everything


@dataclass(frozen=True, slots=True)
class Deleted:
    """How much was deleted."""

    episodes: int = 0
    atomic_facts: int = 0
    agent_cases: int = 0
    agent_skills: int = 0
    profile_items: int = 0
    messages: int = 0


@dataclass(frozen=True, slots=True)
class DeletePath:
    """What a deletion needs."""

    worker: DeletionWorker
    runner: JobRunner
    session_locks: SessionLocks


async def delete_memories(
    path: DeletePath, scope: Scope, owner: Owner | None, target: Target
) -> Deleted:
    """Deletes memories of an owner, or with a session and no owner, of everybody in it.

    They are not found any more when this returns; their last traces in files of the index and of
    the state go a moment later. Messages that are accepted meanwhile stay. A caller that is
    cancelled stops the waiting, not the work.

    Raises ServiceError EXTERNAL_SERVICE_UNAVAILABLE: when the index cannot be brought up to date,
    so that nothing is deleted, or when the disk refuses half-way; then the deletion goes on by
    itself.
    """
    return await see_through(_delete(path, scope, owner, target))


async def _delete(path: DeletePath, scope: Scope, owner: Owner | None, target: Target) -> Deleted:
    worker = path.worker
    async with AsyncExitStack() as held:
        if isinstance(target, OfSession):
            # What is being cut out of its buffer is then all here, or all there.
            lock = path.session_locks.of(scope, target.session_id)
            await held.enter_async_context(lock)
        if owner is not None:
            owners = [owner]
            await held.enter_async_context(worker.locks.of_all(owners))
        else:
            assert isinstance(target, OfSession)  # noqa: S101 - the API refuses anything else
            owners = await worker.owners_of_session(scope, target.session_id)
            await held.enter_async_context(worker.locks.of_all(owners))
        for each in owners:
            await worker.bring_up_to_date(each)
        choices = [await _choose(worker, each, target) for each in owners]
        withdrawal = await _withdrawal(worker, scope, owner, target, choices)
        selections = [choice.selection for choice in choices]
        recorded = await worker.store.record(selections, withdrawal, worker.clock.now_ms())
        reach(FaultPoint.DELETE_RECORDED)
        try:
            profile_items = await worker.finish(recorded.deletion_ids)
        finally:
            if recorded.deletion_ids or recorded.message_count or recorded.cell_ids:
                worker.wake()
            await _announce(path, recorded)
    _log.info("memories_deleted", owners=len(owners), deletions=len(recorded.deletion_ids))
    return replace(_counted(choices), profile_items=profile_items, messages=recorded.message_count)


async def _choose(worker: DeletionWorker, owner: Owner, target: Target) -> Choice:
    match target:
        case ByIds(ids):
            return await choose_by_ids(worker.catalogue, worker.markdown, owner, ids)
        case OfSession(session_id):
            return await choose_session(worker.catalogue, worker.markdown, owner, session_id)
        case Matching(where):
            return await choose_matching(worker.catalogue, worker.markdown, owner, where)
        case Everything():
            return await choose_everything(worker.catalogue, worker.markdown, owner)


async def _withdrawal(
    worker: DeletionWorker,
    scope: Scope,
    owner: Owner | None,
    target: Target,
    choices: Sequence[Choice],
) -> Withdrawal | None:
    """Which waiting messages go: memories alone say nothing of those."""
    if isinstance(target, ByIds | Matching):
        return None
    session_id = target.session_id if isinstance(target, OfSession) else None
    if owner is None:
        return Withdrawal(scope, session_id, None)
    session_ids = {id_ for choice in choices for id_ in choice.session_ids}
    if session_id is not None:
        # Memories that only stand in it by their episode do not make it another session's.
        session_ids &= {session_id}
    message_ids = await freed_message_ids(worker.catalogue, choices, session_ids)
    own = frozenset(each for each, ids in message_ids.items() if ids is None)
    return Withdrawal(scope, session_id, owner, own, message_ids)


async def _announce(path: DeletePath, recorded: Recorded) -> None:
    for cell_id in recorded.cell_ids:
        await path.runner.announce(cell_id)


def _counted(choices: Iterable[Choice]) -> Deleted:
    numbers = dict.fromkeys((*DAILY_KINDS, Kind.AGENT_SKILL), 0)
    for choice in choices:
        for kind in numbers:
            numbers[kind] += choice.count(kind)
    return Deleted(
        episodes=numbers[Kind.EPISODE],
        atomic_facts=numbers[Kind.ATOMIC_FACT],
        agent_cases=numbers[Kind.AGENT_CASE],
        agent_skills=numbers[Kind.AGENT_SKILL],
    )
