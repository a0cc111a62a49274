"""The forms that a model fills in, and what is kept of what it wrote.

An item that does not hold is left out, the others count; an answer without its frame is a failure.
Unknown keys are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from remanence_server.extraction.heuristic.words import one_line
from remanence_server.providers.models import FailureReason, ModelAnswer, ModelError


def _line(value: Any) -> Any:
    return one_line(value) if isinstance(value, str) else value


def _stripped(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value


Line = Annotated[str, BeforeValidator(_line), Field(min_length=1)]
Text = Annotated[str, BeforeValidator(_stripped), Field(min_length=1)]


class Answer(BaseModel):
    """A form, or an item of one."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class EpisodeAnswer(Answer):
    """What happened."""

    subject: Line
    summary: Line
    episode: Text


class FactAnswer(Answer):
    """One statement with the short names of the messages that say it."""

    text: Line
    message_ids: Annotated[list[str], Field(min_length=1)]


class FactsAnswer(Answer):
    """The statements of a conversation; each is a `FactAnswer`, checked one by one."""

    facts: list[Any]


class StatementAnswer(Answer):
    """What the owner says of themselves, and the short name of the message that says it."""

    category: Line
    description: Line
    message_id: str
    ends: bool = False


class StatementsAnswer(Answer):
    """What a conversation adds to a profile; each is a `StatementAnswer`, checked one by one."""

    statements: list[Any]


class CaseAnswer(Answer):
    """What an agent learned."""

    worth_keeping: bool = True
    task_intent: Line
    approach: Text
    quality_score: Annotated[float, Field(strict=False, ge=0, le=1)]
    key_insight: Annotated[str, BeforeValidator(_line)] | None = None


def _object(properties: Mapping[str, Any], required: Sequence[str]) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": list(required)}


_TEXT = {"type": "string"}

EPISODE_SCHEMA = _object(
    {"subject": _TEXT, "summary": _TEXT, "episode": _TEXT}, ("subject", "summary", "episode")
)
FACTS_SCHEMA = _object(
    {
        "facts": {
            "type": "array",
            "items": _object(
                {"text": _TEXT, "message_ids": {"type": "array", "items": _TEXT}},
                ("text", "message_ids"),
            ),
        }
    },
    ("facts",),
)
PROFILE_SCHEMA = _object(
    {
        "statements": {
            "type": "array",
            "items": _object(
                {
                    "category": _TEXT,
                    "description": _TEXT,
                    "message_id": _TEXT,
                    "ends": {"type": "boolean"},
                },
                ("category", "description", "message_id"),
            ),
        }
    },
    ("statements",),
)
CASE_SCHEMA = _object(
    {
        "worth_keeping": {"type": "boolean"},
        "task_intent": _TEXT,
        "approach": _TEXT,
        "quality_score": {"type": "number", "minimum": 0, "maximum": 1},
        "key_insight": _TEXT,
    },
    ("worth_keeping", "task_intent", "approach", "quality_score"),
)


def read_answer[A: Answer](form: type[A], answer: ModelAnswer) -> A:
    """The first candidate that has the form. Raises ModelError SCHEMA_MISMATCH."""
    for candidate in answer.candidates:
        try:
            return form.model_validate(candidate)
        except ValidationError:
            continue
    raise ModelError(FailureReason.SCHEMA_MISMATCH)


def read_items[A: Answer](
    form: type[A], items: Sequence[Any], holds: Callable[[A], bool]
) -> list[A]:
    """The items that have the form and hold.

    Raises ModelError SCHEMA_MISMATCH when there are items and not one has the form: then it is the
    answer that is wrong, not an item.
    """
    formed = []
    for item in items:
        try:
            formed.append(form.model_validate(item))
        except ValidationError:
            continue
    if items and not formed:
        raise ModelError(FailureReason.SCHEMA_MISMATCH)
    return [item for item in formed if holds(item)]
