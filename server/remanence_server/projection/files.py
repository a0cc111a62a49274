"""One Markdown file into the catalogue."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

from remanence_server.domain.records import record_key
from remanence_server.index.catalogue.changes import ChangeSet
from remanence_server.index.catalogue.interface import Catalogue
from remanence_server.markdown.disk import stamp_of
from remanence_server.markdown.paths import SKILL_NAME
from remanence_server.markdown.reader import ParsedFile
from remanence_server.markdown.store import MarkdownStore
from remanence_server.markdown.twins import file_order, without_entries
from remanence_server.projection.problems import ProblemBook
from remanence_server.projection.records import indexed_file, relative_path
from remanence_server.runtime.clock import Clock
from remanence_server.runtime.faults import describe_fault
from remanence_server.runtime.logging import get_logger
from remanence_server.runtime.metrics import ProjectionMetrics

# What a file that cannot be read counts as, in the metrics of the projection.
_FILE = "file"

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Projected:
    """What the other indexes must follow, and files to read again though they have not changed."""

    change: ChangeSet | None
    again: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class FileProjection:
    """Reads files and makes a catalogue agree with them."""

    markdown: MarkdownStore
    catalogue: Catalogue
    clock: Clock
    problems: ProblemBook
    metrics: ProjectionMetrics = field(default_factory=ProjectionMetrics.of)

    async def project(self, path: Path) -> Projected:
        """Makes the records of a file exactly what is in it now; none if it is gone.

        A file that cannot be read is noted, and stays as it was known. Raises what the catalogue
        raises.
        """
        key = relative_path(self.markdown.root, path)
        try:
            parsed = await asyncio.to_thread(self.markdown.read, path)
        except FileNotFoundError:
            self.problems.forget(key)
            change = await self.catalogue.delete_file(key)
            return Projected(change, self._losers(path, change))
        except Exception as error:
            # One file must not hold up all others. The next scan finds that it differs still.
            _log.warning("markdown_file_unreadable", path=key, **describe_fault(error))
            self.metrics.failures.labels(_FILE).inc()
            self.problems.unreadable.add(key)
            return Projected(None)
        parsed, losers = await self._decide_twins(parsed)
        state, records = await asyncio.to_thread(indexed_file, self.markdown.root, parsed)
        self.problems.note(key, state.problems)
        if state.problems:
            _log.warning("markdown_entries_unreadable", path=key, count=len(state.problems))
        change = await self.catalogue.replace_file(state, records, self.clock.now_ms())
        return Projected(change, (*losers, *self._losers(path, change)))

    async def _decide_twins(self, parsed: ParsedFile) -> tuple[ParsedFile, tuple[Path, ...]]:
        """Leaves out entries that an earlier file has; names the later files that lose theirs.

        The order of the files decides, not that of reading: a rebuild comes to the same.
        """
        file, root = parsed.file, self.markdown.root
        entry_ids = [record_key(item.record) for item in parsed.records]
        paths = await self.catalogue.entry_paths(file.owner, file.kind, entry_ids)
        key = relative_path(root, file.path)
        lost: set[str] = set()
        losers: dict[Path, None] = {}
        for entry_id, other_key in paths.items():
            other = self.markdown.identify(root / other_key)
            if other_key == key or other is None or stamp_of(other.path) is None:
                continue  # it was moved here
            if file_order(other) < file_order(file):
                lost.add(entry_id)
            else:
                losers[other.path] = None
        return without_entries(parsed, lost), tuple(losers)

    def _losers(self, path: Path, change: ChangeSet) -> tuple[Path, ...]:
        """Files whose entries may count now that another has changed."""
        if not (change.deleted or change.written):
            return ()
        root, folder = self.markdown.root, _folder(path)
        files = (root / twin for twin in self.problems.twins())
        return tuple(file for file in files if file != path and _folder(file) == folder)


def _folder(path: Path) -> Path:
    """Where files lie that may have the same ids: skills have a folder each."""
    return path.parent.parent if path.name == SKILL_NAME else path.parent
