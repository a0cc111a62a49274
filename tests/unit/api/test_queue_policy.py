from __future__ import annotations

from remanence_server.api.policies import queue_policy
from remanence_server.memory.queue import QueuePolicy
from remanence_server.runtime.settings import AsyncQueueSettings
from remanence_server.state.inbox_model import InboxCaps


def test_every_setting_of_the_queue_reaches_it() -> None:
    settings = AsyncQueueSettings(
        enabled=False,
        max_concurrency=2,
        max_pending_per_session=3,
        max_pending_total=4,
        max_payload_bytes=5,
        scan_interval_seconds=6,
        max_attempts=7,
        retry_backoff_seconds=8,
        max_replays=9,
        row_retention_hours=10,
    )
    assert queue_policy(settings) == QueuePolicy(
        enabled=False,
        caps=InboxCaps(per_session=3, total=4),
        max_payload_bytes=5,
        max_concurrency=2,
        scan_interval_seconds=6,
        max_attempts=7,
        retry_backoff_seconds=8,
        max_replays=9,
        row_retention_ms=36_000_000,
    )
