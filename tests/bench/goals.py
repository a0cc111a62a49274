"""What the service should reach, from the design; a figure without a goal is watched only."""

from __future__ import annotations

from collections.abc import Mapping

# At most this much.
CEILINGS: Mapping[str, float] = {
    "start.empty_seconds": 3.0,
    "start.loaded_seconds": 3.0,
    "memory.resident_mb": 500.0,
    "add.21_messages.http.p50_ms": 10.0,
    "search.keyword.http.p50_ms": 4.0,
    "search.vector.http.p50_ms": 9.0,
    "search.hybrid.http.p50_ms": 11.0,
    "get.http.p50_ms": 4.0,
}
# At least this much.
FLOORS: Mapping[str, float] = {
    "throughput.keyword.8_clients_per_second": 870.0,
    "throughput.vector.8_clients_per_second": 280.0,
    "throughput.hybrid.8_clients_per_second": 220.0,
    "throughput.get.8_clients_per_second": 910.0,
    "throughput.durable_add.64_clients_per_second": 2000.0,
    "hybrid.recall@1": 0.66,
    "hybrid.recall@5": 0.88,
    "hybrid.recall@10": 0.945,
    "hybrid.hit@5": 0.935,
}


def goal_text(name: str) -> str:
    """The goal of a figure, as a report shows it; empty if it has none."""
    if name in CEILINGS:
        return f"≤ {CEILINGS[name]:g}"
    return f"≥ {FLOORS[name]:g}" if name in FLOORS else ""


def is_met(name: str, value: float) -> bool:
    """Whether a figure is on the good side of its goal; true without one."""
    return value <= CEILINGS.get(name, value) and value >= FLOORS.get(name, value)
