"""From evidence to a score: absolute strengths, climbing to the parent, one linear logit a method.

The logit of a method ranks and, through `probability`, is the score: the probability that a record
bears on the question. Nothing is normalised over the candidates, so that a channel that found
nothing counts as zero, the number of hits hardly matters, and scores of two questions compare.

All figures were fitted on conversations: five of them, 128 sessions as episodes, 759 questions, a
label for each pair of question and episode. Refitted with one conversation left out they move
recall@1 and @5 by 0.3 points, and a predicted score of 0.03 / 0.14 / 0.28 / 0.49 / 0.69 / 0.89 was
right in 0.03 / 0.13 / 0.26 / 0.53 / 0.75 / 0.90 of the cases. An owner had about 25 episodes there;
`small_memory_bonus` is for those with fewer, and for one with n, many more, scores are too high by
up to ln(n / 25) in the logit.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

# What a question has to hold before its match is worth the full score, in units of inverse document
# frequency; about two rare words. Without it, questions of one or two words saturate (a score of
# 0.88 was right in 0.62). The order within a channel does not depend on it; 5 to 15 do equally.
LAMBDA = 10.0

# Facts are single sentences: a second and a third that match are evidence too, each half as much.
# (One point of recall@1 over the best alone in the lexical channel; for windows, which overlap, the
# best alone is better.)
_DECAY = 0.5
_DECAYED_HITS = 3
_DECAYED_TOTAL = sum(_DECAY**rank for rank in range(_DECAYED_HITS))

# Hybrid. The weights lie on a plateau: recall@5 is 0.890 to 0.903 over the whole grid searched.
_HYBRID_BIAS = -6.7
_HYBRID_WORDS = 9.7
_HYBRID_COSINE = 5.3
_HYBRID_DATE = 2.7

# Keyword and vector rank by their channel and a share of the date (0.28 and 0.3); a logistic fit on
# that calibrates them.
_KEYWORD_BIAS = -5.46
_KEYWORD_WORDS = 13.2
_KEYWORD_DATE = 0.28 * _KEYWORD_WORDS
_VECTOR_BIAS = -6.95
_VECTOR_COSINE = 10.85
_VECTOR_DATE = 0.3 * _VECTOR_COSINE

# Episodes of an owner in the conversations of the fit.
_FITTED_RECORDS = 25


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for a record.

    `words` is the sum of two lexical strengths, in [0, 2]: for an episode that of its windows and
    that of its facts. A kind with one lexical channel (agent cases and skills) counts it twice.
    `cosine` is that of the best vector, in [-1, 1]; `date` the fit with a named date, in [0, 1].
    What was not found is 0.
    """

    words: float = 0.0
    cosine: float = 0.0
    date: float = 0.0


def lexical_strength(bm25: float, ceiling: float) -> float:
    """A BM25 score as a strength in [0, 1).

    `ceiling` is what the score cannot exceed: the summed weight and idf of the question's terms,
    those no passage holds included.
    """
    # The two may come from snapshots of the index that are a write apart.
    return max(0.0, min(bm25, ceiling)) / (max(0.0, ceiling) + LAMBDA)


def climb_max[Parent: Hashable](hits: Iterable[tuple[Parent, float]]) -> dict[Parent, float]:
    """The best score among each parent's hits."""
    best: dict[Parent, float] = {}
    for parent, score in hits:
        best[parent] = max(score, best.get(parent, score))
    return best


def climb_decayed[Parent: Hashable](hits: Iterable[tuple[Parent, float]]) -> dict[Parent, float]:
    """The decayed mean of each parent's three best scores, a missing one counting as 0."""
    scores: dict[Parent, list[float]] = {}
    for parent, score in hits:
        scores.setdefault(parent, []).append(score)
    return {parent: _decayed_mean(found) for parent, found in scores.items()}


def _decayed_mean(scores: list[float]) -> float:
    best = sorted(scores, reverse=True)[:_DECAYED_HITS]
    return sum(score * _DECAY**rank for rank, score in enumerate(best)) / _DECAYED_TOTAL


def hybrid_logit(evidence: Evidence) -> float:
    """Rank and log-odds in hybrid search."""
    return (
        _HYBRID_BIAS
        + _HYBRID_WORDS * evidence.words
        + _HYBRID_COSINE * evidence.cosine
        + _HYBRID_DATE * evidence.date
    )


def keyword_logit(evidence: Evidence) -> float:
    """Rank and log-odds in keyword search.

    Minus infinity, a probability of 0, without a word in common or a date that fits.
    """
    if evidence.words <= 0 and evidence.date <= 0:
        return -math.inf
    return _KEYWORD_BIAS + _KEYWORD_WORDS * evidence.words + _KEYWORD_DATE * evidence.date


def vector_logit(evidence: Evidence) -> float:
    """Rank and log-odds in vector search."""
    return _VECTOR_BIAS + _VECTOR_COSINE * evidence.cosine + _VECTOR_DATE * evidence.date


def small_memory_bonus(record_count: int) -> float:
    """What the logit gains in a memory smaller than the ones it was fitted on.

    If every question had its answer there, one of n records would be the right one with odds of
    25 / n times those of the fit. Not every question has: with half of that, in the logit, a
    question of somebody else scores 0.1 or more in 12% to 14% of the cases in a memory of 1, 3, 5
    or 25 episodes alike, and one's own in 97%, 92%, 88% and 80%.
    """
    return 0.5 * math.log(_FITTED_RECORDS / max(1, min(record_count, _FITTED_RECORDS)))


def probability(logit: float) -> float:
    """Log-odds as a probability in [0, 1]."""
    # Of the two equal forms, the one whose exponential cannot overflow.
    if logit >= 0:
        return 1 / (1 + math.exp(-logit))
    odds = math.exp(logit)
    return odds / (1 + odds)
