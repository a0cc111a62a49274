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
            differing, unreadable = await asyncio.to_thread(differing_files, self.markdown, known)
        except ServiceError:
            self.projector.problems.unreadable_root = True
            return False
        self.projector.problems.unreadable_root = bool(unreadable)
        for path in differing:
            self.projector.submit_file(path)
        return not unreadable


def differing_files(
    markdown: MarkdownStore, known: Mapping[str, FileState]
) -> tuple[list[Path], list[Path]]:
    """Files that differ from what is known of them, and folders that cannot be listed.

    Files that are there come before those that are gone: what was moved is then found in its new
    place before it is missed in its old one. Blocks. Raises ServiceError when the root cannot be
    read, or is the empty place where a disk was mounted.
    """
    root = markdown.root
    if known and not (root / WORK_FOLDER).is_dir():
        refuse_folder(root)  # we made that folder here
    unreadable: list[Path] = []
    differing: list[Path] = []
    present: set[str] = set()
    for file in markdown.files(unreadable.append):
        key = relative_path(root, file.path)
        present.add(key)
        state = known.get(key)
        stamp = stamp_of(file.path)
        if state is None or stamp is None or not is_unchanged(state, stamp):
            differing.append(file.path)
    for key in sorted(known.keys() - present):
        gone = root / key
        if not any(gone.is_relative_to(folder) for folder in unreadable):
            differing.append(gone)
    return differing, unreadable
