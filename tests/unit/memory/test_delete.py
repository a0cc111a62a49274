"""Deletion against what runs at the same moment, and against disks that refuse."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import apsw
import pytest
from tests.support.workshop import ALICE, Workshop, open_workshop, said

from remanence_server.domain.messages import MemoryCell
from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.domain.records import Kind
from remanence_server.extraction.interface import EpisodeDraft, FactDraft
from remanence_server.memory.delete import (
    ByIds,
    Deleted,
    DeletePath,
    Everything,
    OfSession,
    delete_memories,
)
from remanence_server.memory.deletion_worker import DeletionWorker
from remanence_server.memory.delivery import add_entry, deliver
from remanence_server.memory.stages import FIRST_STAGES
from remanence_server.memory.write import AddBatch, WriteStatus, add_messages, flush_session
from remanence_server.runtime.clock import SystemClock
from remanence_server.runtime.errors import ServiceError
from remanence_server.runtime.fault_points import FaultPoint, hooked
from remanence_server.runtime.storage import StorageReason, storage_trouble
from remanence_server.state.deletions import DeletionStore
from remanence_server.state.inbox import InboxStore
from remanence_server.state.inbox_model import InboxCaps, InboxStatus
from remanence_server.state.jobs.board import JobBoard
from remanence_server.transfer.backup import BackupSource, copy_root

SCOPE = Scope()
BOB = Owner(SCOPE, Track.USER, "bob")


@dataclass
class Deleting:
    """A workshop that can delete."""

    shop: Workshop
    path: DeletePath

    async def delete(self, owner: Owner | None, target: object) -> Deleted:
        return await delete_memories(self.path, SCOPE, owner, target)  # type: ignore[arg-type]

    async def tell(self, *texts: str, session: str = "s1", sender: str = "alice") -> None:
        messages = [said(text, sender=sender, at=number) for number, text in enumerate(texts)]
        await add_messages(self.shop.path, AddBatch(SCOPE, session, messages, True))

    async def flush(self, session: str = "s1") -> WriteStatus:
        return await flush_session(self.shop.path, SCOPE, session, wait_until_visible=True)

    async def idle(self) -> None:
        """No job is left, and the index has followed."""
        async with asyncio.timeout(10):
            while (counts := await self.shop.jobs.counts()).queued or counts.running:
                await asyncio.sleep(0.01)
        await self.shop.settle()

    def traces(self, text: str) -> list[str]:
        return [
            path.name
            for path in self.shop.root.rglob("*")
            if path.is_file() and text.encode() in path.read_bytes()
        ]

    async def count(self, owner: Owner, kind: Kind) -> int:
        return (await self.shop.catalogue.counts(owner))[kind]


@asynccontextmanager
async def open_deleting(root: Path, *, loop: bool = True) -> AsyncIterator[Deleting]:
    async with open_workshop(root) as shop:
        worker = DeletionWorker(
            DeletionStore(shop.state, FIRST_STAGES),
            JobBoard(shop.state),
            shop.markdown,
            shop.catalogue,
            shop.projector,
            SystemClock(),
            shop.pipeline.locks,
        )
        if loop:
            shop.supervisor.start("deletions", worker.run)
        yield Deleting(shop, DeletePath(worker, shop.runner, shop.path.locks))


@pytest.mark.parametrize("stage", ["extract_episode", "extract_facts"])
async def test_an_extraction_that_runs_does_not_bring_anything_back(
    tmp_path: Path, stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()
    async with open_deleting(tmp_path) as deleting:
        extractor = deleting.shop.extractor
        original = getattr(extractor, stage)

        async def slow(cell: MemoryCell, owner: Owner) -> EpisodeDraft | tuple[FactDraft, ...]:
            begun.set()
            await go_on.wait()
            return await original(cell, owner)

        monkeypatch.setattr(extractor, stage, slow)
        await deleting.tell("My PIN is 9931 and I live in Oslo.")
        flushing = asyncio.create_task(deleting.flush())
        await begun.wait()

        gone = await deleting.delete(ALICE, OfSession("s1"))
        go_on.set()
        status = await flushing
        await deleting.idle()

        late = stage == "extract_facts"
        assert (gone.episodes, gone.messages) == ((1, 0) if late else (0, 1))
        assert status is (WriteStatus.EXTRACTED if late else WriteStatus.NO_EXTRACTION)
        assert deleting.shop.entry_ids() == []
        assert await deleting.count(ALICE, Kind.EPISODE) == 0
        async with asyncio.timeout(10):
            while deleting.traces("9931"):
                await asyncio.sleep(0.05)


async def test_a_stage_that_is_about_to_publish_when_the_deletion_is_decided_writes_nothing(
    tmp_path: Path,
) -> None:
    async with open_deleting(tmp_path) as deleting:
        await deleting.tell("My PIN is 9931.")
        lock = deleting.shop.pipeline.locks.of(ALICE)
        await lock.acquire()
        flushing = asyncio.create_task(deleting.flush())
        async with asyncio.timeout(10):
            while not (await deleting.shop.jobs.counts()).running:
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)  # its output is saved, and it waits for the lock
        removing = asyncio.create_task(deleting.delete(ALICE, OfSession("s1")))
        await asyncio.sleep(0.05)
        lock.release()
        await removing
        await flushing
        await deleting.idle()

        assert deleting.shop.entry_ids() == []
        assert (await deleting.shop.catalogue.counts())[Kind.EPISODE] == 0


async def test_a_queued_request_that_is_on_its_way_is_not_stored_after_the_deletion(
    tmp_path: Path,
) -> None:
    async with open_deleting(tmp_path) as deleting:
        inbox = InboxStore(deleting.shop.state)
        batch = AddBatch(SCOPE, "s1", [said("PIN 9931"), said("me too", sender="bob")], True)
        await inbox.enqueue(add_entry(batch, "r1"), InboxCaps(9, 9), 1, only_behind_others=False)
        (claimed,) = await inbox.claim(1, 2)

        assert await deleting.delete(ALICE, OfSession("s1")) == Deleted(messages=1)
        await deliver(deleting.shop.path, claimed)

        buffered = await deleting.shop.sessions.buffered(SCOPE, "s1")
        assert [each.message.content for each in buffered] == ["me too"]

        assert await deleting.delete(None, OfSession("s1")) == Deleted(messages=1)
        await deliver(deleting.shop.path, claimed)

        assert await deleting.shop.sessions.buffered(SCOPE, "s1") == []
        task = await inbox.task("r1")
        assert task is not None
        assert (task.status, task.error_code) == (InboxStatus.FAILED, "CANCELLED")


async def test_two_deletions_of_one_session_count_it_once(tmp_path: Path) -> None:
    async with open_deleting(tmp_path) as deleting:
        await deleting.tell("I like plums.")
        await deleting.flush()
        await deleting.idle()

        both = await asyncio.gather(
            deleting.delete(ALICE, OfSession("s1")), deleting.delete(None, OfSession("s1"))
        )

        assert sorted(each.episodes for each in both) == [0, 1]


async def test_a_disk_that_refuses_half_way_delays_a_deletion_and_nothing_is_written_meanwhile(
    tmp_path: Path,
) -> None:
    refused = True

    def refuse(point: FaultPoint) -> None:
        if point is FaultPoint.DELETE_RECORDED and refused:
            raise storage_trouble(StorageReason.FULL)

    async with open_deleting(tmp_path, loop=False) as deleting:
        await deleting.tell("My PIN is 9931.")
        await deleting.flush()
        await deleting.idle()
        with hooked(refuse), pytest.raises(ServiceError, match="storage is full"):
            await deleting.delete(ALICE, Everything())
        await deleting.tell("I like plums.", session="s2")
        await deleting.shop.path.job_store.counts()
        with pytest.raises(ServiceError, match="a deletion of this owner is not finished yet"):
            await deleting.flush("s2")

        deleting.shop.supervisor.start("deletions", deleting.path.worker.run)
        async with asyncio.timeout(10):
            while await deleting.path.worker.store.unfinished():
                await asyncio.sleep(0.05)
        await deleting.flush("s2")
        await deleting.idle()

        assert await deleting.count(ALICE, Kind.EPISODE) == 1
        async with asyncio.timeout(10):
            while deleting.traces("9931"):
                await asyncio.sleep(0.05)
        assert deleting.traces("plums")


async def test_a_profile_that_cannot_be_read_waits_and_the_rest_is_deleted(tmp_path: Path) -> None:
    async with open_deleting(tmp_path) as deleting:
        await deleting.tell("I live in Oslo.")
        await deleting.flush()
        await deleting.idle()
        page = next(deleting.shop.root.rglob("user.md"))
        whole = page.read_text()
        page.write_text(whole.replace("type: user_profile", "type: [broken"))

        with pytest.raises(ServiceError, match="profile page"):
            await deleting.delete(ALICE, OfSession("s1"))

        assert await deleting.count(ALICE, Kind.EPISODE) == 0
        page.write_text(whole)
        deleting.path.worker.wake()
        async with asyncio.timeout(10):
            while page.exists() or await deleting.path.worker.store.unfinished():
                await asyncio.sleep(0.05)


async def test_a_profile_that_an_editor_is_just_saving_is_looked_at_again(tmp_path: Path) -> None:
    async with open_deleting(tmp_path, loop=False) as deleting:
        await deleting.tell("I live in Oslo.")
        await deleting.flush()
        await deleting.idle()
        page = next(deleting.shop.root.rglob("user.md"))
        whole = page.read_text()
        page.write_text("")

        with pytest.raises(ServiceError, match="profile page"):
            await deleting.delete(ALICE, OfSession("s1"))
        worker = deleting.path.worker
        (row,) = await worker.store.unfinished()
        with pytest.raises(ServiceError, match="profile page"):
            await worker.finish([row.deletion_id])
        page.write_text(whole)
        assert await worker.finish([row.deletion_id]) == 1

        assert not page.exists()


async def test_a_profile_that_a_person_has_emptied_holds_nothing_up(tmp_path: Path) -> None:
    async with open_deleting(tmp_path, loop=False) as deleting:
        await deleting.tell("I live in Oslo.")
        await deleting.flush()
        await deleting.idle()
        page = next(deleting.shop.root.rglob("user.md"))
        page.write_text("")
        os.utime(page, (1_700_000_000, 1_700_000_000))

        assert (await deleting.delete(ALICE, OfSession("s1"))).episodes == 1


async def test_what_a_deleted_statement_had_superseded_is_current_again(tmp_path: Path) -> None:
    async with open_deleting(tmp_path) as deleting:
        await deleting.tell("I live in Rome.", "I like plums.", session="s1")
        await deleting.flush("s1")
        await deleting.idle()
        later = [said("I live in Oslo.", at=10_000), said("I like plums.", at=10_001)]
        await add_messages(deleting.shop.path, AddBatch(SCOPE, "s2", later, True))
        await deleting.flush("s2")
        await deleting.idle()

        gone = await deleting.delete(ALICE, OfSession("s2"))

        assert gone.profile_items == 1
        profile = deleting.shop.markdown.read_profile(ALICE)
        assert profile is not None
        said_now = {item["description"] for item in profile.data["explicit_info"]}
        assert said_now == {"Lives in Rome", "Likes plums"}
        assert "Oslo" not in str(profile.data)
        assert profile.data["summary"] == "Lives in Rome. Likes plums."


async def test_what_another_has_yet_to_remember_of_a_session_is_not_stored_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = asyncio.Event()
    async with open_deleting(tmp_path) as deleting:
        extractor = deleting.shop.extractor
        extract = extractor.extract_episode

        async def slow_for_bob(cell: MemoryCell, owner: Owner) -> EpisodeDraft:
            if owner == BOB:
                await go_on.wait()
            return await extract(cell, owner)

        monkeypatch.setattr(extractor, "extract_episode", slow_for_bob)
        messages = [
            said("My PIN is 9931.", message_id="a1"),
            said("I like plums.", message_id="b1", sender="bob"),
        ]
        batch = AddBatch(SCOPE, "s1", messages, True)
        await add_messages(deleting.shop.path, batch)
        flushing = asyncio.create_task(deleting.flush())
        async with asyncio.timeout(10):
            while not await deleting.count(ALICE, Kind.EPISODE):
                await asyncio.sleep(0.01)

        await deleting.delete(ALICE, OfSession("s1"))

        again = await add_messages(deleting.shop.path, batch)
        assert again.known_count == 1
        buffered = await deleting.shop.sessions.buffered(SCOPE, "s1")
        assert [each.message.message_id for each in buffered] == ["a1"]
        go_on.set()
        await flushing
        await deleting.idle()
        assert deleting.shop.turns().count(("bob", "b1")) == 1


async def test_an_owner_without_a_part_in_a_session_deletes_nothing_of_it(tmp_path: Path) -> None:
    async with open_deleting(tmp_path) as deleting:
        await deleting.tell("I like plums.")
        await deleting.flush()
        await deleting.idle()
        await deleting.tell("Noted, alice and bob.", sender="helper")

        assert await deleting.delete(BOB, OfSession("s1")) == Deleted()
        assert await deleting.delete(BOB, Everything()) == Deleted()
        assert await deleting.delete(BOB, ByIds(["alice_ep_20260528_00000001"])) == Deleted()

        assert len(await deleting.shop.sessions.buffered(SCOPE, "s1")) == 1
        assert await deleting.count(ALICE, Kind.EPISODE) == 1


@pytest.mark.parametrize(
    "half_way", [FaultPoint.DELETE_RECORDED, FaultPoint.DELETE_MARKDOWN_REMOVED]
)
async def test_what_is_restored_from_a_backup_of_the_middle_of_a_deletion_is_deleted(
    tmp_path: Path, half_way: FaultPoint
) -> None:
    copy = tmp_path / "copy"

    async with open_deleting(tmp_path / "root", loop=False) as deleting:
        for session, text in (("s1", "My PIN is 9931."), ("s2", "I like plums.")):
            await deleting.tell(text, session=session)
            await deleting.flush(session)
        await deleting.idle()
        source = BackupSource(deleting.shop.root, deleting.shop.markdown.gate, SystemClock(), "1")

        def back_up(point: FaultPoint) -> None:
            if point is half_way:
                copy_root(source, copy)

        with hooked(back_up):
            await deleting.delete(ALICE, OfSession("s1"))

    async with open_deleting(copy) as deleting:
        await deleting.shop.fill()
        async with asyncio.timeout(10):
            while await deleting.path.worker.store.unfinished():
                await asyncio.sleep(0.05)
        await deleting.idle()
        assert [each.split("_")[0] for each in deleting.shop.entry_ids()].count("alice/ep") == 1
        assert await deleting.count(ALICE, Kind.EPISODE) == 1
        assert deleting.traces("plums")
        async with asyncio.timeout(10):
            while deleting.traces("9931"):
                await asyncio.sleep(0.05)


@pytest.mark.parametrize("what", [OfSession("s1"), Everything()])
async def test_a_process_that_ends_before_files_are_cleared_leaves_that_to_the_next(
    tmp_path: Path, what: object
) -> None:
    async with open_deleting(tmp_path, loop=False) as deleting:
        for number in range(30):
            await deleting.tell(f"My PIN is 9931, and {number}.")
        owner = None if isinstance(what, OfSession) else ALICE
        assert await deleting.delete(owner, what) == Deleted(messages=30)
        # SQLite has written pages more than once; the log at least has them all.
        assert deleting.traces("9931")

    async with open_deleting(tmp_path) as deleting:
        await deleting.tell("I like plums.")
        async with asyncio.timeout(10):
            while await deleting.shop.state.read(_uncleared):
                await asyncio.sleep(0.05)
        assert deleting.traces("9931") == []
        assert deleting.traces("plums")


def _uncleared(connection: apsw.Connection) -> int:
    count: int = connection.execute("SELECT count(*) FROM deletion_trace").get
    return count


async def test_of_what_is_deleted_no_vector_is_left(tmp_path: Path) -> None:
    async with open_deleting(tmp_path) as deleting:
        for session, text in (("s1", "My PIN is 9931."), ("s2", "I like plums.")):
            await deleting.tell(text, session=session)
            await deleting.flush(session)
        await deleting.idle()
        database = tmp_path / ".index" / "embeddings.db"
        before = _vectors(database)

        await deleting.delete(ALICE, OfSession("s1"))

        async with asyncio.timeout(10):
            while await deleting.path.worker.store.unfinished():
                await asyncio.sleep(0.05)
        left = _vectors(database)
        assert 0 < len(left) < len(before)
        assert await deleting.shop.catalogue.count_without_vector() == 0
        await deleting.delete(ALICE, Everything())
        async with asyncio.timeout(10):
            while _vectors(database):
                await asyncio.sleep(0.05)
        files = [database, database.with_name("embeddings.db-wal")]

        def traces() -> bool:
            content = b"".join(file.read_bytes() for file in files)
            return any(vector in content for vector in before)

        async with asyncio.timeout(10):
            while traces():
                await asyncio.sleep(0.05)


def _vectors(database: Path) -> list[bytes]:
    connection = apsw.Connection(str(database))
    try:
        return [vector for (vector,) in connection.execute("SELECT vector FROM embedding")]
    finally:
        connection.close()
