"""Long-lived tasks that are watched: one that dies is started again and reported, never lost."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

from remanence_server.runtime.clock import Clock, SystemClock
from remanence_server.runtime.fault_points import FaultPoint, reach
from remanence_server.runtime.faults import describe_fault
from remanence_server.runtime.logging import get_logger

_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 30.0

_log = get_logger(__name__)


@dataclass(slots=True)
class LoopState:
    """How a supervised loop is doing."""

    alive: bool = True
    restarts: int = 0
    last_error_at_ms: int | None = None
    # Set to cut the pause before the next start short.
    wanted: asyncio.Event = field(default_factory=asyncio.Event)


class Supervisor:
    """Owns the background tasks of the process."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self.loops: dict[str, LoopState] = {}

    def start(self, name: str, loop: Callable[[], Awaitable[None]]) -> None:
        """Runs `loop` until it returns; when it raises, runs it again after a growing pause."""
        self.loops[name] = LoopState()
        self._tasks[name] = asyncio.create_task(self._supervise(name, loop), name=name)

    async def stop(self) -> None:
        """Cancels every task and waits for them."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        self._tasks.clear()

    def restart_now(self, name: str) -> None:
        """Starts a loop at once that waits to be started again; for others it does nothing."""
        self.loops[name].wanted.set()

    def failing(self) -> list[str]:
        """Names of loops that are between a crash and their next start."""
        return [name for name, state in self.loops.items() if not state.alive]

    async def _supervise(self, name: str, loop: Callable[[], Awaitable[None]]) -> None:
        state = self.loops[name]
        pause = _FIRST_PAUSE_SECONDS
        while True:
            started_seconds = time.monotonic()
            try:
                reach(FaultPoint.LOOP_STARTED)
                await loop()
            except asyncio.CancelledError:
                raise
            except Exception as error:
                state.alive = False
                state.restarts += 1
                state.last_error_at_ms = self._clock.now_ms()
                state.wanted.clear()
                _log.error("loop_died", loop=name, **describe_fault(error))
                if time.monotonic() - started_seconds > _LONGEST_PAUSE_SECONDS:
                    # It had been well: this is another trouble than the last one.
                    pause = _FIRST_PAUSE_SECONDS
                with suppress(TimeoutError):
                    await asyncio.wait_for(state.wanted.wait(), pause)
                pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)
                state.alive = True
            else:
                return
