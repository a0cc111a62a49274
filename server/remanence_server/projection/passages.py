"""What a record is found by: its passages, each in a recall channel.

Recall is multi-granular. An episode is found by its own words, by its facts, and by the turns
behind it; what is found climbs to the episode. Windows of neighbouring turns serve the words (an
answer often repeats nothing of its question), single turns serve the vectors (a window blurs them).
docs/retrieval.md has the measurements.
"""

from __future__ import annotations

from collections.abc import Iterator

from remanence_server.domain.records import (
    AgentCase,
    AgentSkill,
    AtomicFact,
    Episode,
    Profile,
    Record,
    Transcript,
    Turn,
)
from remanence_server.index.catalogue.changes import PassageDraft
from remanence_server.projection.chunks import chunk_text

EPISODE_CHANNEL = "episode"
FACT_CHANNEL = "fact"
WINDOW_CHANNEL = "window"
TURN_CHANNEL = "turn"
CASE_CHANNEL = "case"
SKILL_CHANNEL = "skill"

# Bump when the rules below change: stored passages are then made anew.
RULES_VERSION = 2

# Turns before and after a turn that share its window.
_TURNS_BEFORE = 2
_TURNS_AFTER = 1
# A neighbour lends its context, not its bulk: a long one would crowd out the turn itself.
_NEIGHBOUR_CHARACTERS = 400
# Above this a text is cut into several passages; about 250 tokens, what the model reads at once.
_DENSE_CHARACTERS = 1_000
_LEXICAL_CHARACTERS = 4_000
# Passages of one turn are numbered behind it, so that the turn can be read off the ordinal.
# More than the largest request could make of one.
CHUNKS_PER_TURN = 1_000_000


def passages_of(record: Record) -> tuple[PassageDraft, ...]:
    """The passages of a record, in a fixed order. A profile is looked up: it has none."""
    match record:
        case Episode():
            return tuple(_episode(record))
        case AtomicFact():
            return tuple(_lexical(FACT_CHANNEL, record.content))
        case Transcript():
            return tuple(_transcript(record))
        case AgentCase():
            text = "\n".join(filter(None, (record.task_intent, record.key_insight)))
            return (
                *_lexical(CASE_CHANNEL, f"{text}\n{record.approach}"),
                *_dense(CASE_CHANNEL, text),
            )
        case AgentSkill():
            text = f"{record.name}\n{record.description}"
            return (
                *_lexical(SKILL_CHANNEL, f"{text}\n{record.content}"),
                *_dense(SKILL_CHANNEL, text),
            )
        case Profile():
            return ()


def turn_of(ordinal: int) -> int:
    """The index of the turn that a passage of a transcript belongs to."""
    return ordinal // CHUNKS_PER_TURN


def _episode(episode: Episode) -> Iterator[PassageDraft]:
    yield from _lexical(EPISODE_CHANNEL, f"{episode.subject}\n{episode.content}")
    yield from _dense(EPISODE_CHANNEL, f"{episode.subject}\n{episode.summary}")


def _transcript(transcript: Transcript) -> Iterator[PassageDraft]:
    turns = transcript.turns
    for index, turn in enumerate(turns):
        first = index * CHUNKS_PER_TURN
        before = turns[max(0, index - _TURNS_BEFORE) : index]
        after = turns[index + 1 : index + 1 + _TURNS_AFTER]
        for number, chunk in enumerate(chunk_text(turn.text, _LEXICAL_CHARACTERS)):
            lines = [
                *(_line(other, other.text[-_NEIGHBOUR_CHARACTERS:]) for other in before),
                _line(turn, chunk),
                *(_line(other, other.text[:_NEIGHBOUR_CHARACTERS]) for other in after),
            ]
            yield PassageDraft(WINDOW_CHANNEL, first + number, "\n".join(lines), dense=False)
        for number, chunk in enumerate(chunk_text(turn.text, _DENSE_CHARACTERS)):
            yield PassageDraft(TURN_CHANNEL, first + number, _line(turn, chunk), lexical=False)


def _line(turn: Turn, text: str) -> str:
    return f"{turn.speaker}: {text}"


def _lexical(channel: str, text: str) -> Iterator[PassageDraft]:
    for number, chunk in enumerate(chunk_text(text, _LEXICAL_CHARACTERS)):
        yield PassageDraft(channel, number, chunk, dense=False)


def _dense(channel: str, text: str) -> Iterator[PassageDraft]:
    # Behind every lexical passage of the record: an ordinal is used once in a channel.
    for number, chunk in enumerate(chunk_text(text, _DENSE_CHARACTERS)):
        yield PassageDraft(channel, CHUNKS_PER_TURN + number, chunk, lexical=False)
