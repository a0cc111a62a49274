"""A workshop in the folder of the test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.support.workshop import Workshop, WorkshopPlan, open_workshop


@pytest.fixture
async def workshop(tmp_path: Path) -> AsyncIterator[Workshop]:
    """Projecting, with no job running."""
    async with open_workshop(tmp_path, WorkshopPlan(work=False)) as opened:
        yield opened


@pytest.fixture
async def still(tmp_path: Path) -> AsyncIterator[Workshop]:
    """Nothing runs until the test starts it."""
    async with open_workshop(tmp_path, WorkshopPlan(project=False, work=False)) as opened:
        yield opened
