"""Recall: how many of the sessions that hold the evidence are among the first ones found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean

from tests.bench.dataset import Question

DEPTHS = (1, 5, 10)
_HIT_DEPTH = 5


def recall_at(found: Sequence[str], evidence: frozenset[str], depth: int) -> float:
    """The share of the evidence sessions among the first `depth` distinct sessions found."""
    first = list(dict.fromkeys(found))[:depth]
    return len(evidence.intersection(first)) / len(evidence)


def recall_figures(
    name: str, questions: Iterable[Question], search: Callable[[Question], Sequence[str]]
) -> dict[str, float]:
    """Asks every question that has evidence; means over all of them, and over each category.

    `search` gives the session ids of the episodes found, best first. Figures are `recall@k` and
    `hit@5` (whether any evidence session is among the first five).
    """
    overall: dict[str, list[float]] = defaultdict(list)
    by_category: dict[str, list[float]] = defaultdict(list)
    for question in questions:
        if not question.evidence:
            continue
        found = search(question)
        for depth in DEPTHS:
            share = recall_at(found, question.evidence, depth)
            overall[f"{name}.recall@{depth}"].append(share)
            by_category[f"{name}.{question.category}.recall@{depth}"].append(share)
            if depth == _HIT_DEPTH:
                overall[f"{name}.hit@{depth}"].append(float(share > 0))
    samples = overall | dict(sorted(by_category.items(), key=lambda entry: _category(entry[0])))
    return {figure: fmean(shares) for figure, shares in samples.items()}


def _category(figure: str) -> str:
    return figure.rpartition(".")[0]
