"""The facts to show with the episodes that were found: those that matched, best first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from remanence_server.domain.owners import Owner
from remanence_server.domain.records import AtomicFact, Kind, Record, record_key
from remanence_server.index.catalogue.interface import Catalogue, PassageHome
from remanence_server.projection.passages import turn_of
from remanence_server.retrieval.recall import Candidate
from remanence_server.retrieval.results import FactHit

# Enough to answer with; more would repeat the episode.
_FACTS_SHOWN = 5
# Turns whose facts are shown when no fact matched by its own words.
_TURNS_FOLLOWED = 2

type _Found = tuple[Record, float, Candidate]


async def matching_facts(
    catalogue: Catalogue, owner: Owner, found: Sequence[_Found]
) -> Mapping[str, tuple[FactHit, ...]]:
    """Facts by the entry id of their episode.

    The best fact has the score of its episode, the others their share of it: a fact cannot bear on
    the question more than the episode it is from.
    """
    by_words = await _by_words(catalogue, owner, found)
    silent = [entry for entry in found if record_key(entry[0]) not in by_words]
    return {**by_words, **await _by_turns(catalogue, owner, silent)}


async def _by_words(
    catalogue: Catalogue, owner: Owner, found: Sequence[_Found]
) -> dict[str, tuple[FactHit, ...]]:
    strongest = {record_key(record): _fact_passages(candidate) for record, _, candidate in found}
    wanted = {home.entry_id for passages in strongest.values() for home, _ in passages}
    facts = await catalogue.get_records(owner, Kind.ATOMIC_FACT, wanted)
    hits: dict[str, tuple[FactHit, ...]] = {}
    for record, score, _ in found:
        passages = strongest[record_key(record)]
        matched = tuple(
            FactHit(fact, score * (strength / passages[0][1]))
            for home, strength in passages
            if isinstance(fact := facts.get(home.entry_id), AtomicFact)
        )
        if matched:
            hits[record_key(record)] = matched
    return hits


def _fact_passages(candidate: Candidate) -> list[tuple[PassageHome, float]]:
    """The fact passages of a candidate, one a fact, strongest first."""
    by_fact: dict[str, tuple[PassageHome, float]] = {}
    for home, strength in candidate.lexical_passages:
        if home.kind is Kind.ATOMIC_FACT:
            by_fact.setdefault(home.entry_id, (home, strength))
    return list(by_fact.values())[:_FACTS_SHOWN]


async def _by_turns(
    catalogue: Catalogue, owner: Owner, found: Sequence[_Found]
) -> dict[str, tuple[FactHit, ...]]:
    """What the turns with the nearest vectors say, for episodes found by meaning alone."""
    nearest = {
        record_key(record): [
            passage for passage in candidate.dense_passages if passage[0].kind is Kind.TRANSCRIPT
        ][:_TURNS_FOLLOWED]
        for record, _, candidate in found
    }
    nearest = {episode_id: passages for episode_id, passages in nearest.items() if passages}
    if not nearest:
        return {}
    message_ids = await catalogue.turn_message_ids(
        {_turn(home) for passages in nearest.values() for home, _ in passages}
    )
    facts = await catalogue.facts_citing(
        owner,
        {
            episode_id: [
                message_ids[_turn(home)] for home, _ in passages if _turn(home) in message_ids
            ]
            for episode_id, passages in nearest.items()
        },
    )
    hits: dict[str, tuple[FactHit, ...]] = {}
    for record, score, _ in found:
        passages = nearest.get(record_key(record), [])
        cited: dict[str, FactHit] = {}
        for home, cosine in passages:
            message_id = message_ids.get(_turn(home))
            share = max(0.0, cosine) / passages[0][1] if passages[0][1] > 0 else 1.0
            for fact in facts.get(record_key(record), ()):
                if message_id in fact.message_ids:
                    cited.setdefault(fact.entry_id, FactHit(fact, score * share))
        if cited:
            hits[record_key(record)] = tuple(cited.values())[:_FACTS_SHOWN]
    return hits


def _turn(home: PassageHome) -> tuple[int, int]:
    """The transcript of a passage, and which of its turns."""
    return home.record_id, turn_of(home.ordinal)
