"""Reads all of the Markdown into a generation of the index that does not have it yet."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import batched
from pathlib import Path

from remanence_server.index.catalogue.changes import merged
from remanence_server.projection.activities import Activity
from remanence_server.projection.files import FileProjection
from remanence_server.projection.indexer import Indexer
from remanence_server.projection.projector import Projector
from remanence_server.projection.scan import differing_files
from remanence_server.runtime.errors import ServiceError

# Files in one turn of the projector: what is written meanwhile waits for no more than these.
_FILES_A_TURN = 8
# After so many rounds the rest is read in one turn, however much it is: more is written meanwhile.
_MOST_ROUNDS = 5


@dataclass(frozen=True, slots=True)
class Filling:
    """Fills the generation behind `indexer`, which may be in use or not yet."""

    files: FileProjection
    indexer: Indexer
    projector: Projector

    async def run(self, activity: Activity, finish: Callable[[], Awaitable[None]]) -> bool:
        """Reads files until few differ from what the catalogue knows, then these, and finishes.

        The last look, the rest and `finish` share one turn of the projector: what is written after
        that look is projected after it, so there need not be a moment in which nobody writes.
        Returns False, without finishing, when part of the root cannot be read.
        """
        # Files that the disk does not give are left to the scans to come.
        given_up: set[Path] = set()
        rounds = 0
        while True:
            rounds += 1
            todo, _ = await self._look(given_up)
            activity.expect(len(todo))
            for paths in batched(todo, _FILES_A_TURN):
                async with self.projector.turn:
                    given_up |= await self._project(paths)
                activity.advance(len(paths))
            async with self.projector.turn:
                todo, complete = await self._look(given_up)
                if len(todo) <= _FILES_A_TURN or rounds >= _MOST_ROUNDS:
                    await self._project(todo)
                    if complete:
                        await finish()
                    return complete

    async def _look(self, given_up: set[Path]) -> tuple[list[Path], bool]:
        problems = self.projector.problems
        known = await self.files.catalogue.files()
        try:
            differing, unreadable = await asyncio.to_thread(
                differing_files, self.files.markdown, known
            )
        except ServiceError:
            problems.unreadable_root = True
            return [], False
        problems.unreadable_root = bool(unreadable)
        return [path for path in differing if path not in given_up], not unreadable

    async def _project(self, paths: Sequence[Path]) -> set[Path]:
        """Projects files and makes them searchable by their words; returns those not readable."""
        changes, failed = [], set()
        queue = list(paths)
        for path in queue:
            projected = await self.files.project(path)
            if projected.change is None:
                failed.add(path)
            else:
                changes.append(projected.change)
            queue += [other for other in projected.again if other not in queue]
        if changes:
            await self.indexer.apply(merged(changes))
            # Vectors come beside: words are searched without waiting for the model.
            self.projector.backlog.look()
        return failed
