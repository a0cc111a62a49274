from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from remanence_server.runtime.root import (
    MemoryRoot,
    RootInUseError,
    ServerNote,
    read_server_note,
)

_NOTE = ServerNote(1, "127.0.0.1:1", "127.0.0.1:2", "0.1.0", "2026-05-28T11:30:36+00:00")


def test_a_root_has_one_holder_at_a_time(tmp_path: Path) -> None:
    holder = MemoryRoot(tmp_path / "root")
    other = (
        "import sys; from pathlib import Path\n"
        "from remanence_server.runtime.root import MemoryRoot, RootInUseError\n"
        "try: MemoryRoot(Path(sys.argv[1]))\n"
        "except RootInUseError: sys.exit(7)\n"
    )
    command = [sys.executable, "-c", other, str(tmp_path / "root")]
    assert subprocess.run(command, check=False).returncode == 7
    holder.release()
    assert subprocess.run(command, check=False).returncode == 0


def test_the_same_process_cannot_hold_a_root_twice(tmp_path: Path) -> None:
    holder = MemoryRoot(tmp_path)
    with pytest.raises(RootInUseError):
        MemoryRoot(tmp_path)
    holder.release()
    MemoryRoot(tmp_path).release()


def test_the_note_is_there_from_publish_to_release(tmp_path: Path) -> None:
    root = MemoryRoot(tmp_path)
    assert read_server_note(tmp_path) is None
    root.publish(_NOTE)
    assert read_server_note(tmp_path) == _NOTE
    root.release()
    assert read_server_note(tmp_path) is None


def test_the_note_of_a_killed_server_leads_nobody_astray(tmp_path: Path) -> None:
    (tmp_path / ".run").mkdir()
    (tmp_path / ".run" / "server.json").write_text('{"pid": 1}')
    assert read_server_note(tmp_path) is None
    root = MemoryRoot(tmp_path)
    assert not (tmp_path / ".run" / "server.json").exists()
    root.release()
