"""From first person to a neutral third: "I bike with my sister" to "Bikes with their sister"."""

from __future__ import annotations

import re

_IRREGULAR = {"have": "has", "do": "does", "go": "goes", "am": "is", "'m": "is", "be": "is"}
_PERSON = {
    "i": "they",
    "i'm": "they're",
    "i've": "they've",
    "i'd": "they'd",
    "i'll": "they'll",
    "me": "them",
    "my": "their",
    "mine": "theirs",
    "myself": "themselves",
    "we": "they",
    "we're": "they're",
    "we've": "they've",
    "we'll": "they'll",
    "us": "them",
    "our": "their",
    "ours": "theirs",
    "ourselves": "themselves",
    "am": "are",
}
_WORD = re.compile(r"[A-Za-z]+(?:['’][A-Za-z]+)?")


def third_person(verb: str) -> str:
    """The verb in the third person singular: "bike" to "bikes"."""
    verb = verb.lower()
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if re.search(r"[^aeiou]y$", verb):
        return f"{verb[:-1]}ies"
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{verb}es"
    return f"{verb}s"


def neutral(text: str) -> str:
    """`text` with the first person replaced by the third; nothing else changes."""

    def replace(match: re.Match[str]) -> str:
        word = match.group()
        if word in {"US", "ME", "MY"}:
            return word
        return _PERSON.get(word.replace("’", "'").lower(), word)

    return _WORD.sub(replace, text)


def sentence_case(text: str) -> str:
    """`text` with a capital first letter."""
    return text[:1].upper() + text[1:]
