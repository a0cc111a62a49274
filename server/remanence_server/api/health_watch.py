"""Keeps gRPC health in step, and asks a disk that refused whether it still does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from remanence_server.api.serving import ServingState

_INTERVAL_SECONDS = 1.0


async def watch_health(
    serving: ServingState, set_serving: Callable[[bool], Awaitable[None]]
) -> None:
    """Goes on until cancelled. Nobody has to write, or to ask, for a recovery to be seen."""
    shown: bool | None = None
    while True:
        available = not serving.unavailable_reasons()
        if available != shown:
            await set_serving(available)
            shown = available
        await asyncio.sleep(_INTERVAL_SECONDS)
        if serving.state.refusal is not None:
            await serving.state.probe()
