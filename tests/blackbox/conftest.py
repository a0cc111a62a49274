"""A server for the tests of one worker, over both surfaces; every test uses its own names."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.blackbox.surfaces import GrpcSurface, HttpSurface, Surface
from tests.support.server_process import ServerProcess, start_server

# 2026-05-28T11:30:36Z
T0 = 1_779_967_836_000


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    started = start_server(tmp_path_factory.mktemp("server") / "root")
    yield started
    assert started.stop() == 0


@pytest.fixture(scope="session")
def root(server: ServerProcess) -> Path:
    return server.root


@pytest.fixture(scope="session")
def http(server: ServerProcess) -> HttpSurface:
    return HttpSurface(server.http)


@pytest.fixture(scope="session")
def grpc_surface(server: ServerProcess) -> GrpcSurface:
    return GrpcSurface(server.grpc)


@pytest.fixture(params=["http", "grpc"])
def surface(
    request: pytest.FixtureRequest, http: HttpSurface, grpc_surface: GrpcSurface
) -> Surface:
    return http if request.param == "http" else grpc_surface


@pytest.fixture
def tag() -> str:
    return uuid.uuid4().hex[:8]


def said(
    content: Any, sender: str, offset_ms: int = 0, role: str = "user", **extra: Any
) -> dict[str, Any]:
    return {
        "sender_id": sender,
        "role": role,
        "timestamp": T0 + offset_ms,
        "content": content,
        **extra,
    }


def eventually[T](look: Callable[[], T], seconds: float = 20) -> T:
    """The first truthy answer; facts, profiles and cases may come a moment after a flush."""
    deadline = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.05)
    return found


def tell_story(surface: Surface, user: str, session: str, **scope: str) -> None:
    """Alice talks about climbing, coffee and her bike."""
    added = surface.call(
        "add",
        {
            "session_id": session,
            "defer_extraction": True,
            **scope,
            "messages": [
                said("I love climbing in Yosemite every spring.", user, sender_name="Alice"),
                said("Noted! Anything else you enjoy?", "helper", 5_000, "assistant"),
                said(
                    "My favorite coffee shop is Blue Bottle in SOMA, and I bike to work most days.",
                    user,
                    9_000,
                    sender_name="Alice",
                ),
            ],
        },
    )
    assert added.ok == {"message_count": 3, "status": added.ok["status"]}
    assert added.ok["status"] in ("accumulated", "ADD_STATUS_ACCUMULATED")
    flushed = surface.call("flush", {"session_id": session, **scope})
    assert flushed.ok["status"] in ("extracted", "FLUSH_STATUS_EXTRACTED")
