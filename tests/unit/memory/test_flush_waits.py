"""How long a flush waits for the index, which follows in its own time."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.workshop import WorkshopPlan, open_workshop, said

from remanence_server.domain.owners import Scope
from remanence_server.memory.write import AddBatch, WriteStatus, add_messages, flush_session


@pytest.mark.parametrize("seconds", [0.0, 0.6])
async def test_a_flush_whose_entries_cannot_be_found_answers_when_its_time_is_up(
    tmp_path: Path, seconds: float
) -> None:
    async with open_workshop(tmp_path, WorkshopPlan(project=False)) as workshop:
        path = replace(workshop.path, visibility_timeout_seconds=seconds)
        batch = AddBatch(Scope(), "s", [said("I love climbing.")], defer_extraction=True)
        await add_messages(path, batch)
        began = time.monotonic()
        status = await flush_session(path, Scope(), "s", wait_until_visible=True)
        waited = time.monotonic() - began
        assert status is WriteStatus.EXTRACTED
        assert workshop.entry_ids()
        assert seconds <= waited
        assert waited < 8
