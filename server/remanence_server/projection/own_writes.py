"""Own writes that the watcher may see before, or instead of, the projection.

The watcher reports every file that changed, ours too. Reading those back would be waste, and a file
that is being written must not be taken for somebody's edit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from remanence_server.index.catalogue.changes import FileState
from remanence_server.markdown.daily_files import WrittenEntry
from remanence_server.markdown.disk import FileStamp
from remanence_server.projection.records import is_unchanged

type _Link = tuple[FileStamp | None, FileStamp]


class OwnWrites:
    """What we are writing, and what we wrote that the catalogue has not seen yet."""

    def __init__(self) -> None:
        self._running = 0
        self._postponed: set[Path] = set()
        # For each file the stamps before and after our writes, in the order of submission.
        self._links: defaultdict[Path, list[_Link]] = defaultdict(list)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Encloses a write and the submission of its entries."""
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1

    def submitted(self, entries: Sequence[WrittenEntry]) -> None:
        """Entries are on disk and on their way to the catalogue."""
        for entry in entries:
            self._links[entry.path].append((entry.stamp_before, entry.stamp))

    def projected(self, entries: Sequence[WrittenEntry]) -> None:
        """The catalogue has these entries."""
        for entry in entries:
            links = self._links[entry.path]
            links.remove((entry.stamp_before, entry.stamp))
            if not links:
                del self._links[entry.path]

    def explain(self, path: Path, known: FileState | None, stamp: FileStamp) -> bool:
        """Whether our writes alone lead from what the catalogue knows to how the file is now."""
        links = list(self._links.get(path, ()))
        if known is not None and is_unchanged(known, stamp):
            return True
        reached: FileStamp | None = None
        while True:
            for link in links:
                before = link[0]
                if reached is not None:
                    follows = before == reached
                elif before is None:
                    follows = known is None
                else:
                    follows = known is not None and is_unchanged(known, before)
                if follows:
                    break
            else:
                return False
            reached = link[1]
            if reached == stamp:
                return True
            links.remove(link)

    def postpone(self, path: Path) -> bool:
        """Whether a file is to be looked at once no write is under way; once only."""
        if self._running and path not in self._postponed:
            self._postponed.add(path)
            return True
        self._postponed.discard(path)
        return False

    def settle(self, path: Path) -> None:
        """A file needs no look any more."""
        self._postponed.discard(path)

    def due(self) -> list[Path]:
        """Postponed files, when no write is under way."""
        return [] if self._running else list(self._postponed)
