"""Rounds of a crash test: settle what the last kill left, arm, write, die, look."""

from __future__ import annotations

import contextlib
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from remanence_server.runtime.fault_points import (
    ALLOW_VARIABLE,
    FAULT_VARIABLE,
    FaultAction,
    FaultPoint,
)
from tests.blackbox.surfaces import HttpSurface
from tests.crash.clients import GONE, close, write_all_until_gone
from tests.crash.evidence import look_after_a_kill, look_when_settled, settle
from tests.crash.ledger import Ledger
from tests.support.server_process import (
    ServerProcess,
    serve_command,
    server_environment,
    start_server,
)

HASHING = {"REMANENCE_EMBEDDINGS__PROVIDER": "hashing"}
_CHILD = "tests.crash.child"
_KILLED = -9
_START_SECONDS = 60
# The index is committed every five seconds.
_PATIENCE_SECONDS = 15.0
_HANG_SECONDS = 1.5
_DELETER = "eve"

# Passed before the server answers.
START_POINTS = frozenset(
    {FaultPoint.SCHEMA_MIGRATION, FaultPoint.START_RECOVERY, FaultPoint.LOOP_STARTED}
)
# Passed by a delete alone.
DELETE_POINTS = frozenset(point for point in FaultPoint if point.startswith("delete_"))


@dataclass(slots=True)
class Crashes:
    """A root that is killed again and again."""

    root: Path
    ledger: Ledger = field(default_factory=Ledger)
    rounds: int = 0
    kills: int = 0
    ready_seconds: list[float] = field(default_factory=list)

    def kill_at(self, point: FaultPoint, action: FaultAction, count: int = 1) -> None:
        """One kill, and what must be true of what it leaves."""
        self.rounds += 1
        fault = f"{point}:{action}:{count}"
        if point in START_POINTS:
            self._die_at_start(fault)
        elif point in DELETE_POINTS:
            self._die_of_a_delete(fault)
        else:
            server = self.start_and_look()
            _arm(server, fault)
            hangs = action is FaultAction.HANG
            patience = _HANG_SECONDS if hangs else _PATIENCE_SECONDS
            died = write_all_until_gone(server, self.ledger, self.rounds, patience)
            assert died or hangs, f"{fault} was not reached"
            assert server.stop() == _KILLED, server.log
        self.kills += 1
        look_after_a_kill(self.root, self.ledger)

    def start_and_look(self) -> ServerProcess:
        """A server that has taken up what was left, and is found to have done so."""
        server = start_server(self.root, _CHILD, **HASHING)
        try:
            self.ready_seconds.append(server.ready_after_seconds)
            surface = HttpSurface(server.http)
            while self.ledger.deletes_in_doubt:
                # Called again until it is answered, as anybody would.
                answer = surface.call("delete", self.ledger.deletes_in_doubt[0])
                assert answer.status == 200, answer
                del self.ledger.deletes_in_doubt[0]
            settle(surface, self.ledger)
            look_when_settled(self.root, surface, self.ledger)
            close(surface)
        except BaseException:
            server.process.kill()
            raise
        return server

    def finish(self) -> None:
        """The last look, and a clean stop."""
        server = self.start_and_look()
        assert server.stop() == 0
        look_after_a_kill(self.root, self.ledger)

    def _die_of_a_delete(self, fault: str) -> None:
        server = self.start_and_look()
        surface = HttpSurface(server.http)
        # Two sessions of one user, of which one is to stay.
        for doomed in (False, True):
            batch = self.ledger.next_batch(_DELETER, self.rounds, 2)
            session_id = f"{batch.session_id}-{self.rounds}-{doomed}"
            batch = batch.moved_to(session_id)
            assert surface.call("add", batch.body()).status == 200
            self.ledger.answered(_DELETER, batch)
            assert surface.call("flush", {"session_id": session_id}).status == 200
            if doomed:
                _arm(server, fault)
                with contextlib.suppress(*GONE):
                    surface.call("delete", self.ledger.delete(session_id))
        close(surface)
        assert server.process.wait(_PATIENCE_SECONDS) == _KILLED
        server.stop()

    def _die_at_start(self, fault: str) -> None:
        extra = {**HASHING, FAULT_VARIABLE: fault, ALLOW_VARIABLE: "1"}
        died = subprocess.run(
            serve_command(self.root),
            env=server_environment(extra),
            capture_output=True,
            timeout=_START_SECONDS,
            check=False,
        )
        assert died.returncode == _KILLED, died.stderr


def plan(point: FaultPoint, number: int) -> tuple[FaultPoint, FaultAction, int]:
    """How to die at a point the nth time: killed, or hung and killed; sooner or later."""
    if point is FaultPoint.MARKDOWN_HALF_APPENDED:
        return point, FaultAction.TEAR, 1 + number % 3
    rare = point in START_POINTS | DELETE_POINTS or point.startswith("index_")
    if point not in START_POINTS | DELETE_POINTS and number % 4 == 3:
        return point, FaultAction.HANG, 1
    return point, FaultAction.KILL, 1 if rare else 1 + number % 3


def _arm(server: ServerProcess, fault: str) -> None:
    assert server.process.stdin is not None
    assert server.process.stdout is not None
    server.process.stdin.write(fault + "\n")
    server.process.stdin.flush()
    deadline = time.monotonic() + 10
    while server.process.stdout.readline() != "armed\n":
        assert time.monotonic() < deadline, "not armed"
