"""A disk that is full, read-only or out of reach: refused aloud, and nothing is lost."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2

from remanence.v2 import memory_pb2
from tests.blackbox.conftest import eventually, said
from tests.blackbox.surfaces import GrpcSurface, HttpSurface, Surface, build
from tests.support.databases import assert_sound
from tests.support.server_process import (
    ServerProcess,
    serve_command,
    server_environment,
    start_server,
)

HASHING = {"REMANENCE_EMBEDDINGS__PROVIDER": "hashing"}
# Root may write everywhere, unless that is taken from it.
_BOUND_BY_PERMISSIONS = (
    ("setpriv", "--bounding-set=-dac_override,-dac_read_search", "--") if os.geteuid() == 0 else ()
)
_WORDS = "harbour lantern meadow copper thistle " * 400

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that is removed whatever its permissions are."""
    path = Path(tempfile.mkdtemp(prefix="remanence-storage-"))
    yield path
    for below, _, _ in os.walk(path):
        Path(below).chmod(0o700)
    shutil.rmtree(path)


@pytest.fixture
def bound() -> Sequence[str]:
    """What a command is run with so that permissions bind it."""
    if _BOUND_BY_PERMISSIONS and shutil.which(_BOUND_BY_PERMISSIONS[0]) is None:
        pytest.skip("permissions do not bind root, and there is no setpriv to make them")
    return _BOUND_BY_PERMISSIONS


@contextmanager
def _mounted(folder: Path, options: str) -> Iterator[Path]:
    """A disk of its own. Skips where we may not mount one."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(command, check=False).returncode:
        pytest.skip("needs the right to mount a tmpfs")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@contextmanager
def _serving(root: Path, prefix: Sequence[str] = ()) -> Iterator[ServerProcess]:
    server = start_server(root, prefix=prefix, **HASHING)
    try:
        yield server
        assert server.stop() == 0
    finally:
        if server.process.poll() is None:
            server.process.kill()
            server.stop()


def _body(session: str, user: str, text: str, **more: Any) -> dict[str, Any]:
    message = said(text, user, message_id=f"{session}-{abs(hash(text))}")
    return {"session_id": session, "messages": [message], "defer_extraction": True, **more}


def _remember(surface: Surface, session: str, user: str, text: str) -> int | str:
    """Adds and flushes; the status of the flush."""
    assert surface.call("add", _body(session, user, text)).data is not None
    return surface.call("flush", {"session_id": session}).status


def _episodes(surface: Surface, user: str) -> list[str]:
    answer = surface.call("get", {"user_id": user, "memory_type": "episode", "page_size": 100})
    return [episode["episode"] for episode in answer.ok["episodes"]]


def _found(surface: Surface, user: str, word: str) -> bool:
    query = {"user_id": user, "query": word, "method": "keyword"}
    return any(word in each["episode"] for each in surface.call("search", query).ok["episodes"])


def _reasons(surface: HttpSurface) -> str:
    return " | ".join(surface.client.get("/health").json()["reasons"])


def _status(surface: HttpSurface) -> str:
    return str(surface.client.get("/health").json()["status"])


def _is_refused(server: ServerProcess, body: dict[str, Any], message: str, reason: str) -> None:
    """Both surfaces say what it is, when to come back, and a program is told the reason."""
    with HttpSurface(server.http).client as client:
        response = client.post("/api/v2/memory/add", json=body)
    assert response.status_code == 503, response.text
    assert response.json()["error"]["code"] == "EXTERNAL_SERVICE_UNAVAILABLE"
    assert response.json()["error"]["message"] == message
    assert int(response.headers["Retry-After"]) >= 1
    with pytest.raises(grpc.RpcError) as refused:
        stub: Any = GrpcSurface(server.grpc).memory
        stub.Add(build(memory_pb2.AddRequest, body), timeout=30)
    error: Any = refused.value
    assert (error.code(), error.details()) == (grpc.StatusCode.UNAVAILABLE, message)
    status = status_pb2.Status.FromString(
        dict(error.trailing_metadata())["grpc-status-details-bin"]
    )
    info, retry = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo()
    assert status.details[0].Unpack(info)
    assert any(detail.Unpack(retry) for detail in status.details)
    assert info.metadata["reason"] == reason
    assert retry.retry_delay.seconds >= 1


def _look_at_the_root(root: Path) -> None:
    assert_sound(root)
    for path in root.rglob("*.md"):
        assert path.stat().st_size
    assert not list(root.rglob("*.tmp"))


def test_a_full_disk_refuses_messages_and_keeps_those_it_took(folder: Path) -> None:
    with _mounted(folder / "disk", "size=20m") as disk:
        root, filler = disk / "root", disk / "filler"
        with _serving(root) as server:
            surface = HttpSurface(server.http)
            assert _remember(surface, "s0", "ada", "Lantern0 hangs in the hall.") == 200
            with filler.open("wb", buffering=0) as file, suppress(OSError):
                while True:
                    file.write(bytes(4096))
            accepted = []
            for number in range(1, 400):
                # What fits into space that is taken already is accepted, rightly.
                text = f"Lantern{number} hangs in the hall. {_WORDS}"
                queued = {"async_mode": True} if number % 5 == 0 else {}
                answer = surface.call("add", _body(f"s{number}", "ada", text, **queued))
                if answer.data is None:
                    break
                accepted.append(number)
            body = _body("late", "ada", f"Too late. {_WORDS * 20}")
            _is_refused(server, body, "storage is full", "STORAGE_FULL")
            assert eventually(lambda: _status(surface) == "unavailable")
            assert "storage is full" in _reasons(surface)
            assert surface.client.get("/health/ready").status_code == 503
            assert _found(surface, "ada", "Lantern0")
            filler.unlink()
            # Nobody writes, nobody asks again: it finds out by itself.
            eventually(lambda: surface.client.get("/health/ready").status_code == 200)
            for number in accepted:
                flushed = surface.call("flush", {"session_id": f"s{number}"})
                assert flushed.status in (200, 202), flushed
            eventually(lambda: _status(surface) == "ok", 60)
            for number in accepted:
                eventually(partial(_found, surface, "ada", f"Lantern{number}"))
            assert len(_episodes(surface, "ada")) == len(accepted) + 1
            assert not any("Too late" in text for text in _episodes(surface, "ada"))
        _look_at_the_root(root)


def test_without_inodes_messages_wait_for_their_markdown_and_then_get_it(folder: Path) -> None:
    with _mounted(folder / "disk", "size=64m,nr_inodes=400") as disk:
        root, many = disk / "root", disk / "many"
        many.mkdir()
        with _serving(root) as server:
            surface = HttpSurface(server.http)
            assert _remember(surface, "s0", "ada", "Lantern0 hangs in the hall.") == 200
            with suppress(OSError):
                for number in range(1000):
                    (many / str(number)).touch()
            assert surface.call("add", _body("s1", "bo", "Lantern1 hangs in the hall.")).data
            both: tuple[Surface, ...] = (surface, GrpcSurface(server.grpc))
            for each in both:
                refused = each.call("flush", {"session_id": "s1"})
                assert refused.status in (503, "UNAVAILABLE")
                assert "storage is full" in str(refused.error)
            assert "storage is full" in _reasons(surface)
            # An existing file needs no inode.
            assert _remember(surface, "s2", "ada", "Lantern2 hangs in the hall.") == 200
            shutil.rmtree(many)
            # Its job is tried again by itself.
            assert eventually(lambda: len(_episodes(surface, "bo")) == 1, 60)
            eventually(lambda: _status(surface) == "ok", 60)
        _look_at_the_root(root)


def test_an_owner_whose_folder_cannot_be_written_waits_and_others_go_on(
    folder: Path, bound: Sequence[str]
) -> None:
    root = folder / "root"
    with _serving(root, bound) as server:
        surface = HttpSurface(server.http)
        assert _remember(surface, "s0", "ada", "Lantern0 hangs in the hall.") == 200
        users = root / "default_app/default_project/users"
        eventually(lambda: _status(surface) == "ok")
        users.chmod(0o500)
        both: tuple[Surface, ...] = (surface, GrpcSurface(server.grpc))
        for number, each in enumerate(both):
            assert each.call("add", _body(f"n{number}", "bo", f"Lantern{number + 1} hangs.")).data
            refused = each.call("flush", {"session_id": f"n{number}"})
            assert refused.status in (503, "UNAVAILABLE")
            assert "storage cannot be written" in str(refused.error)
        assert "jobs wait for another attempt: storage cannot be written" in _reasons(surface)
        assert _status(surface) == "degraded"
        assert _remember(surface, "s1", "ada", "Lantern9 hangs in the hall.") == 200
        users.chmod(0o700)
        assert eventually(lambda: len(_episodes(surface, "bo")) == 2, 60)
        eventually(lambda: _status(surface) == "ok", 60)
    _look_at_the_root(root)


def test_an_index_that_cannot_be_written_answers_from_what_it_has(
    folder: Path, bound: Sequence[str]
) -> None:
    root = folder / "root"
    with _serving(root, bound) as server:
        surface = HttpSurface(server.http)
        assert _remember(surface, "s0", "ada", "Lantern0 hangs in the hall.") == 200
        eventually(lambda: _status(surface) == "ok")
    folders = [root / ".index", *(path for path in (root / ".index").rglob("*") if path.is_dir())]
    with _serving(root, bound) as server:
        surface = HttpSurface(server.http)
        eventually(lambda: _status(surface) == "ok")
        for path in folders:
            path.chmod(0o500)
        assert _remember(surface, "s1", "ada", "Lantern1 hangs in the hall.") == 200
        assert eventually(lambda: _status(surface) == "degraded", 30), _reasons(surface)
        assert "index" in _reasons(surface)
        for method in ("keyword", "vector", "hybrid"):
            query = {"user_id": "ada", "query": "Lantern0", "method": method}
            assert surface.call("search", query).ok["episodes"], method
        for path in folders:
            path.chmod(0o700)
        assert eventually(lambda: _found(surface, "ada", "Lantern1"), 60)
        eventually(lambda: _status(surface) == "ok", 60)
    _look_at_the_root(root)


def _refused_start(root: Path, prefix: Sequence[str] = ()) -> str:
    """What a server says that cannot start: one line, exit code 1."""
    refused = subprocess.run(
        [*prefix, *serve_command(root)],
        env=server_environment(HASHING),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert refused.returncode == 1, refused.stderr
    assert refused.stdout == ""
    (line,) = [line for line in refused.stderr.splitlines() if line.startswith("remanence: ")]
    assert str(root) in line
    return line


def test_a_root_without_permission_to_write_is_refused_at_start(
    folder: Path, bound: Sequence[str]
) -> None:
    root = folder / "root"
    with _serving(root, bound):
        pass
    root.chmod(0o500)
    assert "cannot be written" in _refused_start(root, bound)
    (root / ".run").chmod(0o500)
    (root / ".run/lock").chmod(0o400)
    assert "Permission denied" in _refused_start(root, bound)


def test_a_root_on_a_read_only_disk_is_refused_at_start(folder: Path) -> None:
    with _mounted(folder / "disk", "size=20m") as disk:
        with _serving(disk / "root") as server:
            assert _remember(HttpSurface(server.http), "s0", "ada", "Lantern0 hangs.") == 200
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        assert "Read-only file system" in _refused_start(disk / "root")
