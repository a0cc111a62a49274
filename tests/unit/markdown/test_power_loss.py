"""What is on disk after a power loss: only what was synced, names included.

The worst that a file system may do is played: of a file, what its last fsync saw is left, or
nothing; of a folder, the names that it had at its last fsync. So a write counts only if the file
was synced and so was, after it got its name, the folder that holds the name, and so on up to the
root.

`system.db` needs no such test of ours. SQLite in WAL mode with synchronous=FULL syncs the log in
each commit before it answers, and makes the name of a new log durable; a commit whose log frames
did not all reach the disk fails their checksums and is dropped by the next open, as a commit that
was never answered may be. `tests/unit/state/test_database.py` holds that these settings are in
force. The index is synced less often, on purpose: what it loses comes back from the Markdown.
"""

from __future__ import annotations

import errno
import os
import stat
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path

import pytest

from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.domain.records import Episode, Kind, Profile
from remanence_server.markdown import durable_names
from remanence_server.markdown.store import MarkdownStore
from remanence_server.runtime.errors import ServiceError

_ALICE = Owner(Scope(), Track.USER, "alice")
_BOB = Owner(Scope(), Track.USER, "bob")
_INSTANT_MS = 1_779_967_836_000

Step = Callable[[MarkdownStore], object]


@dataclass
class Disk:
    """Remembers what was synced; can refuse to."""

    root: Path
    contents: dict[int, bytes] = field(default_factory=dict)
    names: dict[int, dict[str, int]] = field(default_factory=dict)
    syncs: int = 0
    refused_sync: int = 0

    def fsync(self, descriptor: int) -> None:
        """In the place of `os.fsync`."""
        self.syncs += 1
        if self.syncs == self.refused_sync:
            raise OSError(errno.EIO, "refused")
        status = os.fstat(descriptor)
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        if stat.S_ISDIR(status.st_mode):
            self.names[status.st_ino] = {
                each.name: each.stat(follow_symlinks=False).st_ino for each in path.iterdir()
            }
        else:
            self.contents[status.st_ino] = path.read_bytes()

    def after_power_loss(self, target: Path) -> MarkdownStore:
        """A store over what is left."""
        self._restore(self.root.stat().st_ino, target)
        return MarkdownStore(target, UTC)

    def _restore(self, inode: int, target: Path) -> None:
        target.mkdir(parents=True)
        for name, child in self.names.get(inode, {}).items():
            if child in self.contents:
                (target / name).write_bytes(self.contents[child])
            elif child in self.names or "." not in name:
                self._restore(child, target / name)
            else:
                (target / name).touch()


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("needs /proc to know what a descriptor is open on")
    root = tmp_path / "root"
    root.mkdir()
    disk = Disk(root)
    monkeypatch.setattr(os, "fsync", disk.fsync)
    monkeypatch.setattr(durable_names, "_durable", OrderedDict())
    return disk


def _episode(number: int, owner: Owner = _ALICE) -> Episode:
    return Episode(
        owner=owner,
        entry_id=f"ep_20260528_{number:08d}",
        session_id="s1",
        timestamp_ms=_INSTANT_MS,
        sender_ids=(owner.owner_id,),
        subject=f"Number {number}",
        summary=f"Number {number}.",
        content=f"Number {number}.",
        parent_id="mc_1",
    )


def _profile(summary: str) -> Profile:
    return Profile(_ALICE, {"summary": summary}, _INSTANT_MS)


STEPS: dict[str, Step] = {
    "the first entry of an owner": lambda store: store.append((_episode(1),)),
    "the next of the day": lambda store: store.append((_episode(2),)),
    "another owner": lambda store: store.append((_episode(1, _BOB),)),
    "a page": lambda store: store.write_profile(_profile("Climbs.")),
    "the page again": lambda store: store.write_profile(_profile("Climbs and swims.")),
    "a removal": lambda store: store.remove_entries(_ALICE, Kind.EPISODE, ["ep_20260528_00000001"]),
    "an entry after it": lambda store: store.append((_episode(3),)),
    "a removed page": lambda store: store.remove_profile(_ALICE),
}


def _records(store: MarkdownStore) -> list[object]:
    found = []
    for file in store.files():
        parsed = store.read(file)
        assert parsed.problems == ()
        found += [each.record for each in parsed.records]
    return sorted(found, key=str)


def test_what_was_answered_is_there_after_a_power_loss(disk: Disk, tmp_path: Path) -> None:
    store = MarkdownStore(disk.root, UTC)
    for number, step in enumerate(STEPS.values()):
        step(store)
        left = disk.after_power_loss(tmp_path / str(number))
        assert _records(left) == _records(store)
    assert len(_records(store)) == 3


def test_what_is_not_synced_is_lost_so_the_test_can_fail(disk: Disk, tmp_path: Path) -> None:
    store = MarkdownStore(disk.root, UTC)
    path = store.append((_episode(1),))[0].path
    with path.open("a") as file:
        file.write("more")
    left = disk.after_power_loss(tmp_path / "left")
    assert "more" not in (left.root / path.relative_to(disk.root)).read_text()
    path.rename(path.with_name("episode-2026-05-29.md"))
    assert [file.path.name for file in disk.after_power_loss(tmp_path / "again").files()] == [
        path.name
    ]


@pytest.mark.parametrize("same_process", [True, False])
@pytest.mark.parametrize("refused", range(1, 19))
def test_a_sync_that_fails_is_done_again_by_the_repeat(
    disk: Disk,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    refused: int,
    same_process: bool,
) -> None:
    disk.refused_sync = refused
    store = MarkdownStore(disk.root, UTC)
    failures = 0
    for number, step in enumerate(STEPS.values()):
        try:
            step(store)
        except ServiceError:
            failures += 1
            if not same_process:
                store = MarkdownStore(disk.root, UTC)
                monkeypatch.setattr(durable_names, "_durable", OrderedDict())
            step(store)
        left = disk.after_power_loss(tmp_path / f"{number}")
        assert _records(left) == _records(store)
    assert failures == 1, f"the steps take {disk.syncs} syncs: adjust the range"
    assert len(_records(store)) == 3


def test_an_entry_is_not_kept_in_a_file_whose_name_was_never_synced(
    disk: Disk, tmp_path: Path
) -> None:
    store = MarkdownStore(disk.root, UTC)
    disk.refused_sync = 2  # the file is synced, its folder is not
    with pytest.raises(ServiceError):
        store.append((_episode(1),))
    # Another session is quicker than the repeat.
    store.append((_episode(2),))
    assert _episode(2) in _records(disk.after_power_loss(tmp_path / "left"))


def test_a_page_that_needs_no_change_can_be_made_durable(disk: Disk, tmp_path: Path) -> None:
    store = MarkdownStore(disk.root, UTC)
    disk.refused_sync = 2
    with pytest.raises(ServiceError):
        store.write_profile(_profile("Climbs."))
    assert _records(disk.after_power_loss(tmp_path / "lost")) == []
    # The repeat finds that it has nothing to change.
    store.sync_profile(_ALICE)
    assert _records(disk.after_power_loss(tmp_path / "left")) == [_profile("Climbs.")]
