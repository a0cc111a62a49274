"""How long each phase of a search takes, for metrics and for its trace."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from remanence_server.retrieval.results import Method
from remanence_server.runtime.metrics import SearchMetrics
from remanence_server.runtime.tracing import span


@dataclass(frozen=True, slots=True)
class Phases:
    """The phases of one search."""

    method: Method
    metrics: SearchMetrics = field(default_factory=SearchMetrics.of)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """What runs inside is this phase."""
        began_seconds = time.perf_counter()
        try:
            with span(f"search {name}", {"remanence.search.method": self.method.value}):
                yield
        finally:
            seconds = time.perf_counter() - began_seconds
            self.metrics.phase_seconds.labels(name, self.method.value).observe(seconds)
