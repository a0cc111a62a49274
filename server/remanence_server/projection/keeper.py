"""Keeps the index whole: finds out that it is missing or damaged, and makes it anew.

Where the index in use still answers (its files were deleted behind its back, or a rebuild was asked
for), the next generation is made beside it and put in use when it is complete: no search notices.
Where it is damaged, an empty generation is put in use at once, and searches answer from what has
been read so far.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextlib import suppress

from remanence_server.index.damage import IndexDamagedError
from remanence_server.index.generation import IndexFolder, IndexGeneration
from remanence_server.index.live import LiveIndex
from remanence_server.markdown.store import MarkdownStore
from remanence_server.projection.activities import REBUILD, Activity
from remanence_server.projection.files import FileProjection
from remanence_server.projection.filling import Filling
from remanence_server.projection.indexer import Indexer
from remanence_server.projection.projector import Projector
from remanence_server.runtime.clock import Clock
from remanence_server.runtime.logging import get_logger
from remanence_server.runtime.supervision import Supervisor

# How long missing files may go unnoticed; damage is noticed by whoever meets it.
_LOOK_INTERVAL_SECONDS = 2.0

_log = get_logger(__name__)


class IndexKeeper:
    """Owns the change from one generation of the index to the next."""

    def __init__(
        self,
        live: LiveIndex,
        folder: IndexFolder,
        markdown: MarkdownStore,
        indexer: Indexer,
        projector: Projector,
        clock: Clock,
        supervisor: Supervisor,
    ) -> None:
        """`indexer` is the one that leads to the index in use."""
        self._live = live
        self._folder = folder
        self._markdown = markdown
        self._indexer = indexer
        self._projector = projector
        self._clock = clock
        self._supervisor = supervisor
        self._filling = asyncio.Lock()
        self._activity: Activity | None = None
        self._rebuild_wanted = asyncio.Event()
        self._files_missing = False
        self._checked_number = 0
        self._retiring: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Looks after the index until the supervisor stops."""
        self._supervisor.start("index-keeper", self._keep)

    def rebuild(self) -> bool:
        """Asks for a new index; False when one is being made already."""
        if self._activity is not None:
            return False
        self._activity = Activity(REBUILD, self._clock.now_ms())
        self._rebuild_wanted.set()
        return True

    def activities(self) -> list[Activity]:
        """What runs in the background."""
        running = (self._activity, self._projector.backlog.activity)
        return [activity for activity in running if activity is not None]

    def reasons(self) -> list[str]:
        """Why answers may be incomplete, or what was found wrong."""
        if self._live.current.catalogue.was_reset:
            return ["the index is being made from the Markdown; answers are incomplete until then"]
        if self._files_missing:
            return ["files of the index are missing; it is being made anew beside the one in use"]
        return []

    async def fill(self) -> bool:
        """Fills the index in use, if it has not all of the Markdown; says whether it has now."""
        async with self._filling:
            if not self._live.catalogue.was_reset:
                return True
            activity = self._activity = self._activity or Activity(REBUILD, self._clock.now_ms())

            async def finish() -> None:
                await self._complete(self._live.current, self._indexer)

            files = FileProjection(
                self._markdown, self._live.catalogue, self._clock, self._projector.problems
            )
            try:
                return await Filling(files, self._indexer, self._projector).run(activity, finish)
            except IndexDamagedError:
                return False  # reported; what follows will be filled
            finally:
                self._activity = None

    async def close(self) -> None:
        """Deletes what has been replaced. For when nothing reads any more."""
        for task in self._retiring:
            task.cancel()
        await asyncio.gather(*self._retiring, return_exceptions=True)

    async def _keep(self) -> None:
        while True:
            if self._live.damaged.is_set():
                await self._replace_damaged()
            # Damage is reported before it is raised.
            with suppress(IndexDamagedError):
                await self._unless_damaged(self._look_after())
            await self._wait()

    async def _look_after(self) -> None:
        current = self._live.current
        self._files_missing = not await current.is_whole()
        if self._files_missing or self._rebuild_wanted.is_set():
            await self._rebuild_beside()
        elif current.catalogue.was_reset:
            await self.fill()
        elif self._checked_number != current.number:
            # Once for each generation, since a disk can spoil what nobody reads for months.
            await self._live.lexical.check()
            if await self._live.catalogue.check():
                self._live.report_damage(current)
            self._checked_number = current.number

    async def _rebuild_beside(self) -> None:
        async with self._filling:
            activity = self._activity = self._activity or Activity(REBUILD, self._clock.now_ms())
            last = self._live.current
            _log.info("index_rebuild_started", generation=last.number, missing=self._files_missing)
            try:
                new = await self._folder.open_next(last)
                try:
                    await self._fill_beside(new, activity)
                finally:
                    # Decided by what happened: it may be stopped in the moment of the change.
                    if self._live.current is new:
                        self._rebuild_wanted.clear()
                        self._files_missing = False
                        self._checked_number = new.number
                        self._retire(last)
                        _log.info("index_rebuilt", generation=new.number, files=activity.done)
                    else:
                        await self._folder.delete(new)
            finally:
                self._activity = None
        if self._live.current is not new:
            # Part of the root cannot be read: the index in use knows more.
            await asyncio.sleep(_LOOK_INTERVAL_SECONDS)

    async def _fill_beside(self, new: IndexGeneration, activity: Activity) -> None:
        indexer = Indexer(new.catalogue, new.lexical, new.dense, self._indexer.embedder)
        files = FileProjection(self._markdown, new.catalogue, self._clock, self._projector.problems)

        async def finish() -> None:
            await self._complete(new, indexer)
            await self._live.replace(new)
            self._projector.start_over()

        await Filling(files, indexer, self._projector).run(activity, finish)

    async def _complete(self, generation: IndexGeneration, indexer: Indexer) -> None:
        had_deletions = await generation.catalogue.deletions_since(0, 1)
        await indexer.commit()
        await generation.catalogue.mark_filled()
        await generation.catalogue.prune_vectors()
        if had_deletions:
            # It has read what was deleted since: no file of it may hold that.
            await indexer.expunge()

    async def _replace_damaged(self) -> None:
        last = self._live.current
        _log.error("index_damaged", generation=last.number)
        new = await self._folder.open_next(last)
        async with self._projector.turn:
            await self._live.replace(new)
            self._projector.start_over()
        # What was to be made anew is.
        self._rebuild_wanted.clear()
        self._retire(last)

    def _retire(self, generation: IndexGeneration) -> None:
        task = asyncio.create_task(self._delete_once_unused(generation))
        self._retiring.add(task)
        task.add_done_callback(self._retiring.discard)

    async def _delete_once_unused(self, generation: IndexGeneration) -> None:
        try:
            await self._live.wait_until_unused(generation)
        finally:
            await self._folder.delete(generation)

    async def _unless_damaged(self, work: Awaitable[None]) -> None:
        """Sees work through, or gives it up when the index in use turns out to be damaged."""
        running = asyncio.ensure_future(work)
        damaged = asyncio.create_task(self._live.damaged.wait())
        try:
            await asyncio.wait({running, damaged}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            damaged.cancel()
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
        if not running.cancelled():
            running.result()

    async def _wait(self) -> None:
        """Until there is something to do, or it is time to look again."""
        events = [self._live.damaged, self._rebuild_wanted]
        waiting = [asyncio.create_task(event.wait()) for event in events]
        try:
            await asyncio.wait(
                waiting,
                timeout=_LOOK_INTERVAL_SECONDS,
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            for task in waiting:
                task.cancel()
