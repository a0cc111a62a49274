"""A backup of a server at work, and what a server finds that starts on it."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import apsw
import grpc
import pytest

from remanence.v2 import transfer_pb2 as pb
from remanence.v2 import transfer_pb2_grpc
from remanence_client import Client
from tests.blackbox.conftest import eventually, said
from tests.support.server_process import ServerProcess, start_server

WRITERS = 3


class Writers:
    """Threads that tell, and now and then flush, until they are stopped."""

    def __init__(self, address: str, tag: str) -> None:
        self.address = address
        self.tag = tag
        self.acknowledged: list[tuple[str, str]] = []
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._write, args=(n,)) for n in range(WRITERS)]

    def __enter__(self) -> Writers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _write(self, number: int) -> None:
        user, count = f"{self.tag}-{number}", 0
        with Client(self.address) as client:
            while not self._stop.is_set():
                session = f"s-{user}-{count // 6}"
                fact = f"fact-{user}-{count:04d}"
                text = f"Today I bought the red lamp number {fact} in Porto."
                client.add(
                    session,
                    [said(text, user, count * 1000, message_id=fact)],
                    defer_extraction=True,
                )
                self.acknowledged.append((user, fact))
                count += 1
                if count % 6 == 0:
                    client.flush(session, wait=False)


def occurrences(folder: Path, user: str) -> list[str]:
    """The ids of what an exported owner said, in messages and in transcripts."""
    lines = [
        json.loads(line)
        for name in ("messages.jsonl", "memories.jsonl")
        for line in (folder / name).read_text(encoding="utf-8").splitlines()
    ]
    return [
        each["message_id"]
        for line in lines
        for each in (line.get("turns", []) if "kind" in line else [line])
        if each["sender_id"] == user
    ]


def staged(root: Path) -> list[Path]:
    return list((root / ".run").glob("backup-*"))


@pytest.fixture
def restored(tmp_path: Path) -> Iterator[list[ServerProcess]]:
    """Servers that the test starts on backups."""
    servers: list[ServerProcess] = []
    yield servers
    for server in servers:
        server.stop()


def test_a_backup_under_load_restores_every_acknowledged_message_once(
    server: ServerProcess, tag: str, tmp_path: Path, restored: list[ServerProcess]
) -> None:
    with Writers(server.grpc, tag) as writers, Client(server.grpc) as client:
        eventually(lambda: len(writers.acknowledged) > 40)
        before = list(writers.acknowledged)
        received = client.backup(tmp_path / "backup")
    assert received.files > 5
    assert staged(server.root) == []
    assert not (tmp_path / "backup.partial").exists()
    assert not list((tmp_path / "backup").glob("system.db-*"))
    assert not (tmp_path / "backup" / ".index").exists()
    note = json.loads((tmp_path / "backup" / "backup.json").read_text())
    assert note["files"] == received.files - 1

    root = tmp_path / "root"
    shutil.copytree(tmp_path / "backup", root)
    with apsw.Connection(str(root / "system.db")) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    again = start_server(root)
    restored.append(again)
    with Client(again.grpc) as client:
        # What was under way goes on.
        eventually(lambda: client.health().jobs.pending + client.health().jobs.running == 0, 60)
        assert client.health().jobs.dead_letters == 0
        found: list[str] = []
        for number in range(WRITERS):
            user = f"{tag}-{number}"
            folder = tmp_path / f"export-{number}"
            client.export_owner(folder, user_id=user)
            said_by_user = occurrences(folder, user)
            assert len(said_by_user) == len(set(said_by_user)), "something is there twice"
            found += said_by_user
        assert {fact for _, fact in before} <= set(found)
        user, fact = before[0]
        episodes = eventually(lambda: client.search(f"red lamp {fact}", user_id=user).episodes)
        assert any(fact in episode.episode for episode in episodes)


def test_a_client_that_leaves_takes_its_copy_with_it(server: ServerProcess, tag: str) -> None:
    with Client(server.grpc) as client:
        client.add(f"l-{tag}", [said("x" * 900_000, f"long{tag}")], defer_extraction=True)
    with grpc.insecure_channel(server.grpc) as channel:
        stream = transfer_pb2_grpc.TransferServiceStub(channel).Backup(pb.BackupRequest())
        first = next(stream)
        assert first.chunk.path
        assert len(staged(server.root)) == 1
        assert staged(server.root)[0].stat().st_mode & 0o777 == 0o700
        stream.cancel()
    eventually(lambda: not staged(server.root))


def test_what_a_killed_server_left_of_a_backup_goes_at_the_next_start(
    tmp_path: Path, restored: list[ServerProcess]
) -> None:
    left = tmp_path / "root" / ".run" / "backup-0123" / "deep"
    left.mkdir(parents=True)
    (left / "memory.md").write_text("somebody's")
    restored.append(start_server(tmp_path / "root"))
    assert staged(tmp_path / "root") == []


def test_writing_goes_on_while_a_slow_client_takes_its_backup(
    server: ServerProcess, tag: str
) -> None:
    with grpc.insecure_channel(server.grpc) as channel, Client(server.grpc) as client:
        stream = transfer_pb2_grpc.TransferServiceStub(channel).Backup(pb.BackupRequest())
        next(stream)
        started = time.monotonic()
        client.add(f"w-{tag}", [said("I live in Oslo.", f"w{tag}")], defer_extraction=True)
        assert client.flush(f"w-{tag}").status == "extracted"
        assert time.monotonic() - started < 10
        stream.cancel()
