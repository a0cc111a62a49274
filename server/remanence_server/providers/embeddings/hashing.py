"""Vectors without a model."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from remanence_server.providers.embeddings.interface import Matrix, Vector


class HashingEmbedder:
    """Counts of hashed character trigrams, as 64 signed floats of unit length.

    This knows nothing of meaning: texts are near when they share letters, so paraphrases and other
    languages are not found. It serves tests and machines on which no model can run; it is quick,
    needs no files and gives the same vectors everywhere.
    """

    fingerprint = "hashing-trigram-64-1"
    dimensions = 64
    # A trigram is not a token of a model; long texts are read whole.
    maximum_tokens = 1_000_000

    async def embed_query(self, text: str) -> Vector:
        """The vector of a question, shape (64,)."""
        return _vector_of(text)

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """The vectors of texts, shape (len(texts), 64)."""
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        return np.stack([_vector_of(text) for text in texts])

    async def close(self) -> None:
        """Nothing to end."""


def _vector_of(text: str) -> Vector:
    letters = f"  {' '.join(text.lower().split())} "
    counts = np.zeros(HashingEmbedder.dimensions, dtype=np.float32)
    for start in range(len(letters) - 2):
        trigram = letters[start : start + 3].encode("utf-8", "surrogatepass")
        digest = zlib.crc32(trigram)
        # Signs make unrelated trigrams of one bucket cancel out instead of adding up.
        counts[digest % HashingEmbedder.dimensions] += 1.0 if digest & 0x8000_0000 else -1.0
    length = float(np.linalg.norm(counts))
    if length == 0.0:
        counts[0] = length = 1.0
    return counts / np.float32(length)
