from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.workshop import (
    ALICE,
    Workshop,
    WorkshopPlan,
    episode,
    open_workshop,
    transcript,
)

from remanence_server.domain.records import Episode, Kind, Record
from remanence_server.runtime.errors import ErrorCode, ServiceError

EPISODES = "default_app/default_project/users/alice/episodes/episode-2026-05-28.md"


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not holds():
            await asyncio.sleep(0.01)


async def _episode_texts(workshop: Workshop) -> list[str]:
    _, records = await workshop.catalogue.list_records(ALICE, Kind.EPISODE, descending=False)
    return [record.content for record in records if isinstance(record, Episode)]


async def test_own_writes_are_found_and_not_read_back(workshop: Workshop) -> None:
    for number in range(1, 6):
        await workshop.publisher.publish((episode(number, f"Alice climbs peak {number}."),))
    await workshop.settle()
    assert len(await workshop.words(ALICE, "peak")) == 5
    # The watcher reports our own writes, too.
    workshop.projector.submit_file(workshop.root / EPISODES)
    await workshop.scan.run()
    await workshop.settle()
    assert workshop.markdown.reads == []


async def test_reading_back_an_own_write_changes_nothing(workshop: Workshop) -> None:
    await workshop.publisher.publish((episode(), transcript("I love climbing.", "Where?")))
    await workshop.settle()
    stamp = await workshop.catalogue.stamp()
    os.utime(workshop.root / EPISODES, (1, 1))
    await workshop.scan.run()
    await workshop.settle()
    assert workshop.markdown.reads == ["episode-2026-05-28.md"]
    assert await workshop.catalogue.stamp() == stamp


async def test_a_hand_edit_between_two_own_writes_is_not_hidden(workshop: Workshop) -> None:
    path = workshop.root / EPISODES
    await workshop.publisher.publish((episode(1, "Alice climbs in Yosemite."),))
    path.write_text(path.read_text().replace("Yosemite", "Patagonia"))
    await workshop.publisher.publish((episode(2, "Alice swims in Tahoe."),))
    await workshop.settle()
    await workshop.scan.run()
    await workshop.settle()
    assert await _episode_texts(workshop) == ["Alice climbs in Patagonia.", "Alice swims in Tahoe."]


async def test_a_failed_keyword_index_is_said_and_tried_again(workshop: Workshop) -> None:
    await workshop.settle()
    workshop.lexical.switch.times = 1
    await workshop.publisher.publish((episode(),))
    await _until(lambda: workshop.projector.state().consecutive_failures == 1)
    state = workshop.projector.state()
    assert state.pending == 1
    assert "1 times in a row" in state.reasons[0]
    await workshop.settle()
    assert workshop.projector.state().reasons == []
    assert workshop.projector.state().pending == 0
    assert len(await workshop.words(ALICE, "Yosemite")) == 1


async def test_what_failed_half_way_is_found_by_its_meaning_after_the_repeat(
    workshop: Workshop,
) -> None:
    await workshop.publisher.publish((transcript("I love climbing."),))
    await workshop.settle()
    assert len(await workshop.vectors(ALICE, "turn", "climbing")) == 1  # it is in memory now
    await workshop.catalogue.mark_filled()
    workshop.lexical.switch.times = 1
    # The same words: their vector is known, so that nothing waits for the model.
    await workshop.publisher.publish((transcript("I love climbing.", number=2),))
    await workshop.settle()
    assert len(await workshop.vectors(ALICE, "turn", "climbing")) == 2


async def test_a_model_that_fails_keeps_nothing_from_being_found_by_words(
    workshop: Workshop,
) -> None:
    workshop.embedder.switch.times = 3
    await workshop.publisher.publish((transcript("I love climbing."),))
    await workshop.settle()
    await workshop.publisher.publish((transcript("I love swimming.", number=2),))
    await workshop.settle()
    assert len(await workshop.words(ALICE, "climbing")) == 1
    assert len(await workshop.words(ALICE, "swimming")) == 1
    assert any("vectors" in reason for reason in workshop.projector.state().reasons)
    await _until(lambda: workshop.projector.state().reasons == [])
    assert len(await workshop.vectors(ALICE, "turn", "swimming")) == 2


async def test_new_entries_do_not_wait_for_vectors_of_old_ones(tmp_path: Path) -> None:
    async with open_workshop(tmp_path, WorkshopPlan(work=False)) as workshop:
        workshop.embedder.switch.times = 1_000
        await workshop.publisher.publish((transcript("I love climbing."),))
        await workshop.settle()
    async with open_workshop(tmp_path, WorkshopPlan(project=False, work=False)) as workshop:
        gate, embed = asyncio.Event(), workshop.embedder.embed_passages

        async def slow(texts):
            if "climbing" in texts[0]:
                await gate.wait()
            return await embed(texts)

        workshop.embedder.embed_passages = slow  # type: ignore[method-assign]
        await workshop.projector.start()
        await workshop.publisher.publish((transcript("I love swimming.", number=2),))
        async with asyncio.timeout(5):
            await workshop.settle()
        assert await workshop.vectors(ALICE, "turn", "x") == ["A: I love swimming."]
        gate.set()
        await _until(lambda: workshop.projector.state().reasons == [])
        assert len(await workshop.vectors(ALICE, "turn", "x")) == 2


async def test_a_repeat_does_not_bring_back_an_entry_over_a_later_hand_edit(
    workshop: Workshop,
) -> None:
    path = workshop.root / EPISODES
    await workshop.settle()
    workshop.lexical.switch.pass_or_fail = _failing_at(2)  # type: ignore[method-assign]
    await workshop.publisher.publish((episode(1, "Alice climbs in Yosemite."),))
    path.write_text(path.read_text().replace("Yosemite", "Patagonia"))
    workshop.projector.submit_file(path)
    await workshop.settle()
    assert await _episode_texts(workshop) == ["Alice climbs in Patagonia."]
    assert len(await workshop.words(ALICE, "Patagonia")) == 1


def _failing_at(call: int) -> Callable[[], None]:
    calls = 0

    def pass_or_fail() -> None:
        nonlocal calls
        calls += 1
        if calls == call:
            raise ServiceError(ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE, "switched off")

    return pass_or_fail


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
async def test_what_is_no_file_holds_nobody_up(
    workshop: Workshop, make: Callable[[Path], object]
) -> None:
    await workshop.publisher.publish((episode(),))
    odd = (workshop.root / EPISODES).with_name("episode-2026-05-29.md")
    make(odd)
    workshop.projector.submit_file(odd)
    await workshop.publisher.publish((episode(2, "Alice swims."),))
    async with asyncio.timeout(5):
        await workshop.settle()
    assert len(await workshop.words(ALICE, "swims")) == 1
    assert workshop.projector.state().reasons == []


async def test_a_file_that_cannot_be_read_is_said_and_holds_nobody_up(workshop: Workshop) -> None:
    await workshop.publisher.publish((episode(),))
    await workshop.settle()
    path = workshop.root / EPISODES
    path.write_text(path.read_text().replace("Yosemite", "Patagonia"))
    read = workshop.markdown.read

    def refused(file: object) -> object:
        raise ServiceError(ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE, "storage is read-only")

    workshop.markdown.read = refused  # type: ignore[assignment]
    await workshop.scan.run()
    async with asyncio.timeout(5):
        await workshop.settle()
    assert workshop.projector.state().reasons == [
        "1 Markdown files cannot be read; they are tried again"
    ]
    # What was known of it stays: nothing is taken as deleted.
    assert await _episode_texts(workshop) == ["Alice climbs in Yosemite."]
    workshop.markdown.read = read  # type: ignore[method-assign]
    await workshop.scan.run()
    await workshop.settle()
    assert workshop.projector.state().reasons == []
    assert await _episode_texts(workshop) == ["Alice climbs in Patagonia."]


async def test_a_removed_file_takes_its_records_along(workshop: Workshop) -> None:
    await workshop.publisher.publish((episode(), transcript("I love climbing.")))
    await workshop.settle()
    (workshop.root / EPISODES).unlink()
    workshop.projector.submit_file(workshop.root / EPISODES)
    await workshop.settle()
    assert await _episode_texts(workshop) == []
    assert len(await workshop.words(ALICE, "climbing")) == 1


async def test_a_broken_entry_is_counted_until_it_is_mended(tmp_path: Path) -> None:
    async with open_workshop(tmp_path, WorkshopPlan(work=False)) as workshop:
        await workshop.publisher.publish((episode(1), episode(2)))
        await workshop.settle()
        path = workshop.root / EPISODES
        whole = path.read_text()
        path.write_text(whole.replace("2026-05-28T11:30:36Z", "some day in May", 1))
        await workshop.scan.run()
        await workshop.settle()
        assert workshop.projector.state().broken_entries == 1
        assert len(await _episode_texts(workshop)) == 1
    async with open_workshop(tmp_path, WorkshopPlan(work=False)) as workshop:
        assert workshop.projector.state().broken_entries == 1
        path.write_text(whole)
        await workshop.scan.run()
        await workshop.settle()
        assert workshop.projector.state().broken_entries == 0
        assert len(await _episode_texts(workshop)) == 2


async def test_the_last_of_several_versions_counts(workshop: Workshop) -> None:
    for place in ("Tahoe", "Shasta", "Yosemite"):
        path = workshop.root / EPISODES
        if path.exists():
            path.write_text(path.read_text().replace("Tahoe", place).replace("Shasta", place))
            workshop.projector.submit_file(path)
        else:
            await workshop.publisher.publish((episode(content=f"Alice swims in {place}."),))
    await workshop.settle()
    assert await _episode_texts(workshop) == ["Alice swims in Yosemite."]


async def test_a_commit_that_failed_is_made_up_for(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("remanence_server.projection.projector._COMMIT_INTERVAL_SECONDS", 0.05)
    await workshop.publisher.publish((episode(),))
    await workshop.settle()
    commit = workshop.lexical.commit

    async def lossy() -> None:
        # Lucene closes a writer that met a full disk, and goes back to its last commit.
        workshop.lexical.commit = commit  # type: ignore[method-assign]
        await workshop.lexical.clear()
        raise ServiceError(ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE, "storage is full")

    workshop.lexical.commit = lossy  # type: ignore[method-assign]
    await workshop.publisher.publish((episode(2, "Alice swims."),))
    await workshop.settle()
    async with asyncio.timeout(15):
        while await workshop.lexical.committed_stamp() < await workshop.catalogue.stamp():
            await asyncio.sleep(0.02)
    assert len(await workshop.words(ALICE, "Alice")) == 2


async def test_a_record_written_again_is_written_once(workshop: Workshop) -> None:
    records: tuple[Record, ...] = (episode(), transcript("I love climbing.", "Where?"))
    await workshop.publisher.publish(records)
    await workshop.settle()
    before = {path: path.read_bytes() for path in workshop.root.rglob("*.md")}
    stamp = await workshop.catalogue.stamp()
    await workshop.publisher.publish(records)
    await workshop.settle()
    assert {path: path.read_bytes() for path in workshop.root.rglob("*.md")} == before
    assert await workshop.catalogue.stamp() == stamp
    assert workshop.embedder.switch.calls == 1
