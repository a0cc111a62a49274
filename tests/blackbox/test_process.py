"""The server as a process: start, stop, kill, and the folder it leaves."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.blackbox.conftest import eventually, said, tell_story
from tests.blackbox.surfaces import GrpcSurface, HttpSurface
from tests.support.server_process import ServerProcess, serve_command, start_server

HASHING = {"REMANENCE_EMBEDDINGS__PROVIDER": "hashing"}


def _episode_count(surface: HttpSurface, user: str) -> int:
    body = {"user_id": user, "memory_type": "episode"}
    return int(surface.call("get", body).ok["total_count"])


def test_the_ready_line_and_the_note_say_where_it_answers(server: ServerProcess) -> None:
    note = json.loads((server.root / ".run" / "server.json").read_text())
    assert note["pid"] == server.process.pid
    assert note["http"] in server.ready_line
    assert note["grpc"] in server.ready_line
    assert HttpSurface(note["http"]).client.get("/health").json()["status"] == "ok"


def test_a_second_server_on_the_root_refuses_in_one_line(server: ServerProcess) -> None:
    second = subprocess.run(
        serve_command(server.root), capture_output=True, text=True, timeout=60, check=False
    )
    assert second.returncode == 3
    assert second.stdout == ""
    assert len(second.stderr.strip().splitlines()) == 1
    assert str(server.root) in second.stderr
    assert HttpSurface(server.http).client.get("/health").status_code == 200


def test_a_port_that_is_taken_is_said_in_one_line(server: ServerProcess, tmp_path: Path) -> None:
    command = serve_command(tmp_path / "root")
    command[command.index("--http") + 1] = server.http
    refused = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert refused.returncode == 1
    assert len(refused.stderr.strip().splitlines()) == 1
    assert server.http in refused.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_root_that_cannot_be_written_is_said_in_one_line(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    refused = subprocess.run(
        serve_command(tmp_path / "root"), capture_output=True, text=True, timeout=60, check=False
    )
    assert refused.returncode == 1
    assert len(refused.stderr.strip().splitlines()) == 1


def test_memory_outlives_a_clean_stop(tmp_path: Path) -> None:
    first = start_server(tmp_path / "root", **HASHING)
    tell_story(HttpSurface(first.http), "alice", "s1")
    said_later = {"session_id": "s2", "messages": [said("I like plums.", "alice")]}
    HttpSurface(first.http).call("add", {**said_later, "defer_extraction": True})
    assert first.stop() == 0
    assert not (tmp_path / "root" / ".run" / "server.json").exists()
    second = start_server(tmp_path / "root", **HASHING)
    surface = HttpSurface(second.http)
    found = surface.call("search", {"user_id": "alice", "query": "climbing in Yosemite"}).ok
    assert len(found["episodes"]) == 1
    assert surface.call("flush", {"session_id": "s2"}).ok["status"] == "extracted"
    assert _episode_count(surface, "alice") == 2
    assert second.stop() == 0


def test_accepted_messages_outlive_a_kill(tmp_path: Path) -> None:
    first = start_server(tmp_path / "root", **HASHING)
    surface = HttpSurface(first.http)
    for number in range(20):
        message = said(f"Fact number {number:02d} about the garden.", "ravi", number)
        body = {"session_id": "s", "messages": [message], "defer_extraction": True}
        assert surface.call("add", body).status == 200
    first.stop(signal.SIGKILL)
    second = start_server(tmp_path / "root", **HASHING)
    surface = HttpSurface(second.http)
    assert surface.call("flush", {"session_id": "s"}).ok["status"] == "extracted"
    (episode,) = surface.call("get", {"user_id": "ravi", "memory_type": "episode"}).ok["episodes"]
    for number in range(20):
        assert episode["episode"].count(f"Fact number {number:02d}") == 1
    assert second.stop() == 0


def test_a_deleted_index_comes_back_from_the_markdown_alone(tmp_path: Path) -> None:
    root = tmp_path / "root"
    first = start_server(root, **HASHING)
    for number in range(5):
        tell_story(HttpSurface(first.http), "dag", f"s{number}")
    before = HttpSurface(first.http).call(
        "search", {"user_id": "dag", "query": "coffee", "method": "keyword"}
    )
    assert first.stop() == 0
    shutil.rmtree(root / ".index")
    (root / "system.db").unlink()
    second = start_server(root, **HASHING)
    surface = HttpSurface(second.http)

    def again() -> bool:
        body = {"user_id": "dag", "query": "coffee", "method": "keyword"}
        found = surface.call("search", body).ok["episodes"]
        return [e["id"] for e in found] == [e["id"] for e in before.ok["episodes"]]

    assert eventually(again)
    listed = surface.call("get", {"user_id": "dag", "memory_type": "episode"}).ok
    assert listed["total_count"] == 5
    # The counters were lost with system.db: new entries go on behind those on disk.
    tell_story(surface, "dag", "s9")
    listed = surface.call("get", {"user_id": "dag", "memory_type": "episode"}).ok
    assert listed["total_count"] == 6
    assert len({episode["id"] for episode in listed["episodes"]}) == 6
    assert second.stop() == 0


def test_a_hand_edit_is_found_and_a_removed_file_is_forgotten(tmp_path: Path) -> None:
    root = tmp_path / "root"
    server = start_server(root, **HASHING)
    surface = HttpSurface(server.http)
    tell_story(surface, "eli", "s1")
    path = root / "default_app/default_project/users/eli/episodes/episode-2026-05-28.md"
    path.write_text(path.read_text().replace("Yosemite", "Patagonia"))

    def found(query: str) -> list[str]:
        body = {"user_id": "eli", "memory_type": "episode"}
        episodes = surface.call("get", body).ok["episodes"]
        return [episode["id"] for episode in episodes if query in episode["episode"]]

    assert eventually(lambda: found("Patagonia"))
    path.unlink()
    assert eventually(lambda: _episode_count(surface, "eli") == 0)
    body = {"user_id": "eli", "query": "coffee Yosemite"}
    assert surface.call("search", body).ok["episodes"] == []
    assert server.stop() == 0


def test_a_broken_entry_is_reported_and_its_neighbours_go_on(tmp_path: Path) -> None:
    root = tmp_path / "root"
    server = start_server(root, **HASHING)
    surface = HttpSurface(server.http)
    tell_story(surface, "eli", "s1")
    tell_story(surface, "eli", "s2")
    path = root / "default_app/default_project/users/eli/episodes/episode-2026-05-28.md"
    text = path.read_text()
    path.write_text(text.replace("2026-05-28T11:30:45Z", "some day in May", 1))
    assert eventually(lambda: GrpcSurface(server.grpc).health().status == "degraded")
    assert eventually(lambda: _episode_count(surface, "eli") == 1)
    tell_story(surface, "eli", "s3")
    assert eventually(lambda: _episode_count(surface, "eli") == 2)
    path.write_text(path.read_text().replace("some day in May", "2026-05-28T11:30:45Z", 1))
    assert eventually(lambda: GrpcSurface(server.grpc).health().status == "ok")
    assert server.stop() == 0


def test_instants_are_shown_in_the_configured_zone(tmp_path: Path) -> None:
    server = start_server(tmp_path / "root", REMANENCE_MEMORY__TIMEZONE="Asia/Shanghai", **HASHING)
    surface = HttpSurface(server.http)
    tell_story(surface, "wen", "s1")
    (episode,) = surface.call("get", {"user_id": "wen", "memory_type": "episode"}).ok["episodes"]
    assert episode["timestamp"] == "2026-05-28T19:30:45+08:00"
    # An instant without an offset is read in that zone.
    for text, count in (("2026-05-28T19:30:00", 1), ("2026-05-28T19:31:00", 0)):
        body = {"user_id": "wen", "memory_type": "episode", "filters": {"timestamp": {"gte": text}}}
        assert surface.call("get", body).ok["total_count"] == count
    assert server.stop() == 0


def test_stopping_waits_for_calls_that_are_running(tmp_path: Path) -> None:
    server = start_server(tmp_path / "root", **HASHING)
    surface = HttpSurface(server.http)
    messages = [said(f"Sentence {n} about the harbour.", "ola", n) for n in range(500)]
    surface.call("add", {"session_id": "s", "messages": messages, "defer_extraction": True})
    with ThreadPoolExecutor(1) as pool:
        flush = pool.submit(surface.call, "flush", {"session_id": "s"})
        time.sleep(0.1)
        assert server.stop() == 0
        assert flush.result().ok["status"] == "extracted"


def test_no_memory_text_reaches_the_log(tmp_path: Path) -> None:
    server = start_server(tmp_path / "root", REMANENCE_LOG__LEVEL="debug", **HASHING)
    surface = HttpSurface(server.http)
    tell_story(surface, "alice", "s1")
    surface.call("search", {"user_id": "alice", "query": "zanzibar coffee"})
    surface.call("search", {"user_id": "alice", "query": "zanzibar", "top_k": 0})
    assert server.stop() == 0
    log = server.log
    for word in ("Yosemite", "Blue Bottle", "zanzibar"):
        assert word not in log


def test_it_is_ready_soon(server: ServerProcess) -> None:
    # A benchmark is no test; this only catches a start that has become unbearable.
    assert server.ready_after_seconds < 30
