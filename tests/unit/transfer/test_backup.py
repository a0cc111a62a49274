from __future__ import annotations

import asyncio
import json
import threading
from contextlib import _GeneratorContextManager
from datetime import UTC
from functools import partial
from pathlib import Path

import apsw
import pytest
from tests.support.workshop import ALICE, episode

from remanence_server.domain.records import Episode
from remanence_server.markdown.store import MarkdownStore
from remanence_server.runtime.clock import ManualClock
from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.runtime.write_gate import WriteGate
from remanence_server.state.database import Database
from remanence_server.transfer.backup import (
    BackupSource,
    backup,
    copy_root,
    remove_leftovers,
)

_JOBS = "CREATE TABLE IF NOT EXISTS work (number INTEGER PRIMARY KEY, state TEXT)"


def _source(root: Path, gate: WriteGate | None = None, free_bytes: int = 1 << 40) -> BackupSource:
    return BackupSource(
        root, gate or WriteGate(), ManualClock(), "1.2.3", lambda folder: free_bytes
    )


def _files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def _numbers(root: Path) -> set[int]:
    """The numbers of the episodes in a copied root, all of which are whole."""
    markdown = MarkdownStore(root, UTC)
    parsed = [markdown.read(file) for file in markdown.owner_files(ALICE)]
    assert not [problem for each in parsed for problem in each.problems]
    return {
        int(item.record.entry_id[-8:])
        for each in parsed
        for item in each.records
        if isinstance(item.record, Episode)
    }


def _note(number: int, statement: str, connection: apsw.Connection) -> None:
    connection.execute(statement, (number,))


def _root(folder: Path) -> Path:
    for name, text in {
        "remanence.toml": '[claude]\napi_key = "sk-123"\n',
        "default_app/default_project/users/alice/episodes/notes.txt": "a person's own",
        "default_app/default_project/users/alice/.transcripts/t.md": "t",
        ".git/HEAD": "ref",
        ".index/lexical/segments": "derived",
        ".run/server.json": "{}",
        "system.db-wal": "sqlite's own",
        "backup.json": "of an older backup",
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "link").symlink_to(folder / "remanence.toml")
    (folder / "system.db-wal").unlink()
    return folder


def test_a_copy_has_what_does_not_come_back_by_itself(tmp_path: Path) -> None:
    root = _root(tmp_path / "root")
    Database(root / "system.db", _JOBS, 1).close()
    summary = copy_root(_source(root), tmp_path / "copy")
    copied = _files(tmp_path / "copy")
    note = json.loads(copied.pop("backup.json"))
    assert sorted(copied) == [
        ".git/HEAD",
        "default_app/default_project/users/alice/.transcripts/t.md",
        "default_app/default_project/users/alice/episodes/notes.txt",
        "remanence.toml",
        "system.db",
    ]
    assert copied["remanence.toml"] == b'[claude]\napi_key = ""\n'
    assert note == {
        "format": "remanence-backup",
        "format_version": 1,
        "server_version": "1.2.3",
        "taken_at": "2026-01-01T00:00:00Z",
        "taken_at_ms": 1_767_225_600_000,
        "files": 5,
        "size_bytes": sum(map(len, copied.values())),
        "left_out": ["claude.api_key"],
    }
    assert summary.files == 5
    assert (tmp_path / "copy").stat().st_mode & 0o777 == 0o700


def test_settings_whose_secrets_cannot_be_told_apart_are_left_out(tmp_path: Path) -> None:
    root = _root(tmp_path / "root")
    (root / "remanence.toml").write_text("[claude\napi_key = 'sk-123'")
    copy_root(_source(root), tmp_path / "copy")
    copied = _files(tmp_path / "copy")
    assert "remanence.toml" not in copied
    assert json.loads(copied["backup.json"])["left_out"] == ["remanence.toml"]


def test_what_changes_during_the_first_copy_is_copied_again_and_what_goes_is_gone(
    tmp_path: Path,
) -> None:
    root = _root(tmp_path / "root")
    gate = WriteGate()
    changed = root / "default_app/default_project/users/alice/.transcripts/t.md"
    gone = root / "default_app/default_project/users/alice/episodes/notes.txt"

    class Meddling(WriteGate):
        def closed(self, timeout_seconds: float) -> _GeneratorContextManager[None, None, None]:
            changed.write_text("tt")
            gone.unlink()
            (root / "new.md").write_text("new")
            return gate.closed(timeout_seconds)

    copy_root(_source(root, Meddling()), tmp_path / "copy")
    copied = _files(tmp_path / "copy")
    assert copied[changed.relative_to(root).as_posix()] == b"tt"
    assert copied["new.md"] == b"new"
    assert gone.relative_to(root).as_posix() not in copied


async def test_no_room_is_told_and_nothing_stays(tmp_path: Path) -> None:
    root = _root(tmp_path / "root")
    before = _files(root)
    with pytest.raises(ServiceError, match="storage is full") as refused:
        _ = [piece async for piece in backup(_source(root, free_bytes=1 << 20))]
    assert refused.value.code is ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE
    assert _files(root) == before
    assert not list((root / ".run").glob("backup-*"))


async def test_a_copy_that_is_given_up_half_way_leaves_nothing_and_opens_the_gate(
    tmp_path: Path,
) -> None:
    root = _root(tmp_path / "root")
    gate = WriteGate()
    inside = threading.Event()

    class Slow(WriteGate):
        def closed(self, timeout_seconds: float) -> _GeneratorContextManager[None, None, None]:
            inside.set()
            threading.Event().wait(0.2)
            return gate.closed(timeout_seconds)

    pieces = backup(_source(root, Slow()))
    task = asyncio.ensure_future(anext(pieces))
    await asyncio.to_thread(inside.wait, 5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not list((root / ".run").glob("backup-*"))
    with gate.writing():
        pass


def test_leftovers_are_removed_and_nothing_else(tmp_path: Path) -> None:
    root = _root(tmp_path / "root")
    (root / ".run" / "backup-1" / "a").mkdir(parents=True)
    assert remove_leftovers(root) == 1
    assert sorted(path.name for path in (root / ".run").iterdir()) == ["server.json"]


async def test_database_and_markdown_are_of_one_instant(tmp_path: Path) -> None:
    """Workers do as jobs do: note the ids, write the entry, note that it is written."""
    root = tmp_path / "root"
    root.mkdir()
    markdown = MarkdownStore(root, UTC)
    state = Database(root / "system.db", _JOBS, 1)
    stop = asyncio.Event()

    async def work(worker: int) -> None:
        number = worker
        while not stop.is_set():
            await state.write(partial(_note, number, "INSERT INTO work VALUES (?, 'saved')"))
            await asyncio.to_thread(markdown.append, (episode(number),))
            await state.write(
                partial(_note, number, "UPDATE work SET state = 'done' WHERE number = ?")
            )
            number += 4

    workers = [asyncio.create_task(work(number)) for number in range(1, 5)]
    seen_unfinished = 0
    for attempt in range(6):
        await asyncio.sleep(0.03)
        copy = tmp_path / f"copy-{attempt}"
        await asyncio.to_thread(copy_root, _source(root, markdown.gate), copy)
        with apsw.Connection(str(copy / "system.db")) as connection:
            rows = {int(str(n)): word for n, word in connection.execute("SELECT * FROM work")}
        entries = _numbers(copy)
        assert {number for number, word in rows.items() if word == "done"} <= entries
        assert entries <= set(rows)
        seen_unfinished += sum(word == "saved" for word in rows.values())
    stop.set()
    await asyncio.gather(*workers)
    state.close()
    assert seen_unfinished, "no backup met a job under way"
