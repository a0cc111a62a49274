from __future__ import annotations

import asyncio

import pytest

from remanence_server.runtime.tasks import see_through


async def test_work_ends_although_its_caller_has_left() -> None:
    began, may_end, done = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def work() -> None:
        began.set()
        await may_end.wait()
        done.set()

    caller = asyncio.create_task(see_through(work()))
    await began.wait()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert not done.is_set()
    may_end.set()
    await asyncio.wait_for(done.wait(), 5)


async def test_a_caller_that_stays_gets_the_result_or_the_failure() -> None:
    async def answer() -> int:
        return 7

    async def fail() -> int:
        raise ValueError("no")

    assert await see_through(answer()) == 7
    with pytest.raises(ValueError, match="no"):
        await see_through(fail())
