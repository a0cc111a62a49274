from __future__ import annotations

import asyncio

import pytest

from remanence_server.api.request_ids import answering, current_request_id


async def test_each_request_sees_its_own_id_also_after_it_waited() -> None:
    async def answer(request_id: str) -> str:
        with answering(request_id):
            await asyncio.sleep(0.01)
            return current_request_id()

    assert await asyncio.gather(answer("a"), answer("b")) == ["a", "b"]


def test_outside_of_a_request_there_is_no_id() -> None:
    with answering("a"):
        assert current_request_id() == "a"
    with pytest.raises(LookupError):
        current_request_id()
