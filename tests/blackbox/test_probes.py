"""Health, readiness and gRPC health say the same; quiesce shows in them."""

from __future__ import annotations

import resource
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tests.blackbox.conftest import eventually, said, tell_story
from tests.blackbox.surfaces import GrpcSurface, HttpSurface
from tests.support.scraping import value
from tests.support.server_process import ServerProcess, start_server

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


@contextmanager
def full_disk(server: ServerProcess) -> Iterator[None]:
    """No file of the server can grow past a page while the block runs, as on a full disk."""
    limits = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        yield
    finally:
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, limits)


def _check(surface: GrpcSurface, service: str) -> int:
    stub: Any = health_pb2_grpc.HealthStub(surface.channel)
    answer = stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=10)
    return int(answer.status)


@contextmanager
def watching(surface: GrpcSurface) -> Iterator[list[int]]:
    """The states that a watcher of the whole server is told."""
    stub: Any = health_pb2_grpc.HealthStub(surface.channel)
    stream = stub.Watch(health_pb2.HealthCheckRequest(service=""))
    seen: list[int] = []

    def watch() -> None:
        try:
            seen.extend(int(answer.status) for answer in stream)
        except grpc.RpcError:
            return

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield seen
    finally:
        stream.cancel()
        thread.join()


@pytest.mark.skipif(sys.platform != "linux", reason="limits of another process are Linux's")
def test_a_full_disk_its_recovery_and_the_stop_are_seen_by_every_probe(tmp_path: Path) -> None:
    server = start_server(
        tmp_path / "root",
        REMANENCE_EMBEDDINGS__PROVIDER="hashing",
        REMANENCE_SERVER__SHUTDOWN_DELAY_SECONDS="3",
    )
    http, grpc_surface = HttpSurface(server.http), GrpcSurface(server.grpc)
    services = ("", "remanence.v2.MemoryService", "remanence.v2.OpsService")
    with watching(grpc_surface) as seen:
        with full_disk(server):
            body = {"session_id": "s", "messages": [said("Hi.", "u")]}
            refused = http.call("add", {**body, "defer_extraction": True})
            assert (refused.status, refused.code) == (503, "EXTERNAL_SERVICE_UNAVAILABLE")
            for surface in (http, grpc_surface):
                ready = surface.get_ready()
                assert ready[0] in (503, "OK")
                assert ready[1] == "unavailable"
                (reason,) = ready[2]
                assert reason.startswith("messages cannot be accepted: storage ")
            health = http.client.get("/health")
            assert (health.status_code, health.json()["status"]) == (200, "unavailable")
            assert grpc_surface.health().status == "unavailable"
            assert http.client.get("/health/live").json() == {"status": "ok"}
            assert value(http.client, "remanence_accepting") == 0
            eventually(lambda: all(_check(grpc_surface, each) == NOT_SERVING for each in services))
        # Nobody writes: it comes back by itself.
        eventually(lambda: _check(grpc_surface, "") == SERVING)
        eventually(lambda: seen == [SERVING, NOT_SERVING, SERVING])
        assert http.client.get("/health/ready").json() == {"status": "ok", "reasons": []}
        eventually(lambda: http.client.get("/health").json()["status"] == "ok")
        assert all(_check(grpc_surface, service) == SERVING for service in services)
        assert http.call("add", {**body, "defer_extraction": True}).status == 200
        server.process.terminate()
        refused_ready = eventually(
            lambda: (r := http.client.get("/health/ready")).status_code == 503 and r.json()
        )
        assert refused_ready == {"status": "unavailable", "reasons": ["the server is stopping"]}
        assert http.client.get("/health").json()["status"] == "unavailable"
        assert all(_check(grpc_surface, service) == NOT_SERVING for service in services)
        # Calls are still answered meanwhile: whoever sends them may not have seen it yet.
        query = {"user_id": "u", "query": "x", "method": "keyword"}
        assert grpc_surface.call("search", query).status == "OK"
        # A watcher does not hold up the stop, though its stream never ends by itself.
        began_seconds = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - began_seconds < 20
    assert seen == [SERVING, NOT_SERVING, SERVING, NOT_SERVING]


def test_quiesce_can_be_called_twice_shows_in_health_and_ends_with_the_process(
    tmp_path: Path,
) -> None:
    root, hashing = tmp_path / "root", {"REMANENCE_EMBEDDINGS__PROVIDER": "hashing"}
    server = start_server(root, **hashing)
    http, grpc_surface = HttpSurface(server.http), GrpcSurface(server.grpc)
    tell_story(http, "quentin", "s1")

    def is_idle() -> bool:
        jobs = http.client.get("/health").json()["jobs"]
        return not jobs["pending"] and not jobs["running"]

    eventually(is_idle)
    for _ in range(2):
        answer = http.client.post("/api/v2/cascade/quiesce")
        assert answer.status_code == 200
        done = answer.json()
        assert (done["quiesced"], done["pending_after"], done["failed_permanent"]) == (True, 0, 0)
        assert done["drained"] == done["pending_before"]
    assert grpc_surface.quiesce().quiesced
    health = http.client.get("/health").json()
    assert health["status"] == "degraded"
    assert [reason for reason in health["reasons"] if reason.startswith("quiesced")]
    # It is no reason to send calls elsewhere.
    assert http.client.get("/health/ready").status_code == 200
    path = root / "default_app/default_project/users/quentin/episodes/episode-2026-05-28.md"
    path.write_text(path.read_text().replace("Yosemite", "Patagonia"))

    def has_edit(surface: HttpSurface) -> bool:
        listed = surface.call("get", {"user_id": "quentin", "memory_type": "episode"}).ok
        return any("Patagonia" in episode["episode"] for episode in listed["episodes"])

    time.sleep(1)  # the watcher, if it ran, would have seen the edit by now
    assert not has_edit(http)
    # Messages are still taken, and their entries found.
    tell_story(http, "quentin", "s2")
    assert server.stop() == 0
    server = start_server(root, **hashing)
    http = HttpSurface(server.http)
    eventually(lambda: has_edit(http))
    eventually(lambda: http.client.get("/health").json()["status"] == "ok")
    assert server.stop() == 0
