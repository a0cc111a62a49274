"""Owners, records and a store to write them with."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC
from pathlib import Path

import pytest

from remanence_server.domain.messages import Role
from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.domain.records import AgentCase, AtomicFact, Episode, Transcript, Turn
from remanence_server.markdown.store import MarkdownStore

# 2026-05-28T11:30:36.123Z
INSTANT_MS = 1_779_967_836_123


@pytest.fixture
def alice() -> Owner:
    return Owner(Scope(), Track.USER, "alice")


@pytest.fixture
def coder() -> Owner:
    return Owner(Scope(), Track.AGENT, "coder")


@pytest.fixture
def store(tmp_path: Path) -> MarkdownStore:
    return MarkdownStore(tmp_path, UTC)


@pytest.fixture
def episode(alice: Owner) -> Callable[..., Episode]:
    def make(number: int = 1, content: str = "Alice climbs.", **changes: object) -> Episode:
        values: dict[str, object] = {
            "owner": alice,
            "entry_id": f"ep_20260528_{number:08d}",
            "session_id": "demo-002",
            "timestamp_ms": INSTANT_MS + number,
            "sender_ids": ("alice", "helper"),
            "subject": "Alice: climbing in Yosemite",
            "summary": "Alice climbs in Yosemite.",
            "content": content,
            "parent_id": "mc_1",
        }
        return Episode(**{**values, **changes})  # type: ignore[arg-type]

    return make


@pytest.fixture
def fact(alice: Owner) -> Callable[..., AtomicFact]:
    def make(number: int = 1, content: str = "Alice loves climbing.") -> AtomicFact:
        return AtomicFact(
            owner=alice,
            entry_id=f"af_20260528_{number:08d}",
            session_id="demo-002",
            timestamp_ms=INSTANT_MS + number,
            content=content,
            parent_id="ep_20260528_00000001",
            sender_ids=("alice",),
            message_ids=("m_1", "m_2"),
        )

    return make


@pytest.fixture
def transcript(alice: Owner) -> Callable[..., Transcript]:
    def make(number: int = 1, text: str = "I love climbing.\nEvery spring!") -> Transcript:
        turns = (
            Turn("m_1", "alice", "Alice", Role.USER, INSTANT_MS, text),
            Turn("m_2", "helper", "helper", Role.ASSISTANT, INSTANT_MS + 900, "Where?"),
        )
        return Transcript(
            owner=alice,
            entry_id=f"tr_20260528_{number:08d}",
            session_id="demo-002",
            timestamp_ms=INSTANT_MS + number,
            sender_ids=("alice", "helper"),
            turns=turns,
            parent_id="ep_20260528_00000001",
        )

    return make


@pytest.fixture
def case(coder: Owner) -> Callable[..., AgentCase]:
    def make(number: int = 1, approach: str = "1. Read the log\n2. Fix the import") -> AgentCase:
        return AgentCase(
            owner=coder,
            entry_id=f"ac_20260528_{number:08d}",
            session_id="demo-002",
            timestamp_ms=INSTANT_MS + number,
            task_intent="Make the build pass",
            approach=approach,
            quality_score=0.85,
            key_insight="The lock file was stale",
            sender_ids=("dana", "coder"),
            parent_id="mc_1",
        )

    return make
