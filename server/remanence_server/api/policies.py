"""What the settings say, in the words of those who keep to it."""

from __future__ import annotations

from remanence_server.ingest.boundary import BoundaryLimits
from remanence_server.memory.queue import QueuePolicy
from remanence_server.retrieval.retriever import SearchDefaults
from remanence_server.runtime.settings import (
    AsyncQueueSettings,
    BoundarySettings,
    JobsSettings,
    MemorizeSettings,
    SearchSettings,
)
from remanence_server.state.housekeeping import Retention
from remanence_server.state.inbox_model import InboxCaps
from remanence_server.state.jobs.runner import RunnerPolicy

_MS_PER_HOUR = 3_600_000


def boundary_limits(settings: BoundarySettings) -> BoundaryLimits:
    """When a segment is complete."""
    return BoundaryLimits(
        maximum_messages=settings.maximum_messages,
        maximum_tokens=settings.maximum_tokens,
        idle_gap_ms=int(settings.idle_gap_seconds * 1000),
    )


def runner_policy(settings: JobsSettings) -> RunnerPolicy:
    """How jobs are run."""
    return RunnerPolicy(
        workers=settings.workers,
        lease_seconds=settings.lease_seconds,
        retry_backoff_seconds=settings.retry_backoff_seconds,
    )


def search_defaults(settings: SearchSettings) -> SearchDefaults:
    """What a search takes that does not say."""
    return SearchDefaults(
        settings.default_radius, settings.default_top_k, settings.agent_default_top_k
    )


def retention_of(settings: MemorizeSettings) -> Retention:
    """What is kept for a while."""
    return Retention(
        message_id_ms=int(settings.message_id_retention_hours * _MS_PER_HOUR),
        receipt_ms=int(settings.receipt_retention_hours * _MS_PER_HOUR),
    )


def queue_policy(settings: AsyncQueueSettings) -> QueuePolicy:
    """How queued requests are accepted and delivered."""
    return QueuePolicy(
        enabled=settings.enabled,
        caps=InboxCaps(settings.max_pending_per_session, settings.max_pending_total),
        max_payload_bytes=settings.max_payload_bytes,
        max_concurrency=settings.max_concurrency,
        scan_interval_seconds=settings.scan_interval_seconds,
        max_attempts=settings.max_attempts,
        retry_backoff_seconds=settings.retry_backoff_seconds,
        max_replays=settings.max_replays,
        row_retention_ms=int(settings.row_retention_hours * _MS_PER_HOUR),
    )
