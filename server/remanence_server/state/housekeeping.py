"""Forgets, once an hour, what is only kept for a while."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from remanence_server.runtime.clock import Clock
from remanence_server.state.jobs.store import JobStore
from remanence_server.state.sessions import SessionStore

_INTERVAL_SECONDS = 3600
# How long a finished job can be looked at, and how long a message id that was sent twice is
# recognised after its message has left the buffer.
_RETENTION_MS = 7 * 24 * 3600 * 1000


@dataclass(frozen=True, slots=True)
class Housekeeping:
    """Deletes finished jobs and old message ids."""

    sessions: SessionStore
    job_store: JobStore
    clock: Clock

    async def run(self) -> None:
        """Goes on until cancelled."""
        while True:
            before_ms = self.clock.now_ms() - _RETENTION_MS
            await self.job_store.purge_succeeded(before_ms)
            await self.sessions.forget_message_ids(before_ms)
            await asyncio.sleep(_INTERVAL_SECONDS)
