"""Follows hand edits: a watcher for what happens, a scan now and then for what it missed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from watchfiles import Change, awatch

from remanence_server.index.catalogue.interface import Catalogue
from remanence_server.markdown.store import MarkdownStore
from remanence_server.projection.projector import Projector
from remanence_server.projection.scan import Scan
from remanence_server.runtime.supervision import Supervisor

# An editor saves in several steps; within this time they count as one.
_DEBOUNCE_MS = 400
_FILE_SUFFIX = ".md"
# The database of the root with its companions (`-wal`, `-shm`).
_STATE_FILES = "system.db"


@dataclass(slots=True)
class Follower:
    """Keeps the index in step with the folder until it is quiesced."""

    markdown: MarkdownStore
    catalogue: Catalogue
    projector: Projector
    supervisor: Supervisor
    # Reads all of the Markdown into a catalogue that has not been filled.
    fill: Callable[[], Awaitable[object]]
    watch: bool
    scan_interval_seconds: float
    quiesced: bool = False
    _stop: asyncio.Event = field(default_factory=asyncio.Event)

    async def start(self) -> None:
        """Submits what changed while no server ran, then follows."""
        self.supervisor.start("markdown-scan", self._scan)
        if self.watch:
            self.supervisor.start("markdown-watch", self._watch)

    async def quiesce(self) -> None:
        """Stops following and waits until everything submitted is in the index, durably."""
        self.quiesced = True
        self._stop.set()
        await self.projector.wait_until_visible()
        await self.projector.commit()

    async def _scan(self) -> None:
        scan = Scan(self.markdown, self.catalogue, self.projector)
        while not self._stop.is_set():
            if self.catalogue.was_reset:
                await self.fill()
            else:
                await scan.run()
            try:
                async with asyncio.timeout(self.scan_interval_seconds):
                    await self._stop.wait()
            except TimeoutError:
                continue

    async def _watch(self) -> None:
        scan = Scan(self.markdown, self.catalogue, self.projector)
        async for changes in awatch(
            self.markdown.root,
            stop_event=self._stop,
            debounce=_DEBOUNCE_MS,
            watch_filter=self._is_memory,
            ignore_permission_denied=True,
        ):
            paths = {Path(path) for _, path in changes}
            files = [file for path in paths if (file := self.markdown.identify(path))]
            for file in files:
                self.projector.submit_file(file.path)
            if any(path.suffix != _FILE_SUFFIX for path in paths) and not self.catalogue.was_reset:
                # A folder came, went or moved, and brought or took files without naming them.
                await scan.run()

    def _is_memory(self, _: Change, path: str) -> bool:
        """Our own files (`.index`, `.run`, `system.db`) change all the time; they are no edits."""
        first = Path(path).relative_to(self.markdown.root).parts[:1]
        return bool(first) and not first[0].startswith((".", _STATE_FILES))
