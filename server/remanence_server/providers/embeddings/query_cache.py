"""Vectors of queries, each computed once."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial

from remanence_server.providers.embeddings.interface import Vector

_CACHED_QUERIES = 1024


class QueryCache:
    """Remembers the vectors of the last queries; twins of one that runs wait for it.

    An agent asks the same things again, and a page of results asks once more. Lives on one event
    loop.
    """

    def __init__(self, compute: Callable[[str], Vector], executor: Executor) -> None:
        self._compute = compute
        self._executor = executor
        # In the order of use, the latest last.
        self._known: OrderedDict[str, Vector] = OrderedDict()
        self._running: dict[str, asyncio.Future[Vector]] = {}

    async def embed(self, text: str) -> Vector:
        """The vector of a text; read-only, as it is shared."""
        known = self._known.get(text)
        if known is not None:
            self._known.move_to_end(text)
            return known
        running = self._running.get(text)
        if running is None:
            loop = asyncio.get_running_loop()
            running = loop.run_in_executor(self._executor, self._compute, text)
            self._running[text] = running
            running.add_done_callback(partial(self._finish, text))
        # Shielded: a client that leaves must not take the result from its twins.
        return await asyncio.shield(running)

    def _finish(self, text: str, done: asyncio.Future[Vector]) -> None:
        del self._running[text]
        if done.cancelled() or done.exception() is not None:
            return
        done.result().setflags(write=False)
        self._known[text] = done.result()
        if len(self._known) > _CACHED_QUERIES:
            self._known.popitem(last=False)
