"""`export`, `backup`, the import of an export, `add --async` and `tasks`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from remanence.v2 import tasks_pb2, transfer_pb2
from remanence_server.state.database import Database
from remanence_server.state.schema import SCHEMA, SCHEMA_VERSION


def manifest(**changed: Any) -> dict[str, Any]:
    return {
        "format": "remanence-owner",
        "format_version": 1,
        "user_id": "alice",
        "agent_id": None,
        "app_id": "default",
        "project_id": "work",
        "counts": {"episode": 2, "profile": 1, "messages": 3, "files": 4},
        "problems": [],
        **changed,
    }


def message(session: str, number: int) -> dict[str, Any]:
    return {
        "session_id": session,
        "message_id": f"m{number}",
        "sender_id": "alice",
        "sender_name": None,
        "role": "user",
        "timestamp": 1_779_967_836_000 + number,
        "content": f"text {number}",
    }


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    """The folder of an export."""
    folder = tmp_path / "export"
    folder.mkdir()
    (folder / "manifest.json").write_text(json.dumps(manifest()))
    (folder / "memories.jsonl").write_bytes(b"records\n")
    lines = [message("s1", 1), message("s1", 2), message("s2", 3)]
    (folder / "messages.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def test_an_export_is_written_and_told_of(connected: Any, memory: Any, tmp_path: Path) -> None:
    problem = {"file": "markdown/a.md", "line": 7, "id": None, "reason": "is torn"}
    memory.files = {"manifest.json": json.dumps(manifest(problems=[problem])).encode()}
    done = connected("export", tmp_path / "out", "--user=alice", "--project=work")
    assert done.out == f"exported 3 records, 3 messages and 4 files to {tmp_path / 'out'}\n"
    assert done.err == f"remanence: {tmp_path / 'out'}/markdown/a.md:7: is torn\n"
    assert memory.requests == [transfer_pb2.ExportOwnerRequest(user_id="alice", project_id="work")]
    shown = connected("export", tmp_path / "again", "--agent=coder", "--json").json
    assert shown["counts"]["files"] == 4


@pytest.mark.parametrize("arguments", [[], ["--user=a", "--agent=b"]])
def test_an_export_is_of_one_owner(connected: Any, tmp_path: Path, arguments: list[str]) -> None:
    done = connected("export", tmp_path / "out", *arguments)
    assert (done.code, done.err) == (2, "remanence: give one of --user and --agent\n")


def test_an_export_is_imported_where_it_came_from(
    connected: Any, memory: Any, exported: Path
) -> None:
    done = connected("import", exported)
    assert done.out == "imported 4 records and 3 messages, 1 were there already\n"
    target = transfer_pb2.ImportTarget(user_id="alice", app_id="default", project_id="work")
    assert memory.imported[0].target == target
    assert memory.imported[1].chunk == b"records\n"
    assert [(each.session_id, len(each.messages)) for each in memory.adds] == [("s1", 2), ("s2", 1)]
    assert {(each.app_id, each.project_id) for each in memory.adds} == {("default", "work")}
    assert all(each.defer_extraction for each in memory.adds)
    assert memory.flushed == []
    assert sorted(memory.sessions["s1"]) == ["m1", "m2"]
    again = connected("import", exported, "--json").json
    assert again == {"records": 4, "records_present": 1, "messages": 0, "messages_present": 3}


def test_an_export_is_imported_into_somebody_else(
    connected: Any, memory: Any, exported: Path
) -> None:
    assert connected("import", exported, "--user=bob", "--app=x").code == 0
    target = transfer_pb2.ImportTarget(user_id="bob", app_id="x", project_id="work")
    assert memory.imported[0].target == target
    assert {m.sender_id for add in memory.adds for m in add.messages} == {"bob"}


@pytest.mark.parametrize(
    ("changed", "arguments", "code", "reason"),
    [
        ({}, ["--agent=x"], 2, "holds the memory of a user"),
        ({"user_id": None, "agent_id": "c"}, ["--user=x"], 2, "holds the memory of an agent"),
        ({"format_version": 2}, [], 1, "was exported by a later version"),
        ({}, ["other"], 2, "import one export at a time"),
    ],
)
def test_an_import_that_makes_no_sense_is_refused(
    connected: Any,
    memory: Any,
    exported: Path,
    changed: dict[str, Any],
    arguments: list[str],
    code: int,
    reason: str,
) -> None:
    (exported / "manifest.json").write_text(json.dumps(manifest(**changed)))
    done = connected("import", exported, *arguments)
    assert (done.code, reason in done.err) == (code, True), done.err
    assert memory.imported == memory.adds == []


def test_a_backup_of_a_running_server_is_written(
    connected: Any, memory: Any, tmp_path: Path
) -> None:
    note = {"files": 1, "left_out": ["claude.api_key"]}
    memory.files = {"a/b.md": b"x" * 1024 * 1024, "backup.json": json.dumps(note).encode()}
    done = connected("backup", tmp_path / "out")
    assert done.out.startswith(f"backed up 2 files, 1.0 MiB, to {tmp_path / 'out'}\nto restore: ")
    assert "claude.api_key is not in the backup" in done.err
    assert connected("backup", tmp_path / "out2", "--json").json == note
    refused = connected("backup", tmp_path / "out")
    assert (refused.code, "is there and not empty" in refused.err) == (1, True)
    inside = connected("backup", connected.root / "backup")
    assert (inside.code, "is inside the memory root" in inside.err) == (2, True)


def test_a_root_without_a_server_is_backed_up_under_its_lock(cli: Any, tmp_path: Path) -> None:
    missing = cli("backup", tmp_path / "out")
    assert (missing.code, "there is no memory root" in missing.err) == (1, True)
    page = cli.root / "default_app" / "default_project" / "users" / "alice" / "user.md"
    page.parent.mkdir(parents=True)
    page.write_text("a page")
    Database(cli.root / "system.db", SCHEMA, SCHEMA_VERSION).close()
    (cli.root / ".run" / "backup-dead").mkdir(parents=True)
    done = cli("backup", tmp_path / "out")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("backed up 3 files")
    assert (tmp_path / "out" / page.relative_to(cli.root)).read_text() == "a page"
    assert (tmp_path / "out" / "system.db").stat().st_size > 0
    assert not (tmp_path / "out.partial").exists()
    assert not (cli.root / ".run" / "backup-dead").exists()


def test_a_message_can_be_queued_and_its_task_looked_at(connected: Any, memory: Any) -> None:
    done = connected("add", "hi", "--session=s", "--user=alice", "--async")
    assert memory.adds[0].async_mode
    assert done.out.startswith("1 message kept in s: queued")
    memory.task = tasks_pb2.GetTaskResponse(
        id="t1",
        status=tasks_pb2.TASK_STATUS_FAILED,
        task_type=tasks_pb2.TASK_TYPE_MEMORY_ADD,
        error="no\x1bsuch",
        error_code="INVALID_INPUT",
    )
    shown = connected("tasks", "show", "t1")
    assert shown.out.startswith("t1  add failed, queued 1970-01-01 00:00")
    assert shown.out.endswith(": INVALID_INPUT no such\n")
    assert connected("tasks", "list").out == "page 1 of 1, 0 in all\n"
    assert connected("tasks").out.startswith("Usage")
