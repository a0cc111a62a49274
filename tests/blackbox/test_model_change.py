"""Another embedding model, and a rebuild from the command line: nothing is extracted again."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path

from tests.blackbox.conftest import eventually, said
from tests.blackbox.surfaces import GrpcSurface, HttpSurface, Surface
from tests.support.server_process import server_environment, start_server

HASHING = {"REMANENCE_EMBEDDINGS__PROVIDER": "hashing"}


def _plant(surface: HttpSurface, count: int) -> None:
    """Episodes of Hal, and everything that follows from them."""
    for number in range(count):
        message = said(f"Hal planted plum tree number {number}.", "hal", number)
        body = {"session_id": f"s{number}", "messages": [message], "defer_extraction": True}
        assert surface.call("add", body).status == 200
        assert surface.call("flush", {"session_id": f"s{number}"}).status == 200
    eventually(lambda: surface.client.get("/health").json()["jobs"]["pending"] == 0)


def _found(surface: Surface, method: str) -> int:
    body = {"user_id": "hal", "query": "plum tree", "method": method, "radius": 0.0}
    return len(surface.call("search", {**body, "top_k": 100}).ok["episodes"])


def _is_found(surface: Surface, method: str, count: int) -> bool:
    return _found(surface, method) == count


def _is_well(surface: HttpSurface) -> bool:
    return bool(surface.client.get("/health").json()["status"] == "ok")


def _markdown(root: Path) -> dict[Path, bytes]:
    files = (path for path in root.rglob("*.md") if path.is_file())
    return {path.relative_to(root): path.read_bytes() for path in files}


def _rebuild(root: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "remanence_server.cli.main", "rebuild", "--root", str(root)]
    return subprocess.run(
        [*command, *options],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=server_environment(HASHING),
    )


def test_another_model_embeds_anew_while_words_are_found_at_once(tmp_path: Path) -> None:
    root, count = tmp_path / "root", 10
    server = start_server(root, **HASHING)
    _plant(HttpSurface(server.http), count)
    assert server.stop() == 0
    written = _markdown(root)

    # From 64 numbers a vector to 384, and back.
    for settings in ({}, HASHING):
        server = start_server(root, **settings)
        surfaces = (HttpSurface(server.http), GrpcSurface(server.grpc))
        for each in surfaces:
            assert _found(each, "keyword") == count
            assert _found(each, "hybrid") == count
        for each in surfaces:
            eventually(partial(_is_found, each, "vector", count))
        eventually(partial(_is_well, surfaces[0]))
        assert surfaces[0].client.get("/health").json()["activities"] == []
        assert server.stop() == 0
        assert _markdown(root) == written


def test_a_rebuild_from_the_command_line_needs_no_server(tmp_path: Path) -> None:
    root, count = tmp_path / "root", 2
    server = start_server(root, **HASHING)
    _plant(HttpSurface(server.http), count)
    assert server.stop() == 0
    written = _markdown(root)
    assert _rebuild(root, "--no-wait").returncode == 2
    alone = _rebuild(root)
    assert (alone.returncode, alone.stderr) == (0, "")
    assert alone.stdout.startswith("index rebuilt in ")
    server = start_server(root, **HASHING)
    surface = HttpSurface(server.http)
    assert all(_found(surface, method) == count for method in ("keyword", "vector"))
    asked = _rebuild(root)
    assert (asked.returncode, asked.stderr) == (0, "")
    assert asked.stdout.startswith("index rebuilt in ")
    started = _rebuild(root, "--no-wait")
    assert (started.returncode, started.stdout) == (0, "rebuild started\n")
    assert all(_found(surface, method) == count for method in ("keyword", "vector"))
    assert server.stop() == 0
    assert _markdown(root) == written
