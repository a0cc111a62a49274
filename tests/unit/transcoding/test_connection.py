from __future__ import annotations

import asyncio

import pytest
from starlette.requests import ClientDisconnect
from starlette.types import Message

from remanence_server.api.transcoding.connection import while_connected


class Line:
    """A connection that its client may leave."""

    def __init__(self) -> None:
        self.left = asyncio.Event()
        self.receiving = 0

    async def receive(self) -> Message:
        self.receiving += 1
        try:
            await self.left.wait()
        finally:
            self.receiving -= 1
        return {"type": "http.disconnect"}


async def test_a_call_whose_client_stays_gives_its_result_and_leaves_nothing_behind() -> None:
    line = Line()

    async def call() -> int:
        await asyncio.sleep(0.01)
        return 7

    assert await while_connected(line.receive, call()) == 7
    await asyncio.sleep(0)
    assert line.receiving == 0


async def test_a_call_whose_client_leaves_is_ended() -> None:
    line, ended = Line(), asyncio.Event()

    async def call() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    answering = asyncio.create_task(while_connected(line.receive, call()))
    await asyncio.sleep(0.01)
    line.left.set()
    with pytest.raises(ClientDisconnect):
        await answering
    assert ended.is_set()
    assert answering.cancelling() == 0


async def test_what_a_call_raises_is_raised() -> None:
    async def call() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await while_connected(Line().receive, call())


async def test_who_cancels_a_call_from_elsewhere_is_heard() -> None:
    answering = asyncio.create_task(while_connected(Line().receive, asyncio.Event().wait()))
    await asyncio.sleep(0.01)
    answering.cancel()
    with pytest.raises(asyncio.CancelledError):
        await answering
