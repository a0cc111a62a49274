"""The same request twice, the same content twice, and what a crash leaves of it."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest

from tests.blackbox.conftest import eventually, said
from tests.blackbox.surfaces import GrpcSurface, HttpSurface, Surface
from tests.support.server_process import ServerProcess, start_server

HASHING = {"REMANENCE_EMBEDDINGS__PROVIDER": "hashing"}
HAZELNUTS = "I am allergic to hazelnuts"


def _batch(session: str, text: str = HAZELNUTS, **message: Any) -> dict[str, Any]:
    return {"session_id": session, "messages": [said(text, f"ines-{session}", **message)]}


def _waiting(surface: Surface, session: str) -> list[str]:
    """What a session has buffered."""
    body = {
        "user_id": f"ines-{session}",
        "query": "allergic",
        "filters": {"session_id": session},
    }
    answer = surface.call("search", body).ok["unprocessed_messages"]
    return [message.get("content") or message["text"] for message in answer]


def _are_done(sent: Sequence[Future[str]], least: int) -> bool:
    return sum(each.done() for each in sent) > least


def _word(data: Mapping[str, Any]) -> str:
    """The status in the words of JSON."""
    return str(data["status"]).rpartition("STATUS_")[2].lower()


def test_the_same_request_and_the_same_message_are_remembered_once(
    surface: Surface, tag: str
) -> None:
    batch = _batch(tag, message_id="m-1")
    first = surface.call("add", batch, f"{tag}-r1")
    assert [surface.call("add", batch, f"{tag}-r1") for _ in range(2)] == [first, first]
    assert "known_count" not in first.ok

    other_key = surface.call("add", batch, f"{tag}-r2")
    assert other_key.ok["known_count"] == 1
    assert other_key.request_id != first.request_id

    changed = _batch(tag, "I am allergic to walnuts", message_id="m-1")
    refused = surface.call("add", changed, f"{tag}-r1")
    assert refused.code == "CONFLICT"
    assert refused.status in (409, "ALREADY_EXISTS")
    assert "Idempotency-Key" in str(refused.error)
    # Under a key of its own it is a message that the session knows: the first wins.
    assert surface.call("add", changed, f"{tag}-r3").ok["known_count"] == 1
    assert _waiting(surface, tag) == [HAZELNUTS]

    assert _word(surface.call("flush", {"session_id": tag}).ok) == "extracted"
    assert _word(surface.call("flush", {"session_id": tag}).ok) == "no_extraction"
    user = f"ines-{tag}"
    listed = surface.call("get", {"user_id": user, "memory_type": "episode"}).ok
    assert listed["total_count"] == 1
    assert HAZELNUTS in listed["episodes"][0]["episode"]

    def found() -> list[dict[str, Any]]:
        body = {"user_id": user, "query": "allergic", "method": "keyword"}
        (episode,) = surface.call("search", body).ok["episodes"]
        facts: list[dict[str, Any]] = episode["atomic_facts"]
        return facts

    assert len(eventually(found)) == 1
    # The request stays known after its words became a memory.
    assert surface.call("add", batch, f"{tag}-r1") == first
    assert _waiting(surface, tag) == []


@pytest.mark.parametrize("extra", [{}, {"async_mode": True}], ids=["kept", "queued"])
def test_over_http_a_repeat_is_the_first_answer_byte_for_byte(
    http: HttpSurface, tag: str, extra: dict[str, Any]
) -> None:
    def send() -> httpx.Response:
        headers = {"Idempotency-Key": tag}
        return http.client.post("/api/v2/memory/add", json=_batch(tag) | extra, headers=headers)

    first, again = send(), send()
    assert again.content == first.content
    assert again.status_code == first.status_code == (202 if extra else 200)
    assert again.headers["x-request-id"] == first.json()["request_id"]
    assert eventually(lambda: _waiting(http, tag)) == [HAZELNUTS]
    if extra:
        # The id of the repeat's answer is that of the task.
        assert http.task(again.headers["x-request-id"]).ok["status"] in ("processing", "success")
        assert http.tasks(session_id=tag).ok["total"] == 1


@pytest.mark.parametrize("extra", [{}, {"async_mode": True}], ids=["kept", "queued"])
def test_a_repeat_over_the_other_surface_gets_the_equivalent_answer(
    http: HttpSurface, grpc_surface: GrpcSurface, tag: str, extra: dict[str, Any]
) -> None:
    for first, other in ((http, grpc_surface), (grpc_surface, http)):
        session = f"{tag}-{first.name}"
        asked = first.call("add", _batch(session) | extra, session)
        again = other.call("add", _batch(session) | extra, session)
        assert again.request_id == asked.request_id
        assert _word(again.ok) == _word(asked.ok)
        ignored = {"status"}
        assert {k: v for k, v in again.ok.items() if k not in ignored} == {
            k: v for k, v in asked.ok.items() if k not in ignored
        }
        assert eventually(partial(_waiting, http, session)) == [HAZELNUTS]
        refused = other.call("add", _batch(session, "Something else") | extra, session)
        assert refused.code == "CONFLICT"


def test_a_flush_with_a_key_tells_again_what_it_did(surface: Surface, tag: str) -> None:
    surface.call("add", _batch(tag))
    first = surface.call("flush", {"session_id": tag}, tag)
    assert _word(first.ok) == "extracted"
    assert surface.call("flush", {"session_id": tag}, tag) == first
    assert _word(surface.call("flush", {"session_id": tag}, f"{tag}-2").ok) == "no_extraction"
    assert surface.call("flush", {"session_id": tag, "wait": False}, tag).code == "CONFLICT"


def test_a_deletion_with_a_key_tells_again_what_it_did(surface: Surface, tag: str) -> None:
    surface.call("add", _batch(tag) | {"defer_extraction": True})
    target = {"session_id": tag}
    first = surface.call("delete", target, tag)
    assert first.ok["messages"] == 1
    assert surface.call("delete", target, tag) == first
    assert surface.call("delete", target).ok["deleted"] == 0
    assert surface.call("delete", target | {"user_id": "somebody"}, tag).code == "CONFLICT"


def test_a_key_counts_for_one_method_and_one_scope(surface: Surface, tag: str) -> None:
    ids = {
        surface.call("add", _batch(tag), tag).request_id,
        surface.call("flush", {"session_id": tag}, tag).request_id,
        surface.call("add", _batch(tag) | {"app_id": f"app-{tag}"}, tag).request_id,
    }
    assert len(ids) == 3


def test_a_request_that_was_refused_may_be_sent_again(surface: Surface, tag: str) -> None:
    unreadable = _batch(tag) | {
        "messages": [said([{"type": "image", "base64": "!", "ext": "png"}], f"ines-{tag}")]
    }
    assert surface.call("add", unreadable, tag).data is None
    assert surface.call("add", _batch(tag), tag).ok["message_count"] == 1
    assert _waiting(surface, tag) == [HAZELNUTS]


@pytest.mark.parametrize("key", ["with space", "k" * 257])
def test_a_key_of_another_form_is_refused_and_nothing_is_stored(
    surface: Surface, tag: str, key: str
) -> None:
    refused = surface.call("add", _batch(tag), key)
    assert refused.code == "INVALID_INPUT"
    assert refused.status in (422, "INVALID_ARGUMENT")
    assert str(refused.error).endswith(": Idempotency-Key")
    assert _waiting(surface, tag) == []


def test_requests_at_once_with_one_key_get_one_answer(
    http: HttpSurface, grpc_surface: GrpcSurface, tag: str
) -> None:
    with ThreadPoolExecutor(20) as pool:
        sent = [
            pool.submit((http, grpc_surface)[n % 2].call, "add", _batch(tag), tag)
            for n in range(20)
        ]
        answers = [each.result() for each in sent]
    assert len({answer.request_id for answer in answers}) == 1
    assert {_word(answer.ok) for answer in answers} == {"accumulated"}
    assert _waiting(http, tag) == [HAZELNUTS]


@pytest.mark.crash
def test_a_repeat_after_a_kill_gets_the_first_answer(tmp_path: Path) -> None:
    server = start_server(tmp_path / "root", **HASHING)
    before = {}
    cases = {"kept": {}, "queued": {"async_mode": True}}
    for surface in (HttpSurface(server.http), GrpcSurface(server.grpc)):
        for name, extra in cases.items():
            session = f"{surface.name}-{name}"
            before[session] = surface.call("add", _batch(session) | extra, session)
        surface.call("add", _batch(f"{surface.name}-flushed"))
        session = f"{surface.name}-flushed"
        before[session] = surface.call("flush", {"session_id": session}, session)
    server.stop(signal.SIGKILL)
    server = start_server(tmp_path / "root", **HASHING)
    http = HttpSurface(server.http)
    for surface in (http, GrpcSurface(server.grpc)):
        for name, extra in cases.items():
            session = f"{surface.name}-{name}"
            assert surface.call("add", _batch(session) | extra, session) == before[session]
            assert eventually(partial(_waiting, http, session)) == [HAZELNUTS]
        session = f"{surface.name}-flushed"
        assert surface.call("flush", {"session_id": session}, session) == before[session]
    assert server.stop() == 0


@pytest.mark.crash
def test_what_a_kill_interrupts_is_sent_again_and_stored_once(tmp_path: Path) -> None:
    """A client that sends each batch until it is answered, over a server that is killed twice."""
    root, total = tmp_path / "root", 60
    running: list[tuple[ServerProcess, tuple[HttpSurface, GrpcSurface]]] = []
    stop = threading.Event()

    def start() -> None:
        server = start_server(root, **HASHING)
        running.append((server, (HttpSurface(server.http), GrpcSurface(server.grpc))))

    def send(number: int) -> str:
        session = f"s{number % 3}"
        extra = {"async_mode": True} if number % 2 else {}
        body = _batch(session, f"Note number {number}.") | extra
        while not stop.is_set():
            surface = running[-1][1][number // 2 % 2]
            try:
                answer = surface.call("add", body, f"key-{number}")
            except (httpx.TransportError, grpc.RpcError, LookupError):
                time.sleep(0.3)  # the server needs the processor to start again
                continue
            if answer.data is not None:
                return answer.request_id
            # Full, or on its way down: only a refusal of another kind is wrong.
            assert answer.code in ("QUEUE_SATURATED", "EXTERNAL_SERVICE_UNAVAILABLE"), answer
        raise AssertionError("stopped")

    start()
    with ThreadPoolExecutor(8) as pool:
        sent = [pool.submit(send, number) for number in range(total)]
        try:
            for share in (0.2, 0.6):
                eventually(partial(_are_done, sent, int(total * share)))
                running[-1][0].stop(signal.SIGKILL)
                start()
            ids = [each.result(timeout=60) for each in sent]
        finally:
            stop.set()
    server, (http, _) = running[-1]
    assert len(set(ids)) == total
    for number, request_id in enumerate(ids[:10]):
        extra = {"async_mode": True} if number % 2 else {}
        body = _batch(f"s{number % 3}", f"Note number {number}.") | extra
        assert http.call("add", body, f"key-{number}").request_id == request_id
    eventually(lambda: not http.client.get("/health").json()["memorize_queue"]["pending"])
    for session in range(3):
        assert _word(http.call("flush", {"session_id": f"s{session}"}).ok) == "extracted"
    texts = ""
    for session in range(3):
        body = {"user_id": f"ines-s{session}", "memory_type": "episode", "page_size": 100}
        for episode in http.call("get", body).ok["episodes"]:
            texts += episode["episode"]
    assert [texts.count(f"Note number {number}.") for number in range(total)] == [1] * total
    assert server.stop() == 0
