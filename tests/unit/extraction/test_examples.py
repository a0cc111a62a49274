"""The examples hold what the demo asks of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from remanence_server.domain.messages import MemoryCell, Message, Role, ToolCall
from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.extraction.heuristic import HeuristicExtractor
from remanence_server.extraction.interface import CaseDraft
from remanence_server.ingest.boundary import HeuristicBoundaryDetector

EXAMPLES = Path(__file__).parents[3] / "examples"
CONVERSATIONS = sorted(path for path in EXAMPLES.glob("*.json") if path.stem != "questions")


def message_of(number: int, item: dict[str, Any]) -> Message:
    return Message(
        message_id=f"m{number}",
        sender_id=item["sender_id"],
        role=Role(item["role"]),
        timestamp_ms=item["timestamp"],
        content=item["content"],
        sender_name=item.get("sender_name"),
        tool_calls=tuple(
            ToolCall(call["id"], call["function"]["name"], call["function"]["arguments"])
            for call in item.get("tool_calls", [])
        ),
        tool_call_id=item.get("tool_call_id"),
    )


def session_in(path: Path) -> dict[str, Any]:
    session: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return session


async def cells_of(path: Path) -> list[MemoryCell]:
    session = session_in(path)
    messages = [message_of(number, item) for number, item in enumerate(session["messages"])]
    cuts = await HeuristicBoundaryDetector().detect(messages, final=True)
    return [
        MemoryCell(f"cell{start}", Scope(), session["session_id"], tuple(messages[start:end]))
        for start, end in zip((0, *cuts), cuts, strict=False)
    ]


async def remembered(extractor: HeuristicExtractor, owner: Owner) -> str:
    """Everything one owner remembers of all examples."""
    texts: list[str] = []
    for path in CONVERSATIONS:
        for cell in await cells_of(path):
            if owner.track is Track.USER and owner.owner_id in cell.user_ids():
                texts += [fact.content for fact in await extractor.extract_facts(cell, owner)]
            if owner.track is Track.AGENT and owner.owner_id in cell.agent_ids():
                case = await extractor.extract_case(cell, owner)
                if isinstance(case, CaseDraft):
                    texts += [case.task_intent, case.approach, case.key_insight or ""]
    return "\n".join(texts)


def test_there_are_five_conversations() -> None:
    assert len(CONVERSATIONS) == 5


@pytest.mark.parametrize("question", json.loads((EXAMPLES / "questions.json").read_text("utf-8")))
async def test_a_question_has_its_answer_in_what_is_remembered(
    question: dict[str, str], extractor: HeuristicExtractor
) -> None:
    track = Track.AGENT if "agent_id" in question else Track.USER
    owner = Owner(Scope(), track, question.get("agent_id") or question["user_id"])
    assert question["expects"] in await remembered(extractor, owner)


async def test_the_profile_of_alice_follows_her_year(extractor: HeuristicExtractor) -> None:
    alice = Owner(Scope(), Track.USER, "alice")
    profile = None
    for cell in await cells_of(EXAMPLES / "alice-and-helper.json"):
        profile = await extractor.update_profile(cell, alice, profile) or profile
    assert profile is not None
    summary = profile.data["summary"]
    assert "Lives in Porto" in summary
    assert "Has a cat named Miso" in summary
    assert "No longer likes bouldering" in summary
    assert "Graz" not in summary
