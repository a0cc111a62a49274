"""What is remembered and asked in a benchmark."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

# LoCoMo numbers its categories; the fifth has no answer in the conversation and is not asked.
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
_DATE_FORMAT = "%I:%M %p on %d %B, %Y"
_MILLISECONDS_BETWEEN_TURNS = 20_000
# A message says enough in its first words to ask for it.
_WORDS_ASKED = 12
_QUESTIONS_FILE = "questions.json"

type Message = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Session:
    """One session of one owner; messages are in the JSON of the API."""

    owner_id: str
    session_id: str
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question to an owner's memory, and the sessions that hold its evidence, if known."""

    owner_id: str
    text: str
    category: str = ""
    evidence: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Dataset:
    """Sessions to import and questions to ask."""

    name: str
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]

    @property
    def message_count(self) -> int:
        """Messages of all sessions."""
        return sum(len(session.messages) for session in self.sessions)

    @property
    def has_evidence(self) -> bool:
        """Whether recall can be measured."""
        return any(question.evidence for question in self.questions)

    def queries(self, count: int) -> list[Question]:
        """`count` queries, distinct where there is enough text: a query is embedded only once."""
        texts = [*self.questions, *_openings(self.sessions)]
        distinct = list({(query.owner_id, query.text): query for query in texts}.values())
        return [distinct[number % len(distinct)] for number in range(count)]

    def first(self, owners: int) -> Dataset:
        """The part of the first few owners."""
        kept = set(list(dict.fromkeys(session.owner_id for session in self.sessions))[:owners])
        return Dataset(
            self.name,
            tuple(session for session in self.sessions if session.owner_id in kept),
            tuple(question for question in self.questions if question.owner_id in kept),
        )


def load_locomo(path: Path) -> Dataset:
    """LoCoMo: one owner a conversation, one session each of its sessions."""
    sessions: list[Session] = []
    questions: list[Question] = []
    for sample in json.loads(path.read_text(encoding="utf-8")):
        owner_id = sample["sample_id"]
        home: dict[str, str] = {}
        for number, start_ms, turns in _locomo_sessions(sample["conversation"]):
            session_id = f"{owner_id}_s{number}"
            home |= {turn["dia_id"]: session_id for turn in turns}
            messages = tuple(
                _locomo_message(owner_id, turn, start_ms + index * _MILLISECONDS_BETWEEN_TURNS)
                for index, turn in enumerate(turns)
            )
            sessions.append(Session(owner_id, session_id, messages))
        for item in sample["qa"]:
            evidence = frozenset(home[turn] for turn in item.get("evidence", ()) if turn in home)
            if evidence and item["category"] in CATEGORIES:
                category = CATEGORIES[item["category"]]
                questions.append(Question(owner_id, item["question"], category, evidence))
    return Dataset("LoCoMo", tuple(sessions), tuple(questions))


def load_examples(folder: Path) -> Dataset:
    """The example conversations of the repository; their questions have no evidence."""
    sessions = []
    for path in sorted(folder.glob("*.json")):
        if path.name == _QUESTIONS_FILE:
            continue
        conversation = json.loads(path.read_text(encoding="utf-8"))
        messages = tuple(conversation["messages"])
        users = [item["sender_id"] for item in messages if item.get("role", "user") == "user"]
        sessions.append(Session(users[0], conversation["session_id"], messages))
    asked = json.loads((folder / _QUESTIONS_FILE).read_text(encoding="utf-8"))
    questions = tuple(
        Question(item["user_id"], item["question"]) for item in asked if "user_id" in item
    )
    return Dataset("examples", tuple(sessions), questions)


def _locomo_sessions(
    conversation: Mapping[str, Any],
) -> Iterator[tuple[int, int, list[Mapping[str, Any]]]]:
    number = 1
    while (turns := conversation.get(f"session_{number}")) is not None:
        yield number, locomo_instant_ms(conversation[f"session_{number}_date_time"]), turns
        number += 1


def locomo_instant_ms(text: str) -> int:
    """Epoch milliseconds of "1:56 pm on 8 May, 2023", read as UTC."""
    moment = datetime.strptime(text, _DATE_FORMAT).replace(tzinfo=UTC)
    return int(moment.timestamp() * 1000)


def _locomo_message(owner_id: str, turn: Mapping[str, Any], timestamp_ms: int) -> Message:
    caption = turn.get("blip_caption")
    return {
        "sender_id": owner_id,
        "sender_name": turn["speaker"],
        "role": "user",
        "timestamp": timestamp_ms,
        "content": turn["text"] + (f" [shares a photo: {caption}]" if caption else ""),
    }


def _openings(sessions: tuple[Session, ...]) -> Iterator[Question]:
    for session in sessions:
        for message in session.messages:
            content = message.get("content")
            if isinstance(content, str) and content.strip():
                yield Question(session.owner_id, " ".join(content.split()[:_WORDS_ASKED]))
