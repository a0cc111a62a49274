"""A cell's statements by its owner, and the profile they lead to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from remanence_server.domain.messages import Role
from remanence_server.domain.owners import Owner
from remanence_server.domain.records import Profile
from remanence_server.extraction.heuristic.conversation import Conversation, Line
from remanence_server.extraction.heuristic.profile.claims import claims_of
from remanence_server.extraction.heuristic.profile.english import english_claims
from remanence_server.extraction.heuristic.profile.statement import Claim, Statement
from remanence_server.extraction.heuristic.profile.update import has_speakers, updated
from remanence_server.extraction.heuristic.sentences import without_annotation
from remanence_server.extraction.heuristic.words import fold, one_line, words

_BARE_ANSWER_WORDS = 6
# A question about the person, and the sentence that a bare answer to it amounts to.
_ASKED: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), stated)
    for pattern, stated in (
        (r"what(?:'s|’s| is) your name|what (?:should|can|may) I call you", "my name is {}"),
        (r"where (?:do you live|are you (?:based|living)|did you move to)", "I live in {}"),
        (r"where are you (?:originally )?from|where did you grow up", "I grew up in {}"),
        (r"what do you do(?: for (?:a living|work))?\s*\?|what is your job", "I work as {}"),
        (r"where do you work", "I work at {}"),
        (r"(?:any|have) allergies|what are you allergic to", "I am allergic to {}"),
        (r"when(?:'s|’s| is) your birthday", "my birthday is {}"),
        (r"what(?:'s|’s| is) your favou?rite (?P<k>[\w' -]{2,30})\?", "my favourite {k} is {}"),
        (r"how old are you", "I am {} years old"),
    )
)  # fmt: skip
_PRESENTS = re.compile(
    r"^I(?:['’]m|\s+am)\s+(?P<name>[^\W\d_][\w'’-]*)(?:\s+[A-Z][\w'’-]*)?[.!,]?(?=$|\s+and\b)"
)
_GREETING = re.compile(r"^(?:hi|hello|hey|good\s+(?:morning|evening|afternoon))\b", re.IGNORECASE)
# "We adopted a cat. His name is Miso."
_NAMES_IT = re.compile(
    r"^(?:[Hh]is|[Hh]er|[Ii]ts|[Tt]heir)\s+names?\s+(?:is|are)\s+(?P<name>[A-Z][\w'’-]*(?:\s+and\s+[A-Z][\w'’-]*)?)"
)
_NAMELESS = frozenset({"pets", "family"})
_NO_ANSWER = re.compile(
    r"^(?:yes|no|nope|yep|yeah|not|none|nothing|never|why|i|it|that|well|hmm|maybe|sorry|guess|thanks|"
    r"ok|okay|sure|my|the same|same|both|neither)\b",
    re.IGNORECASE,
)


def update_profile(
    conversation: Conversation, owner: Owner, current: Profile | None, source: str | None = None
) -> Profile | None:
    """The profile with what the owner says of themselves here, or None if that is nothing new.

    `source` is the entry id of the episode that this conversation is.
    """
    data = current.data if current is not None else {}
    several = len(conversation.owner_names()) > 1 or has_speakers(data)
    result = updated(data, _statements(conversation, with_speaker=several), source)
    if result is None:
        return None
    earlier_ms = current.timestamp_ms if current is not None else 0
    return Profile(owner, result, max(earlier_ms, result["profile_timestamp_ms"]))


def _statements(conversation: Conversation, *, with_speaker: bool) -> Iterator[Statement]:
    previous: Line | None = None
    for line in conversation.lines:
        if line.is_owner and line.message.role is Role.USER:
            yield from _of_line(line, previous, line.speaker if with_speaker else None)
        previous = line


def _of_line(line: Line, previous: Line | None, speaker: str | None) -> Iterator[Statement]:
    found: list[Statement] = []
    before = ""
    for sentence in line.sentences():
        spoken = one_line(without_annotation(sentence))
        named = _NAMES_IT.match(spoken)
        if (
            named
            and found
            and found[-1].claim.category in _NAMELESS
            and found[-1].evidence == before
        ):
            found[-1] = _with_name(found[-1], named["name"], spoken)
            continue
        claims = claims_of(spoken)
        if (name := _presented(spoken, before, line)) is not None:
            claims = (Claim("name", f"Name: {name}"), *claims)
        found += (
            Statement(claim, spoken, line.message.message_id, line.message.timestamp_ms, speaker)
            for claim in claims
        )
        before = spoken
    yield from found
    if previous is not None and previous.speaker != line.speaker:
        stated = _answer(line.text, list(previous.sentences())[-1:])
        for claim in english_claims(stated) if stated else ():
            evidence = (
                f"{one_line(next(reversed(list(previous.sentences()))))} — {one_line(line.text)}"
            )
            yield Statement(
                claim, evidence, line.message.message_id, line.message.timestamp_ms, speaker
            )


def _with_name(statement: Statement, name: str, sentence: str) -> Statement:
    claim = replace(statement.claim, description=f"{statement.claim.description} named {name}")
    return replace(statement, claim=claim, evidence=f"{statement.evidence} {sentence}")


def _presented(sentence: str, before: str, line: Line) -> str | None:
    """The name in "I'm Alice", told from "I'm Catholic" by a greeting or by the sender's name."""
    match = _PRESENTS.match(sentence)
    if match is None or not match["name"][0].isupper():
        return None
    known = {fold(part) for part in words(f"{line.speaker} {line.message.sender_id}")}
    if fold(match["name"]) in known or _GREETING.match(before):
        return match["name"]
    return None


def _answer(text: str, asked: list[str]) -> str | None:
    """A bare answer and its question as one statement in the first person."""
    answer = text.strip().rstrip(".!")
    if not asked or len(words(answer)) > _BARE_ANSWER_WORDS or not words(answer):
        return None
    if _NO_ANSWER.match(answer) or answer.endswith("?"):
        return None
    for pattern, stated in _ASKED:
        match = pattern.search(asked[0])
        if match:
            answer = re.sub(r"^(?:in|at|to|from)\s+", "", answer, flags=re.IGNORECASE)
            return stated.format(answer, **match.groupdict())
    return None
