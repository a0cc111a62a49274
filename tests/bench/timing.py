"""Samples of time and what is said of them."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from time import perf_counter


def time_each[T](work: Callable[[T], object], items: Iterable[T]) -> list[float]:
    """Does the work for each item; the seconds that each took."""
    seconds = []
    for item in items:
        start = perf_counter()
        work(item)
        seconds.append(perf_counter() - start)
    return seconds


def processor_seconds(process_id: int) -> float:
    """Processor time that a process has used, over all its threads."""
    # The name, in brackets, may hold anything; of what follows, the fields 12 and 13 are meant.
    fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def percentile(samples: Sequence[float], share: float) -> float:
    """The smallest sample that at least `share` of the samples do not exceed.

    Raises ValueError without samples.
    """
    if not samples:
        raise ValueError("no samples")
    return sorted(samples)[max(0, math.ceil(share * len(samples)) - 1)]


def latency_figures(name: str, seconds: Sequence[float]) -> dict[str, float]:
    """Median and 95th percentile in milliseconds, under names that begin with `name`."""
    return {
        f"{name}.p50_ms": percentile(seconds, 0.5) * 1000,
        f"{name}.p95_ms": percentile(seconds, 0.95) * 1000,
    }
