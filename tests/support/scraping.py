"""The values of /metrics, as Prometheus reads them."""

from __future__ import annotations

import httpx
from prometheus_client.parser import text_string_to_metric_families


def values(client: httpx.Client) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Every value of /metrics, by name and labels."""
    page = client.get("/metrics")
    assert page.status_code == 200
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(page.text)
        for sample in family.samples
    }


def value(client: httpx.Client, name: str, **labels: str) -> float:
    """One value; 0 where nothing was counted yet."""
    return values(client).get((name, frozenset(labels.items())), 0.0)
