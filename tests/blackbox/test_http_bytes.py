"""HTTP as bytes: odd lines, headers, lengths and bodies get the envelope at once, and no more."""

from __future__ import annotations

import json
import re
import socket
from typing import Any

import pytest

from tests.support.server_process import ServerProcess

SEARCH = "/api/v2/memory/search"
JSON = "Content-Type: application/json"
GOOD = b'{"user_id":"nobody","query":"x","method":"keyword"}'
TIMEOUT_SECONDS = 10


class Connection:
    """One connection, used for several requests."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), timeout=TIMEOUT_SECONDS)
        self._received = b""

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *error: object) -> None:
        self._socket.close()

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def answer(self) -> tuple[int, dict[str, str], Any]:
        """Status, headers and JSON of the next answer. Raises ConnectionError when none comes."""
        head = self._until(b"\r\n\r\n").decode("latin-1").split("\r\n")
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in head[1:] if line)
        }
        status = int(head[0].split()[1])
        body = self._exactly(int(headers.get("content-length", "0")))
        return status, headers, json.loads(body) if body else None

    def is_closed(self) -> bool:
        return not self._received and self._socket.recv(1) == b""

    def still_works(self) -> bool:
        self.send(b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n")
        return self.answer()[2] == {"status": "ok"}

    def _until(self, mark: bytes) -> bytes:
        while mark not in self._received:
            self._receive()
        head, self._received = self._received.split(mark, 1)
        return head

    def _exactly(self, count: int) -> bytes:
        while len(self._received) < count:
            self._receive()
        body, self._received = self._received[:count], self._received[count:]
        return body

    def _receive(self) -> None:
        data = self._socket.recv(65536)
        if not data:
            raise ConnectionError("the server closed the connection")
        self._received += data


def request(method: str, target: str, body: bytes | None = None, *headers: str) -> bytes:
    """The bytes of a request; a body has its length announced."""
    lines = [f"{method} {target} HTTP/1.1", "Host: x", *headers]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + (body or b"")


def is_error(answer: tuple[int, dict[str, str], Any], status: int, code: str) -> dict[str, str]:
    assert answer[0] == status, answer
    _, headers, payload = answer
    assert headers["content-type"] == "application/json"
    assert set(payload) == {"request_id", "error"}
    assert re.fullmatch(r"[0-9a-f]{32}", payload["request_id"])
    assert headers["x-request-id"] == payload["request_id"]
    error: dict[str, str] = payload["error"]
    assert set(error) == {"code", "message", "timestamp", "path"}
    assert error["code"] == code, error
    assert re.search(r"[+-]\d\d:\d\d$", error["timestamp"])
    assert len(error["message"]) < 500
    return error


# What is answered, and leaves the connection as good as before.
ROUTES: list[tuple[bytes, int, str]] = [
    (request("GET", "/nope"), 404, "NOT_FOUND"),
    (request("POST", "/nope", b"x" * 200_000), 404, "NOT_FOUND"),
    (request("GET", "/health/"), 404, "NOT_FOUND"),
    (request("POST", f"{SEARCH}/", GOOD, JSON), 404, "NOT_FOUND"),
    (request("POST", SEARCH.replace("/api", "/API"), GOOD, JSON), 404, "NOT_FOUND"),
    (request("POST", f"/{SEARCH}", GOOD, JSON), 404, "NOT_FOUND"),
    (request("POST", "/api/v2/../v2/memory/search", GOOD, JSON), 404, "NOT_FOUND"),
    (request("POST", "/api/v3/memory/search", GOOD, JSON), 404, "NOT_FOUND"),
    (request("GET", "/api/v2/memory/%zz%ff"), 404, "NOT_FOUND"),
    (request("GET", "/api/v2/tasks/%00"), 404, "NOT_FOUND"),
    (request("GET", "/api/v2/tasks/a%2Fb"), 404, "NOT_FOUND"),
    (request("GET", "/api/v2/tasks/%ff%fe"), 404, "NOT_FOUND"),
    (request("GET", f"/api/v2/tasks/{'a' * 50_000}"), 404, "NOT_FOUND"),
    (request("OPTIONS", "*"), 404, "NOT_FOUND"),
    (request("GET", SEARCH), 405, "METHOD_NOT_ALLOWED"),
    (request("OPTIONS", SEARCH), 405, "METHOD_NOT_ALLOWED"),
    (request("PUT", SEARCH, b"x" * 200_000), 405, "METHOD_NOT_ALLOWED"),
    (request("POST", "/health", b"{}", JSON), 405, "METHOD_NOT_ALLOWED"),
    (request("DELETE", "/api/v1/memory/add"), 405, "METHOD_NOT_ALLOWED"),
]


def _body(body: bytes, *headers: str) -> bytes:
    return request("POST", SEARCH, body, *(headers or (JSON,)))


def _with(field: bytes) -> bytes:
    return _body(b'{"user_id":"u","query":"x",%s}' % field)


BODIES: list[tuple[bytes, int, str]] = [
    (_body(GOOD, "Content-Type: text/plain"), 422, "INVALID_INPUT"),
    (_body(GOOD, "Content-Type: application/x-www-form-urlencoded"), 422, "INVALID_INPUT"),
    (_body(GOOD, "Content-Type: multipart/form-data"), 422, "INVALID_INPUT"),
    (_body(GOOD, "X-No: type"), 422, "INVALID_INPUT"),
    (_body(GOOD, f"{JSON}; charset=utf-16"), 422, "INVALID_INPUT"),
    (_body(GOOD, f"{JSON}; charset=latin1"), 422, "INVALID_INPUT"),
    (_body(GOOD, JSON, "Content-Encoding: gzip"), 415, "UNSUPPORTED_FORMAT"),
    (_body(GOOD, JSON, "Content-Encoding: br"), 415, "UNSUPPORTED_FORMAT"),
    (_body(GOOD.decode().encode("utf-16")), 400, "BAD_REQUEST"),
    (_body(GOOD.replace(b"nobody", b"\xff\xfe")), 400, "BAD_REQUEST"),
    (_body(b""), 422, "INVALID_INPUT"),
    (_body(b"  \n "), 422, "INVALID_INPUT"),
    (_body(b"null"), 422, "INVALID_INPUT"),
    (_body(b"5"), 422, "INVALID_INPUT"),
    (_body(b'"x"'), 422, "INVALID_INPUT"),
    (_body(b"[%s]" % GOOD), 422, "INVALID_INPUT"),
    (_body(GOOD[:-1]), 422, "INVALID_INPUT"),
    (_body(GOOD[:-1] + b",}"), 422, "INVALID_INPUT"),
    (_body(GOOD + GOOD), 422, "INVALID_INPUT"),
    (_body(b"\xef\xbb\xbf" + GOOD), 422, "INVALID_INPUT"),
    (_body(b"{/*a*/}"), 422, "INVALID_INPUT"),
    (_body(b"{'query': 'x'}"), 422, "INVALID_INPUT"),
    (_with(b'"radius":NaN'), 422, "INVALID_INPUT"),
    (_with(b'"radius":-Infinity'), 422, "INVALID_INPUT"),
    (_with(b'"radius":1e400'), 422, "INVALID_INPUT"),
    (_with(b'"top_k":1e400'), 422, "INVALID_INPUT"),
    (_with(b'"top_k":' + b"9" * 400), 422, "INVALID_INPUT"),
    (_with(b'"top_k":' + b"9" * 5000), 422, "INVALID_INPUT"),
    (_with(b'"top_k":9007199254740993.0'), 422, "INVALID_INPUT"),
    (_with(b'"filters":{"timestamp":18446744073709551616}'), 422, "INVALID_INPUT"),
    (_with(b'"filters":{"timestamp":1.5}'), 422, "INVALID_INPUT"),
    (_with(b'"app_id":null'), 422, "INVALID_INPUT"),
    (_with(b'"method":null'), 422, "INVALID_INPUT"),
    (_with(b'"top_k":null'), 422, "INVALID_INPUT"),
    (_with(b'"include_profile":null'), 422, "INVALID_INPUT"),
    (_with(b'"include_profile":"true"'), 422, "INVALID_INPUT"),
    (_with(b'"\\ud800":1'), 422, "INVALID_INPUT"),
    (_with(b'"app_id":"\\ud800"'), 422, "INVALID_INPUT"),
    (_with(b'"app_id":"a\x00"'), 422, "INVALID_INPUT"),
    (_with(b'"%s":1' % (b"k" * 100_000)), 422, "INVALID_INPUT"),
    (_with(b'"filters":{"%s":"x"}' % (b"k" * 100_000)), 422, "INVALID_INPUT"),
    (_with(b'"filters":%s1%s' % (b'{"AND":[' * 900, b"]}" * 900)), 422, "INVALID_INPUT"),
    (_with(b'"filters":%s' % (b"[" * 100_000)), 422, "INVALID_INPUT"),
]


@pytest.mark.parametrize(("sent", "status", "code"), [*ROUTES, *BODIES])
def test_a_refusal_comes_in_the_envelope_and_the_connection_goes_on(
    server: ServerProcess, sent: bytes, status: int, code: str
) -> None:
    with Connection(server.http) as connection:
        connection.send(sent)
        answer = connection.answer()
        is_error(answer, status, code)
        if status == 405:
            assert answer[1]["allow"]
        assert connection.still_works()


@pytest.mark.parametrize(
    "sent",
    [
        _body(GOOD, "CONTENT-TYPE: APPLICATION/JSON"),
        _body(GOOD, "Content-Type: application/vnd.api+json"),
        _body(GOOD, 'Content-Type: application/json;charset="UTF-8"'),
        _body(GOOD, JSON, "Content-Encoding: identity"),
        request("POST", SEARCH.replace("search", "%73earch"), GOOD, JSON),
        request("POST", f"{SEARCH}?unknown=%ff", GOOD, JSON),
        _with(b'"user_id":"v","top_k":5.0'),
        _with(b'"radius":-0.0,"filters":{"timestamp":{"gte":1767225600000.0}}'),
        _with(b'"app_id":"\\u0000","filters":null,"agent_id":null,"radius":null'),
    ],
)
def test_odd_but_right_requests_are_answered(server: ServerProcess, sent: bytes) -> None:
    with Connection(server.http) as connection:
        connection.send(sent)
        status, _, payload = connection.answer()
        assert (status, set(payload)) == (200, {"request_id", "data"}), payload
        assert connection.still_works()


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 50,
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"nonsense\r\n\r\n",
        b"GET / HTTP/9.9\r\nHost: x\r\n\r\n",
        b"get /health HTTP/1.1\r\nHost: x\r\n\r\n",
        request("GET", "/api/v2/tasks/ä"),
        request("POST", SEARCH, None, JSON, "Content-Length: -5"),
        request("POST", SEARCH, None, JSON, "Content-Length: 5", "Content-Length: 6") + b"abcdef",
        request("POST", SEARCH, None, JSON, "Transfer-Encoding: chunked") + b"zz\r\nx\r\n",
        request("POST", SEARCH, None, "Transfer-Encoding: chunked", "Content-Length: 5") + b"0\r\n",
        request("GET", f"/health/live?{'a' * 100_000}"),
        b"GET /health/live HTTP/1.1\r\nX-Endless: " + b"a" * 500_000,
        b"GET /health/live HTTP/1.1\r\n" + b"X-Many: a\r\n" * 50_000,
    ],
)
def test_what_is_no_http_gets_the_envelope_and_the_connection_ends(
    server: ServerProcess, sent: bytes
) -> None:
    with Connection(server.http) as connection:
        try:
            connection.send(sent)
            is_error(connection.answer(), 400, "BAD_REQUEST")
            assert connection.is_closed()
        except ConnectionResetError:
            # It stops reading in the middle; the answer may then be lost on the way.
            assert len(sent) > 64 * 1024
    with Connection(server.http) as another:
        assert another.still_works()


def test_a_chunked_body_is_read_whole(server: ServerProcess) -> None:
    with Connection(server.http) as connection:
        connection.send(request("POST", SEARCH, None, JSON, "Transfer-Encoding: chunked"))
        for piece in (GOOD[:7], GOOD[7:]):
            connection.send(b"%x\r\n%s\r\n" % (len(piece), piece))
        connection.send(b"0\r\n\r\n")
        assert connection.answer()[0] == 200
        assert connection.still_works()


def test_a_client_that_asks_first_is_told_to_go_on(server: ServerProcess) -> None:
    with Connection(server.http) as connection:
        asking = request("POST", SEARCH, None, JSON, "Expect: 100-continue")
        connection.send(asking.replace(b"\r\n\r\n", b"\r\nContent-Length: %d\r\n\r\n" % len(GOOD)))
        assert connection.answer()[0] == 100
        connection.send(GOOD)
        assert connection.answer()[0] == 200
        assert connection.still_works()


def test_a_body_announced_too_large_is_refused_before_it_is_sent(server: ServerProcess) -> None:
    with Connection(server.http) as connection:
        headers = (JSON, "Expect: 100-continue", "Content-Length: 99999999999")
        connection.send(request("POST", SEARCH, None, *headers))
        is_error(connection.answer(), 413, "PAYLOAD_TOO_LARGE")


def test_pipelined_requests_are_answered_in_their_order(server: ServerProcess) -> None:
    with Connection(server.http) as connection:
        missing = request("GET", "/nope")
        connection.send(_body(GOOD) + missing + _body(GOOD) + missing)
        assert [connection.answer()[0] for _ in range(4)] == [200, 404, 200, 404]
        assert connection.still_works()


def test_a_client_of_http_1_0_is_answered_once(server: ServerProcess) -> None:
    with Connection(server.http) as connection:
        connection.send(b"GET /health/live HTTP/1.0\r\n\r\n")
        assert connection.answer()[0] == 200
        assert connection.is_closed()


def test_requests_in_small_pieces_are_no_head_without_end(server: ServerProcess) -> None:
    with Connection(server.http) as connection:
        sent = request("GET", "/health/live", None, "X-Long: " + "a" * 60_000)
        for start in range(0, len(sent), 10_000):
            connection.send(sent[start : start + 10_000])
        assert connection.answer()[0] == 200
        for _ in range(3):
            connection.send(sent)
            assert connection.answer()[0] == 200
