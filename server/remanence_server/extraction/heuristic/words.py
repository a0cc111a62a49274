"""Words and terms of a text, in scripts with spaces and without."""

from __future__ import annotations

import re
from functools import lru_cache

from remanence_server.extraction.heuristic.lexicon import STOP_WORDS

# Kana, Han, Hangul.
_CJK_CLASS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
CJK = re.compile(f"[{_CJK_CLASS}]")
CJK_RUN = re.compile(f"[{_CJK_CLASS}]+")
# Vowel signs and points, which are no letters to `re`: Latin, Hebrew, Arabic, Indic, Thai.
MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u0655\u0900-\u0963\u0966-\u0dff\u0e00-\u0eff"
WORD = re.compile(rf"[^\W_][\w{MARKS}]*(?:[.'’\-][^\W_][\w{MARKS}]*)*")
_LETTER = re.compile(r"[^\W\d_]")
_SPACES = re.compile(r"\s+")


def words(text: str) -> list[str]:
    """The words of `text` as written; a run of CJK text is one word."""
    return WORD.findall(text)


@lru_cache(maxsize=16_384)
def fold(word: str) -> str:
    """A word for comparing: case and the shape of its apostrophe do not count."""
    return word.replace("’", "'").casefold()


def is_cjk(text: str) -> bool:
    """Whether most letters of `text` are kana, Han or Hangul."""
    if text.isascii():
        return False
    dense = len(CJK.findall(text))
    others = len(_LETTER.findall(text)) - dense
    # An ideograph or a syllable says about as much as two letters.
    return dense > 0 and dense * 2 >= others


def one_line(text: str) -> str:
    """`text` with every run of white space as one space."""
    return _SPACES.sub(" ", text).strip()


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """A folded word without possessive and plural, enough to see that two are one."""
    word = fold(word)
    word = word.removesuffix("'s").removesuffix("s'")
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def terms(text: str) -> list[str]:
    """What two texts have in common if they are about one thing: stems, and CJK bigrams."""
    found = []
    for word in WORD.findall(text):
        if CJK.search(word):
            for run in CJK_RUN.findall(word):
                found += [run[at : at + 2] for at in range(max(len(run) - 1, 1))]
        elif (folded := fold(word)) not in STOP_WORDS:
            found.append(stem(folded))
    return found
