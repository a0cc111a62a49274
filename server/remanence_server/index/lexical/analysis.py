"""From text to terms: what makes a passage and a question meet.

A passage's terms are the union of three families, which never collide:

- words: segmented, lower-cased, stemmed by the engine (`Words`);
- n-grams: single characters and pairs of the scripts that put no spaces between words, so that a
  question need not be segmented as the passage was, and a single character can be found;
- symbols: chunks between spaces that hold more than letters (`c++`, `tier1-test`, an address, a
  path), kept whole, because segmentation takes them apart.

Questions go through the same steps, without stop words as long as other words remain.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

# Segments and stems a normalised text.
Words = Callable[[str], list[str]]

# Distinct terms of a question that count. A pasted document as question would cost seconds
# otherwise; what a passage is about shows in its first terms.
MAX_QUERY_TERMS = 256
# Characters of a question that are looked at: enough for MAX_QUERY_TERMS of any language.
MAX_QUERY_CHARACTERS = 8_192
# Longer chunks are data (base64, hashes of hashes), not something a person asks for.
_MAX_SYMBOL_CHARACTERS = 128

# A single character of a longer run says little: it breaks ties and rescues what pairs miss.
_SINGLE_CHARACTER_WEIGHT = 0.2

# Han, kana, bopomofo, hangul; Thai, Lao, Myanmar, Khmer.
_UNSPACED = (
    "\u3005-\u3007\u3041-\u3096\u3099-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U000323af"
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u1000-\u103f\u1780-\u17d3"
)
_UNSPACED_RUN = re.compile(f"[{_UNSPACED}]+")
_CHUNK = re.compile(rf"[^\s\x00-\x1f\x7f{_UNSPACED}]+")
# Edges that belong to the sentence. What can begin or end a name (`.net`, `-rf`, `/usr`, `@jo`,
# `c#`, `c++`, `50%`) stays.
_LEADING = "\"'`([{<«“‘‚„,;:!?…*=|>"
_TRAILING = "\"'`)]}>»”’.,;:!?…*=|<"
_MARKS_ON_LATIN = re.compile(r"([A-Za-z])[\u0300-\u036f]+")
# Where the segmentation sees one word and people see several: `read_file`, `name:value`,
# `lunch.Then`, `example.org`. The whole is a symbol too.
_JOINT = re.compile(r"[_.:](?:(?<=_)|(?<=[^\W\d_].)(?=[^\W\d_]))")
_LETTERS = re.compile(r"[^\W\d_]+")
_CAMEL = re.compile(r"[a-z][A-Z]")
_CAMEL_SEAM = re.compile(r"(?<=[a-z])(?=[A-Z])")

# Words that a question asks with rather than about. Longer than the engine's list: dropping
# question words and auxiliaries gains 1 point of recall@5 on turns of conversations, 2 on sessions.
_STOP_WORDS = """
a about again all also am an and any are as at be been being both but by can could did do does
doing done each few for from further had has have having he her here him his how i i'd i'll i'm
i've if in into is it it's its just may me might more most my no nor not now of on once only or
other our out over own same shall she should so some such than that that's the their them then
there these they they're this those to too up us very was we were what what's when where which
who whom whose why will with would you you're your yours
"""
STOP_WORDS: tuple[str, ...] = tuple(_STOP_WORDS.split())


def normalise(text: str) -> str:
    """One form for texts that look alike: width, compatibility forms, accents on Latin letters."""
    if text.isascii():
        return text
    # A lone surrogate has no encoding, and no meaning.
    text = text.encode("utf-8", "replace").decode("utf-8").replace("\u2019", "'")
    decomposed = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFKC", _MARKS_ON_LATIN.sub(r"\1", decomposed))


def passage_terms(text: str, words: Words) -> list[str]:
    """The terms of a passage, each as often as it occurs. No term holds a white space."""
    text = normalise(text)
    terms = _words(text, words)
    terms += _new_symbols(text, terms)
    for run in _UNSPACED_RUN.findall(text):
        terms += run
        terms += _pairs(run)
    return terms


def query_terms(text: str, words: Words, words_without_stops: Words) -> dict[str, float]:
    """The distinct terms of a question in the order they come, each with its weight."""
    text = normalise(text[:MAX_QUERY_CHARACTERS])
    spoken = _words(text, words_without_stops)
    # Few questions hold one, and the words of a text cost as much as half of its search.
    symbols = _new_symbols(text, [])
    if symbols:
        symbols = _new_symbols(text, _words(text, words))
    runs = _UNSPACED_RUN.findall(text)
    if not (spoken or symbols or runs):
        spoken = _words(text, words)

    weights: dict[str, float] = {}

    def add(terms: list[str], weight: float) -> None:
        for term in terms:
            weights[term] = weights.get(term, 0.0) + weight

    add(spoken, 1.0)
    add(symbols, 1.0)
    for run in runs:
        add(_pairs(run), 1.0)
        add(list(run), _SINGLE_CHARACTER_WEIGHT if len(run) > 1 else 1.0)
    return dict(list(weights.items())[:MAX_QUERY_TERMS])


def _words(text: str, words: Words) -> list[str]:
    parts = [_JOINT.sub(" ", text)]
    if _CAMEL.search(text):
        # `readFile` is found by its parts, next to the whole.
        parts += [
            _CAMEL_SEAM.sub(" ", word) for word in _LETTERS.findall(text) if _CAMEL.search(word)
        ]
    found = words(" ".join(parts))
    if text.isascii():
        return found
    # The n-grams stand for these.
    return [word for word in found if not _UNSPACED_RUN.search(word)]


def _new_symbols(text: str, known: list[str]) -> list[str]:
    """Chunks with more than letters, unless they are words of the same text already."""
    seen = set(known)
    symbols = (
        chunk.lstrip(_LEADING).rstrip(_TRAILING).lower()
        for chunk in _CHUNK.findall(text)
        if not chunk.isalpha()
    )
    return [
        symbol
        for symbol in symbols
        if len(symbol) <= _MAX_SYMBOL_CHARACTERS
        # `don't` and `Ann's` are words.
        and not symbol.replace("'", "").isalpha()
        and symbol not in seen
        and any(map(str.isalnum, symbol))
    ]


def _pairs(run: str) -> list[str]:
    return [run[index : index + 2] for index in range(len(run) - 1)]
