"""Metrics that are cheaper to read than to count: their sources are read when somebody asks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from prometheus_client import CollectorRegistry, Counter
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from remanence_server.runtime.faults import describe_fault
from remanence_server.runtime.logging import get_logger

# A source that hangs must not make the scrape hang.
_LONGEST_READ_SECONDS = 2.0

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SampledMetric:
    """A metric whose value is read. `name` without the `_total` of a counter."""

    name: str
    description: str
    labels: tuple[str, ...] = ()
    kind: Literal["gauge", "counter"] = "gauge"

    def family(self) -> GaugeMetricFamily | CounterMetricFamily:
        """The metric without a value."""
        make = GaugeMetricFamily if self.kind == "gauge" else CounterMetricFamily
        return make(self.name, self.description, labels=self.labels)


class Reading(NamedTuple):
    """One value of one metric."""

    metric: SampledMetric
    value: float
    labels: tuple[str, ...] = ()


type Source = Callable[[], Awaitable[Iterable[Reading]]]


class Sampler(Collector):
    """Reads sources and shows what they said last.

    A source that fails is left out, told to the log once, and counted.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._sources: dict[str, Source] = {}
        self._declared: tuple[SampledMetric, ...] = ()
        self._failing: set[str] = set()
        self._families: list[Metric] = []
        self._failures = Counter(
            "remanence_scrape_failures",
            "Reads of a source that failed; its metrics are left out of that scrape",
            ("source",),
            registry=registry,
        )
        registry.register(self)

    def declare(self, sources: Mapping[str, Source], metrics: Iterable[SampledMetric]) -> None:
        """Says what is read, and all that may come of it."""
        self._sources = dict(sources)
        self._declared = tuple(metrics)
        for name in sources:
            self._failures.labels(name)

    async def sample(self) -> None:
        """Reads every source, all at once."""
        answers = await asyncio.gather(
            *(self._read(name, source) for name, source in self._sources.items())
        )
        families: dict[str, GaugeMetricFamily | CounterMetricFamily] = {}
        for metric, value, labels in (reading for answer in answers for reading in answer):
            family = families.setdefault(metric.name, metric.family())
            family.add_metric(labels, value)
        self._families = list(families.values())

    def collect(self) -> Iterable[Metric]:
        """What the sources said last."""
        return self._families

    def describe(self) -> Iterable[Metric]:
        """Every metric that may be shown."""
        return [metric.family() for metric in self._declared]

    async def _read(self, name: str, source: Source) -> Iterable[Reading]:
        try:
            async with asyncio.timeout(_LONGEST_READ_SECONDS):
                readings = tuple(await source())
        except Exception as error:
            self._failures.labels(name).inc()
            if name not in self._failing:
                self._failing.add(name)
                _log.warning("metrics_not_read", source=name, **describe_fault(error))
            return ()
        self._failing.discard(name)
        return readings
