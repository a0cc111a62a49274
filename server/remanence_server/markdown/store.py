"""The memory folder: everything that reads or writes Markdown goes through here."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, tzinfo
from pathlib import Path

from remanence_server.domain.owners import Owner
from remanence_server.domain.records import AgentSkill, Kind, Profile
from remanence_server.markdown.daily_files import DailyFiles, DailyRecord, WrittenEntry
from remanence_server.markdown.disk import remove_temporary_files, storage_errors
from remanence_server.markdown.durable_names import sync_folder
from remanence_server.markdown.pages import Pages
from remanence_server.markdown.paths import (
    MemoryFile,
    MemoryPaths,
    UnreadableFolder,
    refuse_folder,
)
from remanence_server.markdown.reader import ParsedFile, parse_file
from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.runtime.write_gate import WriteGate


class MarkdownStore:
    """Memory as Markdown files under a root.

    Methods block and may be called from any thread; one process at a time may write. When the disk
    refuses they raise ServiceError (EXTERNAL_SERVICE_UNAVAILABLE). `zone` decides the day of an
    entry and how instants are written. `folds_case` overrides what is found out about the disk.
    """

    def __init__(
        self,
        root: Path,
        zone: tzinfo,
        *,
        folds_case: bool | None = None,
    ) -> None:
        # Every write goes through it, so that a backup can have a moment without any.
        self.gate = WriteGate()
        self._paths = MemoryPaths(root, folds_case)
        self._zone = zone
        self._daily = DailyFiles(self._paths, zone)
        self._pages = Pages(self._paths, zone)

    @property
    def root(self) -> Path:
        """The memory root."""
        return self._paths.root

    def append(self, records: Sequence[DailyRecord]) -> tuple[WrittenEntry, ...]:
        """Writes entries to their daily files, synced when this returns, in the order given.

        Idempotent by entry id: what is there already comes back as it is on disk. Entries whose id
        was removed, or that a person left broken, are not written and not in the answer. On an
        error the entries of one file are all written or none; a repeat is safe.
        """
        with self.gate.writing():
            return self._daily.append(records)

    def last_sequence(self, owner: Owner, kind: Kind, day: date) -> int:
        """The highest sequence number among the entry ids of a day; 0 if there are none."""
        return self._daily.last_sequence(owner, kind, day)

    def remove_entries(
        self, owner: Owner, kind: Kind, entry_ids: Iterable[str], *, everywhere: bool = False
    ) -> frozenset[str]:
        """Removes entries of daily files; returns the ids that were there.

        The ids stay used up: a write that comes late does not bring an entry back. `everywhere`
        looks into files of other days too, where a person may have moved entries.
        """
        with self.gate.writing():
            return self._daily.remove(owner, kind, entry_ids, everywhere=everywhere)

    def remove_owner(self, owner: Owner) -> None:
        """Removes the folder of an owner with everything in it, whoever wrote it."""
        with self.gate.writing(), storage_errors():
            for folder in self.owner_folders(owner):
                shutil.rmtree(folder)
                sync_folder(folder.parent)

    def write_profile(self, profile: Profile, expected_hash: str | None = None) -> WrittenEntry:
        """Writes a user's profile; a person's own front-matter keys, comments and notes stay.

        `explicit_info` comes back grouped by category. With `expected_hash` (the content hash of
        the page it is based on, "" for none) a page that a person changed since is not overwritten.
        Raises ServiceError CONFLICT then, and when the page that is there cannot be read.
        """
        with self.gate.writing():
            return self._pages.write_profile(profile, expected_hash)

    def read_profile(self, owner: Owner) -> Profile | None:
        """A user's profile; None when there is none.

        Raises ServiceError CONFLICT when the page is there and cannot be read.
        """
        page = self._pages.read_profile(owner)
        if page is None:
            return None
        if not page.readable:
            raise ServiceError(ErrorCode.CONFLICT, "the profile was edited and cannot be read")
        record = page.records[0].record
        assert isinstance(record, Profile)  # noqa: S101 - what a profile page decodes to
        return record

    def profile_hash(self, owner: Owner) -> str:
        """The content hash of a user's profile page, for `expected_hash`; "" when there is none."""
        page = self._pages.read_profile(owner)
        return page.records[0].content_hash if page is not None and page.records else ""

    def sync_profile(self, owner: Owner) -> None:
        """Makes durable what an earlier write of a user's profile left, had it no time to do so."""
        self._pages.sync_profile(owner)

    def remove_profile(self, owner: Owner) -> bool:
        """Removes a user's profile; False when there was none."""
        with self.gate.writing():
            return self._pages.remove_profile(owner)

    def profile_emptied_ms(self, owner: Owner) -> int | None:
        """When a user's profile page became empty, in epoch milliseconds; None when it is not."""
        return self._pages.profile_emptied_ms(owner)

    def has_profile_notes(self, owner: Owner) -> bool:
        """Whether a user's profile page has lines of a person that are not part of the profile."""
        return self._pages.has_profile_notes(owner)

    def write_skill(self, skill: AgentSkill, expected_hash: str | None = None) -> WrittenEntry:
        """Writes a skill over the agent's one of that name; like `write_profile` otherwise."""
        with self.gate.writing():
            return self._pages.write_skill(skill, expected_hash)

    def read_skills(self, owner: Owner) -> tuple[AgentSkill, ...]:
        """An agent's skills, by folder name; pages that cannot be read are left out."""
        return tuple(
            parsed.record
            for page in self._pages.read_skills(owner)
            for parsed in page.records
            if isinstance(parsed.record, AgentSkill)
        )

    def remove_skill(self, owner: Owner, name: str) -> bool:
        """Removes an agent's skill; False when there was none."""
        with self.gate.writing():
            return self._pages.remove_skill(owner, name)

    def files(self, on_unreadable: UnreadableFolder = refuse_folder) -> Iterator[MemoryFile]:
        """Every memory file under the root; links and files that are not ours are skipped.

        `on_unreadable` is told of folders that cannot be listed, of which nothing may be concluded;
        by default they raise ServiceError. A missing root always does.
        """
        return self._paths.files(on_unreadable)

    def owner_folders(self, owner: Owner) -> tuple[Path, ...]:
        """The folders of an owner: one, unless it was copied from a disk that folds case.

        A missing root, and a folder on the way that cannot be listed, raise ServiceError.
        """
        return tuple(self._paths.owner_folders(owner))

    def owner_files(self, owner: Owner) -> Iterator[MemoryFile]:
        """The memory files of an owner; like `files` otherwise."""
        return self._paths.owner_files(owner)

    def identify(self, path: Path) -> MemoryFile | None:
        """Whose file a path under the root is; None when it is none of ours. For watchers."""
        return self._paths.identify(path)

    def read(self, path: Path | MemoryFile) -> ParsedFile:
        """The records of a file and what is wrong with it.

        Raises FileNotFoundError when it is gone, ValueError when the path is no memory file.
        """
        file = path if isinstance(path, MemoryFile) else self._paths.identify(path)
        if file is None:
            raise ValueError("not a memory file")
        return parse_file(file, self._zone)

    def remove_temporary_files(self) -> int:
        """Removes what a killed process left half-written; only for the owner of the root."""
        return remove_temporary_files(self.root)
