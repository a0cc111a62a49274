"""Which sentences stand for the rest: those that share most of their content with the others.

Sentence embeddings were measured in its place, on 128 conversations with human-readable summaries:
0.230 against 0.236 of overlap (ROUGE-1 F), for a third of a second a conversation. They are not
used.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from remanence_server.extraction.heuristic.words import terms

# Beyond this a cell is a document; the first sentences that tell the most stand for it.
MAXIMUM_RANKED = 200


def lexical_centrality(sentences: Sequence[str]) -> NDArray[np.float64]:
    """For each sentence, in [0, 1], how much of its content the others share (TF-IDF cosine)."""
    vectors = [Counter(terms(sentence)) for sentence in sentences]
    vocabulary: dict[str, int] = {}
    frequency: Counter[str] = Counter()
    for vector in vectors:
        frequency.update(vector.keys())
        for term in vector:
            vocabulary.setdefault(term, len(vocabulary))
    if len(sentences) < 2 or not vocabulary:
        return np.zeros(len(sentences))
    matrix = np.zeros((len(sentences), len(vocabulary)))
    for row, vector in enumerate(vectors):
        for term, count in vector.items():
            rarity = math.log(1 + len(sentences) / frequency[term])
            matrix[row, vocabulary[term]] = (1 + math.log(count)) * rarity
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return _closeness(matrix / np.where(lengths > 0, lengths, 1))


def _closeness(unit_rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each unit row, its mean similarity to the other rows, scaled so that the best is 1."""
    count = len(unit_rows)
    if count < 2:
        return np.zeros(count)
    similarity = unit_rows @ unit_rows.sum(axis=0) - np.einsum("ij,ij->i", unit_rows, unit_rows)
    scores = np.clip(similarity / (count - 1), 0, None)
    best = scores.max()
    return np.asarray(scores / best if best > 0 else scores)
