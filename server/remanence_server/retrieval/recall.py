"""Recall: what each channel finds, climbed to the records that a search returns."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from remanence_server.domain.filters import AllOf, Filter
from remanence_server.domain.owners import Owner
from remanence_server.domain.records import Kind
from remanence_server.index.catalogue.interface import Catalogue, PassageHome
from remanence_server.index.dense.interface import DenseHit, DenseIndex
from remanence_server.index.lexical.interface import LexicalIndex, LexicalMatches
from remanence_server.index.partitions import partition_key
from remanence_server.providers.embeddings.interface import Embedder
from remanence_server.retrieval.phases import Phases
from remanence_server.retrieval.scoring import climb_decayed, climb_max, lexical_strength
from remanence_server.runtime.errors import ServiceError
from remanence_server.runtime.logging import get_logger

# Hits of each channel. On conversations 50 find less (0.2 points of recall@5), and 200 find no more
# while twice as many have to be looked up and climbed.
HITS_PER_CHANNEL = 100

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Indexes:
    """Where recall looks."""

    catalogue: Catalogue
    lexical: LexicalIndex
    dense: DenseIndex
    embedder: Embedder


@dataclass(frozen=True, slots=True)
class Channels:
    """The channels of one kind of record.

    An episode is found by the best of its windows (or by its own text) and by the sum of its best
    facts; a kind with one lexical channel counts it twice, so that the same weights serve.
    """

    kind: Kind
    best_of: tuple[str, ...]
    sum_of: tuple[str, ...]
    dense: tuple[str, ...]


@dataclass(slots=True)
class Candidate:
    """A record that some channel found, and by what."""

    record_id: int
    # Lexical evidence, each in [0, 1): the best passage, and the decayed sum of the finest ones.
    best: float = 0.0
    summed: float = 0.0
    # The highest cosine of its passages; None when dense recall did not reach it.
    cosine: float | None = None
    # Passages that matched, strongest first: (home, strength).
    lexical_passages: list[tuple[PassageHome, float]] = field(default_factory=list)
    dense_passages: list[tuple[PassageHome, float]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Recalled:
    """All candidates, and what to think of one that dense recall did not reach."""

    candidates: Mapping[int, Candidate]
    # The cosine of the last hit: an upper bound for what lies behind it. 0 without dense recall.
    cosine_floor: float
    # Whether some channel had more to give.
    is_cut: bool


async def recall(
    indexes: Indexes,
    owner: Owner,
    channels: Channels,
    *,
    lexical_text: str | None,
    dense_text: str | None,
    where: Filter | None,
    radius: float | None,
    phases: Phases,
    during: Filter | None = None,
    hits_per_channel: int = HITS_PER_CHANNEL,
) -> Recalled:
    """Looks in all channels at once. A text that is None leaves its half out.

    Records for which `during` holds are candidates whatever their words.
    """
    matches, dense, dated = await asyncio.gather(
        _lexical(indexes, owner, channels, lexical_text, where, phases, hits_per_channel),
        _dense(
            indexes,
            owner,
            channels,
            dense_text,
            where,
            radius,
            phases,
            hits_per_channel,
            words_do=lexical_text is not None,
        ),
        _dated(indexes, owner, channels, where, during),
    )
    dense_hits = [hit for hits in dense.values() for hit in hits]
    passage_ids = {hit.passage_id for hits in matches.hits.values() for hit in hits}
    passage_ids.update(hit.passage_id for hit in dense_hits)
    homes = await indexes.catalogue.passage_homes(passage_ids)
    candidates = {record_id: Candidate(record_id) for record_id in dated}

    def candidate(record_id: int) -> Candidate:
        found = candidates.get(record_id)
        if found is None:
            found = candidates[record_id] = Candidate(record_id)
        return found

    strengths: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for channel, hits in matches.hits.items():
        for hit in hits:
            home = homes.get(hit.passage_id)
            target = _target(home)
            if home is None or target is None:
                continue
            strength = lexical_strength(hit.score, matches.ceiling)
            group = "sum" if channel in channels.sum_of else "best"
            strengths[group].append((target, strength))
            candidate(target).lexical_passages.append((home, strength))
    for target, strength in climb_max(strengths["best"]).items():
        candidate(target).best = strength
    for target, strength in climb_decayed(strengths["sum"]).items():
        candidate(target).summed = strength
    if not channels.sum_of:
        for found in candidates.values():
            found.summed = found.best
    for dense_hit in dense_hits:
        home = homes.get(dense_hit.passage_id)
        target = _target(home)
        if home is None or target is None:
            continue
        found = candidate(target)
        found.dense_passages.append((home, dense_hit.cosine))
        if found.cosine is None or dense_hit.cosine > found.cosine:
            found.cosine = dense_hit.cosine
    for found in candidates.values():
        found.lexical_passages.sort(key=lambda entry: -entry[1])
    sizes = [*map(len, matches.hits.values()), *map(len, dense.values())]
    return Recalled(
        candidates,
        min((hit.cosine for hit in dense_hits), default=0.0),
        is_cut=max(sizes, default=0) >= hits_per_channel,
    )


async def _lexical(
    indexes: Indexes,
    owner: Owner,
    channels: Channels,
    text: str | None,
    where: Filter | None,
    phases: Phases,
    limit: int,
) -> LexicalMatches:
    if text is None:
        return LexicalMatches({}, 0.0)
    names = channels.best_of + channels.sum_of
    with phases.phase("lexical"):
        return await indexes.lexical.search(partition_key(owner), names, text, limit, where)


async def _dated(
    indexes: Indexes,
    owner: Owner,
    channels: Channels,
    where: Filter | None,
    during: Filter | None,
) -> list[int]:
    """Records of the days that the question names; the latest, where there are many."""
    if during is None:
        return []
    condition = during if where is None else AllOf((where, during))
    found = await indexes.catalogue.matching_record_ids(owner, channels.kind, condition)
    return [int(record_id) for record_id in found[-HITS_PER_CHANNEL:]]


async def _dense(
    indexes: Indexes,
    owner: Owner,
    channels: Channels,
    text: str | None,
    where: Filter | None,
    radius: float | None,
    phases: Phases,
    limit: int,
    *,
    words_do: bool,
) -> Mapping[str, Sequence[DenseHit]]:
    """With `words_do`, a model that fails costs the vectors, not the search."""
    if text is None:
        return {}
    with phases.phase("embed_query"):
        try:
            vector = await indexes.embedder.embed_query(text)
        except ServiceError as error:
            if not words_do:
                raise
            _log.warning("searched_without_vectors", error_code=error.code.value)
            return {}
    with phases.phase("dense"):
        allowed = (
            None if where is None else await indexes.catalogue.allowed_record_ids(owner, where)
        )
        return await indexes.dense.search(
            owner, channels.dense, vector, limit, allowed_record_ids=allowed, radius=radius
        )


def _target(home: PassageHome | None) -> int | None:
    """The record a hit climbs to; None when it is gone, or its episode is."""
    if home is None:
        return None
    if home.kind in (Kind.ATOMIC_FACT, Kind.TRANSCRIPT):
        return home.episode_record_id
    return home.record_id
