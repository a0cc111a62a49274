"""An embedder that is watched gives the same vectors, and what it did is counted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from prometheus_client import CollectorRegistry

from remanence_server.providers.embeddings import HashingEmbedder, Matrix
from remanence_server.providers.embeddings.metered import MeteredEmbedder
from remanence_server.runtime.metrics import ProviderMetrics

TEXTS = ["Alice climbs.", "Bob bakes bread."]


class BrokenEmbedder(HashingEmbedder):
    """Has lost its model."""

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        raise RuntimeError("no model")


def _value(registry: CollectorRegistry, name: str, **labels: str) -> float:
    return registry.get_sample_value(f"remanence_provider_{name}", labels) or 0.0


async def test_vectors_are_those_of_the_embedder_behind() -> None:
    plain = HashingEmbedder()
    metered = MeteredEmbedder(plain, "hashing", ProviderMetrics.of())
    assert (metered.fingerprint, metered.dimensions, metered.maximum_tokens) == (
        plain.fingerprint,
        plain.dimensions,
        plain.maximum_tokens,
    )
    assert np.array_equal(await metered.embed_passages(TEXTS), await plain.embed_passages(TEXTS))
    assert np.array_equal(await metered.embed_query("bread"), await plain.embed_query("bread"))


async def test_calls_passages_time_and_failures_are_counted() -> None:
    registry = CollectorRegistry()
    metrics = ProviderMetrics.of(registry)
    metered = MeteredEmbedder(HashingEmbedder(), "hashing", metrics)
    await metered.embed_passages(TEXTS)
    await metered.embed_query("bread")
    broken = MeteredEmbedder(BrokenEmbedder(), "broken", metrics)
    with pytest.raises(RuntimeError):
        await broken.embed_passages(TEXTS)
    calls = "calls_total"
    passages, query = {"operation": "embed_passages"}, {"operation": "embed_query"}
    assert _value(registry, calls, provider="hashing", outcome="succeeded", **passages) == 1
    assert _value(registry, calls, provider="hashing", outcome="succeeded", **query) == 1
    assert _value(registry, calls, provider="broken", outcome="succeeded", **passages) == 0
    assert _value(registry, calls, provider="broken", outcome="failed", **passages) == 1
    assert _value(registry, "passages_total", provider="hashing") == 2
    assert _value(registry, "passages_total", provider="broken") == 0
    seconds = "call_duration_seconds_count"
    assert _value(registry, seconds, provider="hashing", **passages) == 1
    assert _value(registry, seconds, provider="broken", **passages) == 1
