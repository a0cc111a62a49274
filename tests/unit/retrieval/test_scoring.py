"""From evidence to scores: bounds, monotony, and the order of cases anyone would agree on."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remanence_server.retrieval.scoring import (
    LAMBDA,
    Evidence,
    climb_decayed,
    climb_max,
    hybrid_logit,
    keyword_logit,
    lexical_strength,
    probability,
    small_memory_bonus,
    vector_logit,
)

Logit = Callable[[Evidence], float]
LOGITS: list[Logit] = [hybrid_logit, keyword_logit, vector_logit]
scores = st.floats(0, 1)
hits = st.lists(st.tuples(st.integers(0, 5), scores))
evidence = st.builds(Evidence, st.floats(0, 2), st.floats(-1, 1), scores)


@given(st.floats(0, 1e4), st.floats(0, 1e4))
def test_a_strength_lies_in_zero_to_one_even_if_the_ceiling_is_stale(
    bm25: float, ceiling: float
) -> None:
    assert 0 <= lexical_strength(bm25, ceiling) < 1


def test_a_full_match_of_a_longer_question_is_worth_more() -> None:
    assert lexical_strength(5, 5) < lexical_strength(20, 20)
    assert lexical_strength(LAMBDA, LAMBDA) == 0.5
    assert lexical_strength(0, 20) == 0
    assert lexical_strength(5, 20) < lexical_strength(10, 20)


@given(hits)
def test_a_parent_gets_the_best_of_its_hits(pairs: list[tuple[int, float]]) -> None:
    climbed = climb_max(pairs)
    assert climbed.keys() == {parent for parent, _ in pairs}
    assert all(climbed[parent] >= score for parent, score in pairs)
    assert all((parent, score) in pairs for parent, score in climbed.items())


@given(hits)
def test_the_decayed_mean_is_bounded_by_the_best_and_does_not_mind_the_order(
    pairs: list[tuple[int, float]],
) -> None:
    climbed, best = climb_decayed(pairs), climb_max(pairs)
    assert climbed.keys() == best.keys()
    assert all(0 <= score <= best[parent] + 1e-12 for parent, score in climbed.items())
    assert climb_decayed(sorted(pairs)) == climb_decayed(sorted(pairs, reverse=True)) == climbed


def test_the_decayed_mean_counts_three_hits_and_missing_ones_as_nothing() -> None:
    pairs = [("a", 0.7), ("b", 0.7), ("b", 0.7), ("b", 0.7), ("b", 0.7), ("c", 0.2), ("c", 0.6)]
    assert climb_decayed(pairs) == pytest.approx({"a": 0.4, "b": 0.7, "c": (0.6 + 0.2 / 2) / 1.75})


def test_a_negative_cosine_can_be_the_best() -> None:
    assert climb_max([("a", -0.5), ("a", -0.2)]) == {"a": -0.2}


@pytest.mark.parametrize("logit", LOGITS)
@given(less=evidence, words=scores, cosine=scores, date=scores)
def test_more_evidence_of_every_kind_is_never_worth_less(
    logit: Logit, less: Evidence, words: float, cosine: float, date: float
) -> None:
    more = Evidence(less.words + words, less.cosine + cosine, less.date + date)
    assert logit(less) <= logit(more)


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_a_probability_is_bounded_and_keeps_the_order(first: float, second: float) -> None:
    low, high = sorted((first, second))
    assert 0 <= probability(low) <= probability(high) <= 1


def test_probabilities_of_known_odds() -> None:
    assert probability(0) == 0.5
    assert probability(math.log(3)) == pytest.approx(0.75)
    assert probability(-math.log(3)) == pytest.approx(0.25)
    assert (probability(-math.inf), probability(math.inf)) == (0, 1)


def test_without_a_word_in_common_or_a_date_there_is_no_keyword_result() -> None:
    assert probability(keyword_logit(Evidence(cosine=1))) == 0
    assert probability(keyword_logit(Evidence(cosine=1)) + small_memory_bonus(1)) == 0
    assert 0 < probability(keyword_logit(Evidence(date=1))) < 0.2
    assert probability(keyword_logit(Evidence(words=0.01))) > 0


def test_keyword_ignores_the_vector_and_vector_ignores_the_words() -> None:
    assert keyword_logit(Evidence(0.5, 0.9)) == keyword_logit(Evidence(0.5, 0.1))
    assert vector_logit(Evidence(0.1, 0.5)) == vector_logit(Evidence(1.9, 0.5))


def test_hybrid_orders_plain_cases_as_anyone_would() -> None:
    cases = [
        Evidence(words=1.0, cosine=0.7, date=1.0),
        Evidence(words=1.0, cosine=0.7),
        Evidence(words=0.4, cosine=0.7),
        Evidence(words=0.4, cosine=0.2),
        Evidence(words=0.0, cosine=0.2),
        Evidence(),
    ]
    chances = [probability(hybrid_logit(case)) for case in cases]
    assert all(higher > lower for higher, lower in itertools.pairwise(chances))
    assert chances[0] > 0.95
    assert chances[-2] < 0.05


def test_the_named_day_decides_between_equals_but_does_not_make_a_result() -> None:
    assert hybrid_logit(Evidence(0.3, 0.4, 1.0)) > hybrid_logit(Evidence(0.4, 0.5, 0.0))
    assert probability(hybrid_logit(Evidence(date=1.0))) < 0.05


def test_a_smaller_memory_gains_more_and_an_ordinary_or_empty_one_nothing_odd() -> None:
    gains = [small_memory_bonus(count) for count in (0, 1, 2, 5, 24, 25, 10_000)]
    assert gains == sorted(gains, reverse=True)
    assert gains[0] == gains[1] == pytest.approx(math.log(5))
    assert gains[-2:] == [0, 0]


@pytest.mark.parametrize("logit", LOGITS)
def test_a_weak_match_is_improbable_and_a_strong_one_probable(logit: Logit) -> None:
    assert probability(logit(Evidence(0.1, 0.15))) < 0.1
    assert probability(logit(Evidence(1.2, 0.75))) > 0.7
