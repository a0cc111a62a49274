from __future__ import annotations

import asyncio

import pytest

from remanence_server.runtime import supervision
from remanence_server.runtime.clock import ManualClock
from remanence_server.runtime.supervision import Supervisor


async def test_a_loop_that_dies_is_reported_and_started_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(supervision, "_FIRST_PAUSE_SECONDS", 0.05)
    supervisor = Supervisor()
    runs = 0
    again = asyncio.Event()

    async def loop() -> None:
        nonlocal runs
        runs += 1
        if runs == 1:
            raise RuntimeError("died")
        again.set()
        await asyncio.Event().wait()

    supervisor.start("loop", loop)
    await asyncio.sleep(0.01)
    assert supervisor.failing() == ["loop"]
    async with asyncio.timeout(5):
        await again.wait()
    assert supervisor.failing() == []
    assert supervisor.loops["loop"].restarts == 1
    await supervisor.stop()


async def test_a_loop_that_is_wanted_does_not_wait_out_its_pause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(supervision, "_FIRST_PAUSE_SECONDS", 60.0)
    clock = ManualClock()
    supervisor = Supervisor(clock)
    runs = 0

    async def loop() -> None:
        nonlocal runs
        runs += 1
        if runs == 1:
            raise RuntimeError("died")
        await asyncio.Event().wait()

    supervisor.start("loop", loop)
    supervisor.restart_now("loop")  # it has not died yet: this is not remembered
    await asyncio.sleep(0.01)
    assert (runs, supervisor.failing()) == (1, ["loop"])
    assert supervisor.loops["loop"].last_error_at_ms == clock.now_ms()
    supervisor.restart_now("loop")
    await asyncio.sleep(0.01)
    assert (runs, supervisor.failing()) == (2, [])
    await supervisor.stop()


async def test_a_loop_that_ends_by_itself_stays_ended() -> None:
    supervisor = Supervisor()
    runs = 0

    async def loop() -> None:
        nonlocal runs
        runs += 1

    supervisor.start("loop", loop)
    await asyncio.sleep(0.05)
    assert runs == 1
    assert supervisor.failing() == []
    await supervisor.stop()


async def test_stopping_ends_every_loop() -> None:
    supervisor = Supervisor()
    ended: list[str] = []

    async def loop() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("loop")

    supervisor.start("a", loop)
    supervisor.start("b", loop)
    await asyncio.sleep(0.01)
    await supervisor.stop()
    assert ended == ["loop", "loop"]
