"""Recall, percentiles and goals of the benchmark."""

from __future__ import annotations

import os
import time

import pytest
from tests.bench.dataset import Question
from tests.bench.goals import CEILINGS, FLOORS, goal_text, is_met
from tests.bench.recall import recall_at, recall_figures
from tests.bench.timing import latency_figures, percentile, processor_seconds


def test_recall_counts_distinct_sessions() -> None:
    evidence = frozenset({"a", "b"})
    assert recall_at(["a", "a", "c", "b"], evidence, 1) == 0.5
    assert recall_at(["a", "a", "c", "b"], evidence, 3) == 1
    assert recall_at([], evidence, 5) == 0


def test_recall_is_the_mean_over_questions_and_over_each_category() -> None:
    questions = [
        Question("o", "one", "temporal", frozenset({"a"})),
        Question("o", "two", "temporal", frozenset({"b", "c"})),
        Question("o", "three", "multi-hop", frozenset({"z"})),
        Question("o", "not asked"),
    ]
    asked = []

    def search(question: Question) -> list[str]:
        asked.append(question.text)
        return ["a", "b", *"defgh"]

    figures = recall_figures("keyword", questions, search)
    assert asked == ["one", "two", "three"]
    assert figures["keyword.recall@1"] == pytest.approx(1 / 3)
    assert figures["keyword.recall@5"] == pytest.approx(0.5)
    assert figures["keyword.hit@5"] == pytest.approx(2 / 3)
    assert figures["keyword.temporal.recall@5"] == pytest.approx(0.75)
    assert figures["keyword.multi-hop.recall@10"] == 0
    assert [name.count(".") for name in figures] == sorted(name.count(".") for name in figures)


def test_percentiles_are_samples() -> None:
    samples = [5.0, 1.0, 4.0, 2.0, 3.0]
    assert percentile(samples, 0.5) == 3
    assert percentile(samples, 0.95) == 5
    assert percentile(samples, 0) == 1
    with pytest.raises(ValueError, match="no samples"):
        percentile([], 0.5)


def test_processor_time_is_that_of_the_process() -> None:
    before = processor_seconds(os.getpid())
    deadline = time.process_time() + 0.1
    while time.process_time() < deadline:
        pass
    assert 0.05 <= processor_seconds(os.getpid()) - before < 2


def test_latencies_are_shown_in_milliseconds() -> None:
    assert latency_figures("get", [0.002, 0.001, 0.010]) == {"get.p50_ms": 2, "get.p95_ms": 10}


def test_a_goal_is_a_ceiling_or_a_floor() -> None:
    assert not CEILINGS.keys() & FLOORS.keys()
    assert goal_text("search.keyword.http.p50_ms") == "≤ 4"
    assert goal_text("hybrid.recall@1") == "≥ 0.66"
    assert goal_text("watched only") == ""
    assert is_met("search.keyword.http.p50_ms", 4.0)
    assert not is_met("search.keyword.http.p50_ms", 4.1)
    assert not is_met("hybrid.recall@1", 0.65)
    assert is_met("watched only", 1e9)
