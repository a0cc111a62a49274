"""How a rule's match becomes a claim: tidied, in the third person, if it tells something."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from remanence_server.extraction.heuristic.lexicon import STOP_WORDS
from remanence_server.extraction.heuristic.profile.grammar import (
    neutral,
    sentence_case,
    third_person,
)
from remanence_server.extraction.heuristic.profile.statement import Claim
from remanence_server.extraction.heuristic.words import fold, words

Render = Callable[[re.Match[str]], "Claim | None"]

# What trails a place or a job and is no part of it.
_TRAILING = re.compile(
    r"\s*,?\s+(?:now|these days|currently|at the moment|right now|today|yesterday|already|again|"
    r"in\s+(?:\d{4}|january|february|march|april|may|june|july|august|september|october|november|"
    r"december)(?:\s+\d{4})?|last\s+\w+|this\s+\w+|recently|earlier|"
    r"\w+\s+(?:days?|weeks?|months?|years?)\s+ago|"
    r"and\s+(?:I|it|it['’]s|we|they)\b.*|anymore|any more|too|as well|though|actually|"
    r"btw|for now|by the way)$",
    re.IGNORECASE,
)
_MAXIMUM_DESCRIPTION_CHARACTERS = 160
# One may like and want whatever is in sight.
_ABOUT_ANYTHING = frozenset({"likes", "dislikes", "goals", "favourites"})


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern at the start of a first-person clause, and the claim it makes.

    `openers` are the first letters, in lower case, of the clauses it can match.
    """

    openers: str
    pattern: re.Pattern[str]
    render: Render


# Pointing at something a reader of the profile does not see.
_POINTING = re.compile(
    r"\b(?:you|your|yours|this|these|those|it|its|here|there|him|his|her|hers|them|they|their)\b|"
    r"^(?:all\s+)?the\s+(?!\w+$)(?!.*\s(?-i:[A-Z]))",
    re.IGNORECASE,
)


def tidy(text: str) -> str:
    """An object without what trails it, in the third person."""
    text = text.strip(" ,.!*_~")
    if text.count('"') % 2 or (text[:1] in "\"“'‘" and text[-1:] in "\"”'’"):
        text = text.replace('"', "").strip("“”‘’'")
    while (shorter := _TRAILING.sub("", text)) != text:
        text = shorter
    return neutral(text)


def is_proper(text: str) -> bool:
    """Whether a name begins here: a capital, or a script without capitals."""
    first = re.sub(r"^(?:the|a|an|my|our)\s+", "", text.strip(), flags=re.IGNORECASE)[:1]
    return bool(first) and not first.islower()


def tells(thing: str) -> bool:
    """Whether an object has a word of content in it."""
    return any(fold(word) not in STOP_WORDS for word in words(thing))


def claim(category: str, phrase: str, *, ends: bool = False) -> Claim | None:
    """A claim, unless the phrase is too short or too long for a profile."""
    phrase = " ".join(phrase.split())
    if not 3 <= len(phrase) <= _MAXIMUM_DESCRIPTION_CHARACTERS:
        return None
    return Claim(category, sentence_case(phrase), ends)


def said(category: str, lead: str, *, ends: bool = False, proper: bool = False) -> Render:
    """`lead` followed by the object."""

    def render(match: re.Match[str]) -> Claim | None:
        thing = tidy(match["o"])
        if (lead and not tells(thing)) or (proper and not is_proper(thing)):
            return None
        if category in _ABOUT_ANYTHING and _POINTING.search(match["o"]):
            return None
        return claim(category, f"{lead} {thing}" if lead else thing, ends=ends)

    return render


def fixed(category: str, phrase: str, *, ends: bool = False) -> Render:
    """Always the same phrase."""
    return lambda match: claim(category, phrase, ends=ends)


def verb(category: str) -> Render:
    """The verb in the third person, then the object."""

    def render(match: re.Match[str]) -> Claim | None:
        thing = tidy(match["o"])
        if not tells(thing) or (category in _ABOUT_ANYTHING and _POINTING.search(match["o"])):
            return None
        return claim(category, f"{third_person(match['v'])} {thing}")

    return render


def labelled(category: str, *, needs_substance: bool = False) -> Render:
    """`Key: value`, for "my … is …"."""

    def render(match: re.Match[str]) -> Claim | None:
        value = tidy(match["o"])
        substance = any(character.isdigit() for character in value) or is_proper(value)
        if not value or (needs_substance and not substance):
            return None
        return claim(category, f"{neutral(match['k'])}: {value}")

    return render


def favourite(match: re.Match[str]) -> Claim | None:
    """`Favourite tea: jasmine`."""
    value = tidy(match["o"].split(", ")[0])
    if not tells(value) or _POINTING.search(value):
        return None
    return claim("favourites", f"Favourite {match['k'].strip().lower()}: {value}")


def name(match: re.Match[str]) -> Claim | None:
    """`Name: Alice`; `sure` holds what makes a word without capital a name."""
    name = match["o"].strip(" .,!")
    if (
        re.match(r"not\b", name, re.IGNORECASE)
        or len(name.split()) > 3
        or not (is_proper(name) or match["sure"])
    ):
        return None
    return claim("name", f"Name: {name if is_proper(name) else name.title()}")


def works(match: re.Match[str]) -> Claim | None:
    """`Works as`, `at`, `in` or `with`; work at home or on something is no employer."""
    thing = tidy(match["o"])
    preposition = match["p"].lower()
    if preposition != "as" and re.match(r"(?:it|that|this|home|least|night)\b", thing, re.I):
        return None
    if preposition in {"for", "with"} and is_proper(thing):
        preposition = "at" if preposition == "for" else "with"
    return claim("work", f"Works {preposition} {thing}")


def relative(match: re.Match[str]) -> Claim | None:
    """A relative by name, or by what they do."""
    relative = sentence_case(" ".join(match["r"].lower().split()))
    name = match["n"] or ""
    rest = neutral((match["rest"] or "").strip(" ,."))
    if name and not is_proper(name):
        return None
    if not name and not rest:
        return None
    shown = f"{relative} {name}".strip()
    return claim("family", f"{shown} {rest}".strip() if rest else f"{relative}: {name}")


def status(match: re.Match[str]) -> Claim | None:
    """Married, single and the like."""
    return claim("family", tidy(match["o"]))


def habit(match: re.Match[str]) -> Claim | None:
    """The verb in the third person, with how often."""
    often = f"{match['f'].lower()} " if match["f"] else ""
    return claim("habits", f"{often}{third_person(match['v'])} {tidy(match['o'])}")


def age(match: re.Match[str]) -> Claim | None:
    """An age that a person can have."""
    return claim("age", f"{match['o']} years old") if 3 <= int(match["o"]) <= 120 else None


def rules(*rows: tuple[str, Render]) -> tuple[Rule, ...]:
    """The rows, compiled; how a pattern is written tells which clauses it can match."""
    return tuple(
        Rule(_openers(pattern), re.compile(pattern, re.IGNORECASE), render)
        for pattern, render in rows
    )


def _openers(pattern: str) -> str:
    if pattern.startswith("my"):
        return "m"
    return "i" + ("w" if "(?:I|We)" in pattern else "") + ("c" if "call" in pattern else "")
