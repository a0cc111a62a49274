"""The health report of a server, field by field as `GET /health` has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthCapabilities:
    """Which optional parts work."""

    llm: bool
    embed: bool
    rerank: bool
    multimodal_llm: bool
    parser: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkdownProblem:
    """A place in the Markdown that needs a person; `path` is relative to the memory root."""

    path: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """Long work in the background: `rebuild` (files) or `embed` (passages)."""

    name: str
    done: int
    total: int
    started_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeHealth:
    """How the index follows the Markdown."""

    healthy: bool
    reasons: tuple[str, ...]
    pending: int
    failed_permanent: int
    failed_retryable: int
    drain_consecutive_failures: int
    unrecoverable_total: int
    optimize_failure_streak: int
    prune_stale_seconds: float
    index_rows: Mapping[str, int]
    index_emptied: bool
    problems: tuple[MarkdownProblem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorizeQueueHealth:
    """The queue behind `async_mode`; the age is in seconds."""

    healthy: bool
    reasons: tuple[str, ...]
    loop_alive: bool
    accepting: bool
    pending: int
    oldest_pending_age_s: float | None
    failed: int
    loop_restarts: int
    last_loop_error_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsHealth:
    """The durable jobs behind add and flush."""

    healthy: bool
    pending: int
    running: int
    dead_letters: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """`status` is ok, or degraded for the `reasons` given."""

    status: Literal["ok", "degraded", "unavailable"]
    version: str
    capabilities: HealthCapabilities
    disabled_features: tuple[str, ...]
    cascade: CascadeHealth
    memorize_queue: MemorizeQueueHealth
    reasons: tuple[str, ...]
    jobs: JobsHealth
    activities: tuple[Activity, ...]
    request_id: str | None = field(default=None, metadata={"json": "never"})
