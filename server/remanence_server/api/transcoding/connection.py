"""Calls that end when the client that made them has left."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import cast

from starlette.requests import ClientDisconnect
from starlette.types import Receive


async def while_connected[T](receive: Receive, call: Awaitable[T]) -> T:
    """The result of `call`, for a request whose body has been read.

    Raises ClientDisconnect when the client leaves before: the call is cancelled then. gRPC does
    this by itself. Raises what the call raises.
    """
    # Inside of a coroutine there is one. It is cancelled, not the call, for a task less.
    caller = cast("asyncio.Task[object]", asyncio.current_task())
    has_left = False

    async def watch() -> None:
        nonlocal has_left
        while (await receive())["type"] != "http.disconnect":
            pass
        has_left = True
        caller.cancel()

    watcher = asyncio.create_task(watch())
    try:
        return await call
    except asyncio.CancelledError:
        # Somebody else may have cancelled as well: that goes on.
        if has_left and caller.uncancel() == 0:
            raise ClientDisconnect from None
        raise
    finally:
        watcher.cancel()
