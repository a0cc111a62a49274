"""Asynchronous mode over both surfaces: accepted at once, delivered in order, told as a task."""

from __future__ import annotations

import signal
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import grpc
import pytest

from remanence.v2 import tasks_pb2
from remanence_client import Client, Message
from tests.blackbox.conftest import eventually, said
from tests.blackbox.surfaces import GrpcSurface, HttpSurface, Surface
from tests.support.server_process import ServerProcess, start_server

HASHING = {"REMANENCE_EMBEDDINGS__PROVIDER": "hashing"}
QUEUE = "REMANENCE_MEMORIZE__ASYNC_QUEUE__"
DAY_MS = 24 * 3600 * 1000


def _name(value: str) -> str:
    """`TASK_STATUS_SUCCESS` and `success` are the same."""
    return value.rpartition("_")[2].lower()


def _one(text: str, user: str, offset_ms: int = 0) -> list[dict[str, Any]]:
    return [said(text, user, offset_ms)]


def _slow(user: str, days: int = 40) -> list[dict[str, Any]]:
    """A batch that takes a while: each message is a segment of its own."""
    return [said(f"Note of day {day} on the harbour.", user, day * DAY_MS) for day in range(days)]


def _ended(surface: Surface, task_id: str) -> dict[str, Any]:
    def look() -> dict[str, Any]:
        task = dict(surface.task(task_id).ok)
        return task if _name(task["status"]) in ("success", "failed") else {}

    return eventually(look, 60)


def _is_queued(surface: Surface, answer: Any, pending: int, count: int = 1) -> str:
    """Checks the answer of a queued request; returns the id of its task."""
    assert set(answer.ok) == {"status", "message_count", "pending"}
    assert _name(answer.ok["status"]) == "queued"
    assert (answer.ok["message_count"], answer.ok["pending"]) == (count, pending)
    assert answer.status == (202 if surface.name == "http" else "OK")
    return str(answer.request_id)


def _buffered(surface: Surface, session: str) -> list[str]:
    body = {
        "user_id": "x",
        "query": "x",
        "method": "keyword",
        "filters": {"session_id": session},
    }
    found = surface.call("search", body).ok["unprocessed_messages"]
    return [message.get("content", message.get("text")) for message in found]


def test_a_batch_is_accepted_and_its_task_succeeds(surface: Surface, tag: str) -> None:
    session = f"as-{tag}"
    body = {"session_id": session, "async_mode": True, "messages": _one("I like figs.", "u")}
    before = time.time()
    task_id = _is_queued(surface, surface.call("add", body), pending=1)
    task = _ended(surface, task_id)
    assert task["id"] == task_id
    assert (_name(task["status"]), _name(task["task_type"])) == ("success", "add")
    assert task.get("error") is None
    assert task.get("error_code") is None
    assert task["created_at"] <= task["finished_at"]
    assert task["created_at"][:4] == time.strftime("%Y", time.gmtime(before))
    assert _buffered(surface, session) == ["I like figs."]


def test_calls_behind_a_backlog_are_queued_and_keep_their_order(surface: Surface, tag: str) -> None:
    user, session = f"u{tag}", f"order-{tag}"
    add = {"session_id": session, "defer_extraction": True}
    slow = {"session_id": session, "async_mode": True, "messages": _slow(user)}
    ids = [_is_queued(surface, surface.call("add", slow), pending=1, count=40)]
    later = 40 * DAY_MS
    for number in (1, 2):
        body = {**add, "messages": _one(f"Before the flush {number}.", user, later + number)}
        ids.append(_is_queued(surface, surface.call("add", body), pending=number + 1))
    flushed = surface.call("flush", {"session_id": session})
    ids.append(_is_queued(surface, flushed, pending=4, count=0))
    body = {**add, "async_mode": True, "messages": _one("After the flush.", user, later + 9)}
    ids.append(_is_queued(surface, surface.call("add", body), pending=5))
    tasks = [_ended(surface, task_id) for task_id in ids]
    assert [_name(task["status"]) for task in tasks] == ["success"] * 5
    assert [_name(task["task_type"]) for task in tasks] == ["add", "add", "add", "flush", "add"]
    ends = [task["finished_at"] for task in tasks]
    assert ends == sorted(ends)
    # The flush took what was before it and nothing else.
    assert _buffered(surface, session) == ["After the flush."]
    listing = {"user_id": user, "memory_type": "episode", "page_size": 100}
    episodes = surface.call("get", listing).ok["episodes"]
    (last,) = [e for e in episodes if "Before the flush" in e["episode"]]
    assert last["episode"].index("flush 1") < last["episode"].index("flush 2")
    # With nothing before them, calls are synchronous again.
    assert _name(surface.call("flush", {"session_id": session}).ok["status"]) == "extracted"


def test_content_that_cannot_be_read_shows_in_the_task(surface: Surface, tag: str) -> None:
    content = [{"type": "image", "base64": "%%%", "ext": "png"}]
    body = {"session_id": f"bad-{tag}", "async_mode": True, "messages": [said(content, "u")]}
    task = _ended(surface, _is_queued(surface, surface.call("add", body), pending=1))
    assert _name(task["status"]) == "failed"
    assert task["error_code"] == "UNSUPPORTED_FORMAT"
    assert task["error"]


def test_what_is_not_valid_is_refused_before_it_is_queued(surface: Surface, tag: str) -> None:
    session = f"invalid-{tag}"
    refused = surface.call("add", {"session_id": session, "async_mode": True, "messages": []})
    assert refused.code == "INVALID_INPUT"
    assert surface.tasks(session_id=session).ok["total"] == 0


def test_tasks_are_listed_newest_first_page_by_page(surface: Surface, tag: str) -> None:
    session, scope = f"list-{tag}", {"app_id": f"app{tag}"}
    ids = []
    for number in range(3):
        body = {"session_id": session, "async_mode": True, **scope}
        body["messages"] = _one(f"Line {number}.", "u", number)
        ids.append(surface.call("add", body).request_id)
    for task_id in ids:
        _ended(surface, task_id)
    page = surface.tasks(session_id=session, page_size=2, **scope).ok
    assert (page["total"], page["page"], page["page_size"]) == (3, 1, 2)
    assert [item["id"] for item in page["items"]] == [ids[2], ids[1]]
    assert page["items"][0] == surface.task(ids[2]).ok
    page = surface.tasks(session_id=session, page_size=2, page=2, **scope).ok
    assert [item["id"] for item in page["items"]] == [ids[0]]
    assert surface.tasks(page_size=500, **scope).ok["page_size"] == 100
    assert surface.tasks(status="success", **scope).ok["total"] == 3
    assert surface.tasks(status="queued", **scope).ok["total"] == 0
    # A scope sees its own tasks, whether or not a session is named.
    assert surface.tasks(session_id=session).ok["total"] == 0
    assert surface.tasks(project_id="other", **scope).ok["total"] == 0
    assert not set(ids) & {item["id"] for item in surface.tasks(page_size=100).ok["items"]}


def test_an_unknown_task_is_not_found(surface: Surface) -> None:
    answer = surface.task("0" * 32)
    assert answer.code == "NOT_FOUND"
    assert answer.error == f"task {'0' * 32} not found or expired"
    assert answer.status in (404, "NOT_FOUND")


@pytest.mark.parametrize(
    ("query", "field"), [({"page": 0}, "page"), ({"page_size": 0}, "page_size")]
)
def test_a_page_starts_at_one(surface: Surface, query: dict[str, int], field: str) -> None:
    answer = surface.tasks(**query)
    assert answer.code == "INVALID_INPUT"
    assert field in str(answer.error)
    assert answer.status in (422, "INVALID_ARGUMENT")


def test_an_unknown_status_is_refused(http: HttpSurface, grpc_surface: GrpcSurface) -> None:
    assert http.tasks(status="done").code == "INVALID_INPUT"
    assert http.tasks(status="done").status == 422
    with pytest.raises(grpc.RpcError) as raised:
        grpc_surface.task_service.ListTasks(
            tasks_pb2.ListTasksRequest(status=cast("Any", 9)), timeout=10
        )
    assert raised.value.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_the_python_client_follows_its_task(server: ServerProcess, tag: str) -> None:
    with Client(server.grpc) as memory:
        result = memory.add(f"py-{tag}", [Message("u", "I like plums.")], async_mode=True)
        assert (result.status, result.message_count, result.pending) == ("queued", 1, 1)
        task_id = str(result.request_id)
        assert eventually(lambda: memory.get_task(task_id).finished_at, 30)
        task = memory.get_task(task_id)
        assert (task.status, task.task_type, task.error) == ("success", "memory_add", None)
        page = memory.list_tasks(session_id=f"py-{tag}", status="success")
        assert (page.total, [item.id for item in page.items]) == (1, [task_id])


def test_health_tells_of_the_queue(http: HttpSurface, grpc_surface: GrpcSurface) -> None:
    health = http.client.get("/health").json()
    assert "async_mode" not in health["disabled_features"]
    queue = health["memorize_queue"]
    assert (queue["healthy"], queue["loop_alive"], queue["accepting"]) == (True, True, True)
    assert (queue["loop_restarts"], queue["last_loop_error_at"]) == (0, None)
    assert grpc_surface.health().memorize_queue.healthy


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server whose queue holds little."""
    limits = {"MAX_PENDING_PER_SESSION": 2, "MAX_PENDING_TOTAL": 3, "MAX_PAYLOAD_BYTES": 20_000}
    variables = {QUEUE + key: str(value) for key, value in limits.items()}
    server = start_server(tmp_path_factory.mktemp("small") / "root", **HASHING, **variables)
    yield server
    assert server.stop() == 0


def test_a_queue_that_is_full_refuses_on_both_surfaces(small: ServerProcess) -> None:
    http, grpc_surface = HttpSurface(small.http), GrpcSurface(small.grpc)
    slow = {"session_id": "a", "async_mode": True, "messages": _slow("u", 60)}
    quick = {"async_mode": True, "messages": _one("More.", "u")}
    accepted = [http.call("add", slow), http.call("add", {**quick, "session_id": "a"})]
    for surface in (http, grpc_surface):
        for body in (quick, {"messages": quick["messages"]}):
            full = surface.call("add", {**body, "session_id": "a"})
            assert full.code == "QUEUE_SATURATED"
            assert full.status in (429, "RESOURCE_EXHAUSTED")
            assert "this session has 2" in str(full.error)
        assert surface.call("flush", {"session_id": "a"}).code == "QUEUE_SATURATED"
    response = http.client.post("/api/v2/memory/flush", json={"session_id": "a"})
    assert response.headers["retry-after"] == "1"
    accepted.append(http.call("add", {**slow, "session_id": "b"}))
    for surface in (http, grpc_surface):
        full = surface.call("add", {**quick, "session_id": "c"})
        assert full.code == "QUEUE_SATURATED"
        assert "the server has 3" in str(full.error)
        # Who does not ask for the queue does not feel it.
        sync = surface.call("add", {"session_id": "c", "messages": quick["messages"]})
        assert sync.status in (200, "OK")
    for answer in accepted:
        assert _ended(http, answer.request_id)["status"] == "success"
    assert http.tasks().ok["total"] == 3


def test_a_batch_that_is_too_large_is_refused_and_not_kept(small: ServerProcess) -> None:
    for surface in (HttpSurface(small.http), GrpcSurface(small.grpc)):
        body = {"session_id": "big", "messages": _one("x" * 20_001, "u")}
        refused = surface.call("add", {**body, "async_mode": True})
        assert refused.code == "PAYLOAD_TOO_LARGE"
        assert refused.status in (413, "RESOURCE_EXHAUSTED")
        assert surface.tasks(session_id="big").ok["total"] == 0
        assert _buffered(surface, "big") == []


def test_what_was_queued_at_a_kill_is_delivered_once(tmp_path: Path) -> None:
    server = start_server(tmp_path / "root", **HASHING)
    http = HttpSurface(server.http)
    sessions = [f"s{number}" for number in range(4)]

    def fill(session: str) -> list[str]:
        add = {"session_id": session, "async_mode": True}
        ids = [http.call("add", {**add, "messages": _slow(session, 20)}).request_id]
        for number in range(10):
            body = {**add, "defer_extraction": True}
            body["messages"] = _one(f"Word {number}.", session, 20 * DAY_MS + number)
            ids.append(http.call("add", body).request_id)
        return ids

    with ThreadPoolExecutor(4) as pool:
        ids = [task_id for of_session in pool.map(fill, sessions) for task_id in of_session]
    assert all(len(task_id) == 32 for task_id in ids)
    server.stop(signal.SIGKILL)
    with closing(sqlite3.connect(tmp_path / "root" / "system.db")) as state:
        left = state.execute(
            "SELECT count(*) FROM memorize_inbox WHERE status IN ('queued', 'processing')"
        ).fetchone()[0]
    assert left > 4
    server = start_server(tmp_path / "root", **HASHING)
    http = HttpSurface(server.http)
    assert {_ended(http, task_id)["status"] for task_id in ids} == {"success"}
    for session in sessions:
        assert http.call("flush", {"session_id": session}).ok["status"] == "extracted"
        listing = {"user_id": session, "memory_type": "episode", "page_size": 100}
        text = "\n".join(e["episode"] for e in http.call("get", listing).ok["episodes"])
        for day in range(20):
            assert text.count(f"Note of day {day} on") == 1
        for number in range(10):
            assert text.count(f"Word {number}.") == 1
    assert server.stop() == 0


@dataclass(frozen=True)
class Edited:
    """A server that found rows which a test had put into its table, and the ids of their tasks."""

    http: HttpSurface
    given_up: str
    replayed: str
    waiting: str
    old: str
    young: str


@pytest.fixture(scope="module")
def edited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Edited]:
    root = tmp_path_factory.mktemp("edited") / "root"
    server = start_server(root, **HASHING)
    http, ids = HttpSurface(server.http), []
    for number in range(5):
        body = {"session_id": f"s{number}", "async_mode": True, "defer_extraction": True}
        ids.append(http.call("add", {**body, "messages": _one("x", "u")}).request_id)
    for task_id in ids:
        assert _ended(http, task_id)["status"] == "success"
    assert server.stop() == 0
    given_up, replayed, waiting, old, _ = ids
    with closing(sqlite3.connect(root / "system.db")) as state, state:
        for task_id, change in (
            (given_up, "status = 'processing', attempt = 2"),
            (replayed, "status = 'processing', attempt = 1"),
            (waiting, "status = 'queued'"),
            (old, "created_at_ms = created_at_ms - 7200000"),
        ):
            state.execute(
                f"UPDATE memorize_inbox SET payload_json = '[]', {change} WHERE request_id = ?",
                (task_id,),
            )
    settings = {"ENABLED": "false", "MAX_REPLAYS": "2", "ROW_RETENTION_HOURS": "1.5"}
    variables = {QUEUE + key: value for key, value in settings.items()}
    server = start_server(root, **HASHING, **variables)
    yield Edited(HttpSurface(server.http), *ids)
    assert server.stop() == 0


def test_a_row_that_was_replayed_too_often_is_given_up(edited: Edited) -> None:
    task = _ended(edited.http, edited.given_up)
    assert (task["status"], task["error_code"]) == ("failed", "replays_exhausted")
    assert _ended(edited.http, edited.replayed)["status"] == "success"
    assert edited.http.client.get("/health").json()["memorize_queue"]["failed"] == 1


def test_a_task_is_forgotten_at_its_age(edited: Edited) -> None:
    eventually(lambda: edited.http.task(edited.old).code == "NOT_FOUND")
    assert edited.http.task(edited.young).ok["status"] == "success"


def test_switched_off_it_delivers_what_it_has_and_takes_nothing_new(edited: Edited) -> None:
    assert _ended(edited.http, edited.waiting)["status"] == "success"
    body = {"session_id": "now", "async_mode": True, "messages": _one("Now.", "u")}
    added = edited.http.call("add", body)
    assert (added.status, added.ok) == (200, {"message_count": 1, "status": "accumulated"})
    assert edited.http.client.get("/health").json()["memorize_queue"]["accepting"] is False
