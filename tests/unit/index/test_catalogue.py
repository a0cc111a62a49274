from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import pytest_asyncio

from remanence_server.domain.filters import AllOf, Comparison, FilterField, FilterOperator
from remanence_server.domain.messages import Role
from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.domain.records import (
    AgentCase,
    AgentSkill,
    AtomicFact,
    Episode,
    Kind,
    Profile,
    Record,
    Transcript,
    Turn,
    kind_of,
    record_key,
)
from remanence_server.index.catalogue import (
    Catalogue,
    EntryProblem,
    FileState,
    FilterValues,
    IndexedRecord,
    PassageDraft,
    SortBy,
    SqliteCatalogue,
)

ALICE = Owner(Scope(), Track.USER, "alice")
BOB = Owner(Scope(), Track.USER, "bob")
HELPER = Owner(Scope(), Track.AGENT, "helper")
DAY = "20260528"


def episode(number: int, owner: Owner = ALICE, **changes: object) -> Episode:
    plain = Episode(
        owner=owner,
        entry_id=f"ep_{DAY}_{number:08d}",
        session_id=f"s-{number}",
        timestamp_ms=1_000 * number,
        sender_ids=("alice", "bob"),
        subject="Climbing",
        summary="She climbs.",
        content=f"Episode {number}: she climbs in Yosemite.",
        parent_id=f"mc_{number}",
    )
    return replace(plain, **changes)  # type: ignore[arg-type]


def fact(number: int, of_episode: int, owner: Owner = ALICE) -> AtomicFact:
    return AtomicFact(
        owner=owner,
        entry_id=f"af_{DAY}_{number:08d}",
        session_id=f"s-{of_episode}",
        timestamp_ms=1_000 * of_episode,
        content=f"Fact {number}.",
        parent_id=f"ep_{DAY}_{of_episode:08d}",
        message_ids=("m-1",),
    )


def transcript(of_episode: int, owner: Owner = ALICE) -> Transcript:
    return Transcript(
        owner=owner,
        entry_id=f"tr_{DAY}_{of_episode:08d}",
        session_id=f"s-{of_episode}",
        timestamp_ms=1_000 * of_episode,
        sender_ids=("alice",),
        turns=(Turn("m-1", "alice", "Alice", Role.USER, 1_000, "I climb 山."),),
        parent_id=f"ep_{DAY}_{of_episode:08d}",
    )


CASE = AgentCase(
    owner=HELPER,
    entry_id=f"ac_{DAY}_00000001",
    session_id="run-1",
    timestamp_ms=5_000,
    task_intent="Deploy",
    approach="1. build",
    quality_score=0.75,
    key_insight=None,
    sender_ids=("helper",),
    parent_id="mc_9",
)
SKILL = AgentSkill(HELPER, "deploy", "Deploys", "1. build", 0.5, 1.0, ("ac_1",), 6_000)
PROFILE = Profile(ALICE, {"summary": "Climber", "explicit_info": [{"category": "home"}]}, 7_000)


def indexed(
    record: Record, *texts: str, path: str = "day.md", content_hash: str = "1"
) -> IndexedRecord:
    channel = kind_of(record).value
    drafts = tuple(PassageDraft(channel, n, text) for n, text in enumerate(texts))
    return IndexedRecord(record, path, content_hash, drafts)


def unit(*values: float) -> np.ndarray:
    vector = np.array(values, dtype=np.float32)
    return vector / np.linalg.norm(vector)


def open_catalogue(directory: Path, fingerprint: str = "space-1") -> SqliteCatalogue:
    return SqliteCatalogue(directory, fingerprint=fingerprint, dimensions=2)


@pytest_asyncio.fixture
async def catalogue(tmp_path: Path) -> AsyncIterator[Catalogue]:
    opened = open_catalogue(tmp_path)
    yield opened
    await opened.close()


# Records.


@pytest.mark.parametrize(
    "record",
    [episode(1), fact(1, 1), transcript(1), CASE, SKILL, PROFILE, replace(CASE, key_insight="x")],
    ids=lambda record: type(record).__name__,
)
async def test_a_record_comes_back_as_it_went_in(catalogue: Catalogue, record: Record) -> None:
    await catalogue.upsert([indexed(record, "text")], 1)
    key = record_key(record)
    assert await catalogue.get_records(record.owner, kind_of(record), [key, "other"]) == {
        key: record
    }


async def test_owners_scopes_and_tracks_do_not_see_each_other(catalogue: Catalogue) -> None:
    owners = [
        ALICE,
        BOB,
        Owner(Scope(), Track.AGENT, "alice"),
        Owner(Scope("default", "other"), Track.USER, "alice"),
        Owner(Scope("other", "default"), Track.USER, "alice"),
    ]
    for number, owner in enumerate(owners):
        records = [indexed(episode(1, owner, subject=str(number)), "t", content_hash=str(number))]
        await catalogue.upsert(records, 1)
    for number, owner in enumerate(owners):
        total, [found] = await catalogue.list_records(owner, Kind.EPISODE)
        assert (total, found) == (1, episode(1, owner, subject=str(number)))


async def test_records_by_ids_keep_the_order_asked_for(catalogue: Catalogue) -> None:
    change = await catalogue.upsert([indexed(episode(n), "t") for n in (1, 2, 3)], 1)
    first, second, third = (passage.record_id for passage in change.added)
    found = await catalogue.records_by_ids([third, first, 999, second])
    assert found == [episode(3), episode(1), episode(2)]


async def test_a_public_id_is_found_in_its_scope_only(catalogue: Catalogue) -> None:
    elsewhere = Owner(Scope("default", "other"), Track.USER, "alice")
    await catalogue.upsert([indexed(episode(1)), indexed(episode(1, elsewhere))], 1)
    assert await catalogue.find_public(Scope(), f"alice_ep_{DAY}_00000001") == [episode(1)]
    assert await catalogue.find_public(Scope(), f"bob_ep_{DAY}_00000001") == []


async def test_counts_follow_every_change(catalogue: Catalogue) -> None:
    await catalogue.upsert([indexed(episode(1)), indexed(episode(2)), indexed(fact(1, 1))], 1)
    await catalogue.upsert([indexed(episode(1, BOB))], 1)
    await catalogue.delete_records(ALICE, Kind.EPISODE, [episode(1).entry_id])
    assert (await catalogue.counts())[Kind.EPISODE] == 2
    of_alice = await catalogue.counts(ALICE)
    assert (of_alice[Kind.EPISODE], of_alice[Kind.ATOMIC_FACT]) == (1, 1)
    assert set((await catalogue.counts(HELPER)).values()) == {0}


# Listing.


async def test_listing_pages_by_time_then_id(catalogue: Catalogue) -> None:
    records = [indexed(episode(n, timestamp_ms=1_000 * (n // 2))) for n in range(1, 8)]
    await catalogue.upsert(records, 1)
    numbers = []
    for offset in (0, 3, 6, 9):
        total, page = await catalogue.list_records(ALICE, Kind.EPISODE, offset=offset, limit=3)
        assert total == 7
        numbers.append([int(record_key(record)[-2:]) for record in page])
    assert numbers == [[7, 6, 5], [4, 3, 2], [1], []]
    _, ascending = await catalogue.list_records(ALICE, Kind.EPISODE, descending=False, limit=2)
    assert ascending == [records[0].record, records[1].record]


async def test_listing_by_update_puts_the_rewritten_one_first(catalogue: Catalogue) -> None:
    await catalogue.upsert([indexed(episode(n)) for n in (1, 2, 3)], 10)
    await catalogue.upsert([indexed(episode(1, subject="new"), content_hash="2")], 20)
    await catalogue.upsert([indexed(episode(3), content_hash="1")], 30)  # unchanged: keeps 10
    _, page = await catalogue.list_records(ALICE, Kind.EPISODE, sort_by=SortBy.UPDATED_AT)
    assert [record_key(record)[-1] for record in page] == ["1", "3", "2"]


async def test_skills_are_ordered_by_update_whatever_is_asked(catalogue: Catalogue) -> None:
    old, new = replace(SKILL, name="a", timestamp_ms=9), replace(SKILL, name="b", timestamp_ms=1)
    await catalogue.upsert([indexed(old)], 10)
    await catalogue.upsert([indexed(new)], 20)
    _, page = await catalogue.list_records(HELPER, Kind.AGENT_SKILL)
    assert page == [new, old]


@pytest.mark.parametrize("offset", [0, 5_000])
async def test_listing_counts_what_the_filter_leaves(catalogue: Catalogue, offset: int) -> None:
    await catalogue.upsert([indexed(episode(n)) for n in range(1, 6)], 1)
    where = Comparison(FilterField.TIMESTAMP, FilterOperator.GT, 2_000)
    total, page = await catalogue.list_records(
        ALICE, Kind.EPISODE, where=where, limit=2, offset=offset
    )
    assert total == 3
    assert [record.timestamp_ms for record in page] == ([] if offset else [5_000, 4_000])


# Changes.


async def test_a_change_lists_the_new_passages(catalogue: Catalogue) -> None:
    draft = PassageDraft("episode", 3, "text", dense=False)
    change = await catalogue.upsert([IndexedRecord(episode(1), "day.md", "1", (draft,))], 1)
    [passage] = change.added
    assert (passage.owner, passage.kind, passage.channel) == (ALICE, Kind.EPISODE, "episode")
    assert (passage.ordinal, passage.text, passage.dense, passage.lexical) == (
        3,
        "text",
        False,
        True,
    )
    assert passage.filter_values == FilterValues("s-1", "memcell", "mc_1", 1_000, ("alice", "bob"))
    assert (change.written, change.removed, change.stamp) == (1, (), await catalogue.stamp())


async def test_what_is_as_it_was_changes_nothing(catalogue: Catalogue) -> None:
    first = await catalogue.upsert([indexed(episode(1), "text")], 1)
    second = await catalogue.upsert([indexed(episode(1), "text", path="moved.md")], 2)
    assert (second.unchanged, second.written, second.added, second.removed) == (1, 0, (), ())
    assert second.stamp == first.stamp
    # The new path counts: the old file's end is not the record's.
    assert (await catalogue.delete_file("day.md")).deleted == 0
    assert (await catalogue.delete_file("moved.md")).deleted == 1


async def test_passages_that_stay_the_same_keep_their_ids(catalogue: Catalogue) -> None:
    first = await catalogue.upsert([indexed(episode(1), "kept", "changed", "dropped")], 1)
    kept, changed, dropped = (passage.passage_id for passage in first.added)
    second = await catalogue.upsert(
        [indexed(episode(1, subject="new"), "kept", "differs", content_hash="2")], 2
    )
    [added] = second.added
    assert added.text == "differs"
    assert added.passage_id not in (kept, changed, dropped)
    assert {passage.passage_id for passage in second.removed} == {changed, dropped}
    assert set(await catalogue.passage_texts([kept, changed, dropped])) == {kept}


async def test_passage_ids_are_never_used_again(catalogue: Catalogue) -> None:
    first = await catalogue.upsert([indexed(episode(1), "text")], 1)
    await catalogue.delete_records(ALICE, Kind.EPISODE, [episode(1).entry_id])
    second = await catalogue.upsert([indexed(episode(1), "text")], 1)
    assert second.added[0].passage_id > first.added[0].passage_id


async def test_a_follower_catches_up_from_any_stamp(catalogue: Catalogue) -> None:
    await catalogue.upsert([indexed(episode(n), f"text {n}") for n in (1, 2, 3)], 1)
    stamp = await catalogue.stamp()
    await catalogue.upsert([indexed(episode(4), "text 4")], 1)
    gone = await catalogue.delete_records(ALICE, Kind.EPISODE, [episode(1).entry_id])
    assert [p.text for p in await catalogue.passages_since(stamp, 10)] == ["text 4"]
    assert await catalogue.deletions_since(stamp, 10) == list(gone.removed)
    seen: list[str] = []
    at = 0
    while page := await catalogue.passages_since(at, 2):
        seen += [passage.text for passage in page]
        at = page[-1].stamp
    assert seen == ["text 2", "text 3", "text 4"]
    await catalogue.forget_deletions(await catalogue.stamp())
    assert await catalogue.deletions_since(0, 10) == []


async def test_stamps_go_on_after_a_restart(tmp_path: Path) -> None:
    first = open_catalogue(tmp_path)
    before = (await first.upsert([indexed(episode(1), "text")], 1)).stamp
    await first.close()
    second = open_catalogue(tmp_path)
    assert await second.stamp() == before
    change = await second.upsert([indexed(episode(2), "text")], 1)
    assert change.stamp > before
    assert [p.record_id for p in change.added] != []
    await second.close()


async def test_deleting_removes_the_record_and_its_passages(catalogue: Catalogue) -> None:
    await catalogue.upsert([indexed(episode(1), "one", "two"), indexed(episode(2), "three")], 1)
    change = await catalogue.delete_records(ALICE, Kind.EPISODE, [episode(1).entry_id, "unknown"])
    assert (change.deleted, len(change.removed)) == (1, 2)
    assert {(passage.owner, passage.channel) for passage in change.removed} == {(ALICE, "episode")}
    assert (await catalogue.list_records(ALICE, Kind.EPISODE))[1] == [episode(2)]
    assert (await catalogue.delete_records(BOB, Kind.EPISODE, ["unknown"])).deleted == 0


async def test_a_failed_write_leaves_no_trace(catalogue: Catalogue) -> None:
    bad = IndexedRecord(PROFILE, "day.md", "1", ())
    unreadable = replace(PROFILE, owner=BOB, data={"summary": object()})
    with pytest.raises(TypeError):
        await catalogue.upsert([indexed(episode(1), "t"), bad, indexed(unreadable)], 1)
    assert sum((await catalogue.counts()).values()) == 0
    assert await catalogue.stamp() == 0
    await catalogue.upsert([indexed(episode(1), "t"), indexed(episode(1, BOB), "t")], 1)
    assert (await catalogue.list_records(BOB, Kind.EPISODE))[0] == 1


async def test_many_writers_at_once_lose_nothing(catalogue: Catalogue) -> None:
    changes = await asyncio.gather(
        *(catalogue.upsert([indexed(episode(n), f"t{n}")], 1) for n in range(40))
    )
    assert (await catalogue.list_records(ALICE, Kind.EPISODE))[0] == 40
    stamps = [passage.stamp for change in changes for passage in change.added]
    assert sorted(stamps) == list(range(1, 41))


# Files.


async def test_replacing_a_file_drops_what_it_no_longer_has(catalogue: Catalogue) -> None:
    state = FileState("day.md", 10, 20, "h1")
    await catalogue.replace_file(state, [indexed(episode(n), "t") for n in (1, 2)], 1)
    await catalogue.upsert([indexed(episode(3), "t", path="other.md")], 1)
    newer = FileState("day.md", 11, 21, "h2", (EntryProblem("ep_x", 7, "no timestamp"),))
    change = await catalogue.replace_file(newer, [indexed(episode(2), "t")], 2)
    assert (change.deleted, change.unchanged) == (1, 1)
    _, left = await catalogue.list_records(ALICE, Kind.EPISODE)
    assert left == [episode(3), episode(2)]
    assert await catalogue.files() == {"day.md": newer}
    assert await catalogue.file_state("day.md") == newer
    assert await catalogue.problem_files() == [newer]


async def test_an_entry_moved_to_another_file_survives_its_old_file(catalogue: Catalogue) -> None:
    old, new = FileState("old.md", 1, 1, "a"), FileState("new.md", 1, 1, "b")
    await catalogue.replace_file(old, [indexed(episode(1), "t", path="old.md")], 1)
    await catalogue.replace_file(new, [indexed(episode(1), "t", path="new.md")], 2)
    await catalogue.replace_file(old, [], 3)
    assert (await catalogue.counts())[Kind.EPISODE] == 1


async def test_a_deleted_file_takes_its_records_along(catalogue: Catalogue) -> None:
    state = FileState("day.md", 1, 1, "a")
    await catalogue.upsert([indexed(episode(1), "t")], 1, [state])
    assert await catalogue.files() == {"day.md": state}
    assert (await catalogue.delete_file("day.md")).deleted == 1
    assert await catalogue.files() == {}
    assert await catalogue.problem_files() == []


# Episodes and what belongs to them.


async def test_facts_and_turns_carry_the_filter_fields_of_their_episode(
    catalogue: Catalogue,
) -> None:
    change = await catalogue.upsert(
        [indexed(fact(1, 1), "f"), indexed(transcript(1), "t"), indexed(episode(1), "e")], 1
    )
    of_episode = FilterValues("s-1", "memcell", "mc_1", 1_000, ("alice", "bob"))
    assert [passage.filter_values for passage in change.added] == [of_episode] * 3


async def test_an_episode_that_comes_later_or_changes_renews_its_facts(
    catalogue: Catalogue,
) -> None:
    first = await catalogue.upsert([indexed(fact(1, 1), "f")], 1)
    assert first.added[0].filter_values.parent_type == "episode"
    later = await catalogue.upsert([indexed(episode(1), "e")], 1)
    assert {p.passage_id for p in later.added} > {first.added[0].passage_id}
    assert {p.filter_values.parent_id for p in later.added} == {"mc_1"}
    moved = episode(1, sender_ids=("carol",))
    change = await catalogue.upsert([indexed(moved, "e", content_hash="2")], 2)
    assert {p.text: p.filter_values.sender_ids for p in change.added} == {
        "e": ("carol",),
        "f": ("carol",),
    }
    reworded = replace(moved, subject="other")
    assert (await catalogue.upsert([indexed(reworded, "e", content_hash="3")], 3)).added == ()


async def test_passages_know_where_they_climb_to(catalogue: Catalogue) -> None:
    change = await catalogue.upsert(
        [indexed(episode(1), "e"), indexed(fact(1, 1), "f"), indexed(fact(2, 9), "orphan")], 1
    )
    await catalogue.upsert([indexed(CASE, "c")], 1)
    ids = {passage.text: passage.passage_id for passage in change.added}
    records = {passage.text: passage.record_id for passage in change.added}
    homes = await catalogue.passage_homes([*ids.values(), 999])
    assert set(homes) == set(ids.values())
    assert homes[ids["e"]].episode_record_id == records["e"]
    assert homes[ids["f"]].episode_record_id == records["e"]
    assert homes[ids["orphan"]].episode_record_id is None
    assert homes[ids["f"]][1:5] == (
        records["f"],
        Kind.ATOMIC_FACT,
        fact(1, 1).entry_id,
        episode(1).entry_id,
    )
    climbed = await catalogue.episodes_of([*records.values(), 999])
    assert climbed == {records["e"]: records["e"], records["f"]: records["e"]}


async def test_facts_that_cite_a_message_come_in_order_and_from_one_owner(
    catalogue: Catalogue,
) -> None:
    odd_id = 'a "quoted" \\ 山'
    citing_odd = replace(fact(5, 1), message_ids=("m-9", odd_id))
    # Says the id without citing it.
    saying = replace(fact(6, 1), content="m-1", message_ids=("m-2",))
    records = (fact(2, 1), fact(1, 1), fact(3, 2), citing_odd, saying, fact(4, 1, BOB))
    await catalogue.upsert([indexed(item) for item in records], 1)
    first, second, third = (f"ep_{DAY}_{n:08d}" for n in (1, 2, 3))
    assert await catalogue.facts_citing(
        ALICE, {first: ["m-1", odd_id], second: ["m-2"], third: ["m-1"]}
    ) == {first: [fact(1, 1), fact(2, 1), citing_odd], second: [], third: []}


async def test_turns_know_their_messages(catalogue: Catalogue) -> None:
    change = await catalogue.upsert([indexed(transcript(1), "t"), indexed(episode(1), "e")], 1)
    ids = {passage.text: passage.record_id for passage in change.added}
    wanted = [(ids["t"], 0), (ids["t"], 1), (ids["e"], 0), (99, 0)]
    assert await catalogue.turn_message_ids(wanted) == {(ids["t"], 0): "m-1"}


async def test_a_filter_allows_what_belongs_to_the_episodes_it_matches(
    catalogue: Catalogue,
) -> None:
    change = await catalogue.upsert(
        [
            *(indexed(episode(n), f"e{n}") for n in (1, 2)),
            *(indexed(fact(n, n), f"f{n}") for n in (1, 2)),
            *(indexed(transcript(n), f"t{n}") for n in (1, 2)),
            indexed(episode(1, BOB), "bob"),
        ],
        1,
    )
    ids = {passage.text: passage.record_id for passage in change.added}
    where = AllOf(
        (
            Comparison(FilterField.SENDER_ID, FilterOperator.EQ, "bob"),
            Comparison(FilterField.PARENT_ID, FilterOperator.EQ, "mc_2"),
        )
    )
    allowed = await catalogue.allowed_record_ids(ALICE, where)
    assert allowed.tolist() == sorted((ids["e2"], ids["f2"], ids["t2"]))
    matching = await catalogue.matching_record_ids(ALICE, Kind.EPISODE, where)
    assert matching.tolist() == [ids["e2"]]
    everything = await catalogue.matching_record_ids(ALICE, Kind.ATOMIC_FACT, None)
    assert everything.tolist() == sorted((ids["f1"], ids["f2"]))


async def test_agents_may_filter_too(catalogue: Catalogue) -> None:
    change = await catalogue.upsert([indexed(CASE, "case"), indexed(SKILL, "skill")], 1)
    ids = {passage.text: passage.record_id for passage in change.added}
    by_session = Comparison(FilterField.SESSION_ID, FilterOperator.EQ, "run-1")
    assert (await catalogue.allowed_record_ids(HELPER, by_session)).tolist() == [ids["case"]]
    everything = await catalogue.allowed_record_ids(HELPER, AllOf(()))
    assert everything.tolist() == sorted(ids.values())
    assert (await catalogue.list_records(HELPER, Kind.AGENT_SKILL, where=by_session)) == (0, [])


async def test_an_owner_without_records_has_empty_answers(catalogue: Catalogue) -> None:
    everything = AllOf(())
    assert await catalogue.list_records(BOB, Kind.EPISODE) == (0, [])
    assert await catalogue.get_records(BOB, Kind.EPISODE, ["x"]) == {}
    assert (await catalogue.allowed_record_ids(BOB, everything)).tolist() == []
    assert (await catalogue.matching_record_ids(BOB, Kind.EPISODE, None)).tolist() == []
    assert await catalogue.facts_citing(BOB, {}) == {}
    assert await catalogue.turn_message_ids([(1, 0)]) == {}
    assert (await catalogue.load_partition(BOB, "episode")).vectors.shape == (0, 2)
    assert await catalogue.passage_homes([]) == {}


# Vectors.


async def test_vectors_come_back_by_partition(catalogue: Catalogue) -> None:
    change = await catalogue.upsert(
        [indexed(episode(1), "a"), indexed(episode(2), "b"), indexed(fact(1, 1), "c")], 1
    )
    ids = {passage.text: passage.passage_id for passage in change.added}
    assert not any(passage.embedded for passage in change.added)
    assert await catalogue.count_without_vector() == 3
    pending = await catalogue.passages_without_vector(2)
    assert [item.text for item in pending] == ["a", "b"]
    assert [i.text for i in await catalogue.passages_without_vector(9, ids["b"])] == ["c"]
    vectors = np.stack([unit(1, 2), unit(3, 1), unit(0, 1)])
    stored = await catalogue.save_vectors([ids["a"], ids["b"], ids["c"]], vectors)
    assert {(item.row, item.passage_id, item.owner, item.channel) for item in stored} == {
        (0, ids["a"], ALICE, "episode"),
        (1, ids["b"], ALICE, "episode"),
        (2, ids["c"], ALICE, "atomic_fact"),
    }
    block = await catalogue.load_partition(ALICE, "episode")
    assert block.passage_ids.tolist() == [ids["a"], ids["b"]]
    assert block.vectors.dtype == np.float32
    np.testing.assert_allclose(block.vectors, vectors[:2], atol=1e-3)
    assert await catalogue.count_without_vector() == 0
    few = await catalogue.vectors_of([ids["c"], ids["a"], 999])
    assert few.passage_ids.tolist() == [ids["a"], ids["c"]]


async def test_equal_texts_share_one_vector_across_owners(catalogue: Catalogue) -> None:
    first = await catalogue.upsert(
        [indexed(episode(1), "same"), indexed(episode(1, BOB), "same")], 1
    )
    one, other = (passage.passage_id for passage in first.added)
    stored = await catalogue.save_vectors([one], np.stack([unit(1, 0)]))
    assert {(item.passage_id, item.owner) for item in stored} == {(one, ALICE), (other, BOB)}
    later = await catalogue.upsert([indexed(episode(2), "same")], 1)
    assert later.added[0].embedded
    assert (await catalogue.load_partition(ALICE, "episode")).passage_ids.tolist() == [
        one,
        later.added[0].passage_id,
    ]


async def test_vectors_of_passages_deleted_meanwhile_are_dropped(catalogue: Catalogue) -> None:
    change = await catalogue.upsert([indexed(episode(1), "gone"), indexed(episode(2), "here")], 1)
    gone, here = (passage.passage_id for passage in change.added)
    await catalogue.delete_records(ALICE, Kind.EPISODE, [episode(1).entry_id])
    stored = await catalogue.save_vectors([gone, here], np.stack([unit(1, 0), unit(0, 1)]))
    assert [(item.row, item.passage_id) for item in stored] == [(1, here)]
    assert await catalogue.prune_vectors() == 0


async def test_a_vector_goes_with_the_last_passage_of_its_text(catalogue: Catalogue) -> None:
    change = await catalogue.upsert([indexed(episode(1), "same"), indexed(episode(2), "same")], 1)
    await catalogue.save_vectors([change.added[0].passage_id], np.stack([unit(1, 0)]))
    await catalogue.delete_records(ALICE, Kind.EPISODE, [episode(1).entry_id])
    assert (await catalogue.upsert([indexed(episode(3), "same")], 1)).added[0].embedded
    last = [episode(n).entry_id for n in (2, 3)]
    await catalogue.delete_records(ALICE, Kind.EPISODE, last)
    assert not (await catalogue.upsert([indexed(episode(4), "same")], 1)).added[0].embedded


async def test_passages_for_keywords_alone_ask_for_no_vector(catalogue: Catalogue) -> None:
    draft = PassageDraft("turn", 0, "words", dense=False)
    change = await catalogue.upsert([IndexedRecord(transcript(1), "d", "1", (draft,))], 1)
    assert await catalogue.count_without_vector() == 0
    assert await catalogue.save_vectors([change.added[0].passage_id], np.stack([unit(1, 0)])) == []
