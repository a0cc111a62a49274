"""Compares the Markdown with the catalogue and submits what differs."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from remanence_server.index.catalogue.interface import Catalogue
from remanence_server.markdown.disk import stamp_of
from remanence_server.markdown.store import MarkdownStore
from remanence_server.projection.projector import Projector
from remanence_server.projection.records import is_unchanged, relative_path
from remanence_server.runtime.errors import ServiceError


@dataclass(frozen=True, slots=True)
class Scan:
    """Looks at names, sizes and times only; files that differ are read by the projector."""

    markdown: MarkdownStore
    catalogue: Catalogue
    projector: Projector

    async def run(self) -> bool:
        """Submits every file that was added, changed or removed; says whether it saw everything.

        A folder that cannot be listed proves nothing: what is below it is left as it is, and so is
        everything when the root itself cannot be read.
        """
        try:
            present, unreadable = await asyncio.to_thread(self._present)
        except ServiceError:
            self.projector.mark_root_unreadable(True)
            return False
        self.projector.mark_root_unreadable(bool(unreadable))
        known = await self.catalogue.files()
        root = self.markdown.root
        differing = []
        for path in present:
            state = known.get(relative_path(root, path))
            stamp = stamp_of(path)
            if state is None or stamp is None or not is_unchanged(state, stamp):
                differing.append(path)
        keys = {relative_path(root, path) for path in present}
        for key in known:
            gone = root / key
            if key not in keys and not any(gone.is_relative_to(folder) for folder in unreadable):
                differing.append(gone)
        for path in differing:
            self.projector.submit_file(path)
        return not unreadable

    def _present(self) -> tuple[list[Path], list[Path]]:
        unreadable: list[Path] = []
        return [file.path for file in self.markdown.files(unreadable.append)], unreadable
