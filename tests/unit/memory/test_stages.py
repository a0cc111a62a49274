from __future__ import annotations

import asyncio
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from tests.support.workshop import ALICE, CODER, T0, Workshop, WorkshopPlan, open_workshop, said

from remanence_server.domain.messages import Message, Role, ToolCall
from remanence_server.domain.owners import Scope
from remanence_server.domain.records import AgentCase, AtomicFact, Episode, Transcript
from remanence_server.memory.write import AddBatch, WriteStatus, add_messages, flush_session
from remanence_server.runtime.errors import ErrorCode, ServiceError

SCOPE = Scope()


async def _remember(workshop: Workshop, *messages: Message, session: str = "s") -> WriteStatus:
    await add_messages(workshop.path, AddBatch(SCOPE, session, messages, True))
    async with asyncio.timeout(20):
        status = await flush_session(workshop.path, SCOPE, session, wait_until_visible=True)
    await _until_idle(workshop)
    return status


async def _until_idle(workshop: Workshop) -> None:
    async with asyncio.timeout(20):
        while (counts := await workshop.jobs.counts()).queued or counts.running:
            await asyncio.sleep(0.01)


def _records(workshop: Workshop) -> list[object]:
    return [
        parsed.record
        for file in workshop.markdown.files()
        for parsed in workshop.markdown.read(file).records
    ]


def _bytes(root: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(root.rglob("*.md"))}


def _remove(root: Path, *patterns: str) -> None:
    for pattern in patterns:
        for path in list(root.glob(pattern)):
            path.unlink()


STORY = (
    said("My name is Alice and I live in Graz.", "m1"),
    said("Nice!", "m2", "helper", role=Role.ASSISTANT, at=1_000),
    said("I love climbing in Yosemite every spring.", "m3", at=2_000),
)


def _tool_run() -> tuple[Message, ...]:
    rounds = [("make test", "2 failed"), ("git pull", "updated"), ("make test", "12 passed")]
    messages = [said("Please make the failing build pass.", "m0")]
    for number, (command, output) in enumerate(rounds):
        call = ToolCall(f"c{number}", "shell", f'{{"command": "{command}"}}')
        at = T0 + 10 * number
        messages += [
            Message(f"call{number}", "coder", Role.ASSISTANT, at + 1, "Now", tool_calls=(call,)),
            Message(f"out{number}", "coder", Role.TOOL, at + 2, output, tool_call_id=call.id),
        ]
    done = said("The build passes: the lock file was stale.", "m1", "coder", 90, Role.ASSISTANT)
    return (*messages, done, said("Great, thanks!", "m2", at=99))


async def test_a_cell_becomes_an_episode_its_transcript_its_facts_and_a_profile(
    workshop: Workshop,
) -> None:
    await _remember(workshop, *STORY)
    records = _records(workshop)
    (episode,) = (record for record in records if isinstance(record, Episode))
    (transcript,) = (record for record in records if isinstance(record, Transcript))
    facts = [record for record in records if isinstance(record, AtomicFact)]
    assert episode.entry_id == "ep_20260528_00000001"
    assert episode.sender_ids == ("alice", "helper")
    assert episode.timestamp_ms == T0 + 2_000
    assert (transcript.entry_id, transcript.parent_id) == ("tr_20260528_00000001", episode.entry_id)
    assert [turn.message_id for turn in transcript.turns] == ["m1", "m2", "m3"]
    assert facts
    assert {fact.parent_id for fact in facts} == {episode.entry_id}
    profile = workshop.markdown.read_profile(ALICE)
    assert profile is not None
    assert "Graz" in str(profile.data)


async def test_a_finished_cell_leaves_state(workshop: Workshop) -> None:
    await _remember(workshop, *STORY)
    rows = await workshop.state.read(
        lambda connection: connection.execute("SELECT count(*) FROM memory_cell").get
    )
    assert rows == 0


async def test_a_tool_run_becomes_a_case_of_its_agent(workshop: Workshop) -> None:
    await _remember(workshop, *_tool_run())
    (case,) = (record for record in _records(workshop) if isinstance(record, AgentCase))
    assert case.owner == CODER
    assert case.entry_id == "ac_20260528_00000001"
    assert len(await workshop.words(CODER, "build")) == 1


async def test_a_tool_run_not_worth_a_case_is_skipped_without_a_failure(
    workshop: Workshop,
) -> None:
    call = ToolCall("c1", "clock", "{}")
    await _remember(
        workshop,
        said("Hi", "m1"),
        Message("m2", "coder", Role.ASSISTANT, T0 + 1, "", tool_calls=(call,)),
    )
    assert workshop.extractor.case.calls == 1
    assert [record for record in _records(workshop) if isinstance(record, AgentCase)] == []
    assert (await workshop.jobs.counts()).dead_letter == 0


@pytest.mark.parametrize("stage", ["facts", "profile"])
async def test_a_later_stage_that_fails_is_repeated_alone(workshop: Workshop, stage: str) -> None:
    getattr(workshop.extractor, stage).times = 1
    assert await _remember(workshop, *STORY) is WriteStatus.EXTRACTED
    assert workshop.extractor.episode.calls == 1
    assert getattr(workshop.extractor, stage).calls == 2
    assert any(isinstance(record, AtomicFact) for record in _records(workshop))
    assert workshop.markdown.read_profile(ALICE) is not None


@pytest.mark.parametrize("stage", ["episode", "facts"])
async def test_between_saved_output_and_markdown_a_failure_costs_no_second_extraction(
    workshop: Workshop, stage: str
) -> None:
    append, refused = workshop.markdown.append, 0
    kind = {"episode": Episode, "facts": AtomicFact}[stage]

    def failing_once(records):
        nonlocal refused
        if isinstance(records[0], kind) and not refused:
            refused += 1
            raise ServiceError(ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE, "storage is full")
        return append(records)

    workshop.markdown.append = failing_once  # type: ignore[method-assign]
    with suppress(ServiceError):
        await _remember(workshop, *STORY)
    await _until_idle(workshop)
    assert refused
    assert getattr(workshop.extractor, stage).calls == 1
    ids = workshop.entry_ids()
    assert len(set(ids)) == len(ids)
    assert {"alice/ep_20260528_00000001", "alice/af_20260528_00000001"} <= set(ids)


async def test_a_crash_after_the_markdown_was_written_writes_nothing_twice(tmp_path: Path) -> None:
    async with open_workshop(tmp_path, WorkshopPlan(maximum_attempts=50)) as workshop:
        # Every job does its work, and the process dies before it can say so.
        async def died(*_: object) -> None:
            raise ServiceError(ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE, "killed")

        succeed = workshop.jobs.succeed
        workshop.jobs.succeed = died  # type: ignore[assignment, method-assign]
        await add_messages(workshop.path, AddBatch(SCOPE, "s", STORY, True))
        with pytest.raises(ServiceError):
            await flush_session(workshop.path, SCOPE, "s", wait_until_visible=False)
        workshop.jobs.succeed = succeed  # type: ignore[method-assign]
        first = _bytes(tmp_path)
        await _until_idle(workshop)
        second = _bytes(tmp_path)
        assert {name: second[name] for name in first} == first
        assert workshop.extractor.episode.calls == 1
        ids = workshop.entry_ids()
        assert len(set(ids)) == len(ids)


async def test_a_profile_stage_done_twice_writes_the_same_profile(workshop: Workshop) -> None:
    succeed, done = workshop.jobs.succeed, 0

    async def dies_once(job, following, now_ms):
        nonlocal done
        if job.stage == "profile":
            done += 1
            if done == 1:
                page.append(_bytes(workshop.root)["user.md"])
                raise ServiceError(ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE, "killed")
        return await succeed(job, following, now_ms)

    page: list[bytes] = []
    workshop.jobs.succeed = dies_once  # type: ignore[method-assign]
    await _remember(workshop, *STORY)
    assert done == 2
    assert _bytes(workshop.root)["user.md"] == page[0]


async def test_counters_lost_with_the_database_go_on_behind_the_markdown(tmp_path: Path) -> None:
    async with open_workshop(tmp_path) as workshop:
        await _remember(workshop, *STORY)
    _remove(tmp_path, "system.db*")
    async with open_workshop(tmp_path) as workshop:
        await _remember(workshop, said("I love plums.", "m9"))
        assert sorted(workshop.turns())[-1] == ("alice", "m9")
        assert "alice/ep_20260528_00000002" in workshop.entry_ids()


async def test_entries_that_came_from_another_machine_are_not_taken_for_our_own(
    tmp_path: Path,
) -> None:
    """The memory folder is synchronised; the counters in system.db are this machine's."""
    here, there = tmp_path / "here", tmp_path / "there"
    async with open_workshop(here) as workshop:
        await _remember(workshop, said("I love climbing.", "m1"))
    async with open_workshop(there) as workshop:
        await _remember(workshop, said("I love climbing.", "m1"))
        await _remember(workshop, said("I love plums.", "m2"), session="t")
    shutil.copytree(there / "default_app", here / "default_app", dirs_exist_ok=True)
    async with open_workshop(here) as workshop:
        await _remember(workshop, said("I love rowing.", "m3"), session="u")
        assert sorted(workshop.turns()) == [("alice", "m1"), ("alice", "m2"), ("alice", "m3")]


async def test_a_transcript_number_that_is_taken_is_not_used_again(tmp_path: Path) -> None:
    async with open_workshop(tmp_path) as workshop:
        await _remember(workshop, said("I love climbing.", "m1"))
    _remove(tmp_path, "system.db*", "**/episode-*.md")
    async with open_workshop(tmp_path) as workshop:
        await _remember(workshop, said("I love plums.", "m2"))
        assert sorted(workshop.turns()) == [("alice", "m1"), ("alice", "m2")]
