"""A service of the demo's own, in a child process."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from remanence_client import Client
from remanence_server.cli.output import CommandError
from remanence_server.runtime.root import read_server_note

_START_TIMEOUT_SECONDS = 60.0
_STOP_TIMEOUT_SECONDS = 40.0
_PAUSE_SECONDS = 0.05


@contextmanager
def running_demo_server(root: Path, log: Path, environment: Mapping[str, str]) -> Iterator[Client]:
    """A client of a service on free ports, which stops at the end.

    The demo shows the defaults: settings of the environment do not reach the service.

    Raises:
        CommandError: it does not start; the text holds the last line that it wrote.
    """
    command = [sys.executable, "-m", "remanence_server.cli.main", "serve", "--root", str(root)]
    command += ["--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0"]
    clean = {key: value for key, value in environment.items() if not key.startswith("REMANENCE_")}
    with log.open("w", encoding="utf-8") as lines:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=lines, stderr=lines, env=clean
        )
    try:
        with Client(_address(process, root, log)) as client:
            client.wait_until_ready()
            yield client
    finally:
        process.terminate()
        try:
            process.wait(_STOP_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _address(process: subprocess.Popen[bytes], root: Path, log: Path) -> str:
    deadline = time.monotonic() + _START_TIMEOUT_SECONDS
    while time.monotonic() < deadline:
        note = read_server_note(root)
        if note is not None:
            return note.grpc
        if process.poll() is not None:
            break
        time.sleep(_PAUSE_SECONDS)
    written = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    said = written[-1] if written else "it said nothing"
    raise CommandError(f"the service did not start: {said}")
