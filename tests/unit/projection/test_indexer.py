from __future__ import annotations

import asyncio
from dataclasses import replace

from tests.support.workshop import (
    ALICE,
    SwitchedLexicalIndex,
    Workshop,
    episode,
    transcript,
)

from remanence_server.domain.records import Kind, Record
from remanence_server.index.partitions import partition_key
from remanence_server.projection.records import indexed


async def _catalogued(workshop: Workshop, *records: Record, version: str = "1"):
    root = workshop.root
    made = [indexed(root, root / "a.md", record, f"{version}{record}") for record in records]
    return await workshop.catalogue.upsert(made, 0)


async def _apply(workshop: Workshop, *records: Record) -> None:
    change = await _catalogued(workshop, *records)
    await workshop.indexer.apply(change)
    await workshop.indexer.embed(change)


async def test_a_change_is_found_by_its_words_and_its_meaning(still: Workshop) -> None:
    await _apply(still, episode(), transcript("I love climbing."))
    assert len(await still.words(ALICE, "climbing")) == 2
    assert await still.vectors(ALICE, "turn", "climbing") == ["A: I love climbing."]
    assert await still.catalogue.count_without_vector() == 0


async def test_words_need_no_model(still: Workshop) -> None:
    still.embedder.switch.times = 100
    await still.indexer.apply(await _catalogued(still, transcript("I love climbing.")))
    assert len(await still.words(ALICE, "climbing")) == 1
    assert still.embedder.switch.calls == 0


async def test_a_text_that_was_embedded_before_needs_no_model(still: Workshop) -> None:
    await _apply(still, transcript("I love climbing."))
    await still.vectors(ALICE, "turn", "climbing")
    await _apply(still, transcript("I love climbing.", number=2))
    assert still.embedder.embedded == ["A: I love climbing."]
    assert await still.vectors(ALICE, "turn", "climbing") == ["A: I love climbing."] * 2


async def test_what_is_deleted_is_found_no_more(still: Workshop) -> None:
    await _apply(still, episode(), transcript("I love climbing."))
    await still.vectors(ALICE, "turn", "climbing")
    removed = await still.catalogue.delete_records(ALICE, Kind.TRANSCRIPT, ["tr_20260528_00000001"])
    await still.indexer.apply(removed)
    assert await still.vectors(ALICE, "turn", "climbing") == []
    assert len(await still.words(ALICE, "climbs")) == 1


async def test_what_a_crash_took_is_fed_again_deletions_included(still: Workshop) -> None:
    # More than a batch of each, and one deletion of what the survivor holds.
    first = await _catalogued(still, *(transcript(f"turn {n}", number=n) for n in range(1, 700)))
    survivor = SwitchedLexicalIndex()
    after_the_crash = replace(still.indexer, lexical=survivor)
    await after_the_crash.apply(first)
    await after_the_crash.commit()
    await _catalogued(still, *(transcript(f"later {n}", number=1000 + n) for n in range(700)))
    doomed = ["tr_20260528_00000001", "tr_20260528_00001001"]
    await still.catalogue.delete_records(ALICE, Kind.TRANSCRIPT, doomed)
    await after_the_crash.catch_up()
    assert await survivor.count() == 699 + 700 - 2
    found = await survivor.search(partition_key(ALICE), ["window"], "699 1 later", 2000)
    texts = await still.catalogue.passage_texts(hit.passage_id for hit in found.hits["window"])
    assert len(texts) == 700
    assert "A: turn 699" in texts.values()
    assert "A: turn 1" not in texts.values()


async def test_catching_up_feeds_only_what_came_after_the_commit(still: Workshop) -> None:
    await _apply(still, transcript("one"))
    await still.indexer.commit()
    await _apply(still, transcript("two", number=2))
    still.lexical.fed.clear()
    await still.indexer.catch_up()
    assert len(still.lexical.fed) == 1


async def test_notes_of_deletions_go_once_every_index_has_seen_them(still: Workshop) -> None:
    await _apply(still, transcript("one"))
    gone = await still.catalogue.delete_records(ALICE, Kind.TRANSCRIPT, ["tr_20260528_00000001"])
    await still.indexer.apply(gone)
    assert await still.catalogue.deletions_since(0, 10)
    await still.indexer.commit()
    assert await still.catalogue.deletions_since(0, 10) == []


async def test_waiting_passages_are_embedded_in_batches(still: Workshop) -> None:
    await _catalogued(still, *(transcript(f"turn {n}", number=n) for n in range(1, 151)))
    assert await still.indexer.embed_waiting() == 150
    assert still.embedder.switch.calls == 3
    assert len(await still.vectors(ALICE, "turn", "turn")) == 100


async def test_a_vector_that_comes_late_does_not_bring_back_what_was_deleted(
    still: Workshop,
) -> None:
    change = await _catalogued(still, transcript("I love climbing."))
    assert await still.vectors(ALICE, "turn", "x") == []
    gate, embed = asyncio.Event(), still.embedder.embed_passages

    async def slow(texts):
        await gate.wait()
        return await embed(texts)

    still.embedder.embed_passages = slow  # type: ignore[method-assign]
    embedding = asyncio.create_task(still.indexer.embed(change))
    await asyncio.sleep(0)
    gone = await still.catalogue.delete_records(ALICE, Kind.TRANSCRIPT, ["tr_20260528_00000001"])
    await still.indexer.apply(gone)
    gate.set()
    await embedding
    assert await still.vectors(ALICE, "turn", "climbing") == []
