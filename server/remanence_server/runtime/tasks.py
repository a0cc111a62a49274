"""Work that must not stop half-way because whoever asked for it has left."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

_running: set[asyncio.Task[Any]] = set()


async def see_through[T](work: Coroutine[Any, Any, T]) -> T:
    """Runs `work` to its end, also when the caller is cancelled meanwhile; returns its result.

    It is for short work that has accepted something and still has to say so. Raises what it raises;
    with the caller gone, that is told to nobody.
    """
    task = asyncio.create_task(work)
    # The event loop holds tasks weakly.
    _running.add(task)
    task.add_done_callback(_forget)
    return await asyncio.shield(task)


def _forget(task: asyncio.Task[Any]) -> None:
    _running.discard(task)
    if not task.cancelled():
        task.exception()  # else asyncio reports it as never read
