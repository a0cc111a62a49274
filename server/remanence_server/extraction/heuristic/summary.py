"""A summary in the words of the conversation: whole sentences, attributed and dated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo

from remanence_server.extraction.heuristic.answers import asked_before
from remanence_server.extraction.heuristic.conversation import Conversation, Line
from remanence_server.extraction.heuristic.informative import (
    THRESHOLD,
    is_question,
    points_back,
    weight,
)
from remanence_server.extraction.heuristic.ranking import MAXIMUM_RANKED, lexical_centrality
from remanence_server.extraction.heuristic.sentences import clip, without_annotation
from remanence_server.extraction.heuristic.spans import show_day
from remanence_server.extraction.heuristic.words import CJK, one_line
from remanence_server.runtime.instants import day_of

# A summary aims at the first length and never exceeds the second.
_AIM_CHARACTERS = 220
MAXIMUM_SUMMARY_CHARACTERS = 400
_LONGEST_SENTENCE = 260
_ASSISTANT_SHARE = 0.4
_QUESTION_SHARE = 0.5
# "It was great": out of its place a reader does not know what was.
_POINTS_BACK_SHARE = 0.6


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence that may be in the summary. `telling` is its weight on its own."""

    line: Line
    text: str
    telling: float


def candidates_of(conversation: Conversation) -> tuple[Candidate, ...]:
    """The sentences to rank: those that tell something, or all if none does."""
    found = []
    previous: Line | None = None
    for line in conversation.lines:
        asked = asked_before(line, previous, conversation)
        previous = line
        if not line.concerns_owner:
            continue
        if asked is not None:
            answer = one_line(" ".join(line.sentences()))
            found.append(Candidate(line, f"(asked “{asked}”) {answer}", THRESHOLD))
            continue
        for sentence in line.sentences():
            value = weight(
                without_annotation(sentence),
                conversation.name_parts,
                to_assistant=conversation.with_assistant and not line.is_assistant,
            )
            value *= _ASSISTANT_SHARE if line.is_assistant else 1.0
            value *= _QUESTION_SHARE if is_question(sentence) else 1.0
            value *= _POINTS_BACK_SHARE if points_back(sentence) else 1.0
            found.append(Candidate(line, one_line(sentence), value))
    telling = [candidate for candidate in found if candidate.telling > 0] or found
    if len(telling) > MAXIMUM_RANKED:
        best = sorted(range(len(telling)), key=lambda at: (-telling[at].telling, at))
        telling = [telling[at] for at in sorted(best[:MAXIMUM_RANKED])]
    return tuple(telling)


def summarize(conversation: Conversation, zone: tzinfo) -> str:
    """The summary; empty if nobody said a word."""
    if not conversation.lines:
        return ""
    candidates = candidates_of(conversation)
    centrality = lexical_centrality([candidate.text for candidate in candidates])
    day = show_day(day_of(conversation.lines[0].message.timestamp_ms, zone))
    if not candidates:
        words = one_line(conversation.lines[0].text)
        return clip(f"{day}. {conversation.lines[0].speaker}: {words}", MAXIMUM_SUMMARY_CHARACTERS)
    scores = [
        candidate.telling * (1.0 + float(central))
        for candidate, central in zip(candidates, centrality, strict=True)
    ]
    chosen: list[int] = []
    length = len(day)
    for at in sorted(range(len(candidates)), key=lambda at: (-scores[at], at)):
        size = _size(candidates[at].text) + len(candidates[at].line.speaker) + 3
        if _size(candidates[at].text) > _LONGEST_SENTENCE or _repeats(candidates, chosen, at):
            continue
        if length + size > MAXIMUM_SUMMARY_CHARACTERS or (chosen and length >= _AIM_CHARACTERS):
            continue
        chosen.append(at)
        length += size
    if not chosen:
        # Every sentence is too long to stand whole: the most telling one, visibly cut.
        chosen = [max(range(len(candidates)), key=lambda at: (scores[at], -at))]
    parts = [f"{day}."]
    speaker = None
    for at in sorted(chosen):
        candidate = candidates[at]
        if candidate.line.speaker != speaker:
            speaker = candidate.line.speaker
            parts.append(f"{clip(speaker, 60, '…')}:")
        parts.append(clip(candidate.text, MAXIMUM_SUMMARY_CHARACTERS - 80))
    return " ".join(parts)


def _size(text: str) -> int:
    """The length of a text; an ideograph says as much as two letters, and counts as two."""
    return len(text) if text.isascii() else len(text) + len(CJK.findall(text))


def _repeats(candidates: Sequence[Candidate], chosen: Sequence[int], at: int) -> bool:
    words = set(candidates[at].text.casefold().split())
    return any(
        len(words & set(candidates[other].text.casefold().split())) * 2 > len(words)
        for other in chosen
    )
