"""The writer of profiles and skills: whole files, replaced atomically."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from datetime import tzinfo
from pathlib import Path

from remanence_server.domain.owners import Owner
from remanence_server.domain.records import AgentSkill, Profile
from remanence_server.markdown.block_entries import EntryError
from remanence_server.markdown.daily_files import WrittenEntry
from remanence_server.markdown.disk import replace_durably, stamp_of, storage_errors
from remanence_server.markdown.durable_names import sync_folder, sync_names
from remanence_server.markdown.front_matter import FrontMatterError
from remanence_server.markdown.paths import MemoryFile, MemoryPaths
from remanence_server.markdown.profile_page import has_notes, render_profile
from remanence_server.markdown.reader import (
    ParsedFile,
    content_hash,
    decode_page,
    load_page,
    parse_file,
)
from remanence_server.markdown.skill_page import render_skill
from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.runtime.fault_points import FaultPoint

_LOCKS = 64
_ATTEMPTS = 5
_BROKEN = "the Markdown file was edited by hand and cannot be read; repair it, or remove it"


class Pages:
    """The profile and skill files under a root. Methods block; any thread may call them."""

    def __init__(self, paths: MemoryPaths, zone: tzinfo) -> None:
        self._paths = paths
        self._zone = zone
        self._locks = tuple(threading.Lock() for _ in range(_LOCKS))

    def write_profile(self, profile: Profile, expected_hash: str | None = None) -> WrittenEntry:
        """Writes the profile of a user over the one that is there; see `_replace`."""

        def render(file: MemoryFile, present: str | None) -> str:
            return render_profile(profile, file, self._zone, present)

        with self._lock_of(profile.owner):
            return self._replace(self._paths.profile(profile.owner), render, expected_hash)

    def write_skill(self, skill: AgentSkill, expected_hash: str | None = None) -> WrittenEntry:
        """Writes a skill of an agent over the one of its name; see `_replace`."""

        def render(file: MemoryFile, present: str | None) -> str:
            del file
            return render_skill(skill, self._zone, present)

        with self._lock_of(skill.owner):
            return self._replace(self._skill_file(skill.owner, skill.name), render, expected_hash)

    def read_profile(self, owner: Owner) -> ParsedFile | None:
        """The profile page of a user; None when there is none."""
        try:
            return parse_file(self._paths.profile(owner), self._zone)
        except FileNotFoundError:
            return None

    def read_skills(self, owner: Owner) -> tuple[ParsedFile, ...]:
        """The skill pages of an agent."""
        pages: list[ParsedFile] = []
        for file in self._paths.skills(owner):
            with contextlib.suppress(FileNotFoundError):
                pages.append(parse_file(file, self._zone))
        return tuple(pages)

    def sync_profile(self, owner: Owner) -> None:
        """Makes durable what is there: whoever wrote it may not have come to the sync."""
        path = self._paths.profile(owner).path
        with self._lock_of(owner), storage_errors():
            if path.exists():
                sync_names(self._paths.root, path)

    def profile_emptied_ms(self, owner: Owner) -> int | None:
        """When the profile page of a user became empty; None when there is none, or it is not."""
        stamp = stamp_of(self._paths.profile(owner).path)
        return stamp.modified_ns // 1_000_000 if stamp is not None and not stamp.size else None

    def remove_profile(self, owner: Owner) -> bool:
        """Removes the profile of a user; False when there was none."""
        with self._lock_of(owner):
            return _remove(self._paths.profile(owner).path)

    def has_profile_notes(self, owner: Owner) -> bool:
        """Whether the profile page of a user has lines of a person that are no items."""
        page = load_page(self._paths.profile(owner))
        return page.text is not None and has_notes(page.text)

    def remove_skill(self, owner: Owner, name: str) -> bool:
        """Removes the skill file of this name; False when there was none.

        What a person keeps beside it in the folder stays.
        """
        with self._lock_of(owner):
            path = self._skill_file(owner, name).path
            removed = _remove(path)
            with contextlib.suppress(OSError):
                path.parent.rmdir()
            return removed

    def _lock_of(self, owner: Owner) -> threading.Lock:
        return self._locks[hash(owner) % _LOCKS]

    def _skill_file(self, owner: Owner, name: str) -> MemoryFile:
        """The file of a skill: a person may have renamed its folder."""
        usual = self._paths.skill(owner, name)
        if usual.path.exists():
            return usual
        for page in self.read_skills(owner):
            for parsed in page.records:
                if isinstance(parsed.record, AgentSkill) and parsed.record.name == name:
                    return page.file
        return usual

    def _replace(
        self,
        file: MemoryFile,
        render: Callable[[MemoryFile, str | None], str],
        expected_hash: str | None,
    ) -> WrittenEntry:
        """Renders over the page that is there and replaces it.

        With `expected_hash`, only over a page of that content hash ("" for none): what a person
        changed since it was read is not lost. Raises ServiceError: CONFLICT when the page is not
        that one or cannot be read, EXTERNAL_SERVICE_UNAVAILABLE when the disk refuses.
        """
        with storage_errors():
            for _ in range(_ATTEMPTS):
                page = load_page(file)
                if expected_hash is not None and page.content_hash != expected_hash:
                    raise ServiceError(
                        ErrorCode.CONFLICT, "the Markdown file has changed meanwhile"
                    )
                if page.flaw is not None:
                    raise ServiceError(ErrorCode.CONFLICT, _BROKEN)
                try:
                    text = render(file, page.text)
                except (FrontMatterError, EntryError):
                    raise ServiceError(ErrorCode.CONFLICT, _BROKEN) from None
                stamp = replace_durably(
                    self._paths.root,
                    file.path,
                    text.encode(),
                    page.stamp,
                    FaultPoint.PROFILE_TEMPORARY_WRITTEN,
                )
                if stamp is not None:
                    record = decode_page(file, text, self._zone)
                    return WrittenEntry(record, file.path, content_hash(text), stamp, page.stamp)
        raise ServiceError(
            ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE,
            "a memory file keeps changing while it is written",
            retry_after_seconds=1.0,
        )


def _remove(path: Path) -> bool:
    with storage_errors():
        removed = True
        try:
            path.unlink()
        except (FileNotFoundError, NotADirectoryError):
            removed = False
        # Whoever removed it before may not have come to the sync.
        if path.parent.is_dir():
            sync_folder(path.parent)
        return removed
