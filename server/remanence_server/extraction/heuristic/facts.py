"""Facts: each sentence that tells something, verbatim, with its speaker and its dates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import tzinfo

from remanence_server.domain.messages import Message
from remanence_server.extraction.heuristic.answers import asked_before
from remanence_server.extraction.heuristic.conversation import Conversation, Line
from remanence_server.extraction.heuristic.dates import annotation
from remanence_server.extraction.heuristic.informative import (
    THRESHOLD,
    points_back,
    weight,
)
from remanence_server.extraction.heuristic.profile.claims import claims_of
from remanence_server.extraction.heuristic.words import one_line
from remanence_server.extraction.interface import FactDraft
from remanence_server.runtime.instants import day_of

# Each fact is embedded: a cell with more is a document, and its head, its tail and its most
# telling parts stand for it. The episode and the transcript hold all of it.
MAXIMUM_FACTS = 200
# An assistant's answer is long where the user's words are few; its best sentences are enough.
_MAXIMUM_OF_ASSISTANT_TURN = 6
_ASSISTANT_THRESHOLD = THRESHOLD + 2.0
# A sentence that points back ("It was…") is kept with the one it points to, up to this length.
_JOINED_CHARACTERS = 280


@dataclass(frozen=True, slots=True)
class _Statement:
    """A candidate: the words, who says them where, and how much they tell."""

    line: Line
    text: str
    weight: float
    question: Line | None = None
    asked: str = ""


def extract_facts(conversation: Conversation, zone: tzinfo) -> tuple[FactDraft, ...]:
    """The facts of a conversation: people first, then the assistant, each in the order said."""
    from_people: list[_Statement] = []
    from_assistant: list[_Statement] = []
    previous: Line | None = None
    for line in conversation.lines:
        if line.concerns_owner:
            statements = list(_statements(line, previous, conversation))
            if line.is_assistant:
                from_assistant += _best(statements)
            else:
                from_people += statements
        previous = line
    drafts: dict[str, FactDraft] = {}
    for statement in _bounded(from_people + from_assistant):
        draft = _draft(statement, zone)
        drafts.setdefault(draft.content.casefold(), draft)
    return tuple(drafts.values())


def _statements(
    line: Line, previous: Line | None, conversation: Conversation
) -> Iterator[_Statement]:
    """What one turn says, its pronouns kept with what they stand for."""
    to_assistant = conversation.with_assistant and not line.is_assistant
    asked = asked_before(line, previous, conversation)
    if previous is not None and asked is not None:
        yield _Statement(line, " ".join(line.sentences()), THRESHOLD + 1.0, previous, asked)
        return
    threshold = _ASSISTANT_THRESHOLD if line.is_assistant else THRESHOLD
    pending: _Statement | None = None
    follows = False
    for sentence in line.sentences():
        value = weight(sentence, conversation.name_parts, to_assistant=to_assistant)
        if value < threshold and not line.is_assistant and claims_of(sentence):
            # "I am a nurse" is short of words, not of meaning.
            value = threshold
        if value < threshold:
            follows = False
            continue
        if (
            pending is not None
            and follows
            and points_back(sentence)
            and len(pending.text) + len(sentence) < _JOINED_CHARACTERS
        ):
            pending = _Statement(line, f"{pending.text} {sentence}", pending.weight + value)
        else:
            if pending is not None:
                yield pending
            pending = _Statement(line, sentence, value)
        follows = True
    if pending is not None:
        yield pending


def _best(statements: list[_Statement]) -> list[_Statement]:
    """The most telling statements of an assistant's turn, in the order said."""
    kept = sorted(range(len(statements)), key=lambda at: (-statements[at].weight, at))
    return [statements[at] for at in sorted(kept[:_MAXIMUM_OF_ASSISTANT_TURN])]


def _bounded(statements: list[_Statement]) -> list[_Statement]:
    """At most `MAXIMUM_FACTS`: the head, the tail, and the most telling between them."""
    seen: dict[tuple[str, str], _Statement] = {}
    for statement in statements:
        seen.setdefault((statement.line.speaker, statement.text.casefold()), statement)
    distinct = list(seen.values())
    if len(distinct) <= MAXIMUM_FACTS:
        return distinct
    end = MAXIMUM_FACTS // 4
    middle = range(end, len(distinct) - end)
    best = sorted(middle, key=lambda at: (-distinct[at].weight, at))[: MAXIMUM_FACTS - 2 * end]
    return [*distinct[:end], *(distinct[at] for at in sorted(best)), *distinct[-end:]]


def _draft(statement: _Statement, zone: tzinfo) -> FactDraft:
    line, question = statement.line, statement.question
    message: Message = line.message
    spoken = one_line(statement.text)
    dates = annotation(spoken, day_of(message.timestamp_ms, zone))
    sources: tuple[Message, ...]
    if question is None:
        content = f"{line.speaker}: {spoken}"
        sources = (message,)
    else:
        content = f"{line.speaker}, asked “{statement.asked}”: {spoken}"
        sources = (question.message, message)
    return FactDraft(
        content=f"{content} {dates}" if dates else content,
        message_ids=tuple(source.message_id for source in sources),
        timestamp_ms=message.timestamp_ms,
        sender_ids=tuple(dict.fromkeys(source.sender_id for source in reversed(sources))),
    )
