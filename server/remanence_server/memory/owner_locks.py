"""One lock an owner: whoever changes their Markdown does it while nobody else does.

Stages and imports hold it while they publish, a deletion from its decision until the index has
followed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from weakref import WeakValueDictionary

from remanence_server.domain.owners import Owner


class OwnerLocks:
    """Locks that are alive while somebody holds or awaits them."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[Owner, asyncio.Lock] = WeakValueDictionary()

    def of(self, owner: Owner) -> asyncio.Lock:
        """The lock of an owner, to be entered with `async with`."""
        lock = self._locks.get(owner)
        if lock is None:
            lock = self._locks[owner] = asyncio.Lock()
        return lock

    @asynccontextmanager
    async def of_all(self, owners: Iterable[Owner]) -> AsyncIterator[None]:
        """Holds the locks of several owners, taken in one order by everybody."""
        async with AsyncExitStack() as held:
            for owner in sorted(set(owners)):
                await held.enter_async_context(self.of(owner))
            yield
