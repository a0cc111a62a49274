"""Compares the Markdown with the catalogue and submits what differs."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from remanence_server.index.catalogue.changes import FileState
from remanence_server.index.catalogue.interface import Catalogue
from remanence_server.markdown.disk import stamp_of
from remanence_server.markdown.paths import WORK_FOLDER, refuse_folder
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
        known = await self.catalogue.files()
        try:
            differing, unreadable = await asyncio.to_thread(self._compare, known)
        except ServiceError:
            self.projector.mark_root_unreadable(True)
            return False
        self.projector.mark_root_unreadable(bool(unreadable))
        for path in differing:
            self.projector.submit_file(path)
        return not unreadable

    def _compare(self, known: Mapping[str, FileState]) -> tuple[list[Path], list[Path]]:
        """Files that differ from what is known of them, and folders that cannot be listed."""
        root = self.markdown.root
        if known and not (root / WORK_FOLDER).is_dir():
            # We made that folder here: this is the empty place where a disk was mounted.
            refuse_folder(root)
        unreadable: list[Path] = []
        differing: list[Path] = []
        present: set[str] = set()
        for file in self.markdown.files(unreadable.append):
            key = relative_path(root, file.path)
            present.add(key)
            state = known.get(key)
            stamp = stamp_of(file.path)
            if state is None or stamp is None or not is_unchanged(state, stamp):
                differing.append(file.path)
        for key in known.keys() - present:
            gone = root / key
            if not any(gone.is_relative_to(folder) for folder in unreadable):
                differing.append(gone)
        return differing, unreadable
