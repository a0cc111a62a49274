"""Where each record has its file, and whose file a path is.

    <app>/<project>/users/<user>/episodes/episode-2026-05-28.md
                                /.atomic_facts/atomic_fact-2026-05-28.md
                                /.transcripts/transcript-2026-05-28.md
                                /user.md
    <app>/<project>/agents/<agent>/.cases/agent_case-2026-05-28.md
                                  /skills/skill_<name>/SKILL.md

A day that needs another file (the first is large, or a person left it unreadable) goes on in
`episode-2026-05-28.2.md`.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.domain.records import Kind
from remanence_server.markdown.names import decode_name, encode_name, shorten_name, twin_name
from remanence_server.runtime.errors import ErrorCode, ServiceError

# Our own working files: skipped by every scan, and by whoever watches the tree.
WORK_FOLDER = ".run"
PROFILE_NAME = "user.md"
SKILL_NAME = "SKILL.md"

_TRACK_FOLDER: Mapping[Track, str] = {Track.USER: "users", Track.AGENT: "agents"}
_TRACK_OF_FOLDER = {folder: track for track, folder in _TRACK_FOLDER.items()}
_DAILY_FOLDER: Mapping[Kind, str] = {
    Kind.EPISODE: "episodes",
    Kind.ATOMIC_FACT: ".atomic_facts",
    Kind.TRANSCRIPT: ".transcripts",
    Kind.AGENT_CASE: ".cases",
}
_TRACK_OF_KIND: Mapping[Kind, Track] = {
    Kind.EPISODE: Track.USER,
    Kind.ATOMIC_FACT: Track.USER,
    Kind.TRANSCRIPT: Track.USER,
    Kind.PROFILE: Track.USER,
    Kind.AGENT_CASE: Track.AGENT,
    Kind.AGENT_SKILL: Track.AGENT,
}
_KIND_OF_FOLDER = {(_TRACK_OF_KIND[kind], folder): kind for kind, folder in _DAILY_FOLDER.items()}
_SKILLS_FOLDER = "skills"
_SKILL_PREFIX = "skill_"
_DAILY_NAME = re.compile(r"([a-z_]+)-(\d{4}-\d\d-\d\d)(?:\.([2-9]|[1-9]\d+))?\.md", re.ASCII)

UnreadableFolder = Callable[[Path], None]


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """A file of memory. `day` and `number` are those of a daily file, else None and 1."""

    path: Path
    owner: Owner
    kind: Kind
    day: date | None = None
    number: int = 1


def refuse_folder(path: Path) -> None:
    """The default answer to a folder that cannot be listed: nothing may be concluded from it."""
    del path
    raise ServiceError(
        ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE, "storage cannot be read", retry_after_seconds=5.0
    )


class MemoryPaths:
    """The tree of memory files under a root.

    `folds_case` says whether the disk takes `Alice` and `alice` for one name; where it does, the
    second of two such names gets a mark (`Alice~1`).
    """

    def __init__(self, root: Path, folds_case: bool | None = None) -> None:
        self.root = root
        self._folds_case = folds_case

    def owner_folder(self, owner: Owner) -> Path:
        """The folder of an owner, whether it exists or not."""
        scope = owner.scope
        app = self._child(self.root, _scope_name(scope.app_id, "app"))
        project = self._child(app, _scope_name(scope.project_id, "project"))
        return self._child(project / _TRACK_FOLDER[owner.track], encode_name(owner.owner_id))

    def daily_file(self, owner: Owner, kind: Kind, day: date, number: int = 1) -> MemoryFile:
        """The file of a day; the `number`-th one if the day has several."""
        _check_track(owner, kind)
        suffix = f".{number}" if number > 1 else ""
        name = f"{kind.value}-{day:%Y-%m-%d}{suffix}.md"
        path = self.owner_folder(owner) / _DAILY_FOLDER[kind] / name
        return MemoryFile(path, owner, kind, day, number)

    def daily_folder(self, owner: Owner, kind: Kind) -> Path:
        """The folder of the daily files of a kind."""
        _check_track(owner, kind)
        return self.owner_folder(owner) / _DAILY_FOLDER[kind]

    def profile(self, owner: Owner) -> MemoryFile:
        """The profile file of a user."""
        _check_track(owner, Kind.PROFILE)
        return MemoryFile(self.owner_folder(owner) / PROFILE_NAME, owner, Kind.PROFILE)

    def skill(self, owner: Owner, name: str) -> MemoryFile:
        """The file that a new skill of this name gets."""
        _check_track(owner, Kind.AGENT_SKILL)
        folder = shorten_name(encode_name(name, maximum_bytes=None, field="name"), name)
        parent = self.owner_folder(owner) / _SKILLS_FOLDER
        path = self._child(parent, _SKILL_PREFIX + folder) / SKILL_NAME
        return MemoryFile(path, owner, Kind.AGENT_SKILL)

    def skills(self, owner: Owner) -> Iterator[MemoryFile]:
        """The skill files of an agent that exist."""
        yield from self._skill_files(
            self.owner_folder(owner) / _SKILLS_FOLDER, owner, refuse_folder
        )

    def daily_files(self, owner: Owner, kind: Kind) -> Iterator[MemoryFile]:
        """The daily files of an owner and kind that exist."""
        for entry in _entries(self.daily_folder(owner, kind), refuse_folder):
            if entry.is_file(follow_symlinks=False):
                file = _daily(Path(entry.path), owner, kind)
                if file is not None:
                    yield file

    def identify(self, path: Path) -> MemoryFile | None:
        """Whose file a path is, by its name alone; None when it is no memory file of ours."""
        try:
            parts = path.relative_to(self.root).parts
        except ValueError:
            return None
        if len(parts) < 5 or any("\x00" in part for part in parts):
            return None
        owner = _owner_of(parts)
        if owner is None:
            return None
        if len(parts) == 5:
            is_profile = owner.track is Track.USER and parts[4] == PROFILE_NAME
            return MemoryFile(path, owner, Kind.PROFILE) if is_profile else None
        kind = _KIND_OF_FOLDER.get((owner.track, parts[4]))
        if kind is not None and len(parts) == 6:
            return _daily(path, owner, kind)
        is_skill = owner.track is Track.AGENT and parts[4] == _SKILLS_FOLDER and len(parts) == 7
        if is_skill and parts[6] == SKILL_NAME and not parts[5].startswith("."):
            return MemoryFile(path, owner, Kind.AGENT_SKILL)
        return None

    def files(self, on_unreadable: UnreadableFolder = refuse_folder) -> Iterator[MemoryFile]:
        """Every memory file under the root. Links are not followed.

        `on_unreadable` is told of folders that cannot be listed: what was known of them must be
        kept. By default such a folder raises ServiceError. A missing root always does.
        """
        self._check_root()
        for app in _folders(self.root, on_unreadable):
            for project in _folders(app, on_unreadable):
                for track_folder in _folders(project, on_unreadable):
                    track = _TRACK_OF_FOLDER.get(track_folder.name)
                    if track is not None:
                        yield from self._track_files(track_folder, track, on_unreadable)

    def owner_folders(self, owner: Owner) -> Iterator[Path]:
        """The folders of an owner that exist, under whatever name a disk gave them.

        Raises ServiceError for a missing root and a folder on the way that cannot be listed.
        """
        self._check_root()
        for app in _folders(self.root, refuse_folder):
            if _scope_of(app.name, "app") != owner.scope.app_id:
                continue
            for project in _folders(app, refuse_folder):
                if _scope_of(project.name, "project") != owner.scope.project_id:
                    continue
                for folder in _folders(project / _TRACK_FOLDER[owner.track], refuse_folder):
                    if decode_name(folder.name) == owner.owner_id:
                        yield folder

    def owner_files(self, owner: Owner) -> Iterator[MemoryFile]:
        """The memory files of an owner; see `owner_folders`."""
        for folder in self.owner_folders(owner):
            yield from self._owner_files(folder, owner, owner.track, refuse_folder)

    def _check_root(self) -> None:
        if not os.path.isdir(self.root):  # noqa: PTH112 - False, not an error, without access
            refuse_folder(self.root)

    def _track_files(
        self, track_folder: Path, track: Track, on_unreadable: UnreadableFolder
    ) -> Iterator[MemoryFile]:
        for folder in _folders(track_folder, on_unreadable):
            owner = _owner_of(folder.relative_to(self.root).parts)
            if owner is not None:
                yield from self._owner_files(folder, owner, track, on_unreadable)

    def _owner_files(
        self, folder: Path, owner: Owner, track: Track, on_unreadable: UnreadableFolder
    ) -> Iterator[MemoryFile]:
        for entry in _entries(folder, on_unreadable):
            if entry.is_dir(follow_symlinks=False):
                kind = _KIND_OF_FOLDER.get((track, entry.name))
                if kind is not None:
                    for child in _entries(Path(entry.path), on_unreadable):
                        file = _daily(Path(child.path), owner, kind)
                        if file is not None and child.is_file(follow_symlinks=False):
                            yield file
                elif track is Track.AGENT and entry.name == _SKILLS_FOLDER:
                    yield from self._skill_files(Path(entry.path), owner, on_unreadable)
            elif (
                track is Track.USER
                and entry.name == PROFILE_NAME
                and entry.is_file(follow_symlinks=False)
            ):
                yield MemoryFile(Path(entry.path), owner, Kind.PROFILE)

    def _skill_files(
        self, folder: Path, owner: Owner, on_unreadable: UnreadableFolder
    ) -> Iterator[MemoryFile]:
        for child in _folders(folder, on_unreadable):
            path = child / SKILL_NAME
            try:
                is_file = stat.S_ISREG(os.lstat(path).st_mode)
            except FileNotFoundError:
                continue
            except OSError:
                on_unreadable(child)
                continue
            if is_file:
                yield MemoryFile(path, owner, Kind.AGENT_SKILL)

    def _child(self, parent: Path, name: str) -> Path:
        if not self._disk_folds_case():
            return parent / name
        try:
            present = [entry.name for entry in parent.iterdir()]
        except OSError:
            return parent / name
        folded = name.casefold()
        if name in present or all(other.casefold() != folded for other in present):
            return parent / name
        return parent / twin_name(name)

    def _disk_folds_case(self) -> bool:
        if self._folds_case is None:
            work_folder = self.root / WORK_FOLDER
            if not work_folder.is_dir():
                return False
            self._folds_case = (self.root / WORK_FOLDER.upper()).exists()
        return self._folds_case


def _scope_name(name: str, level: str) -> str:
    # `default` has a folder of a speaking name; an application that is really called so gives way.
    reserved = f"default_{level}"
    if name == "default":
        return reserved
    encoded = encode_name(name, field=f"{level}_id")
    return f"%64{encoded[1:]}" if encoded == reserved else encoded


def _scope_of(name: str, level: str) -> str | None:
    reserved = f"default_{level}"
    if name == reserved:
        return "default"
    if name == f"%64{reserved[1:]}":
        return reserved
    decoded = decode_name(name)
    return None if decoded == "default" else decoded


def _owner_of(parts: tuple[str, ...]) -> Owner | None:
    track = _TRACK_OF_FOLDER.get(parts[2])
    app_id = _scope_of(parts[0], "app")
    project_id = _scope_of(parts[1], "project")
    owner_id = decode_name(parts[3])
    if track is None or app_id is None or project_id is None or owner_id is None:
        return None
    return Owner(Scope(app_id, project_id), track, owner_id)


def _daily(path: Path, owner: Owner, kind: Kind) -> MemoryFile | None:
    match = _DAILY_NAME.fullmatch(path.name)
    if match is None or match[1] != kind.value:
        return None
    try:
        day = date.fromisoformat(match[2])
    except ValueError:
        return None
    return MemoryFile(path, owner, kind, day, int(match[3] or 1))


def _check_track(owner: Owner, kind: Kind) -> None:
    if _TRACK_OF_KIND[kind] is not owner.track:
        raise ValueError(f"the {owner.track} track holds no {kind}")


def _entries(folder: Path, on_unreadable: UnreadableFolder) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError:
        on_unreadable(folder)
        return []


def _folders(folder: Path, on_unreadable: UnreadableFolder) -> list[Path]:
    return [
        Path(entry.path)
        for entry in _entries(folder, on_unreadable)
        if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)
    ]
