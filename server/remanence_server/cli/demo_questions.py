"""The questions of the demo: `[{"question", "user_id" or "agent_id", "expects": "words"}]`."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from remanence_client import Client, SearchResult, to_json
from remanence_server.cli.output import CommandError

_TOP_K = 3
# What is refined after a flush (facts, cases, skills) takes a moment to be found.
_PATIENCE_SECONDS = 15.0
_PAUSE_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Question:
    """What to ask of whose memory, and words that must be in what is found."""

    question: str
    user_id: str | None
    agent_id: str | None
    expects: str

    @property
    def owner(self) -> str:
        """Whose memory is asked."""
        return self.user_id or self.agent_id or ""


def read_questions(path: Path) -> list[Question]:
    """Reads the questions. Raises CommandError naming the one that is wrong."""
    try:
        items = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise CommandError(f"{path} is not JSON: {error}") from None
    questions = []
    for number, item in enumerate(items, 1):
        try:
            question = Question(
                item["question"], item.get("user_id"), item.get("agent_id"), item["expects"]
            )
        except (AttributeError, KeyError, TypeError):
            question = None
        if question is None or (question.user_id is None) == (question.agent_id is None):
            needed = "question, expects and one of user_id and agent_id are needed"
            raise CommandError(f"{path}, question {number}: {needed}")
        questions.append(question)
    return questions


def search_until_expected(client: Client, question: Question) -> tuple[SearchResult, bool]:
    """What is found for a question and whether it holds the words expected, after some patience."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        result = client.search(
            question.question,
            user_id=question.user_id,
            agent_id=question.agent_id,
            top_k=_TOP_K,
            include_profile=question.user_id is not None,
        )
        found = "\n".join(_texts(to_json(result))).casefold()
        holds = question.expects.casefold() in found
        if holds or time.monotonic() > deadline:
            return result, holds
        time.sleep(_PAUSE_SECONDS)


def _texts(value: Any) -> list[str]:
    match value:
        case str():
            return [value]
        case dict():
            return [text for item in value.values() for text in _texts(item)]
        case list():
            return [text for item in value for text in _texts(item)]
        case _:
            return []
