from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

import pytest
from tests.support.workshop import ALICE, Switch, Workshop, WorkshopPlan, open_workshop, said

from remanence_server.domain.messages import Message, Role
from remanence_server.domain.owners import Scope
from remanence_server.domain.records import Kind, Transcript
from remanence_server.memory.write import AddBatch, WriteStatus, add_messages, flush_session
from remanence_server.runtime.clock import ManualClock
from remanence_server.runtime.errors import ErrorCode, ServiceError

SCOPE = Scope()


async def _add(
    workshop: Workshop, *messages: Message, session: str = "s", defer: bool = True
) -> WriteStatus:
    added = await add_messages(workshop.path, AddBatch(SCOPE, session, messages, defer))
    return added.status


async def _flush(workshop: Workshop, session: str = "s") -> WriteStatus:
    async with asyncio.timeout(20):
        return await flush_session(workshop.path, SCOPE, session, wait_until_visible=True)


async def _until_idle(workshop: Workshop) -> None:
    async with asyncio.timeout(20):
        while (counts := await workshop.jobs.counts()).queued or counts.running:
            await asyncio.sleep(0.01)


async def test_a_deferred_add_only_accumulates(workshop: Workshop) -> None:
    assert await _add(workshop, said("I love climbing.")) is WriteStatus.ACCUMULATED
    assert len(await workshop.sessions.buffered(SCOPE, "s")) == 1
    assert workshop.extractor.episode.calls == 0


async def test_what_was_flushed_can_be_found(workshop: Workshop) -> None:
    await _add(workshop, said("I love climbing in Yosemite."))
    assert await _flush(workshop) is WriteStatus.EXTRACTED
    assert len(await workshop.words(ALICE, "Yosemite")) == 3  # episode, fact, window
    assert await workshop.sessions.buffered(SCOPE, "s") == []
    assert await _flush(workshop) is WriteStatus.NO_EXTRACTION


async def test_an_add_extracts_what_is_complete(tmp_path: Path) -> None:
    async with open_workshop(tmp_path, WorkshopPlan(maximum_messages=4)) as workshop:
        messages = [said(f"Message {number}.", f"m{number}", at=number) for number in range(6)]
        assert await _add(workshop, *messages, defer=False) is WriteStatus.EXTRACTED
        rest = await workshop.sessions.buffered(SCOPE, "s")
        kept = [("alice", entry.message.message_id) for entry in rest]
        assert Counter(workshop.turns() + kept) == Counter(("alice", f"m{n}") for n in range(6))


async def test_an_add_whose_extraction_fails_is_accepted(tmp_path: Path) -> None:
    plan = WorkshopPlan(maximum_messages=4, retry_backoff_seconds=60)
    async with open_workshop(tmp_path, plan) as workshop:
        workshop.extractor.episode.times = 1
        messages = [said(f"Message {number}.", f"m{number}", at=number) for number in range(6)]
        assert await _add(workshop, *messages, defer=False) is WriteStatus.ACCUMULATED
        assert await _flush(workshop) is WriteStatus.EXTRACTED
        assert sorted(workshop.turns()) == [("alice", f"m{n}") for n in range(6)]


async def test_an_add_that_was_kept_is_not_refused_because_the_cut_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: object) -> None:
        raise ServiceError(ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE, "storage is full")

    async with open_workshop(tmp_path, WorkshopPlan(maximum_messages=4)) as workshop:
        messages = [said(f"Message {number}.", at=number) for number in range(6)]
        with monkeypatch.context() as patch:
            patch.setattr(workshop.sessions.__class__, "cut", full)
            # Told to send it again, a client without message ids would have it twice.
            assert await _add(workshop, *messages, defer=False) is WriteStatus.ACCUMULATED
        assert await _flush(workshop) is WriteStatus.EXTRACTED
        assert len(workshop.turns()) == 6


async def test_a_flush_whose_extraction_fails_says_so_and_the_next_one_makes_up_for_it(
    tmp_path: Path,
) -> None:
    async with open_workshop(tmp_path, WorkshopPlan(retry_backoff_seconds=60)) as workshop:
        workshop.extractor.episode.times = 2
        await _add(workshop, said("I love climbing.", "m1"))
        for _ in range(2):
            with pytest.raises(ServiceError) as raised:
                await _flush(workshop)
            assert raised.value.code is ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE
            assert "switched off" in raised.value.message
            assert workshop.turns() == []
        assert await _flush(workshop) is WriteStatus.EXTRACTED
        assert workshop.turns() == [("alice", "m1")]
        assert len(set(workshop.entry_ids())) == len(workshop.entry_ids())


async def test_a_flush_retries_earlier_segments_of_its_session_first(tmp_path: Path) -> None:
    async with open_workshop(tmp_path, WorkshopPlan(retry_backoff_seconds=60)) as workshop:
        workshop.extractor.episode.times = 1
        await _add(workshop, said("I love climbing.", "m1"))
        with pytest.raises(ServiceError):
            await _flush(workshop)
        await _add(workshop, said("I love swimming.", "m2"))
        # Behind a retry that is a minute away, this would wait a minute.
        assert await _flush(workshop) is WriteStatus.EXTRACTED
        assert workshop.turns() == [("alice", "m1"), ("alice", "m2")]


async def test_a_segment_that_was_given_up_lets_its_session_move_on(tmp_path: Path) -> None:
    async with open_workshop(tmp_path, WorkshopPlan(maximum_attempts=1)) as workshop:
        workshop.extractor.episode = Switch(1, code=ErrorCode.INTERNAL_ERROR)
        await _add(workshop, said("I love climbing.", "m1"))
        with pytest.raises(ServiceError, match="given up after 1 attempts"):
            await _flush(workshop)
        await _add(workshop, said("I love swimming.", "m2"))
        assert await _flush(workshop) is WriteStatus.EXTRACTED
        assert workshop.turns() == [("alice", "m2")]
        assert (await workshop.jobs.counts()).dead_letter == 1


async def test_an_outage_uses_up_no_budget_however_long_it_lasts(tmp_path: Path) -> None:
    plan = WorkshopPlan(maximum_attempts=2, retry_backoff_seconds=0.001)
    async with open_workshop(tmp_path, plan) as workshop:
        workshop.extractor.episode.times = 6
        await _add(workshop, said("I love climbing.", "m1"))
        with pytest.raises(ServiceError):
            await _flush(workshop)
        await _until_idle(workshop)
        assert workshop.extractor.episode.calls == 7
        assert workshop.turns() == [("alice", "m1")]
        assert (await workshop.jobs.counts()).dead_letter == 0


async def test_fifty_parallel_adds_and_four_flushes_keep_every_message_once(
    workshop: Workshop,
) -> None:
    chance = random.Random(5)

    async def add(number: int) -> None:
        await asyncio.sleep(chance.random() * 0.2)
        message = said(f"fact number {number:02d}", f"m-{number:02d}", "ravi", at=number)
        await _add(workshop, message, defer=number % 2 == 0)

    async def flush() -> None:
        await asyncio.sleep(chance.random() * 0.2)
        assert await _flush(workshop) in (WriteStatus.EXTRACTED, WriteStatus.NO_EXTRACTION)

    await asyncio.gather(*(add(number) for number in range(50)), *(flush() for _ in range(4)))
    await _flush(workshop)
    await _until_idle(workshop)
    expected = Counter(("ravi", f"m-{number:02d}") for number in range(50))
    assert Counter(workshop.turns()) == expected
    assert max(Counter(workshop.entry_ids()).values()) == 1


async def test_the_order_given_is_kept_within_a_cell(workshop: Workshop) -> None:
    ids = [f"m{number}" for number in range(30)]
    random.Random(1).shuffle(ids)
    for message_id in ids:
        await _add(workshop, said(f"This is {message_id}.", message_id))
    await _flush(workshop)
    assert [message_id for _, message_id in workshop.turns()] == ids


async def test_a_flush_that_is_cancelled_while_it_cuts_spoils_no_other(
    workshop: Workshop,
) -> None:
    await _add(workshop, said("I love climbing.", "m1"))
    cut = workshop.sessions.cut
    began = asyncio.Event()

    async def slow_cut(
        planned: Sequence, now_ms: int, awaited: Collection[str] = ()
    ) -> list[int] | None:
        running = asyncio.ensure_future(cut(planned, now_ms, awaited))
        began.set()
        return await asyncio.shield(running)

    workshop.sessions.cut = slow_cut  # type: ignore[method-assign]
    first = asyncio.create_task(_flush(workshop))
    await began.wait()
    first.cancel()
    assert await _flush(workshop) in (WriteStatus.EXTRACTED, WriteStatus.NO_EXTRACTION)
    await _flush(workshop)
    assert workshop.turns() == [("alice", "m1")]


async def test_a_clock_that_is_set_back_does_not_stop_new_work(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_workshop(tmp_path, WorkshopPlan(clock=clock, work=False)) as workshop:
        await _add(workshop, said("I love climbing.", "m1"))
        flush = asyncio.create_task(_flush(workshop))
        async with asyncio.timeout(10):
            while not (await workshop.jobs.counts()).queued:
                await asyncio.sleep(0.01)
        clock.advance_ms(-3_600_000)
        await workshop.runner.start()
        assert await flush is WriteStatus.EXTRACTED


async def test_a_full_disk_at_the_end_of_a_job_is_told_and_made_up_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: object) -> None:
        raise ServiceError(ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE, "storage is full")

    async with open_workshop(tmp_path) as workshop:
        monkeypatch.setattr("remanence_server.state.jobs.runner._UNRECORDED_RETRY_SECONDS", 0.05)
        await _add(workshop, said("I love climbing.", "m1"))
        with monkeypatch.context() as patch:
            patch.setattr(workshop.jobs.__class__, "succeed", full)
            patch.setattr(workshop.jobs.__class__, "fail", full)
            with pytest.raises(ServiceError, match="storage is full"):
                await _flush(workshop)
        await _until_idle(workshop)
        assert workshop.turns() == [("alice", "m1")]
        assert max(Counter(workshop.entry_ids()).values()) == 1


async def test_blank_messages_make_no_noise(workshop: Workshop) -> None:
    await _add(workshop, said("", "m1"), said("   ", "m2"), said("\n", "m3"))
    assert await _flush(workshop) is WriteStatus.EXTRACTED
    await _until_idle(workshop)
    assert (await workshop.jobs.counts()).dead_letter == 0
    assert workshop.turns() == []


async def test_messages_of_nobody_who_remembers_are_let_go(workshop: Workshop) -> None:
    await _add(workshop, said("Hello, I am the helper.", "m1", "helper", role=Role.ASSISTANT))
    assert await _flush(workshop) is WriteStatus.EXTRACTED
    assert list(workshop.markdown.files()) == []
    assert await workshop.sessions.buffered(SCOPE, "s") == []


async def test_every_user_of_a_cell_remembers_it(workshop: Workshop) -> None:
    await _add(workshop, said("I love climbing.", "m1"), said("I love plums.", "m2", "bo"))
    await _flush(workshop)
    assert Counter(workshop.turns()) == Counter(
        (owner, message) for owner in ("alice", "bo") for message in ("m1", "m2")
    )


async def test_a_client_that_repeats_its_ids_is_heard_once(workshop: Workshop) -> None:
    for _ in range(3):
        await _add(workshop, said("I am allergic to hazelnuts.", "m-1"))
    await _flush(workshop)
    await _add(workshop, said("I am allergic to hazelnuts.", "m-1"))
    assert await _flush(workshop) is WriteStatus.NO_EXTRACTION
    assert workshop.turns() == [("alice", "m-1")]


async def test_one_very_long_message_is_kept_whole(workshop: Workshop) -> None:
    text = "My locker code is 4417. " + "lorem ipsum dolor " * 20_000 + "My blood type is B."
    await _add(workshop, said(text, "m1", "tomas"))
    assert await _flush(workshop) is WriteStatus.EXTRACTED
    await _until_idle(workshop)
    (turn,) = (
        turn
        for file in workshop.markdown.files()
        for parsed in workshop.markdown.read(file).records
        if isinstance(parsed.record, Transcript)
        for turn in parsed.record.turns
    )
    assert turn.text == text
    assert (await workshop.jobs.counts()).dead_letter == 0
    counts = await workshop.catalogue.counts()
    assert counts[Kind.EPISODE] == 1
