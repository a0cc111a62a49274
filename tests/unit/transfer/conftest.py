"""A workshop in the folder of the test, at work."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.support.workshop import Workshop, open_workshop


@pytest.fixture
async def workshop(tmp_path: Path) -> AsyncIterator[Workshop]:
    """The whole write path."""
    async with open_workshop(tmp_path / "root") as opened:
        yield opened
