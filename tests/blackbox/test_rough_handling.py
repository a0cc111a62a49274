"""The server handled roughly: killed in a storm, its index taken away, its logs searched."""

from __future__ import annotations

import shutil
import signal
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC
from pathlib import Path

import httpx
import pytest

from remanence_server.domain.records import Episode, Transcript
from remanence_server.markdown.store import MarkdownStore
from tests.blackbox.conftest import eventually, said
from tests.blackbox.surfaces import HttpSurface
from tests.support.server_process import ServerProcess, start_server

HASHING = {"REMANENCE_EMBEDDINGS__PROVIDER": "hashing"}
USERS = ("ada", "bo", "cy")


def _storm(server: ServerProcess, number: int, seconds: float) -> set[tuple[str, str]]:
    """Adds and flushes from many clients until the server is killed; what was accepted."""
    accepted: set[tuple[str, str]] = set()

    def until_killed(act: Callable[[HttpSurface, int], None]) -> None:
        surface, count = HttpSurface(server.http), 0
        with surface.client:
            while True:
                try:
                    act(surface, count)
                except httpx.TransportError:
                    return
                count += 1

    def adding(client: int) -> None:
        def add(surface: HttpSurface, count: int) -> None:
            message_id, user = f"m-{number}-{client}-{count}", USERS[client % 3]
            message = said(f"Fact {message_id} about the garden.", user, message_id=message_id)
            body = {"session_id": f"s{number}-{client % 4}", "messages": [message]}
            answer = surface.call("add", {**body, "defer_extraction": bool(count % 2)})
            assert answer.status == 200, answer
            accepted.add((user, message_id))

        until_killed(add)

    def flushing(client: int) -> None:
        def flush(surface: HttpSurface, count: int) -> None:
            answer = surface.call("flush", {"session_id": f"s{number}-{client % 4}"})
            assert answer.status == 200, answer

        until_killed(flush)

    killer = threading.Timer(seconds, lambda: server.process.send_signal(signal.SIGKILL))
    with ThreadPoolExecutor(12) as clients:
        running = [clients.submit(adding, client) for client in range(8)]
        running += [clients.submit(flushing, client) for client in range(4)]
        killer.start()
        for client in running:
            client.result()
    server.stop()
    return accepted


def _speaker(message_id: str) -> str:
    return USERS[int(message_id.split("-")[2]) % 3]


@pytest.mark.slow
@pytest.mark.crash
def test_what_was_accepted_in_a_storm_of_kills_is_remembered_once(tmp_path: Path) -> None:
    root = tmp_path / "root"
    accepted: set[tuple[str, str]] = set()
    for number, seconds in enumerate((0.4, 0.9, 0.6)):
        accepted |= _storm(start_server(root, **HASHING), number, seconds)
    server = start_server(root, **HASHING)
    surface = HttpSurface(server.http)
    for number in range(3):
        for session in range(4):
            assert surface.call("flush", {"session_id": f"s{number}-{session}"}).status == 200

    def is_idle() -> bool:
        health = surface.client.get("/health").json()
        return not (health["jobs"]["pending"] or health["jobs"]["running"])

    eventually(is_idle)
    assert surface.client.get("/health").json()["status"] == "ok"

    store, entries = MarkdownStore(root, UTC), Counter[tuple[str, str]]()
    turns, episodes = Counter[tuple[str, str]](), Counter[str]()
    for file in store.files():
        parsed = store.read(file)
        assert parsed.problems == ()
        for record in (item.record for item in parsed.records):
            owner = record.owner.owner_id
            entries[owner, getattr(record, "entry_id", "profile")] += 1
            episodes[owner] += isinstance(record, Episode)
            if isinstance(record, Transcript):
                turns.update((owner, turn.message_id) for turn in record.turns)
    assert max(entries.values()) == 1
    # A cell of several users is remembered by each of them: what counts is the speaker's own.
    own = {key: count for key, count in turns.items() if _speaker(key[1]) == key[0]}
    assert accepted <= own.keys()
    assert max(own.values()) == 1
    for user in USERS:
        listed = surface.call("get", {"user_id": user, "memory_type": "episode"}).ok
        assert listed["total_count"] == episodes[user]
    assert server.stop() == 0


def test_an_index_that_is_deleted_while_in_use_breaks_nothing(tmp_path: Path) -> None:
    root = tmp_path / "root"
    server = start_server(root, **HASHING)
    surface = HttpSurface(server.http)

    def remember(number: int) -> None:
        message = said(f"I love plum number {number}.", "pia", number)
        body = {"session_id": f"s{number}", "messages": [message], "defer_extraction": True}
        assert surface.call("add", body).status == 200
        assert surface.call("flush", {"session_id": f"s{number}"}).status == 200

    def found(method: str) -> int:
        query = {"user_id": "pia", "query": "plum", "method": method}
        return len(surface.call("search", query).ok["episodes"])

    remember(1)
    shutil.rmtree(root / ".index")
    for number in range(2, 5):
        remember(number)
        # Every kind of read, with a filter too, so that every connection is used.
        assert found("vector") == number
        where = {"user_id": "pia", "memory_type": "episode", "filters": {"session_id": "s1"}}
        assert surface.call("get", where).ok["total_count"] == 1
    assert eventually(lambda: found("keyword") == 4)
    assert server.stop() == 0
    server = start_server(root, **HASHING)
    surface = HttpSurface(server.http)
    assert eventually(lambda: found("keyword") == found("vector") == 4)
    assert server.stop() == 0


def test_a_folder_in_the_place_of_a_file_stops_nothing(tmp_path: Path) -> None:
    root = tmp_path / "root"
    server = start_server(root, **HASHING)
    surface = HttpSurface(server.http)
    for day in (27, 29):
        folder = root / f"default_app/default_project/users/pia/episodes/episode-2026-05-{day}.md"
        folder.mkdir(parents=True)
    for number in range(3):
        message = said(f"I love plum number {number}.", "pia", number)
        body = {"session_id": f"s{number}", "messages": [message], "defer_extraction": True}
        assert surface.call("add", body).status == 200
        assert surface.call("flush", {"session_id": f"s{number}"}).status == 200
        listed = surface.call("get", {"user_id": "pia", "memory_type": "episode"}).ok
        assert listed["total_count"] == number + 1
    assert server.stop() == 0


def test_logs_hold_no_memory_text_at_any_level(tmp_path: Path) -> None:
    server = start_server(tmp_path / "root", REMANENCE_LOG__LEVEL="debug", **HASHING)
    surface = HttpSurface(server.http)
    secret = "Zanzibarine"
    for number in range(3):
        message = said(f"My {secret} pet number {number} is a cat.", "pia", number)
        body = {"session_id": f"s{number}", "messages": [message], "defer_extraction": True}
        assert surface.call("add", body).status == 200
        assert surface.call("flush", {"session_id": f"s{number}"}).status == 200
    for method in ("keyword", "vector", "hybrid", "agentic"):
        body = {"user_id": "pia", "query": f"{secret} cat", "method": method}
        assert surface.call("search", body).ok["episodes"]
    # Refused and broken input, too.
    refused = surface.call("add", {"session_id": "s", "messages": [{"content": secret}]})
    assert refused.status == 422
    surface.client.post("/api/v2/memory/add", content=f'{{"session_id": "{secret}')
    path = tmp_path / "root/default_app/default_project/users/pia/episodes/episode-2026-05-28.md"
    path.write_text(path.read_text().replace("2026-05-28T11:30:36Z", f"{secret} day", 1))
    eventually(lambda: surface.client.get("/health").json()["status"] == "degraded")
    assert server.stop() == 0
    assert server.log
    assert secret not in server.log
