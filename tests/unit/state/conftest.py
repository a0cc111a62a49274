from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from remanence_server.domain.messages import Message, Role
from remanence_server.state.database import Database
from remanence_server.state.schema import SCHEMA, SCHEMA_VERSION


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "system.db", SCHEMA, SCHEMA_VERSION)
    yield opened
    opened.close()


def message(text: str, message_id: str = "", timestamp_ms: int = 1_779_967_836_000) -> Message:
    return Message(
        message_id=message_id,
        sender_id="alice",
        role=Role.USER,
        timestamp_ms=timestamp_ms,
        content=text,
    )
