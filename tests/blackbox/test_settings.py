"""A server with unusual settings, over both surfaces: what each of them changes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.blackbox.conftest import eventually, said
from tests.blackbox.surfaces import GrpcSurface, HttpSurface, Surface
from tests.blackbox.test_http_bytes import Connection
from tests.support.server_process import ServerProcess, start_server

UNUSUAL = {
    "EMBEDDINGS__PROVIDER": "hashing",
    "EXTRACTION__PROVIDER": "heuristic",
    "SERVER__MAX_BODY_BYTES": "20000",
    "SERVER__HTTP_KEEPALIVE_SECONDS": "1",
    "SERVER__SHUTDOWN_GRACE_SECONDS": "1",
    "BOUNDARY__MAXIMUM_MESSAGES": "8",
    "BOUNDARY__MAXIMUM_TOKENS": "200",
    "BOUNDARY__IDLE_GAP_SECONDS": "60",
    "SEARCH__DEFAULT_TOP_K": "2",
    "SEARCH__AGENT_DEFAULT_TOP_K": "1",
    "SEARCH__DEFAULT_RADIUS": "1.0",
    "PROJECTION__WATCH": "false",
    "PROJECTION__SCAN_INTERVAL_SECONDS": "0.5",
    "MEMORIZE__ASYNC_QUEUE__MAX_PAYLOAD_BYTES": "5000",
}


@pytest.fixture(scope="module")
def unusual(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    variables = {f"REMANENCE_{name}": value for name, value in UNUSUAL.items()}
    server = start_server(tmp_path_factory.mktemp("unusual") / "root", **variables)
    yield server
    assert server.stop() == 0


@pytest.fixture(params=["http", "grpc"])
def surface(request: pytest.FixtureRequest, unusual: ServerProcess) -> Surface:
    return HttpSurface(unusual.http) if request.param == "http" else GrpcSurface(unusual.grpc)


def _add(surface: Surface, session: str, messages: list[dict[str, Any]]) -> bool:
    """Whether the messages closed a segment."""
    status = surface.call("add", {"session_id": session, "messages": messages}).ok["status"]
    return str(status).lower().endswith("extracted")


def test_a_segment_ends_where_the_settings_say(surface: Surface, tag: str) -> None:
    assert not _add(surface, f"short-{tag}", [said("Hello there.", "u", n) for n in range(3)])
    assert _add(surface, f"many-{tag}", [said("Hello there.", "u", n) for n in range(9)])
    assert _add(surface, f"long-{tag}", [said("a word " * 150, "u", n) for n in range(2)])
    assert not _add(surface, f"pause-{tag}", [said("Hello there.", "u")])
    assert _add(surface, f"pause-{tag}", [said("Hello again.", "u", 61_000)])


def _remember(surface: Surface, user: str, count: int) -> None:
    """As many episodes: each message is a segment of its own."""
    messages = [said(f"The kayak number {n} is red.", user, n * 120_000) for n in range(count)]
    _add(surface, f"kayaks-{user}", messages)
    surface.call("flush", {"session_id": f"kayaks-{user}"})


def test_a_search_without_top_k_brings_as_many_as_set(surface: Surface, tag: str) -> None:
    user = f"kay{tag}"
    _remember(surface, user, 4)
    ask = {"user_id": user, "query": "red kayak", "method": "keyword"}
    assert len(surface.call("search", ask).ok["episodes"]) == 2
    assert len(surface.call("search", {**ask, "top_k": 4}).ok["episodes"]) == 4


def test_the_default_radius_holds_when_neither_radius_nor_top_k_is_sent(
    surface: Surface, tag: str
) -> None:
    user = f"kim{tag}"
    _remember(surface, user, 1)
    ask = {"user_id": user, "query": "kayak weather", "method": "vector"}
    assert surface.call("search", ask).ok["episodes"] == []
    assert surface.call("search", {**ask, "radius": 0.0}).ok["episodes"]
    assert surface.call("search", {**ask, "top_k": 1}).ok["episodes"]


def test_an_agent_has_a_default_top_k_of_its_own(surface: Surface, tag: str) -> None:
    agent = f"bot{tag}"
    for run in range(2):
        messages = [said(f"Mend the pump number {run}.", "dev")]
        for step in range(3):
            call = {"id": f"c{step}", "function": {"name": "look", "arguments": f'{{"n":{step}}}'}}
            messages.append(said("", agent, 10 * step + 1, "assistant", tool_calls=[call]))
            messages.append(said("ok", "look", 10 * step + 2, "tool", tool_call_id=f"c{step}"))
        messages.append(said("The pump is mended.", agent, 50, "assistant"))
        session = {"session_id": f"run{run}-{tag}"}
        surface.call("add", {**session, "messages": messages, "defer_extraction": True})
        surface.call("flush", session)
    listing = {"agent_id": agent, "memory_type": "agent_case"}
    eventually(lambda: surface.call("get", listing).ok["total_count"] == 2)
    ask = {"agent_id": agent, "query": "pump", "method": "keyword"}
    eventually(lambda: len(surface.call("search", {**ask, "top_k": 5}).ok["agent_cases"]) == 2)
    assert len(surface.call("search", ask).ok["agent_cases"]) == 1


def test_a_request_over_the_limit_is_refused(unusual: ServerProcess, tag: str) -> None:
    body = {"session_id": tag, "messages": [said("x" * 20_000, "u")], "defer_extraction": True}
    answer = HttpSurface(unusual.http).call("add", body)
    assert (answer.status, answer.code) == (413, "PAYLOAD_TOO_LARGE")
    small = {**body, "messages": [said("x" * 10_000, "u")]}
    for surface in (HttpSurface(unusual.http), GrpcSurface(unusual.grpc)):
        assert surface.call("add", {**small, "session_id": f"{tag}-{surface.name}"}).data


def test_a_batch_over_the_limit_of_the_queue_is_refused(surface: Surface, tag: str) -> None:
    body = {"session_id": tag, "messages": [said("x" * 6000, "u")], "async_mode": True}
    assert surface.call("add", body).code == "PAYLOAD_TOO_LARGE"


def test_a_connection_that_says_nothing_is_closed(unusual: ServerProcess) -> None:
    with Connection(unusual.http) as connection:
        assert connection.still_works()
        assert connection.is_closed()


def test_without_a_watcher_the_scan_finds_a_hand_edit(surface: Surface, root_of: Path) -> None:
    user = f"edited-{surface.name}"
    _remember(surface, user, 1)
    (path,) = (root_of / "default_app/default_project/users" / user / "episodes").glob("*.md")
    path.write_text(path.read_text().replace("kayak", "zeppelin"))
    ask = {"user_id": user, "query": "zeppelin", "method": "keyword"}
    eventually(lambda: surface.call("search", ask).ok["episodes"])


@pytest.fixture
def root_of(unusual: ServerProcess) -> Path:
    return unusual.root


def test_a_stop_does_not_wait_longer_than_it_may(tmp_path: Path) -> None:
    variables = {
        "REMANENCE_EMBEDDINGS__PROVIDER": "hashing",
        "REMANENCE_SERVER__SHUTDOWN_GRACE_SECONDS": "1",
        "REMANENCE_MEMORY__TIMEZONE": "Asia/Shanghai",
    }
    server = start_server(tmp_path / "root", **variables)
    with Connection(server.http) as connection:
        # A body that never comes keeps the call open.
        connection.send(b"POST /api/v2/memory/add HTTP/1.1\r\nContent-Length: 99\r\n\r\n{")
        error = httpx.get(f"http://{server.http}/nope").json()["error"]
        assert error["timestamp"].endswith("+08:00")
        began = time.monotonic()
        assert server.stop() == 0
    assert time.monotonic() - began < 10
