"""Vectors that are missing: after a crash, a model that failed, or another model."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from remanence_server.projection.activities import EMBED, Activity
from remanence_server.projection.indexer import Indexer
from remanence_server.runtime.clock import Clock
from remanence_server.runtime.faults import describe_fault
from remanence_server.runtime.logging import get_logger
from remanence_server.runtime.metrics import ProjectionMetrics

_FIRST_RETRY_SECONDS = 0.5
_LONGEST_RETRY_SECONDS = 30.0
# What failures of the model count as, in the metrics of the projection.
EMBEDDING_STEP = "embedding"

_log = get_logger(__name__)


@dataclass(slots=True)
class EmbeddingBacklog:
    """Embeds passages that were stored without a vector.

    Beside the queue of changes, not in it: new entries must not wait for thousands of old ones.
    """

    indexer: Indexer
    clock: Clock
    metrics: ProjectionMetrics = field(default_factory=ProjectionMetrics.of)
    # While passages are known to wait: how many were embedded of those that lacked a vector.
    activity: Activity | None = None
    # Whether passages are known to wait, so that only keyword search finds them.
    waits: bool = False
    _wanted: asyncio.Event = field(default_factory=asyncio.Event)

    def look(self) -> None:
        """Asks for a look at what lacks a vector."""
        self._wanted.set()

    async def run(self) -> None:
        """Works off what there is whenever it is asked to; goes on until cancelled."""
        pause_seconds = _FIRST_RETRY_SECONDS
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            try:
                await self._work_off()
            except Exception as error:
                self.waits = True
                self.metrics.failures.labels(EMBEDDING_STEP).inc()
                _log.warning("embedding_failed", **describe_fault(error))
                await asyncio.sleep(pause_seconds)
                pause_seconds = min(pause_seconds * 2, _LONGEST_RETRY_SECONDS)
                self._wanted.set()
            else:
                pause_seconds = _FIRST_RETRY_SECONDS
                self.waits = False
                self.activity = None

    async def _work_off(self) -> None:
        while waiting := await self.indexer.catalogue.count_without_vector():
            self.waits = True
            if self.activity is None:
                self.activity = Activity(EMBED, self.clock.now_ms())
            self.activity.expect(waiting)
            done = await self.indexer.embed_waiting(self.activity.advance)
            _log.info("passages_embedded", count=done)
