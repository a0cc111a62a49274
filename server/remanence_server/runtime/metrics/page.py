"""The text that a scrape gets."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

# Of the header: what else it may hold is no format, and its version comes back in the answer.
_PLAIN_ACCEPT = re.compile(r"[\x20-\x7e]{0,1000}")


class MetricsPage(NamedTuple):
    """A body and its content type."""

    body: bytes
    content_type: str


class _WithoutCreated(Collector):
    """Leaves out when each series began: it doubles the page and nobody asks for it."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def collect(self) -> Iterable[Metric]:
        for family in self._registry.collect():
            family.samples = [s for s in family.samples if not s.name.endswith("_created")]
            yield family


def render(registry: CollectorRegistry, accept: str) -> MetricsPage:
    """Renders in the format that the Accept header asks for: Prometheus text, or OpenMetrics."""
    page = _WithoutCreated(registry)
    try:
        encode, content_type = choose_encoder(accept if _PLAIN_ACCEPT.fullmatch(accept) else "")
        return MetricsPage(encode(page), content_type)
    except (TypeError, ValueError):
        # A version that is none.
        encode, content_type = choose_encoder("")
        return MetricsPage(encode(page), content_type)
