"""Short ways to say who says what, and to have it extracted."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from remanence_server.domain.messages import MemoryCell, Message, Role, ToolCall
from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.extraction.heuristic import HeuristicExtractor

# Thursday, 28 May 2026, 11:30 UTC.
START_MS = int(datetime(2026, 5, 28, 11, 30, tzinfo=UTC).timestamp() * 1000)
ASSISTANTS = frozenset({"helper", "bot", "otherbot"})

Say = Callable[..., MemoryCell]


@pytest.fixture
def say() -> Say:
    """Builds a cell from (speaker, text) pairs, one minute apart."""

    def build(
        *rows: tuple[str, str], start_ms: int = START_MS, step_ms: int = 60_000
    ) -> MemoryCell:
        messages = tuple(
            Message(
                message_id=f"m{number}",
                sender_id=speaker.lower(),
                role=Role.ASSISTANT if speaker in ASSISTANTS else Role.USER,
                timestamp_ms=start_ms + number * step_ms,
                content=text,
                sender_name=None if speaker in ASSISTANTS else speaker,
            )
            for number, (speaker, text) in enumerate(rows)
        )
        return MemoryCell("cell", Scope(), "session", messages)

    return build


class ToolRun:
    """Builds the cell of an agent's run, row by row."""

    def __init__(self) -> None:
        self._rows: list[Message] = []

    def _add(self, sender_id: str, role: Role, text: str, **more: Any) -> ToolRun:
        number = len(self._rows)
        self._rows.append(
            Message(f"m{number}", sender_id, role, START_MS + number * 1000, text, **more)
        )
        return self

    def user(self, text: str) -> ToolRun:
        return self._add("maya", Role.USER, text)

    def agent(self, text: str, sender_id: str = "bot") -> ToolRun:
        return self._add(sender_id, Role.ASSISTANT, text)

    def calls(
        self, *calls: tuple[str, str, Any], remark: str = "", sender_id: str = "bot"
    ) -> ToolRun:
        """Each call is (id, tool name, arguments)."""
        made = tuple(
            ToolCall(call_id, name, args if isinstance(args, str) else json.dumps(args))
            for call_id, name, args in calls
        )
        return self._add(sender_id, Role.ASSISTANT, remark, tool_calls=made)

    def result(self, call_id: str, text: str) -> ToolRun:
        return self._add("tool", Role.TOOL, text, tool_call_id=call_id)

    def step(self, call_id: str, name: str, arguments: Any, result: str) -> ToolRun:
        return self.calls((call_id, name, arguments)).result(call_id, result)

    def cell(self) -> MemoryCell:
        return MemoryCell("cell", Scope(), "run", tuple(self._rows))


@pytest.fixture
def run() -> ToolRun:
    return ToolRun()


@pytest.fixture
def extractor() -> HeuristicExtractor:
    return HeuristicExtractor()


@pytest.fixture
def user() -> Callable[[str], Owner]:
    return lambda name: Owner(Scope(), Track.USER, name)


@pytest.fixture
def agent() -> Owner:
    return Owner(Scope(), Track.AGENT, "bot")


@pytest.fixture
def facts_of(
    extractor: HeuristicExtractor, user: Callable[[str], Owner]
) -> Callable[[MemoryCell, str], Any]:
    """The contents of the facts of an owner."""

    async def extract(cell: MemoryCell, owner_id: str) -> Sequence[str]:
        return [fact.content for fact in await extractor.extract_facts(cell, user(owner_id))]

    return extract
