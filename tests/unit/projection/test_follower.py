from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.support.workshop import ALICE, Workshop, WorkshopPlan, episode, open_workshop

from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.domain.records import Kind
from remanence_server.projection.follower import Follower

USERS = "default_app/default_project/users"
MAIL = Owner(Scope(), Track.USER, "bob.smith")


@pytest.fixture
async def followed(workshop: Workshop) -> AsyncIterator[Workshop]:
    """Alice and Bob have an episode each, and the watcher is awake."""
    await workshop.publisher.publish((episode(), episode(owner=MAIL)))
    await workshop.settle()
    follower = workshop.follower()
    await follower.start()
    await _watching(workshop, follower)
    yield workshop


async def _watching(workshop: Workshop, follower: Follower) -> None:
    """Edits Alice's file until the watcher has seen it once."""
    (path,) = (workshop.root / USERS / "alice").rglob("*.md")
    text = path.read_text()
    async with asyncio.timeout(20):
        number = 0
        while not workshop.markdown.reads:
            number += 1
            path.write_text(text + f"\n<!-- {number} -->\n")
            await asyncio.sleep(0.2)
    await asyncio.sleep(1)  # until the last of these edits has been debounced
    await workshop.settle()
    workshop.markdown.reads.clear()


async def _count(workshop: Workshop, owner: Owner) -> int:
    return (await workshop.catalogue.counts(owner)).get(Kind.EPISODE, 0)


async def _becomes(workshop: Workshop, owner: Owner, count: int) -> None:
    async with asyncio.timeout(15):
        while await _count(workshop, owner) != count:
            await asyncio.sleep(0.05)


async def test_an_edit_is_seen(followed: Workshop) -> None:
    (path,) = (followed.root / USERS / "alice").rglob("*.md")
    path.write_text(path.read_text().replace("Yosemite", "Patagonia"))
    async with asyncio.timeout(15):
        while not await followed.words(ALICE, "Patagonia"):
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("owner", [ALICE, MAIL], ids=["a plain name", "a name with a dot"])
async def test_a_folder_that_is_moved_away_takes_its_records_along(
    followed: Workshop, owner: Owner
) -> None:
    (followed.root / USERS / owner.owner_id).rename(followed.root.with_name("trash"))
    await _becomes(followed, owner, 0)
    followed.root.with_name("trash").rename(followed.root / USERS / owner.owner_id)
    await _becomes(followed, owner, 1)


async def test_a_deleted_folder_is_forgotten(followed: Workshop) -> None:
    shutil.rmtree(followed.root / USERS / "bob.smith")
    await _becomes(followed, MAIL, 0)
    assert await _count(followed, ALICE) == 1


async def test_own_writes_are_not_read_back(followed: Workshop) -> None:
    for number in range(2, 8):
        await followed.publisher.publish((episode(number, f"Alice climbs peak {number}."),))
        await asyncio.sleep(0.1)
    await asyncio.sleep(1)
    await followed.settle()
    assert followed.markdown.reads == []
    assert await _count(followed, ALICE) == 7


async def test_the_scan_at_the_start_finds_what_changed_while_nobody_looked(
    tmp_path: Path,
) -> None:
    async with open_workshop(tmp_path, WorkshopPlan(work=False)) as workshop:
        await workshop.publisher.publish((episode(),))
    shutil.rmtree(tmp_path / ".index")
    async with open_workshop(tmp_path, WorkshopPlan(work=False)) as workshop:
        assert workshop.catalogue.was_reset
        await workshop.follower(watch=False).start()
        await _becomes(workshop, ALICE, 1)
        async with asyncio.timeout(10):
            while workshop.catalogue.was_reset:
                await asyncio.sleep(0.02)


async def test_vectors_are_kept_while_the_root_cannot_be_read(tmp_path: Path) -> None:
    root = tmp_path / "root"
    async with open_workshop(root, WorkshopPlan(work=False)) as workshop:
        await workshop.publisher.publish((episode(),))
        await workshop.settle()
    (root / ".index" / "catalogue.db").unlink()
    async with open_workshop(root, WorkshopPlan(work=False)) as workshop:
        (root / USERS).rename(tmp_path / "users")
        (root / USERS).mkdir()
        (root / ".run").rename(tmp_path / ".run")
        away = root.rename(tmp_path / "away")
        await workshop.follower(watch=False, scan_interval_seconds=0.05).start()
        await asyncio.sleep(0.3)
        assert workshop.catalogue.was_reset
        (away / USERS).rmdir()
        (tmp_path / "users").rename(away / USERS)
        away.rename(root)
        await _becomes(workshop, ALICE, 1)
        await workshop.settle()
        assert workshop.embedder.switch.calls == 0


async def test_quiesced_it_follows_no_more(followed: Workshop) -> None:
    follower = followed.follower()
    await follower.start()
    await followed.publisher.publish((episode(2, "Alice swims."),))
    await follower.quiesce()
    assert follower.quiesced
    assert followed.projector.state().pending == 0
    assert await followed.lexical.committed_stamp() == await followed.catalogue.stamp()
