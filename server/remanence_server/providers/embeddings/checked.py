"""No vector of a model is taken on trust: a bad one would never be found, or always."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from remanence_server.providers.embeddings.interface import Embedder, Matrix, Vector
from remanence_server.runtime.errors import ErrorCode, ServiceError

_RETRY_AFTER_SECONDS = 5.0


class CheckedEmbedder:
    """An embedder whose answers are looked at: so many, so wide, finite, not zero, of unit length.

    Answers that are no good raise ServiceError (EXTERNAL_SERVICE_UNAVAILABLE), so that whoever
    asked tries again later, and nothing of them is stored.
    """

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner

    @property
    def fingerprint(self) -> str:
        """Names the vector space."""
        return self._inner.fingerprint

    @property
    def dimensions(self) -> int:
        """Width of the vectors."""
        return self._inner.dimensions

    @property
    def maximum_tokens(self) -> int:
        """Tokens of a text that are read."""
        return self._inner.maximum_tokens

    async def embed_query(self, text: str) -> Vector:
        """The unit vector of a question. Raises ServiceError."""
        vector = await self._inner.embed_query(text)
        _check(np.asarray(vector)[np.newaxis], 1, self.dimensions)
        return vector

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Unit vectors, one row for each text, in the order given. Raises ServiceError."""
        vectors = await self._inner.embed_passages(texts)
        _check(vectors, len(texts), self.dimensions)
        return vectors

    async def close(self) -> None:
        """Ends the model."""
        await self._inner.close()


def _check(vectors: Matrix, count: int, dimensions: int) -> None:
    if vectors.ndim != 2 or len(vectors) != count:
        raise _refusal(f"{len(vectors)} vectors for {count} texts")
    if vectors.shape[1] != dimensions:
        raise _refusal(f"vectors of width {vectors.shape[1]} instead of {dimensions}")
    lengths = np.linalg.norm(vectors, axis=1)
    if not np.isfinite(lengths).all():
        raise _refusal("vectors that are not numbers")
    # Cosines are inner products here. Rounding stays far below this.
    if (np.abs(lengths - 1.0) > 0.01).any():
        raise _refusal("vectors that are zero or not of unit length")


def _refusal(what: str) -> ServiceError:
    return ServiceError(
        ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE,
        f"The embedding model answered with {what}",
        retry_after_seconds=_RETRY_AFTER_SECONDS,
    )
