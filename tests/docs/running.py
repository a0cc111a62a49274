"""Runs the commands of the documentation against a real server.

Addresses are replaced; the rest of an example is what the page says.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import grpc
import httpx
from google.protobuf import json_format
from grpc_health.v1 import health_pb2, health_pb2_grpc

from remanence.v2 import memory_pb2, memory_pb2_grpc
from remanence_client import Client
from tests.docs.pages import REPOSITORY, Block
from tests.support.server_process import ServerProcess

HTTP_ADDRESS = "127.0.0.1:8000"
GRPC_ADDRESS = "127.0.0.1:50051"
CALLS_SERVER = frozenset({"curl", "grpcurl", "remanence"})
# Set-up and upkeep of a machine: looked at, or tested on their own, but not run as they stand.
NOT_RUN = frozenset({"git", "pip", "rm", "tar"})
_PATIENCE_SECONDS = 20.0
# What is compared to the letter; of everything else, keys and types.
_EXACT_KEYS = frozenset(
    {"code", "content", "disabled_features", "id", "message", "message_count", "path", "role"}
    | {"sender_id", "session_id", "status", "task_intent", "type", "user_id", "version"}
)


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs examples on one server; `home` is what `~` stands for."""

    server: ServerProcess
    home: Path

    def run(self, block: Block, expected: Block | None) -> None:
        """Runs a block of commands, and compares the last answer with the JSON that follows it."""
        answer: Any = None
        commands = commands_of(block.text)
        assert commands, f"{block.place}: no command"
        for command in commands:
            answer = self._command(command, block)
        if expected is None:
            return
        documented = json.loads(expected.text)
        deadline = time.monotonic() + _PATIENCE_SECONDS
        # What is made after a flush may come a moment later.
        while (difference := difference_of(documented, answer)) and time.monotonic() < deadline:
            time.sleep(0.1)
            answer = self._command(commands[-1], block)
        assert difference is None, f"{expected.place}: {difference}\n{json.dumps(answer, indent=1)}"

    def python(self, block: Block) -> str:
        """Executes a Python example; returns what it printed."""
        source = block.text.replace(GRPC_ADDRESS, self.server.grpc)
        printed = io.StringIO()
        with Client(self.server.grpc) as client, contextlib.redirect_stdout(printed):
            # A fragment may use what the text before it introduced.
            names = {"client": client, "datetime": datetime, "UTC": UTC}
            exec(compile(source, block.place, "exec"), names)
        return printed.getvalue()

    def _command(self, words: list[str], block: Block) -> Any:
        program = words[0].rpartition("/")[2]
        runners: dict[str, Callable[[list[str]], Any]] = {
            "cp": self._copy,
            "curl": self._curl,
            "grpcurl": self._grpcurl,
            "make": check_make_target,
            "remanence": self._remanence,
        }
        if program in NOT_RUN:
            return None
        assert program in runners, f"{block.place}: nobody runs {program}"
        return runners[program](words[1:])

    def _curl(self, words: list[str]) -> Any:
        method, url, body = "GET", "", None
        headers: dict[str, str] = {}
        rest = iter(words)
        for word in rest:
            if word == "-X":
                method = next(rest)
            elif word == "-H":
                name, _, value = next(rest).partition(":")
                headers[name] = value.strip()
            elif word == "-d":
                body = next(rest)
                method = "POST"
            elif word != "-s":
                assert not word.startswith("-"), f"curl {word} is not known here"
                url = word
        assert HTTP_ADDRESS in url, url
        url = url.replace(HTTP_ADDRESS, self.server.http)
        answer = httpx.request(method, url, headers=headers, content=body, timeout=60)
        if not answer.headers["content-type"].startswith("application/json"):
            assert answer.is_success, answer.text
            return answer.text
        payload = answer.json()
        assert answer.is_success != ("error" in payload), payload
        return payload

    def _grpcurl(self, words: list[str]) -> Any:
        assert words[0] == "-plaintext"
        body = words[2] if words[1] == "-d" else "{}"
        address, name = [word for word in words[1:] if word not in ("-d", body)][:2]
        assert address == GRPC_ADDRESS
        with grpc.insecure_channel(self.server.grpc) as channel:
            if name == "grpc.health.v1.Health/Check":
                stub: Any = health_pb2_grpc.HealthStub(channel)
                return _shown(stub.Check(health_pb2.HealthCheckRequest(), timeout=10))
            if name in ("list", "describe"):
                return None  # reflection has its own tests
            service, _, method = name.partition("/")
            assert service == "remanence.v2.MemoryService"
            request = json_format.Parse(body, getattr(memory_pb2, f"{method}Request")())
            call = getattr(memory_pb2_grpc.MemoryServiceStub(channel), method)
            return _shown(call(request, timeout=60))

    def _copy(self, words: list[str]) -> None:
        assert words[0] == "-a", "only whole folders are copied here"
        source, target = self._at_home(words[1:])
        shutil.copytree(source, target)

    def _at_home(self, words: list[str]) -> list[str]:
        return [word.replace("~", str(self.home)) if word[0] == "~" else word for word in words]

    def _remanence(self, words: list[str]) -> Any:
        words = self._at_home(words)
        environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(self.home),
            "REMANENCE_ROOT": str(self.server.root),
        }
        done = subprocess.run(
            [sys.executable, "-m", "remanence_server.cli.main", *words],
            cwd=REPOSITORY,
            env=environment,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout


def commands_of(text: str) -> list[list[str]]:
    """The commands of a shell block as words. Quotes and backslashes may go over lines."""
    commands: list[list[str]] = []
    waiting = ""
    for line in text.splitlines():
        waiting += line
        if waiting.endswith("\\"):
            waiting = waiting[:-1] + " "
            continue
        try:
            words = shlex.split(waiting, comments=True)
        except ValueError:
            waiting += "\n"  # a quote is still open
            continue
        waiting = ""
        if words:
            commands.append(words)
    assert not waiting.strip(), f"this command does not end: {waiting}"
    return commands


def check_make_target(words: list[str]) -> None:
    """Fails unless every target of a `make` call is in the Makefile."""
    for word in words:
        assert "=" in word or word in make_targets(), f"no target {word} in the Makefile"


def make_targets() -> set[str]:
    """The targets of the Makefile that `make help` lists."""
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE))


def difference_of(documented: Any, actual: Any, place: str = "answer") -> str | None:
    """Where an answer is not as documented: its keys, its types, and what must be the same."""
    if isinstance(documented, dict):
        if not isinstance(actual, dict) or documented.keys() != actual.keys():
            keys = sorted(actual) if isinstance(actual, dict) else actual
            return f"{place} has {keys}, documented are {sorted(documented)}"
        return next(
            (
                difference
                for key, value in documented.items()
                if (difference := _difference_at(key, value, actual[key], f"{place}.{key}"))
            ),
            None,
        )
    if isinstance(documented, list):
        if not isinstance(actual, list) or bool(documented) != bool(actual):
            return f"{place} is {actual!r}"
        return difference_of(documented[0], actual[0], f"{place}.0") if documented else None
    if isinstance(documented, (int, float)) and not isinstance(documented, bool):
        is_number = isinstance(actual, (int, float)) and not isinstance(actual, bool)
        return None if is_number else f"{place} is {actual!r}"
    return None if type(documented) is type(actual) else f"{place} is {actual!r}"


def _difference_at(key: str, documented: Any, actual: Any, place: str) -> str | None:
    if key in _EXACT_KEYS and documented != actual and not _is_request_id(documented):
        return f"{place} is {actual!r}, documented is {documented!r}"
    return difference_of(documented, actual, place)


def _is_request_id(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{32}", value) is not None


def _shown(message: Any) -> Any:
    return json_format.MessageToDict(message)
