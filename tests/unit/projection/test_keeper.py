"""Generations of the index: one takes the place of another, and nobody who reads notices."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from tests.support.memory_lexical_index import MemoryLexicalIndex
from tests.support.workshop import ALICE, CountingMarkdown, Switch, SwitchedEmbedder, episode

from remanence_server.domain.records import Kind
from remanence_server.index import live as live_module
from remanence_server.index.damage import IndexDamagedError
from remanence_server.index.generation import IndexFolder
from remanence_server.index.lexical.interface import LexicalIndex
from remanence_server.index.live import LiveIndex
from remanence_server.index.partitions import partition_key
from remanence_server.projection import keeper as keeper_module
from remanence_server.projection.indexer import Indexer
from remanence_server.projection.keeper import IndexKeeper
from remanence_server.projection.projector import Projector
from remanence_server.projection.publisher import Publisher
from remanence_server.runtime.clock import SystemClock
from remanence_server.runtime.errors import ServiceError
from remanence_server.runtime.supervision import Supervisor


class FragileLexicalIndex(MemoryLexicalIndex):
    """The keyword index in memory, whose files can be said to be gone or damaged."""

    def __init__(self) -> None:
        super().__init__()
        self.whole = True
        self.damage = Switch()

    async def is_whole(self) -> bool:
        return self.whole

    async def check(self) -> None:
        if self.damage.times:
            raise IndexDamagedError("lexical")


@dataclass
class Bench:
    """An index with its keeper, over the Markdown of a root."""

    folder: IndexFolder
    live: LiveIndex
    markdown: CountingMarkdown
    embedder: SwitchedEmbedder
    projector: Projector
    publisher: Publisher
    keeper: IndexKeeper

    @property
    def number(self) -> int:
        return self.live.current.number

    @property
    def lexical(self) -> FragileLexicalIndex:
        found = self.live.current.lexical
        assert isinstance(found, FragileLexicalIndex)
        return found

    async def count(self) -> int:
        return (await self.live.catalogue.counts(ALICE))[Kind.EPISODE]

    async def words(self, text: str) -> int:
        found = await self.live.lexical.search(partition_key(ALICE), ("episode",), text, 100)
        return len(found.hits["episode"])

    async def becomes(self, look: Callable[[], bool]) -> None:
        async with asyncio.timeout(10):
            while not look():
                await asyncio.sleep(0.01)


async def _open_fragile(_: Path) -> LexicalIndex:
    return FragileLexicalIndex()


@asynccontextmanager
async def _open(
    root: Path, open_lexical: Callable[[Path], Awaitable[LexicalIndex]] = _open_fragile
) -> AsyncIterator[Bench]:
    clock, supervisor, embedder = SystemClock(), Supervisor(), SwitchedEmbedder()
    folder = IndexFolder(
        root / ".index", embedder.fingerprint, embedder.dimensions, open_lexical, 1 << 24
    )
    live, markdown = LiveIndex(await folder.open_latest()), CountingMarkdown(root)
    indexer = Indexer(live.catalogue, live.lexical, live.dense, embedder)
    projector = Projector(markdown, live.catalogue, indexer, clock, supervisor)
    keeper = IndexKeeper(live, folder, markdown, indexer, projector, clock, supervisor)
    await projector.start()
    await keeper.fill()
    keeper.start()
    try:
        yield Bench(
            folder, live, markdown, embedder, projector, Publisher(markdown, projector), keeper
        )
    finally:
        await supervisor.stop()
        await keeper.close()
        await live.close()


@pytest.fixture
async def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Bench]:
    """Three episodes, and a keeper in a hurry."""
    monkeypatch.setattr(keeper_module, "_LOOK_INTERVAL_SECONDS", 0.05)
    monkeypatch.setattr(live_module, "_SHORTEST_RETIREMENT_SECONDS", 0.05)
    async with _open(tmp_path) as opened:
        for number in range(1, 4):
            await opened.publisher.publish((episode(number, f"Alice climbs peak {number}."),))
        await opened.projector.wait_until_visible()
        yield opened


async def test_a_rebuild_reads_everything_and_embeds_nothing(bench: Bench) -> None:
    before = await bench.live.catalogue.passages_since(0, 100)
    bench.embedder.embedded.clear()
    assert bench.keeper.rebuild()
    assert not bench.keeper.rebuild()
    assert [activity.name for activity in bench.keeper.activities()] == ["rebuild"]
    await bench.becomes(lambda: bench.number == 2)
    assert await bench.count() == 3
    assert await bench.words("climbs") == 3
    assert bench.embedder.embedded == []
    after = await bench.live.catalogue.passages_since(0, 100)
    assert {p.text for p in after} == {p.text for p in before}
    assert all(p.embedded for p in after if p.dense)
    # An id of one generation means nothing in the other.
    assert not {p.passage_id for p in after} & {p.passage_id for p in before}
    assert not {p.record_id for p in after} & {p.record_id for p in before}
    await bench.becomes(lambda: [path.name for path in bench.folder.folder.iterdir()] == ["2"])
    assert bench.keeper.activities() == []
    assert bench.keeper.reasons() == []


async def test_what_is_written_while_it_is_rebuilt_is_in_the_new_one(bench: Bench) -> None:
    bench.keeper.rebuild()
    for number in range(4, 30):
        await bench.publisher.publish((episode(number, f"Alice climbs peak {number}."),))
        await bench.projector.wait_until_visible()
        assert await bench.count() == number
    await bench.becomes(lambda: bench.number == 2)
    assert await bench.count() == await bench.words("climbs") == 29


async def test_a_rebuild_comes_to_its_end_though_somebody_writes_all_the_time(bench: Bench) -> None:
    number = 3

    async def write() -> None:
        nonlocal number
        while True:
            number += 1
            await bench.publisher.publish((episode(number, f"Alice climbs peak {number}."),))

    writing = asyncio.create_task(write())
    try:
        bench.keeper.rebuild()
        await bench.becomes(lambda: bench.number == 2)
    finally:
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
    await bench.projector.wait_until_visible()
    assert number - 1 <= await bench.count() == await bench.words("climbs") <= number


async def test_a_disk_that_takes_no_next_index_is_asked_again_and_nothing_is_left_of_it(
    bench: Bench,
) -> None:
    refusals = Switch(times=2)

    async def open_refused(path: Path) -> LexicalIndex:
        refusals.pass_or_fail()
        return await _open_fragile(path)

    bench.folder = replace(bench.folder, open_lexical=open_refused)
    for _ in range(2):
        with pytest.raises(ServiceError):
            await bench.folder.open_next(bench.live.current)
        assert [path.name for path in bench.folder.folder.iterdir()] == ["1"]
    new = await bench.folder.open_next(bench.live.current)
    assert new.number == 2
    await new.close()


async def test_a_rebuild_that_failed_can_be_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper_module, "_LOOK_INTERVAL_SECONDS", 0.05)
    refusals = Switch()

    async def open_refused(path: Path) -> LexicalIndex:
        refusals.pass_or_fail()
        return await _open_fragile(path)

    async with _open(tmp_path, open_refused) as bench:
        refusals.times = 1
        bench.lexical.whole = False
        await bench.becomes(lambda: not refusals.times)
        # What was missing is there again, so nobody but a person asks.
        bench.lexical.whole = True
        await bench.becomes(lambda: not bench.keeper.activities())
        assert bench.keeper.rebuild()
        await bench.becomes(lambda: bench.number == 2)


async def test_missing_files_are_noticed_and_hide_nothing(bench: Bench) -> None:
    seen: list[int] = []
    bench.lexical.whole = False
    async with asyncio.timeout(10):
        while bench.number == 1:
            seen.append(await bench.count())
            await asyncio.sleep(0)
    assert set(seen) == {3}
    assert await bench.count() == 3


async def test_a_damaged_index_is_replaced_and_the_read_that_met_it_answered(bench: Bench) -> None:
    first = bench.number

    async def read() -> int:
        if bench.live.of_this_read.number == first:
            raise IndexDamagedError("catalogue")
        return await bench.count()

    assert await bench.live.reading(read) in range(4)
    assert bench.number == 2
    async with asyncio.timeout(10):
        while await bench.words("climbs") != 3 or bench.keeper.reasons():
            await asyncio.sleep(0.01)
    assert await bench.count() == 3


async def test_damage_that_nobody_met_is_looked_for_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper_module, "_LOOK_INTERVAL_SECONDS", 0.05)
    async with _open(tmp_path) as bench:
        bench.lexical.damage.times = 1
        await bench.becomes(lambda: bench.number == 2)
        await asyncio.sleep(0.3)
        assert bench.number == 2


async def test_without_a_next_index_the_read_ends_in_an_error_that_can_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_module, "_LONGEST_WAIT_SECONDS", 0.05)
    embedder = SwitchedEmbedder()
    folder = IndexFolder(tmp_path, embedder.fingerprint, 64, _open_fragile, 1 << 20)
    live = LiveIndex(await folder.open_latest())

    async def read() -> None:
        raise IndexDamagedError("catalogue")

    with pytest.raises(IndexDamagedError) as raised:
        await live.reading(read)
    assert raised.value.spec.retryable
    assert live.damaged.is_set()
    await live.close()


async def test_a_read_sees_one_generation_to_its_end(bench: Bench) -> None:
    step, goes_on = asyncio.Event(), asyncio.Event()

    async def read() -> tuple[int, int, int]:
        before = await bench.count()
        step.set()
        await goes_on.wait()
        return before, await bench.count(), bench.live.of_this_read.number

    reading: Awaitable[tuple[int, int, int]] = asyncio.ensure_future(bench.live.reading(read))
    await step.wait()
    bench.keeper.rebuild()
    await bench.becomes(lambda: bench.number == 2)
    await bench.publisher.publish((episode(4, "Alice climbs peak 4."),))
    await bench.projector.wait_until_visible()
    await asyncio.sleep(0.2)
    assert sorted(path.name for path in bench.folder.folder.iterdir()) == ["1", "2"]
    goes_on.set()
    assert await reading == (3, 3, 1)
    assert await bench.count() == 4
    await bench.becomes(lambda: [path.name for path in bench.folder.folder.iterdir()] == ["2"])


async def test_a_start_takes_the_last_complete_generation_and_tidies_up(bench: Bench) -> None:
    folder = bench.folder
    unfinished = await folder.open_next(bench.live.current)
    await unfinished.close()
    (folder.folder / "catalogue.db").write_text("of an older release")
    again = IndexFolder(folder.folder, folder.fingerprint, 64, _open_fragile, 1 << 20)
    await bench.live.current.catalogue.stamp()
    opened = await again.open_latest()
    assert opened.number == 1
    assert not opened.catalogue.was_reset
    assert [path.name for path in folder.folder.iterdir()] == ["1"]
    await opened.close()


async def test_vectors_that_wait_are_an_activity_until_they_are_there(bench: Bench) -> None:
    bench.embedder.switch.times = 2
    await bench.publisher.publish((episode(4, "Alice swims."),))
    await bench.projector.wait_until_visible()
    await bench.becomes(lambda: bool(bench.keeper.activities()))
    (activity,) = bench.keeper.activities()
    assert (activity.name, activity.done, activity.total > 0) == ("embed", 0, True)
    assert "wait for their vectors" in str(bench.projector.state().reasons)
    await bench.becomes(lambda: not bench.keeper.activities())
    assert await bench.live.catalogue.count_without_vector() == 0
    assert bench.projector.state().reasons == []
