"""The whole read path over small memories: candidates, scores, cuts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.support.memory_dense_index import MemoryDenseIndex
from tests.support.memory_lexical_index import MemoryLexicalIndex

from remanence_server.domain.filters import Comparison, FilterField, FilterOperator
from remanence_server.domain.messages import Role
from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.domain.records import (
    AtomicFact,
    Episode,
    Record,
    Transcript,
    Turn,
    record_key,
)
from remanence_server.index.catalogue import SqliteCatalogue
from remanence_server.index.catalogue.changes import IndexedRecord
from remanence_server.projection.indexer import Indexer
from remanence_server.projection.passages import passages_of
from remanence_server.providers.embeddings.hashing import HashingEmbedder
from remanence_server.retrieval.recall import Indexes
from remanence_server.retrieval.results import EpisodeHit, Method, Query
from remanence_server.retrieval.retriever import MemoryRetriever, SearchDefaults
from remanence_server.runtime.clock import SystemClock
from remanence_server.runtime.instants import from_datetime

OWNER = Owner(Scope("app", "project"), Track.USER, "ann")


class Memory:
    """A retriever, and a way to remember."""

    def __init__(self, folder: Path) -> None:
        embedder = HashingEmbedder()
        self.catalogue = SqliteCatalogue(
            folder, fingerprint=embedder.fingerprint, dimensions=embedder.dimensions
        )
        lexical, dense = MemoryLexicalIndex(), MemoryDenseIndex(self.catalogue.load_partition)
        self.indexer = Indexer(self.catalogue, lexical, dense, embedder)
        self.retriever = MemoryRetriever(
            Indexes(self.catalogue, lexical, dense, embedder),
            SystemClock(),
            UTC,
            SearchDefaults(radius=0.25, user_top_k=100, agent_top_k=10),
        )

    async def remember(self, number: int, day: datetime, *texts: str) -> None:
        """One episode with a fact for each text."""
        at_ms = from_datetime(day.replace(tzinfo=UTC))
        name, session = f"ep_{number}", f"s{number}"
        turns = tuple(
            Turn(f"m{number}-{index}", "ann", "Ann", Role.USER, at_ms, text)
            for index, text in enumerate(texts)
        )
        records: list[Record] = [
            Episode(OWNER, name, session, at_ms, ("ann",), texts[0], texts[0], " ".join(texts)),
            Transcript(OWNER, f"tr_{number}", session, at_ms, ("ann",), turns, name),
            *(
                AtomicFact(
                    OWNER,
                    f"af_{number}_{index}",
                    session,
                    at_ms,
                    text,
                    name,
                    message_ids=(f"m{number}-{index}",),
                )
                for index, text in enumerate(texts)
            ),
        ]
        await self.index(name, at_ms, records)

    async def remember_at_length(self, number: int, content: str) -> None:
        """One episode without anything around it."""
        day = from_datetime(datetime(2026, 5, number, tzinfo=UTC))
        name = f"ep_{number}"
        episode = Episode(OWNER, name, "s", day, ("ann",), "Long", "A long story.", content)
        await self.index(name, day, [episode])

    async def index(self, name: str, at_ms: int, records: list[Record]) -> None:
        """Takes records of one file into the indexes."""
        change = await self.catalogue.upsert(
            [
                IndexedRecord(record, f"{name}.md", record_key(record), passages_of(record))
                for record in records
            ],
            at_ms,
        )
        await self.indexer.apply(change)
        await self.indexer.embed(change)

    async def ask(self, text: str, method: Method, **options: object) -> tuple[EpisodeHit, ...]:
        """The episodes found."""
        return await self.retriever.episodes(Query(OWNER, text, method, **options))  # type: ignore[arg-type]


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    made = Memory(tmp_path)
    await made.remember(
        1, datetime(2023, 5, 7), "We had a picnic by the lake.", "Miso the cat came along."
    )
    await made.remember(2, datetime(2023, 6, 1), "I moved to Porto for a new job at Ribeira.")
    await made.remember(3, datetime(2023, 7, 9), "Marta teaches me Portuguese on Mondays.")
    yield made
    await made.catalogue.close()


def ids(hits: tuple[EpisodeHit, ...]) -> list[str]:
    return [hit.episode.entry_id for hit in hits]


@pytest.mark.parametrize("method", list(Method))
async def test_an_obvious_hit_in_a_small_memory_survives_a_usual_minimum(
    memory: Memory, method: Method
) -> None:
    hits = await memory.ask(
        "Who teaches Portuguese on Mondays?", method, top_k=10, minimum_score=0.3
    )
    assert ids(hits)[:1] == ["ep_3"]


@pytest.mark.parametrize("method", [Method.KEYWORD, Method.HYBRID])
async def test_an_unrelated_question_scores_low(memory: Memory, method: Method) -> None:
    hits = await memory.ask("kubernetes ingress certificate rotation", method, top_k=10)
    assert all(hit.score < 0.1 for hit in hits)


async def test_keyword_search_finds_what_happened_on_a_named_day_without_a_word_of_it(
    memory: Memory,
) -> None:
    hits = await memory.ask("What happened on 7 May 2023?", Method.KEYWORD, top_k=10)
    assert ids(hits) == ["ep_1"]
    assert hits[0].score > 0.1


async def test_a_named_day_does_not_reach_past_the_filter(memory: Memory) -> None:
    elsewhere = Comparison(FilterField.SESSION_ID, FilterOperator.EQ, "s2")
    hits = await memory.ask(
        "What happened on 7 May 2023?", Method.KEYWORD, top_k=10, where=elsewhere
    )
    assert ids(hits) == []


async def test_vector_search_keeps_its_radius_whatever_the_date(memory: Memory) -> None:
    hits = await memory.ask("What happened on 7 May 2023?", Method.VECTOR, top_k=10, radius=0.99)
    assert ids(hits) == []


async def test_hits_come_best_first_with_the_facts_that_matched(memory: Memory) -> None:
    hits = await memory.ask("the cat Miso", Method.HYBRID, top_k=10)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert hits[0].facts[0].fact.content == "Miso the cat came along."
    assert all(fact.score <= hits[0].score for fact in hits[0].facts)


async def test_nothing_below_the_minimum_comes_back(memory: Memory) -> None:
    hits = await memory.ask("the cat Miso", Method.HYBRID, top_k=10)
    floor = hits[1].score
    cut = await memory.ask("the cat Miso", Method.HYBRID, top_k=10, minimum_score=floor)
    assert ids(cut) == [hit.episode.entry_id for hit in hits if hit.score >= floor]


async def test_long_records_do_not_keep_others_from_those_who_ask_for_many(
    tmp_path: Path,
) -> None:
    memory = Memory(tmp_path)
    for number in range(1, 13):
        await memory.remember_at_length(number, "kayak " * 10_000)
    for top_k, expected in ((3, 3), (12, 12), (100, 12)):
        found = await memory.ask("kayak", Method.KEYWORD, top_k=top_k)
        assert len({hit.episode.entry_id for hit in found}) == len(found) == expected
