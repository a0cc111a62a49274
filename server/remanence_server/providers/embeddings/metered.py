"""An embedder that is watched: its calls, their time and failures, and a span for each."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from remanence_server.providers.embeddings.interface import Embedder, Matrix, Vector
from remanence_server.runtime.metrics import ProviderMetrics
from remanence_server.runtime.tracing import span

_QUERY = "embed_query"
_PASSAGES = "embed_passages"


class MeteredEmbedder:
    """Implements `Embedder` by another one. `provider` is its name in the metrics."""

    def __init__(self, embedder: Embedder, provider: str, metrics: ProviderMetrics) -> None:
        self._embedder = embedder
        self._provider = provider
        self._metrics = metrics
        for operation in (_QUERY, _PASSAGES):
            metrics.duration_seconds.labels(provider, operation)
            for outcome in ("succeeded", "failed"):
                metrics.calls.labels(provider, operation, outcome)

    @property
    def fingerprint(self) -> str:
        """Names the vector space."""
        return self._embedder.fingerprint

    @property
    def dimensions(self) -> int:
        """Width of the vectors."""
        return self._embedder.dimensions

    @property
    def maximum_tokens(self) -> int:
        """Tokens of a text that are read, markers included."""
        return self._embedder.maximum_tokens

    async def embed_query(self, text: str) -> Vector:
        """The vector of a question."""
        with self._watched(_QUERY, 1):
            return await self._embedder.embed_query(text)

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """The vectors of texts to be found."""
        with self._watched(_PASSAGES, len(texts)):
            vectors = await self._embedder.embed_passages(texts)
        self._metrics.passages.labels(self._provider).inc(len(texts))
        return vectors

    async def close(self) -> None:
        """Closes the other one."""
        await self._embedder.close()

    @contextmanager
    def _watched(self, operation: str, count: int) -> Iterator[None]:
        began_seconds, outcome = time.perf_counter(), "failed"
        try:
            with span(f"embedding {operation}", {"remanence.texts": count}):
                yield
            outcome = "succeeded"
        finally:
            seconds = time.perf_counter() - began_seconds
            self._metrics.duration_seconds.labels(self._provider, operation).observe(seconds)
            self._metrics.calls.labels(self._provider, operation, outcome).inc()
