"""What a scrape reads from the stores, because it is cheaper to read than to count."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from remanence_server.api.health import HealthSources
from remanence_server.index.dense import FaissDenseIndex
from remanence_server.index.lexical.interface import LexicalIndex
from remanence_server.runtime.metrics import Reading, SampledMetric, Sampler
from remanence_server.runtime.metrics.sampling import Source

_ACCEPTING = SampledMetric(
    "remanence_accepting", "1 while messages can be accepted, 0 while they cannot"
)
_LOOP_ALIVE = SampledMetric(
    "remanence_loop_alive",
    "1 while a background loop runs, 0 between a crash and its next start",
    ("loop",),
)
_LOOP_RESTARTS = SampledMetric(
    "remanence_loop_restarts", "Crashes of a background loop", ("loop",), "counter"
)
_QUEUE_PENDING = SampledMetric(
    "remanence_queue_pending", "Queued requests that are not finished, those in delivery included"
)
_QUEUE_AGE = SampledMetric(
    "remanence_queue_oldest_age_seconds",
    "Age of the oldest unfinished queued request; 0 when there is none",
)
_QUEUE_FAILED = SampledMetric(
    "remanence_queue_failed", "Requests kept in the queue as failed, until they age out"
)
_JOBS = SampledMetric(
    "remanence_jobs", "Jobs by state: queued, retrying (they failed before), running, dead_letter",
    ("state",),
)  # fmt: skip
_PENDING_CHANGES = SampledMetric(
    "remanence_projection_pending_changes", "Changes of Markdown on their way into the index"
)
_LAG = SampledMetric(
    "remanence_projection_lag_seconds",
    "How long the oldest change on its way waits; 0 when there is none",
)
_BROKEN = SampledMetric(
    "remanence_projection_broken_entries", "Markdown entries that cannot be read"
)
_WITHOUT_VECTOR = SampledMetric(
    "remanence_projection_passages_without_vector", "Passages that only keyword search finds yet"
)
_RECORDS = SampledMetric("remanence_index_records", "Records in the index", ("kind",))
_PASSAGES = SampledMetric("remanence_index_passages", "Passages in the keyword index")
_VECTOR_BYTES = SampledMetric(
    "remanence_index_vectors_memory_bytes", "About the memory of the vectors that are loaded"
)
_PARTITIONS = SampledMetric(
    "remanence_index_partitions_loaded", "Vector partitions (owner and channel) that are loaded"
)

SAMPLED_METRICS = (
    _ACCEPTING, _LOOP_ALIVE, _LOOP_RESTARTS, _QUEUE_PENDING, _QUEUE_AGE, _QUEUE_FAILED, _JOBS,
    _PENDING_CHANGES, _LAG, _BROKEN, _WITHOUT_VECTOR, _RECORDS, _PASSAGES, _VECTOR_BYTES,
    _PARTITIONS,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SampledSources:
    """Where the values are read."""

    health: HealthSources
    lexical: LexicalIndex
    dense: FaissDenseIndex

    def declare(self, sampler: Sampler) -> None:
        """Tells the sampler what it reads."""
        sources: Mapping[str, Source] = {
            "service": self._service,
            "queue": self._queue,
            "jobs": self._jobs,
            "projection": self._projection,
            "catalogue": self._catalogue,
            "lexical": self._lexical,
            "dense": self._dense,
        }
        sampler.declare(sources, SAMPLED_METRICS)

    async def _service(self) -> Iterable[Reading]:
        readings = [Reading(_ACCEPTING, float(not self.health.serving.unavailable_reasons()))]
        for name, loop in self.health.supervisor.loops.items():
            readings.append(Reading(_LOOP_ALIVE, float(loop.alive), (name,)))
            readings.append(Reading(_LOOP_RESTARTS, loop.restarts, (name,)))
        return readings

    async def _queue(self) -> Iterable[Reading]:
        queue = await self.health.queue.health()
        return (
            Reading(_QUEUE_PENDING, queue.pending),
            Reading(_QUEUE_AGE, queue.oldest_pending_age_seconds or 0.0),
            Reading(_QUEUE_FAILED, queue.failed),
        )

    async def _jobs(self) -> Iterable[Reading]:
        jobs = await self.health.job_store.counts()
        return (
            Reading(_JOBS, jobs.queued - jobs.retrying, ("queued",)),
            Reading(_JOBS, jobs.retrying, ("retrying",)),
            Reading(_JOBS, jobs.running, ("running",)),
            Reading(_JOBS, jobs.dead_letter, ("dead_letter",)),
        )

    async def _projection(self) -> Iterable[Reading]:
        state = self.health.projector.state()
        return (
            Reading(_PENDING_CHANGES, state.pending),
            Reading(_LAG, state.lag_seconds),
            Reading(_BROKEN, state.broken_entries),
        )

    async def _catalogue(self) -> Iterable[Reading]:
        counts = await self.health.catalogue.counts()
        waiting = await self.health.catalogue.count_without_vector()
        records = [Reading(_RECORDS, count, (kind.value,)) for kind, count in counts.items()]
        return (*records, Reading(_WITHOUT_VECTOR, waiting))

    async def _lexical(self) -> Iterable[Reading]:
        return (Reading(_PASSAGES, await self.lexical.count()),)

    async def _dense(self) -> Iterable[Reading]:
        return (
            Reading(_VECTOR_BYTES, self.dense.memory_bytes),
            Reading(_PARTITIONS, self.dense.partition_count),
        )
