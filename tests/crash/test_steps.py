"""One step that fails again and again, and loops that die: told in health, and got over."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from remanence_server.runtime.fault_points import ALLOW_VARIABLE, FAULT_VARIABLE
from tests.blackbox.conftest import eventually, said
from tests.blackbox.surfaces import HttpSurface
from tests.crash.rounds import HASHING
from tests.support.server_process import (
    ServerProcess,
    serve_command,
    server_environment,
    start_server,
)

pytestmark = [pytest.mark.crash, pytest.mark.slow, pytest.mark.timeout(240)]

_ATTEMPTS = {"REMANENCE_JOBS__MAXIMUM_ATTEMPTS": "3"}


def _armed(fault: str) -> dict[str, str]:
    return {FAULT_VARIABLE: fault, ALLOW_VARIABLE: "1"}


@contextmanager
def _serving(root: Path, **environment: str) -> Iterator[HttpSurface]:
    server: ServerProcess = start_server(root, **HASHING, **environment)
    try:
        yield HttpSurface(server.http)
        assert server.stop() == 0
    finally:
        if server.process.poll() is None:
            server.process.kill()
            server.stop()


def _add(surface: HttpSurface, session: str, text: str) -> None:
    body = {"session_id": session, "messages": [said(text, "sena")], "defer_extraction": True}
    assert surface.call("add", body).status == 200


def _episodes(surface: HttpSurface) -> list[str]:
    listed = surface.call("get", {"user_id": "sena", "memory_type": "episode"}).ok["episodes"]
    return [episode["episode"] for episode in listed]


def _health(surface: HttpSurface) -> dict[str, Any]:
    return dict(surface.client.get("/health").json())


def test_a_job_that_kills_the_server_each_time_is_put_aside_and_the_others_go_on(
    tmp_path: Path,
) -> None:
    root = tmp_path / "root"
    text = "My sister Elif studies geology in Ankara."
    with _serving(root) as surface:
        _add(surface, "b22", text)
    server = start_server(root, **HASHING, **_ATTEMPTS, **_armed("extraction_done:kill"))
    with pytest.raises(httpx.TransportError):
        HttpSurface(server.http).call("flush", {"session_id": "b22"})
    assert server.process.wait(30) == -9
    server.stop()
    for _ in range(2):
        # It is tried again at the start, and ends that start or the moment after it.
        died = subprocess.run(
            serve_command(root),
            env=server_environment({**HASHING, **_ATTEMPTS, **_armed("extraction_done:kill")}),
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert died.returncode == -9
    with _serving(root, **_ATTEMPTS) as surface:
        health = _health(surface)
        assert health["jobs"]["dead_letters"] == 1, health
        assert "1 jobs were given up" in health["reasons"]
        _add(surface, "other", "I keep bees on the roof.")
        assert surface.call("flush", {"session_id": "other"}).status == 200
        assert len(_episodes(surface)) == 1
        assert text not in _episodes(surface)[0]


def test_a_job_whose_worker_is_gone_is_taken_over_when_its_lease_ends(tmp_path: Path) -> None:
    # The worker dies after its claim, before it has begun: nobody but the lease knows.
    lease = {"REMANENCE_JOBS__LEASE_SECONDS": "3"}
    with _serving(tmp_path / "root", **lease, **_armed("job_claimed:error")) as surface:
        _add(surface, "b22", "My sister Elif studies geology in Ankara.")
        assert surface.call("flush", {"session_id": "b22"}).status == 200
        assert len(_episodes(surface)) == 1
        assert (
            surface.call("get", {"user_id": "sena", "memory_type": "episode"}).ok["total_count"]
            == 1
        )


def test_every_loop_that_dies_is_told_in_health_and_started_again(tmp_path: Path) -> None:
    # So many that each of them dies at its first start, and most at their second and third.
    with _serving(tmp_path / "root", **_armed("loop_started:error:30")) as surface:
        health = _health(surface)
        assert health["status"] == "degraded"
        told = " | ".join(health["reasons"])
        for loop in ("projection", "markdown-scan", "job-worker-0", "memorize-queue"):
            assert f"background loop '{loop}' is being restarted" in told
        assert "a fault is armed" in told
        assert health["memorize_queue"]["loop_alive"] is False

        def are_alive() -> bool:
            return not any("background loop" in reason for reason in _health(surface)["reasons"])

        eventually(are_alive, 60)
        health = _health(surface)
        assert health["memorize_queue"]["loop_alive"] is True
        assert health["memorize_queue"]["loop_restarts"] >= 1
        _add(surface, "s", "I keep bees on the roof.")
        assert surface.call("flush", {"session_id": "s"}).status == 200
        assert len(_episodes(surface)) == 1


def test_a_fault_that_is_not_allowed_stops_the_start_in_one_line(tmp_path: Path) -> None:
    refused = subprocess.run(
        serve_command(tmp_path / "root"),
        env=server_environment({**HASHING, FAULT_VARIABLE: "boundary:kill"}),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert refused.returncode == 1
    (line,) = refused.stderr.strip().splitlines()
    assert ALLOW_VARIABLE in line
