"""A short run of what `make fuzz` does at length, and proof that it finds what is wrong."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.fuzz.__main__ import FUZZED
from tests.fuzz.running import DOCUMENT, fuzz, run
from tests.fuzz.seeding import seed_memory
from tests.support.server_process import start_server

REQUEST_ID = "0" * 32


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_requests_of_every_kind_get_answers_that_the_contract_knows(tmp_path: Path) -> None:
    server = start_server(tmp_path / "root", **FUZZED)
    try:
        seed_memory(server.http)
        found = fuzz(server.http, tmp_path, examples=3, seed=1)
    finally:
        exit_code = server.stop()
    assert not found.failed, found.output
    assert exit_code == 0
    paths = json.loads(DOCUMENT.read_text(encoding="utf-8"))["paths"]
    assert found.operations == {
        f"{verb.upper()} {path}" for path, verbs in paths.items() for verb in verbs
    }
    # Requests that are good, and such that are bad in more than one way.
    assert {200, 202, 404, 405, 422, 503} <= set(found.statuses)
    assert found.requests > 2000


@pytest.fixture
def liar() -> Iterator[tuple[str, dict[str, object]]]:
    """A server that answers what it is told to; its address, and what it answers."""
    answer: dict[str, object] = {"status": 200, "body": {"status": "ok"}}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps(answer["body"]).encode()
            self.send_response(int(str(answer["status"])))
            self.send_header("Content-Type", "application/json")
            self.send_header("X-Request-Id", REQUEST_ID)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_port}", answer
    server.shutdown()
    server.server_close()


def _fault(code: str) -> dict[str, object]:
    error = {"code": code, "message": "m", "timestamp": "2026-01-01T00:00:00Z", "path": "/"}
    return {"request_id": REQUEST_ID, "error": error}


@pytest.mark.slow
@pytest.mark.parametrize(
    "lie",
    [{"status": 418}, {"status": 500, "body": _fault("INTERNAL_ERROR")}, {"body": {"status": 5}}],
)
def test_an_answer_that_breaks_the_contract_is_found(
    liar: tuple[str, dict[str, object]], tmp_path: Path, lie: dict[str, object]
) -> None:
    address, answer = liar
    answer.update(lie)
    only = ("--include-path", "/health/live", "--phases", "fuzzing")
    found = run(address, tmp_path / "fuzz.ndjson", 1, 1, *only)
    assert found.requests > 0, found.output
    assert found.failed, found.output
