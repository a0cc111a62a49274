from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from tests.support.workshop import ALICE, Workshop, episode

from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.domain.records import Kind

BOB = Owner(Scope(), Track.USER, "bob")
USERS = "default_app/default_project/users"


async def _counts(workshop: Workshop) -> tuple[int, int]:
    await workshop.settle()
    counts = [await workshop.catalogue.counts(owner) for owner in (ALICE, BOB)]
    return counts[0].get(Kind.EPISODE, 0), counts[1].get(Kind.EPISODE, 0)


@pytest.fixture
async def told(workshop: Workshop) -> Workshop:
    """One episode of Alice and one of Bob."""
    await workshop.publisher.publish((episode(), episode(owner=BOB)))
    assert await _counts(workshop) == (1, 1)
    return workshop


async def test_new_changed_and_removed_files_are_found(told: Workshop) -> None:
    (alice,) = (told.root / USERS / "alice").rglob("*.md")
    carol = told.root / USERS / "carol" / "episodes" / alice.name
    carol.parent.mkdir(parents=True)
    shutil.copy(alice, carol)
    carol.write_text(carol.read_text().replace("alice", "carol"))
    alice.write_text(alice.read_text().replace("Yosemite", "Patagonia"))
    shutil.rmtree(told.root / USERS / "bob")
    assert await told.scan.run()
    assert await _counts(told) == (1, 0)
    assert len(await told.words(ALICE, "Patagonia")) == 1
    carol_owner = Owner(Scope(), Track.USER, "carol")
    assert (await told.catalogue.counts(carol_owner))[Kind.EPISODE] == 1


async def test_what_has_not_changed_is_not_read(told: Workshop) -> None:
    assert await told.scan.run()
    await told.settle()
    assert told.markdown.reads == []
    assert told.projector.state().pending == 0


async def test_a_missing_root_is_no_mass_deletion(told: Workshop) -> None:
    away = told.root.with_name("away")
    told.root.rename(away)
    try:
        assert not await told.scan.run()
        assert await _counts(told) == (1, 1)
        assert "nothing is taken as deleted" in told.projector.state().reasons[0]
    finally:
        away.rename(told.root)
    assert await told.scan.run()
    assert told.projector.state().reasons == []


async def test_an_empty_mount_point_is_no_mass_deletion(told: Workshop) -> None:
    away = told.root.with_name("away")
    told.root.rename(away)
    told.root.mkdir()
    try:
        assert not await told.scan.run()
        assert await _counts(told) == (1, 1)
    finally:
        told.root.rmdir()
        away.rename(told.root)


async def test_a_folder_that_cannot_be_listed_keeps_what_is_known_of_it(
    told: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    scandir, locked = os.scandir, str(told.root / USERS / "bob")

    def guarded(path: str | Path) -> object:
        if str(path).startswith(locked):
            raise PermissionError
        return scandir(path)

    shutil.rmtree(told.root / USERS / "alice")
    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", guarded)
        assert not await told.scan.run()
    assert await _counts(told) == (0, 1)
    assert told.projector.state().reasons
    assert await told.scan.run()
    assert told.projector.state().reasons == []
