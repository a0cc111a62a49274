"""Vectors of queries, each computed once."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import partial

from remanence_server.providers.embeddings.interface import Vector

_CACHED_QUERIES = 1024


@dataclass(slots=True)
class _Run:
    """A vector on its way, and how many wait for it."""

    work: Future[Vector]
    result: asyncio.Future[Vector]
    waiting: int = 0


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
        self._running: dict[str, _Run] = {}

    async def embed(self, text: str) -> Vector:
        """The vector of a text; read-only, as it is shared."""
        known = self._known.get(text)
        if known is not None:
            self._known.move_to_end(text)
            return known
        run = self._running.get(text)
        if run is None:
            work = self._executor.submit(self._compute, text)
            run = self._running[text] = _Run(work, asyncio.wrap_future(work))
            run.result.add_done_callback(partial(self._finish, text, run))
        run.waiting += 1
        try:
            # Shielded: a client that leaves must not take the result from its twins.
            return await asyncio.shield(run.result)
        finally:
            run.waiting -= 1
            # The last one that leaves takes it along, unless it has begun: then it is soon known.
            if not run.waiting and run.work.cancel():
                self._forget(text, run)

    def _finish(self, text: str, run: _Run, done: asyncio.Future[Vector]) -> None:
        self._forget(text, run)
        if done.cancelled() or done.exception() is not None:
            return
        done.result().setflags(write=False)
        self._known[text] = done.result()
        if len(self._known) > _CACHED_QUERIES:
            self._known.popitem(last=False)

    def _forget(self, text: str, run: _Run) -> None:
        # Another one may have begun since this one was dropped.
        if self._running.get(text) is run:
            del self._running[text]
