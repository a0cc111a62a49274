"""Ranks the memories of one owner: recall, evidence, a calibrated score, a cut."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import tzinfo

from remanence_server.domain.filters import Filter
from remanence_server.domain.records import AgentCase, AgentSkill, Episode, Kind, Record
from remanence_server.projection.passages import (
    CASE_CHANNEL,
    EPISODE_CHANNEL,
    FACT_CHANNEL,
    SKILL_CHANNEL,
    TURN_CHANNEL,
    WINDOW_CHANNEL,
)
from remanence_server.retrieval.date_filter import within_dates
from remanence_server.retrieval.dates import date_match
from remanence_server.retrieval.facts import matching_facts
from remanence_server.retrieval.phases import Phases
from remanence_server.retrieval.question import (
    UBIQUITOUS_SHARE,
    Question,
    ubiquitous_names,
    understand,
)
from remanence_server.retrieval.recall import (
    HITS_PER_CHANNEL,
    Candidate,
    Channels,
    Indexes,
    Recalled,
    recall,
)
from remanence_server.retrieval.results import CaseHit, EpisodeHit, Method, Query, SkillHit
from remanence_server.retrieval.scoring import (
    Evidence,
    hybrid_logit,
    keyword_logit,
    probability,
    small_memory_bonus,
    vector_logit,
)
from remanence_server.runtime.clock import Clock
from remanence_server.runtime.instants import day_of
from remanence_server.runtime.metrics import SearchMetrics

_EPISODE_CHANNELS = Channels(
    Kind.EPISODE,
    best_of=(WINDOW_CHANNEL, EPISODE_CHANNEL),
    sum_of=(FACT_CHANNEL,),
    dense=(TURN_CHANNEL, EPISODE_CHANNEL),
)
_CASE_CHANNELS = Channels(
    Kind.AGENT_CASE, best_of=(CASE_CHANNEL,), sum_of=(), dense=(CASE_CHANNEL,)
)
_SKILL_CHANNELS = Channels(
    Kind.AGENT_SKILL, best_of=(SKILL_CHANNEL,), sum_of=(), dense=(SKILL_CHANNEL,)
)

# How much further each look goes, and how far at most: 100 records of 64 passages each.
_FURTHER = 8
_MOST_HITS_PER_CHANNEL = 6400


@dataclass(frozen=True, slots=True)
class SearchDefaults:
    """What applies when a query leaves the numbers to the server."""

    radius: float
    user_top_k: int
    agent_top_k: int


@dataclass(frozen=True, slots=True)
class Ranked:
    """A record with its score and the candidate it was made from."""

    record: Record
    score: float
    candidate: Candidate


@dataclass(frozen=True, slots=True)
class MemoryRetriever:
    """Search over the indexes."""

    indexes: Indexes
    clock: Clock
    zone: tzinfo
    defaults: SearchDefaults
    metrics: SearchMetrics = field(default_factory=SearchMetrics.of)

    async def episodes(self, query: Query) -> tuple[EpisodeHit, ...]:
        """Episodes of a user, best first, with the facts that matched."""
        asked_for, query = query.top_k, self._completed(query, self.defaults.user_top_k)
        count, counts = await self.indexes.catalogue.frequent_speakers(
            query.owner, UBIQUITOUS_SHARE
        )
        names = ubiquitous_names(counts, count)
        question = understand(query.text, names, self.clock.now_ms(), self.zone)
        ranked = await self._rank(query, question, _EPISODE_CHANNELS, asked_for)
        facts = await matching_facts(
            self.indexes.catalogue,
            query.owner,
            [(item.record, item.score, item.candidate) for item in ranked],
        )
        return tuple(
            EpisodeHit(item.record, item.score, facts.get(item.record.entry_id, ()))
            for item in ranked
            if isinstance(item.record, Episode)
        )

    async def cases(self, query: Query) -> tuple[CaseHit, ...]:
        """Cases of an agent, best first."""
        ranked = await self._rank_agent(query, _CASE_CHANNELS)
        return tuple(
            CaseHit(item.record, item.score)
            for item in ranked
            if isinstance(item.record, AgentCase)
        )

    async def skills(self, query: Query) -> tuple[SkillHit, ...]:
        """Skills of an agent, best first."""
        ranked = await self._rank_agent(query, _SKILL_CHANNELS)
        return tuple(
            SkillHit(item.record, item.score)
            for item in ranked
            if isinstance(item.record, AgentSkill)
        )

    async def _rank_agent(self, query: Query, channels: Channels) -> list[Ranked]:
        asked_for, query = query.top_k, self._completed(query, self.defaults.agent_top_k)
        question = understand(query.text, frozenset(), self.clock.now_ms(), self.zone)
        return await self._rank(query, question, channels, asked_for)

    def _completed(self, query: Query, default_top_k: int) -> Query:
        if query.top_k is not None:
            return query
        radius = self.defaults.radius if query.radius is None else query.radius
        return replace(query, top_k=default_top_k, radius=radius)

    async def _rank(
        self, query: Query, question: Question, channels: Channels, asked_for: int | None
    ) -> list[Ranked]:
        phases = Phases(query.method, self.metrics)
        recalled = await self._recalled(query, question, channels, phases, asked_for)
        with phases.phase("rank"):
            scored = await self._score(query, question, recalled, channels.kind)
            top = scored[: query.top_k]
            records = await self.indexes.catalogue.records_by_ids(
                candidate.record_id for candidate, _ in top
            )
        return [
            Ranked(record, score, candidate)
            for record, (candidate, score) in zip(records, top, strict=True)
        ]

    async def _recalled(
        self,
        query: Query,
        question: Question,
        channels: Channels,
        phases: Phases,
        asked_for: int | None,
    ) -> Recalled:
        """The candidates: as many as the caller asked for, when there are so many.

        Usually the hits of the first look bring more than that. Passages of a few long records can
        take them all; then it is looked further.
        """
        hits_per_channel = HITS_PER_CHANNEL
        while True:
            recalled = await recall(
                self.indexes,
                query.owner,
                channels,
                lexical_text=None if query.method is Method.VECTOR else question.lexical_text,
                dense_text=None if query.method is Method.KEYWORD else question.dense_text,
                where=query.where,
                radius=query.radius,
                phases=phases,
                # Vector search is by meaning alone, and keeps the radius.
                during=None if query.method is Method.VECTOR else self._during(question),
                hits_per_channel=hits_per_channel,
            )
            found = len(recalled.candidates)
            if asked_for is None or found >= asked_for or not recalled.is_cut:
                return recalled
            there_are, _ = await self.indexes.catalogue.list_records(
                query.owner, channels.kind, where=query.where, limit=0
            )
            if found >= there_are or hits_per_channel >= _MOST_HITS_PER_CHANNEL:
                return recalled
            hits_per_channel *= _FURTHER

    async def _score(
        self, query: Query, question: Question, recalled: Recalled, kind: Kind
    ) -> list[tuple[Candidate, float]]:
        """Candidates with their scores, best first; ties go by id, older records first."""
        dates = await self._date_fits(question, recalled)
        record_count, _ = await self.indexes.catalogue.list_records(query.owner, kind, limit=0)
        bonus = small_memory_bonus(record_count)
        logit = _LOGITS[query.method]
        scored = []
        for candidate in recalled.candidates.values():
            cosine = recalled.cosine_floor if candidate.cosine is None else candidate.cosine
            evidence = Evidence(
                words=candidate.best + candidate.summed,
                cosine=cosine,
                date=dates.get(candidate.record_id, 0.0),
            )
            scored.append((candidate, probability(logit(evidence) + bonus)))
        if query.minimum_score is not None:
            floor = query.minimum_score
            scored = [entry for entry in scored if entry[1] >= floor]
        scored.sort(key=lambda entry: (-entry[1], entry[0].record_id))
        return scored

    def _during(self, question: Question) -> Filter | None:
        """The days that the question names; None if it names none."""
        return within_dates(question.dates, day_of(self.clock.now_ms(), self.zone), self.zone)

    async def _date_fits(self, question: Question, recalled: Recalled) -> dict[int, float]:
        """How well each candidate's day fits the dates that the question names."""
        if not question.dates or not recalled.candidates:
            return {}
        instants = await self.indexes.catalogue.timestamps_of(recalled.candidates)
        return {
            record_id: date_match(question.dates, instant_ms, self.zone)
            for record_id, instant_ms in instants.items()
        }


_LOGITS = {
    Method.KEYWORD: keyword_logit,
    Method.VECTOR: vector_logit,
    Method.HYBRID: hybrid_logit,
    # Without a model, no second look was better in every category: docs/retrieval.md has what was
    # tried (late interaction, feedback).
    Method.AGENTIC: hybrid_logit,
}
