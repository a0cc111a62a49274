"""240 parallel asynchronous adds to one session, over both surfaces, while the server is killed.

Killed three times in `make test`, and ten with `QUEUE_KILLS=10 make test ARGS="-k killed_queue"`.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import grpc
import httpx
import pytest

from tests.blackbox.conftest import eventually, said
from tests.blackbox.surfaces import GrpcSurface, HttpSurface
from tests.support.server_process import ServerProcess, start_server

BATCHES = 240
CLIENTS = 16
KILLS = int(os.environ.get("QUEUE_KILLS", "3"))
SESSION = "one"
# Few may wait for a session, so that some of a burst are refused.
SETTINGS = {
    "REMANENCE_EMBEDDINGS__PROVIDER": "hashing",
    "REMANENCE_MEMORIZE__ASYNC_QUEUE__MAX_PENDING_PER_SESSION": "12",
    "REMANENCE_MEMORIZE__ASYNC_QUEUE__MAX_REPLAYS": "100",
}
LOOK = {
    "user_id": "nobody",
    "query": "x",
    "method": "keyword",
    "filters": {"session_id": SESSION},
}


@dataclass
class Outcomes:
    """What clients were told, batch by batch."""

    # The id of the task that each accepted batch is.
    accepted: dict[str, str] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    # Killed before they were answered.
    unknown: set[str] = field(default_factory=set)


def _send(server: ServerProcess, texts: Iterable[str], outcomes: Outcomes, kill_at: int) -> None:
    """Sends all batches at once; kills the server when so many of them have been answered."""
    surfaces = (HttpSurface(server.http), GrpcSurface(server.grpc))
    answers, lock = count(1), threading.Lock()

    def send(text: str) -> None:
        body = {"session_id": SESSION, "async_mode": True, "defer_extraction": True}
        surface = surfaces[int(text.split()[1]) % 2]
        try:
            answer = surface.call("add", {**body, "messages": [said(text, "u")]})
        except (httpx.HTTPError, grpc.RpcError, KeyError):
            # gRPC tells of a lost connection without the details that our own errors have.
            outcomes.unknown.add(text)
            return
        if answer.data is None:
            assert answer.code == "QUEUE_SATURATED", answer
            outcomes.refused.add(text)
        else:
            outcomes.accepted[text] = answer.request_id
        with lock:
            if next(answers) == kill_at:
                server.process.send_signal(signal.SIGKILL)

    with ThreadPoolExecutor(CLIENTS) as clients:
        list(clients.map(send, texts))


def _rows(root: Path) -> dict[str, tuple[int, str]]:
    """Place and status of each task in the queue's table."""
    with closing(sqlite3.connect(root / "system.db")) as state:
        rows = state.execute("SELECT request_id, id, status FROM memorize_inbox").fetchall()
    return {task_id: (place, status) for task_id, place, status in rows}


@pytest.mark.slow
@pytest.mark.crash
@pytest.mark.timeout(300)
def test_what_a_killed_queue_had_accepted_is_delivered_once_and_in_order(tmp_path: Path) -> None:
    root, outcomes, unfinished = tmp_path / "root", Outcomes(), 0
    texts = [f"batch {number} of many" for number in range(BATCHES)]
    share = BATCHES // KILLS
    for kill in range(KILLS):
        server = start_server(root, **SETTINGS)
        _send(server, texts[kill * share : (kill + 1) * share], outcomes, kill_at=share // 2)
        server.stop(signal.SIGKILL)
        unfinished += sum(status in ("queued", "processing") for _, status in _rows(root).values())
    server = start_server(root, **SETTINGS)
    http = HttpSurface(server.http)
    waiting = ("queued", "processing")
    eventually(
        lambda: (
            not any(http.tasks(session_id=SESSION, status=status).ok["total"] for status in waiting)
        ),
        60,
    )
    delivered = [m["content"] for m in http.call("search", LOOK).ok["unprocessed_messages"]]
    assert {http.task(task_id).ok["status"] for task_id in outcomes.accepted.values()} == {
        "success"
    }
    assert server.stop() == 0

    assert outcomes.accepted
    assert outcomes.unknown
    assert unfinished > 0
    counts = Counter(delivered)
    assert max(counts.values()) == 1
    assert outcomes.accepted.keys() <= counts.keys()
    assert not outcomes.refused & counts.keys()
    assert counts.keys() <= outcomes.accepted.keys() | outcomes.unknown
    places = {text: _rows(root)[task_id][0] for text, task_id in outcomes.accepted.items()}
    in_order = sorted(outcomes.accepted, key=places.__getitem__)
    assert [text for text in delivered if text in outcomes.accepted] == in_order
