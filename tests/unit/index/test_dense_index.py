from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import numpy as np
import pytest
import pytest_asyncio
from tests.support.memory_dense_index import MemoryDenseIndex

from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.index.catalogue import StoredVector, VectorBlock
from remanence_server.index.dense import (
    DenseHit,
    DenseIndex,
    FaissDenseIndex,
    group_by_partition,
)

ALICE = Owner(Scope(), Track.USER, "alice")
BOB = Owner(Scope(), Track.USER, "bob")
EAST = np.array([1, 0], dtype=np.float32)


def block(*rows: tuple[int, int, float]) -> VectorBlock:
    """Rows are passage id, record id and the cosine with EAST."""
    return VectorBlock(
        np.array([row[0] for row in rows], dtype=np.int64),
        np.array([row[1] for row in rows], dtype=np.int64),
        np.array([[row[2], (1 - row[2] ** 2) ** 0.5] for row in rows], dtype=np.float32).reshape(
            -1, 2
        ),
    )


class Store:
    """What the catalogue has stored."""

    def __init__(self) -> None:
        self.blocks: dict[tuple[Owner, str], VectorBlock] = {}
        self.loads = 0
        self.gate: asyncio.Event | None = None
        self.failure: Exception | None = None

    async def load(self, owner: Owner, channel: str) -> VectorBlock:
        self.loads += 1
        found = self.blocks.get((owner, channel), block())
        if self.gate is not None:
            await self.gate.wait()
        if self.failure is not None:
            raise self.failure
        return found


@pytest.fixture
def store() -> Store:
    return Store()


@pytest_asyncio.fixture(params=["faiss", "memory"])
async def index(request: pytest.FixtureRequest, store: Store) -> AsyncIterator[DenseIndex]:
    made: DenseIndex
    if request.param == "faiss":
        made = FaissDenseIndex(store.load, memory_budget_bytes=1_000_000)
    else:
        made = MemoryDenseIndex(store.load)
    yield made
    await made.close()


@pytest_asyncio.fixture
async def faiss_index(store: Store) -> AsyncIterator[FaissDenseIndex]:
    made = FaissDenseIndex(store.load, memory_budget_bytes=1_000_000)
    yield made
    await made.close()


async def found(index: DenseIndex, limit: int = 10, owner: Owner = ALICE) -> list[int]:
    hits = await index.search(owner, ["fact"], EAST, limit)
    return [hit.passage_id for hit in hits["fact"]]


# One battery for both.


async def test_the_nearest_come_first(index: DenseIndex, store: Store) -> None:
    store.blocks[ALICE, "fact"] = block((1, 10, 0.5), (2, 20, 0.75), (3, 30, -0.25))
    hits = await index.search(ALICE, ["fact", "turn"], EAST, 2)
    rounded = [DenseHit(*hit[:2], round(hit.cosine, 4)) for hit in hits["fact"]]
    assert rounded == [DenseHit(2, 20, 0.75), DenseHit(1, 10, 0.5)]
    assert hits["turn"] == []


async def test_owners_and_channels_are_apart(index: DenseIndex, store: Store) -> None:
    store.blocks[ALICE, "fact"] = block((1, 10, 0.5))
    store.blocks[BOB, "fact"] = block((2, 20, 0.6))
    store.blocks[ALICE, "turn"] = block((3, 30, 0.7))
    assert await found(index) == [1]
    assert await found(index, owner=BOB) == [2]
    hits = await index.search(ALICE, ["turn"], EAST, 5)
    assert [hit.passage_id for hit in hits["turn"]] == [3]


async def test_equal_cosines_are_ordered_by_id(index: DenseIndex, store: Store) -> None:
    rows = [(passage_id, passage_id, 0.5) for passage_id in (9, 3, 7, 1, 5)]
    store.blocks[ALICE, "fact"] = block(*rows)
    assert await found(index, 3) == [1, 3, 5]
    await index.apply(ALICE, "fact", block((2, 2, 0.5)))
    assert await found(index, 3) == [1, 2, 3]


async def test_only_allowed_records_are_found(index: DenseIndex, store: Store) -> None:
    store.blocks[ALICE, "fact"] = block(*((n, n // 2, 1 - n / 100) for n in range(1, 40)))

    async def allowed(*record_ids: int) -> list[int]:
        array = np.array(record_ids, dtype=np.int64)
        hits = await index.search(ALICE, ["fact"], EAST, 3, allowed_record_ids=array)
        return [hit.passage_id for hit in hits["fact"]]

    assert await allowed(15, 19, 999) == [30, 31, 38]
    assert await allowed(15) == [30, 31]
    assert await allowed() == []


async def test_the_radius_is_a_floor(index: DenseIndex, store: Store) -> None:
    store.blocks[ALICE, "fact"] = block((1, 1, 0.25), (2, 2, 0.5), (3, 3, -0.5))

    async def within(radius: float) -> list[int]:
        hits = await index.search(ALICE, ["fact"], EAST, 9, radius=radius)
        return [hit.passage_id for hit in hits["fact"]]

    assert await within(0.4) == [2]
    assert await within(0.0) == [2, 1]
    assert await within(1.0) == []


async def test_changes_are_seen_by_the_next_search(index: DenseIndex, store: Store) -> None:
    store.blocks[ALICE, "fact"] = block((1, 10, 0.5), (2, 20, 0.6))
    assert await found(index) == [2, 1]
    await index.apply(ALICE, "fact", block((3, 30, 0.9)), [2, 77])
    assert await found(index) == [3, 1]
    await index.apply(ALICE, "fact", removed=[3])
    await index.apply(BOB, "fact", block((4, 40, 0.9)))
    assert await found(index) == [1]


async def test_a_passage_added_again_is_replaced(index: DenseIndex, store: Store) -> None:
    store.blocks[ALICE, "fact"] = block((1, 10, 0.5), (2, 20, 0.6))
    await found(index)
    await index.apply(ALICE, "fact", block((1, 11, 0.1), (1, 12, 0.9)))
    hits = await index.search(ALICE, ["fact"], EAST, 5)
    assert [(hit.passage_id, hit.record_id) for hit in hits["fact"]] == [(1, 12), (2, 20)]


async def test_removed_and_added_at_once_is_added(index: DenseIndex, store: Store) -> None:
    store.blocks[ALICE, "fact"] = block((1, 10, 0.5))
    await found(index)
    await index.apply(ALICE, "fact", block((1, 10, 0.7)), [1])
    assert await found(index) == [1]


async def test_a_partition_that_is_not_loaded_comes_with_its_changes(
    index: DenseIndex, store: Store
) -> None:
    await index.apply(ALICE, "fact", block((1, 10, 0.5)))
    store.blocks[ALICE, "fact"] = block((1, 10, 0.5))
    assert await found(index) == [1]


async def test_after_clear_everything_is_read_again(index: DenseIndex, store: Store) -> None:
    store.blocks[ALICE, "fact"] = block((1, 10, 0.5))
    await found(index)
    store.blocks[ALICE, "fact"] = block((2, 20, 0.5))
    await index.clear()
    assert await found(index) == [2]


async def test_limits_of_nothing_and_empty_partitions(index: DenseIndex, store: Store) -> None:
    assert await found(index) == []
    await index.apply(ALICE, "fact", block((1, 10, 0.5)))
    assert await found(index) == [1]
    assert await found(index, 0) == []


async def test_both_find_the_same_among_many(store: Store) -> None:
    random = np.random.default_rng(7)
    vectors = random.standard_normal((12_000, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    ids = np.arange(1, 12_001, dtype=np.int64)
    store.blocks[ALICE, "fact"] = VectorBlock(ids, ids * 2, vectors)
    indexes: list[DenseIndex] = [
        FaissDenseIndex(store.load, memory_budget_bytes=10**9),
        MemoryDenseIndex(store.load),
    ]
    allowed = ids[::3] * 2
    answers = []
    for index in indexes:
        await found_many(index, vectors[5])
        await index.apply(ALICE, "fact", removed=ids[:100].tolist())
        await index.apply(
            ALICE, "fact", VectorBlock(ids[50:60] + 20_000, ids[50:60], vectors[50:60])
        )
        hits = await index.search(ALICE, ["fact"], vectors[55], 20)
        few = await index.search(ALICE, ["fact"], vectors[55], 20, allowed_record_ids=allowed)
        answers.append([[hit.passage_id for hit in hits["fact"]] for hits in (hits, few)])
        await index.close()
    assert answers[0] == answers[1]
    assert answers[0][0][0] == 20_056


async def found_many(index: DenseIndex, vector: np.ndarray) -> None:
    [nearest] = (await index.search(ALICE, ["fact"], vector, 1))["fact"]
    assert (nearest.passage_id, nearest.record_id) == (6, 12)


# FAISS alone: loading, memory, threads.


async def test_searches_at_once_load_a_partition_once(
    faiss_index: FaissDenseIndex, store: Store
) -> None:
    store.blocks[ALICE, "fact"] = block((1, 10, 0.5))
    store.gate = asyncio.Event()
    searches = [asyncio.create_task(found(faiss_index)) for _ in range(5)]
    await asyncio.sleep(0)
    searches[0].cancel()  # whoever began the loading may leave
    await asyncio.sleep(0)
    store.gate.set()
    assert await asyncio.gather(*searches[1:]) == [[1]] * 4
    assert store.loads == 1


async def test_changes_during_loading_are_not_lost(
    faiss_index: FaissDenseIndex, store: Store
) -> None:
    store.blocks[ALICE, "fact"] = block((1, 10, 0.5), (2, 20, 0.6))
    store.gate = asyncio.Event()
    search = asyncio.create_task(found(faiss_index))
    await asyncio.sleep(0.01)
    await faiss_index.apply(ALICE, "fact", block((3, 30, 0.7)), [1])
    await faiss_index.apply(ALICE, "fact", block((4, 40, 0.8)), [3])
    store.gate.set()
    assert await search == [4, 2]


async def test_a_failed_loading_is_tried_again(faiss_index: FaissDenseIndex, store: Store) -> None:
    store.blocks[ALICE, "fact"] = block((1, 10, 0.5))
    store.failure = RuntimeError("the disk is away")
    with pytest.raises(RuntimeError):
        await found(faiss_index)
    store.failure = None
    assert await found(faiss_index) == [1]


async def test_the_least_recently_used_leave_when_memory_is_short(store: Store) -> None:
    owners = [Owner(Scope(), Track.USER, name) for name in "abc"]
    for owner in owners:
        store.blocks[owner, "fact"] = block((1, 10, 0.5))
    index = FaissDenseIndex(store.load, memory_budget_bytes=5_000)  # room for two
    first, second, third = owners
    for owner in (first, second, first, third):
        assert await found(index, owner=owner) == [1]
    assert index.partition_count == 2
    assert index.memory_bytes <= 5_000
    assert store.loads == 3
    await found(index, owner=first)
    assert store.loads == 3
    await found(index, owner=second)  # had to leave for the third
    assert store.loads == 4
    await index.close()


async def test_growing_partitions_push_others_out(store: Store) -> None:
    index = FaissDenseIndex(store.load, memory_budget_bytes=6_000)
    await found(index)
    await found(index, owner=BOB)
    many = block(*((n, n, 0.5) for n in range(1, 200)))
    await index.apply(BOB, "fact", many)
    assert index.partition_count == 1
    assert len(await found(index, 500, owner=BOB)) == 199
    await index.close()


async def test_large_partitions_are_never_seen_half_changed(store: Store) -> None:
    count = 6_000
    store.blocks[ALICE, "fact"] = block(*((n, n, 0.1) for n in range(1, count)))
    index = FaissDenseIndex(store.load, memory_budget_bytes=10**8)
    await found(index)

    async def change() -> None:
        for turn in range(30):
            # Always exactly one of two passages is the nearest.
            added, removed = (count + turn % 2, count + (turn + 1) % 2)
            await index.apply(ALICE, "fact", block((added, added, 0.9)), [removed])

    await index.apply(ALICE, "fact", block((count + 1, count + 1, 0.9)))
    changing = asyncio.create_task(change())
    while not changing.done():
        hits = (await index.search(ALICE, ["fact"], EAST, 2))["fact"]
        assert [hit.cosine > 0.8 for hit in hits] == [True, False]
        assert all(hit.passage_id == hit.record_id for hit in hits)
    await changing
    await index.close()


def test_stored_vectors_are_grouped_by_partition() -> None:
    vectors = np.array([[1, 0], [0, 1]], dtype=np.float32)
    stored = [
        StoredVector(1, 5, 50, ALICE, "fact"),
        StoredVector(0, 6, 60, ALICE, "turn"),
        StoredVector(1, 7, 70, ALICE, "fact"),
    ]
    groups = group_by_partition(stored, vectors)
    assert set(groups) == {(ALICE, "fact"), (ALICE, "turn")}
    facts = groups[ALICE, "fact"]
    assert facts.passage_ids.tolist() == [5, 7]
    assert facts.record_ids.tolist() == [50, 70]
    assert facts.vectors.tolist() == [[0, 1], [0, 1]]
