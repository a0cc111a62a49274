"""A real `remanence serve` in a child process, on free ports and a root of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SERVER = "remanence_server.cli.main"
_START_TIMEOUT_SECONDS = 60
_STOP_TIMEOUT_SECONDS = 40


@dataclass(slots=True)
class ServerProcess:
    """A running server."""

    process: subprocess.Popen[str]
    root: Path
    http: str
    grpc: str
    ready_line: str
    ready_after_seconds: float

    def stop(self, with_signal: signal.Signals = signal.SIGTERM) -> int:
        """Ends the server and returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(with_signal)
        code = self.process.wait(_STOP_TIMEOUT_SECONDS)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        return code

    @property
    def log(self) -> str:
        """What the server has written to stderr so far."""
        return _log_path(self.root).read_text(encoding="utf-8")

    def resident_bytes(self) -> int:
        """Resident memory of the process."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        raise LookupError("no VmRSS")


def start_server(
    root: Path, module: str = SERVER, prefix: Sequence[str] = (), **environment: str
) -> ServerProcess:
    """Starts a server and waits until it says that it is ready.

    `module` is the program, `prefix` a command that runs it.
    """
    started = time.monotonic()
    root.mkdir(parents=True, exist_ok=True)
    with _log_path(root).open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
            [*prefix, *serve_command(root, module)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=server_environment(environment),
        )
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line.startswith("ready:"):
        process.kill()
        process.wait()
        raise RuntimeError(f"no ready line, but {line!r}; log: {_log_path(root).read_text()}")
    if time.monotonic() - started > _START_TIMEOUT_SECONDS:
        raise RuntimeError("the server took too long to start")
    note = json.loads((root / ".run" / "server.json").read_text())
    return ServerProcess(
        process, root, note["http"], note["grpc"], line.strip(), time.monotonic() - started
    )


def serve_command(root: Path, module: str = SERVER) -> list[str]:
    """The command line of a server on free ports."""
    return [
        sys.executable,
        "-m",
        module,
        "serve",
        "--root",
        str(root),
        "--http",
        "127.0.0.1:0",
        "--grpc",
        "127.0.0.1:0",
    ]


def server_environment(extra: dict[str, str]) -> dict[str, str]:
    """The environment of a server: no settings but those given."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("REMANENCE_")}
    # Two servers of a parallel test run would each take both cores for one embedding.
    return {**clean, "REMANENCE_EMBEDDINGS__THREADS": "1", **extra}


def _log_path(root: Path) -> Path:
    return root.with_name(root.name + ".log")
