"""What is counted where it happens. Rooms get the group they need as an argument.

A group made without a registry counts for nobody: that is what a room has when none is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Info,
    PlatformCollector,
    ProcessCollector,
)

from remanence_server.runtime.metrics.sampling import Sampler

_REQUEST_SECONDS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0)
# From a rule that takes milliseconds to a model that takes a minute.
_WORK_SECONDS = (0.001, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 120.0)
_PHASE_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)
_COMMIT_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0)
_GROUP_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)

type Registry = CollectorRegistry | None


@dataclass(frozen=True, slots=True)
class RequestMetrics:
    """Calls of the contract, over both surfaces."""

    answered: Counter
    duration_seconds: Histogram
    in_flight: Gauge

    @classmethod
    def of(cls, registry: Registry = None) -> Self:
        """The group, in a registry."""
        return cls(
            Counter(
                "remanence_requests",
                "Requests answered; code is the error code of the catalogue, or OK",
                ("surface", "method", "route", "status", "code"),
                registry=registry,
            ),
            Histogram(
                "remanence_request_duration_seconds",
                "From the arrival of a request to the end of its answer",
                ("surface", "method", "route"),
                registry=registry,
                buckets=_REQUEST_SECONDS,
            ),
            Gauge(
                "remanence_requests_in_flight",
                "Requests that are being answered",
                ("surface",),
                registry=registry,
            ),
        )


@dataclass(frozen=True, slots=True)
class QueueMetrics:
    """The queue behind async_mode."""

    deliveries: Counter
    rejected: Counter

    @classmethod
    def of(cls, registry: Registry = None) -> Self:
        """The group, in a registry."""
        return cls(
            Counter(
                "remanence_queue_deliveries",
                "Attempts to deliver a queued request: succeeded, retried (failed, to be tried"
                " again) or failed (given up)",
                ("outcome",),
                registry=registry,
            ),
            Counter(
                "remanence_queue_rejected",
                "Requests that the queue did not accept, by error code",
                ("code",),
                registry=registry,
            ),
        )


@dataclass(frozen=True, slots=True)
class JobMetrics:
    """The durable jobs behind add and flush."""

    attempts: Counter
    duration_seconds: Histogram

    @classmethod
    def of(cls, registry: Registry = None) -> Self:
        """The group, in a registry."""
        return cls(
            Counter(
                "remanence_job_attempts",
                "Attempts at a job: succeeded, retried, dead_letter or lease_lost",
                ("stage", "outcome"),
                registry=registry,
            ),
            Histogram(
                "remanence_job_stage_duration_seconds",
                "One attempt at a stage, whatever its outcome",
                ("stage",),
                registry=registry,
                buckets=_WORK_SECONDS,
            ),
        )


@dataclass(frozen=True, slots=True)
class ProviderMetrics:
    """Calls of models, local or remote."""

    calls: Counter
    duration_seconds: Histogram
    passages: Counter
    tokens: Counter

    @classmethod
    def of(cls, registry: Registry = None) -> Self:
        """The group, in a registry."""
        return cls(
            Counter(
                "remanence_provider_calls",
                "Calls of a model: succeeded, failed or the reason of the failure",
                ("provider", "operation", "outcome"),
                registry=registry,
            ),
            Histogram(
                "remanence_provider_call_duration_seconds",
                "One call of a model, waiting for its turn included",
                ("provider", "operation"),
                registry=registry,
                buckets=_WORK_SECONDS,
            ),
            Counter(
                "remanence_provider_passages",
                "Passages that were embedded",
                ("provider",),
                registry=registry,
            ),
            Counter(
                "remanence_provider_tokens",
                "Tokens of a language model: input, cached_input or output",
                ("provider", "operation", "kind"),
                registry=registry,
            ),
        )


@dataclass(frozen=True, slots=True)
class ProjectionMetrics:
    """The way of Markdown into the index."""

    failures: Counter

    @classmethod
    def of(cls, registry: Registry = None) -> Self:
        """The group, in a registry."""
        failures = Counter(
            "remanence_projection_failures",
            "Failures of a step: index, embedding, commit, or a file that cannot be read",
            ("step",),
            registry=registry,
        )
        for step in ("index", "embedding", "commit", "file"):
            failures.labels(step)
        return cls(failures)


@dataclass(frozen=True, slots=True)
class SearchMetrics:
    """Where a search spends its time."""

    phase_seconds: Histogram

    @classmethod
    def of(cls, registry: Registry = None) -> Self:
        """The group, in a registry."""
        return cls(
            Histogram(
                "remanence_search_phase_duration_seconds",
                "Phases of a search: embed_query, lexical, dense, rank",
                ("phase", "method"),
                registry=registry,
                buckets=_PHASE_SECONDS,
            )
        )


@dataclass(frozen=True, slots=True)
class DatabaseMetrics:
    """The group commit of system.db."""

    transactions: Counter
    commit_seconds: Histogram
    works_per_commit: Histogram

    @classmethod
    def of(cls, registry: Registry = None) -> Self:
        """The group, in a registry."""
        transactions = Counter(
            "remanence_database_transactions",
            "Transactions of system.db: committed, or refused by the disk",
            ("outcome",),
            registry=registry,
        )
        for outcome in ("committed", "refused"):
            transactions.labels(outcome)
        return cls(
            transactions,
            Histogram(
                "remanence_database_commit_duration_seconds",
                "One shared transaction, its fsync included",
                registry=registry,
                buckets=_COMMIT_SECONDS,
            ),
            Histogram(
                "remanence_database_works_per_commit",
                "Writers that shared one transaction",
                registry=registry,
                buckets=_GROUP_SIZES,
            ),
        )


@dataclass(frozen=True, slots=True)
class Metrics:
    """All instruments of one service."""

    registry: CollectorRegistry
    sampler: Sampler
    requests: RequestMetrics
    queue: QueueMetrics
    jobs: JobMetrics
    providers: ProviderMetrics
    projection: ProjectionMetrics
    search: SearchMetrics
    database: DatabaseMetrics


def create_metrics(version: str) -> Metrics:
    """Instruments in a registry of their own, beside those of the process and of Python."""
    registry = CollectorRegistry()
    Info("remanence_build", "The release that runs", registry=registry).info({"version": version})
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    return Metrics(
        registry=registry,
        sampler=Sampler(registry),
        requests=RequestMetrics.of(registry),
        queue=QueueMetrics.of(registry),
        jobs=JobMetrics.of(registry),
        providers=ProviderMetrics.of(registry),
        projection=ProjectionMetrics.of(registry),
        search=SearchMetrics.of(registry),
        database=DatabaseMetrics.of(registry),
    )
