"""The stages of the pipeline, each a durable job: what it produces, where it goes, what follows.

    episode ─┬─> facts          user track, one episode job for each user of the cell
             └─> profile
    case                        agent track, one for each agent of a cell with tool calls

A stage saves its output, with the ids it will be written under, in its job row before it writes a
byte of Markdown. So a repeat after a crash writes the same entries under the same ids, which the
Markdown store recognises, and a finished extraction is never asked for twice. Only a profile is
made anew: what it adds depends on the page as it is by then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, tzinfo

import orjson

from remanence_server.domain.messages import MemoryCell, Message, Role
from remanence_server.domain.owners import Owner, Track
from remanence_server.domain.records import (
    ID_PREFIX,
    AgentCase,
    AtomicFact,
    Episode,
    Kind,
    Record,
    Transcript,
    Turn,
)
from remanence_server.extraction.interface import CaseSkipped, Extractor
from remanence_server.memory.owner_locks import OwnerLocks
from remanence_server.projection.publisher import Publisher
from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.runtime.fault_points import FaultPoint, reach
from remanence_server.runtime.ids import entry_id
from remanence_server.runtime.instants import day_of
from remanence_server.runtime.logging import get_logger
from remanence_server.runtime.tasks import see_through
from remanence_server.state.entry_ids import EntryIds
from remanence_server.state.jobs.model import Job, NewJob
from remanence_server.state.jobs.runner import Stage
from remanence_server.state.jobs.store import JobStore
from remanence_server.state.record_json import dump_records, load_records
from remanence_server.state.sessions import SessionStore

EPISODE = "episode"
FACTS = "facts"
PROFILE = "profile"
CASE = "case"
# Until these are done, the words of a cell are nowhere but in the cell.
EXTRACTING_STAGES = frozenset({EPISODE, CASE})
# The stage that brings what was said to the Markdown of its owner, by track.
FIRST_STAGES: Mapping[Track, str] = {Track.USER: EPISODE, Track.AGENT: CASE}

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Pipeline:
    """What the stages need."""

    sessions: SessionStore
    entry_ids: EntryIds
    extractor: Extractor
    publisher: Publisher
    zone: tzinfo
    maximum_attempts: int
    job_store: JobStore
    locks: OwnerLocks = field(default_factory=OwnerLocks)

    def stages(self) -> Mapping[str, Stage]:
        """The handlers of the job runner, by stage name."""
        return {
            EPISODE: self._run_episode,
            FACTS: self._run_facts,
            PROFILE: self._run_profile,
            CASE: self._run_case,
        }

    def first_jobs(self, cell: MemoryCell) -> tuple[NewJob, ...]:
        """The jobs that a freshly cut cell starts with."""
        users = [
            self._job(EPISODE, cell, Owner(cell.scope, Track.USER, user_id))
            for user_id in cell.user_ids()
        ]
        if not any(message.tool_calls for message in cell.messages):
            return tuple(users)
        agents = [
            self._job(CASE, cell, Owner(cell.scope, Track.AGENT, agent_id))
            for agent_id in cell.agent_ids()
        ]
        return (*users, *agents)

    def _job(
        self, stage: str, cell: MemoryCell, owner: Owner, input_json: str | None = None
    ) -> NewJob:
        scope = owner.scope
        place = (scope.app_id, scope.project_id, owner.track.value, owner.owner_id)
        # A profile is read, changed and written: one at a time for an owner. The other stages only
        # append, so sessions of one owner need not wait for each other.
        key = (stage, *place) if stage == PROFILE else (stage, *place, cell.session_id)
        return NewJob(
            stage=stage,
            serial_key=orjson.dumps(key).decode(),
            cell_id=cell.cell_id,
            owner=owner,
            session_id=cell.session_id,
            maximum_attempts=self.maximum_attempts,
            input_json=input_json,
        )

    async def _run_episode(self, job: Job) -> Sequence[NewJob]:
        cell = await self._cell(job)
        day = day_of(cell.timestamp_ms, self.zone)

        async def produce() -> list[_Draft]:
            draft = await self.extractor.extract_episode(cell, job.owner)

            def episode(episode_id: str) -> Episode:
                return Episode(
                    owner=job.owner,
                    entry_id=episode_id,
                    session_id=cell.session_id,
                    timestamp_ms=cell.timestamp_ms,
                    sender_ids=cell.sender_ids(),
                    subject=draft.subject,
                    summary=draft.summary,
                    content=draft.content,
                    parent_id=cell.cell_id,
                )

            return [_Draft(Kind.EPISODE, day, episode)]

        episode = (await self._output(job, produce))[0]
        assert isinstance(episode, Episode)  # noqa: S101 - what this very stage saved
        transcript = _transcript(cell, episode)
        await self._publish(job, lambda: self.publisher.publish((episode, transcript)))
        handed_on = orjson.dumps({"episode_id": episode.entry_id}).decode()
        return (
            self._job(FACTS, cell, job.owner, handed_on),
            self._job(PROFILE, cell, job.owner, handed_on),
        )

    async def _run_facts(self, job: Job) -> Sequence[NewJob]:
        cell = await self._cell(job)
        episode_id = str(orjson.loads(job.input_json or "{}")["episode_id"])
        day = day_of(cell.timestamp_ms, self.zone)

        async def produce() -> list[_Draft]:
            drafts = await self.extractor.extract_facts(cell, job.owner)
            return [
                _Draft(
                    Kind.ATOMIC_FACT,
                    day,
                    lambda fact_id, draft=draft: AtomicFact(  # type: ignore[misc]
                        owner=job.owner,
                        entry_id=fact_id,
                        session_id=cell.session_id,
                        timestamp_ms=draft.timestamp_ms,
                        content=draft.content,
                        parent_id=episode_id,
                        sender_ids=draft.sender_ids,
                        message_ids=draft.message_ids,
                    ),
                )
                for draft in drafts
            ]

        records = await self._output(job, produce)
        await self._publish(job, lambda: self.publisher.publish(records))
        return ()

    async def _run_profile(self, job: Job) -> Sequence[NewJob]:
        cell = await self._cell(job)
        current, page_hash = await self.publisher.read_profile(job.owner)
        # Jobs that were queued by an earlier release do not know it.
        source = orjson.loads(job.input_json or "{}").get("episode_id")
        updated = await self.extractor.update_profile(cell, job.owner, current, source)
        if updated is not None:
            profile = updated
            await self._publish(job, lambda: self.publisher.publish_profile(profile, page_hash))
        elif job.attempts > 1:
            # Perhaps because the attempt before has written it.
            await self.publisher.sync_profile(job.owner)
        return ()

    async def _run_case(self, job: Job) -> Sequence[NewJob]:
        cell = await self._cell(job)
        day = day_of(cell.timestamp_ms, self.zone)

        async def produce() -> list[_Draft]:
            draft = await self.extractor.extract_case(cell, job.owner)
            if isinstance(draft, CaseSkipped):
                _log.info("agent_case_skipped", cell_id=cell.cell_id, reason=draft.reason)
                return []

            def case(case_id: str) -> AgentCase:
                return AgentCase(
                    owner=job.owner,
                    entry_id=case_id,
                    session_id=cell.session_id,
                    timestamp_ms=cell.timestamp_ms,
                    task_intent=draft.task_intent,
                    approach=draft.approach,
                    quality_score=draft.quality_score,
                    key_insight=draft.key_insight,
                    sender_ids=cell.sender_ids(),
                    parent_id=cell.cell_id,
                )

            return [_Draft(Kind.AGENT_CASE, day, case)]

        records = await self._output(job, produce)
        await self._publish(job, lambda: self.publisher.publish(records))
        return ()

    async def _cell(self, job: Job) -> MemoryCell:
        cell = await self.sessions.cell(job.cell_id)
        if cell is None:
            # It goes when the job is cancelled: that is no failure.
            await self.job_store.may_publish(job)
            raise ServiceError(ErrorCode.INTERNAL_ERROR, "the memory cell of this job is gone")
        return cell

    async def _publish(self, job: Job, write: Callable[[], Awaitable[object]]) -> None:
        """Writes what a job produced, unless that has been deleted meanwhile.

        Raises LeaseLostError for a job that was cancelled, ServiceError when it must wait.
        """

        async def run() -> None:
            async with self.locks.of(job.owner):
                if not await self.job_store.may_publish(job):
                    raise ServiceError(
                        ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE,
                        "a deletion of this owner is not finished yet",
                        retry_after_seconds=1.0,
                    )
                await write()

        # Cancelled half-way, the write would go on in its thread, and nobody would hold the lock.
        await see_through(run())

    async def _output(
        self, job: Job, produce: Callable[[], Awaitable[list[_Draft]]]
    ) -> tuple[Record, ...]:
        """What the job produces: from its row if it got that far before, else made and saved."""
        if job.output_json is not None:
            return load_records(job.output_json)
        drafts = await produce()
        reach(FaultPoint.EXTRACTION_DONE)
        needs: dict[tuple[Kind, date], tuple[int, int]] = {}
        for draft in drafts:
            key = (draft.kind, draft.day)
            if key in needs:
                count, floor = needs[key]
                needs[key] = (count + 1, floor)
            else:
                needs[key] = (1, await asyncio.to_thread(self._floor, job.owner, *key))

        def build(first: dict[tuple[Kind, date], int]) -> str:
            following = dict(first)
            records = []
            for draft in drafts:
                key = (draft.kind, draft.day)
                number = following[key]
                following[key] = number + 1
                records.append(draft.build(entry_id(ID_PREFIX[draft.kind], draft.day, number)))
            return dump_records(records)

        output = await self.entry_ids.reserve_and_save(job, needs, build)
        reach(FaultPoint.OUTPUT_SAVED)
        return load_records(output)

    def _floor(self, owner: Owner, kind: Kind, day: date) -> int:
        """The number the counter may not fall below.

        Markdown can outlive system.db, and it can come from another machine, whose counter went
        another way: an id that is on disk would be taken for an entry that is written already.
        """
        # A transcript has the number of its episode.
        kinds = (kind, Kind.TRANSCRIPT) if kind is Kind.EPISODE else (kind,)
        return max(self.publisher.markdown.last_sequence(owner, each, day) for each in kinds)


@dataclass(frozen=True, slots=True)
class _Draft:
    """A record that lacks only its id."""

    kind: Kind
    day: date
    build: Callable[[str], Record]


def _transcript(cell: MemoryCell, episode: Episode) -> Transcript:
    """The words behind an episode. Its number is the episode's, so it needs none of its own."""
    prefix = ID_PREFIX[Kind.EPISODE]
    return Transcript(
        owner=episode.owner,
        entry_id=ID_PREFIX[Kind.TRANSCRIPT] + episode.entry_id.removeprefix(prefix),
        session_id=cell.session_id,
        timestamp_ms=episode.timestamp_ms,
        sender_ids=episode.sender_ids,
        turns=tuple(_turn(message) for message in cell.messages if _is_said(message)),
        parent_id=episode.entry_id,
    )


def _is_said(message: Message) -> bool:
    """Tool output and empty rows are the agent track's business, not part of what was said."""
    return message.role is not Role.TOOL and bool(message.text.strip())


def _turn(message: Message) -> Turn:
    return Turn(
        message_id=message.message_id,
        sender_id=message.sender_id,
        speaker=message.speaker,
        role=message.role,
        timestamp_ms=message.timestamp_ms,
        text=message.text,
    )
