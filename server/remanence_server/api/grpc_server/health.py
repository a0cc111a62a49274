"""gRPC health checks (`grpc.health.v1.Health`) whose watches end when the server stops."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc
from grpc_health.v1 import health, health_pb2


class HealthServicer(health.aio.HealthServicer):
    """The library's, but its watches do not hold up a stop: by themselves they never end."""

    def __init__(self) -> None:
        super().__init__()
        self._ended = asyncio.Event()

    def end_watches(self) -> None:
        """Ends the running watches, as UNAVAILABLE."""
        self._ended.set()

    async def Watch(
        self,
        request: health_pb2.HealthCheckRequest,
        context: grpc.aio.ServicerContext[Any, Any],
    ) -> None:
        """Sends the status now and whenever it changes."""
        watching = asyncio.ensure_future(super().Watch(request, context))
        ended = asyncio.ensure_future(self._ended.wait())
        try:
            await asyncio.wait((watching, ended), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (watching, ended):
                task.cancel()
            await asyncio.gather(watching, ended, return_exceptions=True)
        if self._ended.is_set():
            await context.abort(grpc.StatusCode.UNAVAILABLE, "the server is stopping")
