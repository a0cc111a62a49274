"""Forgets, once an hour, what is only kept for a while."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from remanence_server.runtime.clock import Clock
from remanence_server.state.jobs.store import JobStore
from remanence_server.state.receipts import ReceiptStore
from remanence_server.state.sessions import SessionStore

_INTERVAL_SECONDS = 3600
# How long a finished job can be looked at.
_JOB_RETENTION_MS = 7 * 24 * 3600 * 1000


@dataclass(frozen=True, slots=True)
class Retention:
    """How long a message id is known after its message has left the buffer, and a receipt kept."""

    message_id_ms: int
    receipt_ms: int


@dataclass(frozen=True, slots=True)
class Housekeeping:
    """Deletes finished jobs, old message ids and old receipts."""

    sessions: SessionStore
    job_store: JobStore
    receipts: ReceiptStore
    clock: Clock
    retention: Retention

    async def run(self) -> None:
        """Goes on until cancelled."""
        while True:
            await self.tidy()
            await asyncio.sleep(_INTERVAL_SECONDS)

    async def tidy(self) -> None:
        """Forgets what is too old now. Raises ServiceError when the disk refuses."""
        now_ms = self.clock.now_ms()
        await self.job_store.purge_finished(now_ms - _JOB_RETENTION_MS)
        await self.sessions.forget_message_ids(now_ms - self.retention.message_id_ms)
        await self.receipts.purge(now_ms - self.retention.receipt_ms)
