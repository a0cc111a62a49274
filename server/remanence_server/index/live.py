"""The generation of the index that is in use, and how it is changed for another without a pause.

Everyone else holds the three parts of `LiveIndex`, which lead to the generation in use. A read that
makes several steps goes through `reading`: all of its steps see one generation, and when that one
turns out to be damaged, it is done again on the next.
"""

from __future__ import annotations

import asyncio
import inspect
from collections import Counter
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, cast

from remanence_server.index.catalogue.interface import Catalogue
from remanence_server.index.damage import IndexDamagedError
from remanence_server.index.dense import FaissDenseIndex
from remanence_server.index.generation import IndexGeneration
from remanence_server.index.lexical.interface import LexicalIndex

# A new generation is open within half a second.
_LONGEST_WAIT_SECONDS = 10.0
# Single steps are not counted as uses; by then all of them are over.
_SHORTEST_RETIREMENT_SECONDS = 2.0


class LiveIndex:
    """Leads to the generation in use. For one event loop."""

    catalogue: Catalogue
    lexical: LexicalIndex
    dense: FaissDenseIndex

    def __init__(self, first: IndexGeneration) -> None:
        self._current = first
        self._pinned: ContextVar[IndexGeneration | None] = ContextVar("generation", default=None)
        self._uses: Counter[int] = Counter()
        self._changed = asyncio.Condition()
        # Set when the generation in use has turned out to be damaged.
        self.damaged = asyncio.Event()
        self.catalogue = cast(Catalogue, _Part(self, "catalogue"))
        self.lexical = cast(LexicalIndex, _Part(self, "lexical"))
        self.dense = cast(FaissDenseIndex, _Part(self, "dense"))

    @property
    def current(self) -> IndexGeneration:
        """The generation in use."""
        return self._current

    @property
    def of_this_read(self) -> IndexGeneration:
        """The generation that the running read sees, else the one in use."""
        return self._pinned.get() or self._current

    async def reading[T](self, work: Callable[[], Awaitable[T]]) -> T:
        """Runs a read on one generation; on the next one, should that be damaged.

        Raises IndexDamagedError when there is no next one in time.
        """
        while True:
            generation = self._current
            self._uses[generation.number] += 1
            token = self._pinned.set(generation)
            try:
                return await work()
            except IndexDamagedError:
                self.report_damage(generation)
            finally:
                self._pinned.reset(token)
                await self._release(generation)
            if not await self._next_after(generation):
                raise IndexDamagedError("index")

    def report_damage(self, generation: IndexGeneration) -> None:
        """Says that a generation cannot be read; it matters while it is in use."""
        if generation is self._current:
            self.damaged.set()

    async def replace(self, generation: IndexGeneration) -> IndexGeneration:
        """Puts a generation in use; returns the one before, whose reads go on."""
        before, self._current = self._current, generation
        self.damaged.clear()
        async with self._changed:
            self._changed.notify_all()
        return before

    async def wait_until_unused(self, generation: IndexGeneration) -> None:
        """Returns when no read sees a generation that has been replaced."""
        await asyncio.sleep(_SHORTEST_RETIREMENT_SECONDS)
        async with self._changed:
            await self._changed.wait_for(lambda: not self._uses[generation.number])

    async def close(self) -> None:
        """Closes the generation in use. For when nothing reads any more."""
        await self._current.close()

    async def _release(self, generation: IndexGeneration) -> None:
        self._uses[generation.number] -= 1
        if generation is not self._current:
            async with self._changed:
                self._changed.notify_all()

    async def _next_after(self, generation: IndexGeneration) -> bool:
        try:
            async with asyncio.timeout(_LONGEST_WAIT_SECONDS), self._changed:
                await self._changed.wait_for(lambda: self._current is not generation)
        except TimeoutError:
            return False
        return True


class _Part:
    """One store of whatever generation a call is for. Reports damage that a call meets."""

    def __init__(self, live: LiveIndex, name: str) -> None:
        self._live = live
        self._name = name

    def __getattr__(self, name: str) -> Any:
        generation = self._live.of_this_read
        attribute = getattr(getattr(generation, self._name), name)
        if not inspect.iscoroutinefunction(attribute):
            return attribute

        async def call(*arguments: Any, **keywords: Any) -> Any:
            try:
                return await attribute(*arguments, **keywords)
            except IndexDamagedError:
                self._live.report_damage(generation)
                raise

        return call
