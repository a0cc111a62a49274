"""What a question asks about: its words for the keyword index, its text to embed, its dates.

Names of speakers that are heard nearly everywhere go from both texts: every passage begins with
one, and in the vector of a short question they drown the rest (dropping them took recall@1 of
vector search from 0.39 to 0.54). Names that tell episodes apart stay.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import NamedTuple

from remanence_server.retrieval.dates import QUOTED, NamedDate, cut_dates
from remanence_server.retrieval.stop_words import QUESTION_STOP_WORDS

# A guess between two measured points: names in a fifth of the episodes are better kept, names in
# all of them better dropped.
UBIQUITOUS_SHARE = 0.5

# Twice what the keyword index looks at, and many times what a model reads at once.
_MAX_CHARACTERS = 16_384

# Edges that belong to the sentence. What can be part of a name (`-rf`, `@jo`, `c++`) stays.
_OPENING = "\"'([{<“‘¿¡—–…,;:"
_CLOSING = "\"')]}>”’—–…,;:.?!？！。"
_SENTENCE_ENDS = (".", "?", "!", ":", "…")
_ASKING = "?!？！"
_SUFFIX = re.compile(r"['’](?:s|m|re|ve|ll|d)?\Z", re.IGNORECASE)
# Stop words that are names when they have a capital within a sentence.
_ALSO_NAMES = frozenset({"will", "may"})


@dataclass(frozen=True, slots=True)
class Question:
    """A question taken apart: what to look for by words, by meaning, and by date."""

    lexical_text: str
    dense_text: str
    dates: tuple[NamedDate, ...]


class _Chunk(NamedTuple):
    """A piece of the question between spaces, or in quotes; then `word` is empty."""

    text: str
    word: str
    begins_sentence: bool


def ubiquitous_names(
    episode_count_by_speaker: Mapping[str, int],
    episode_count: int,
    share: float = UBIQUITOUS_SHARE,
) -> frozenset[str]:
    """The speaker names, and first names, heard in at least `share` of an owner's episodes.

    One episode out of several is never everywhere, however few there are.
    """
    names = {
        name
        for name, count in episode_count_by_speaker.items()
        if count >= share * episode_count and (count > 1 or episode_count == 1)
    }
    first_names = {words[0] for name in names if len(words := name.split()) > 1}
    return frozenset(names | {name for name in first_names if len(name) > 1 and name.isalpha()})


def understand(
    text: str,
    ubiquitous_names: Collection[str],
    now_ms: int | None = None,
    zone: tzinfo = UTC,
) -> Question:
    """Takes a question apart. Neither text is ever empty unless the question is.

    Dates and ubiquitous names are cut from both texts; from the lexical one, stop words too. Only
    whole words go, and what stays is as it was written. Relative dates are read if the asker's
    clock is given (`now_ms`, epoch milliseconds, and `zone`).
    """
    text = text[:_MAX_CHARACTERS]
    dateless, dates = cut_dates(text, now_ms, zone)
    chunks = list(_chunks(dateless))
    named = _positions_of_names(chunks, ubiquitous_names)
    shouted = text == text.upper()

    dense = [
        chunk.text if index not in named else _mark_after_name(chunk)
        for index, chunk in enumerate(chunks)
    ]
    lexical = [
        chunk.text
        for index, chunk in enumerate(chunks)
        if index not in named and not _is_stop_word(chunk, shouted)
    ]
    return Question(_join(lexical) or text, _join(dense) or text, dates)


def _chunks(text: str) -> Iterator[_Chunk]:
    begins_sentence = True
    for piece, is_quoted in _pieces(text):
        word = "" if is_quoted else piece.lstrip(_OPENING).rstrip(_CLOSING)
        yield _Chunk(piece, word, begins_sentence)
        begins_sentence = piece.endswith(_SENTENCE_ENDS)


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    end = 0
    for quoted in QUOTED.finditer(text):
        yield from ((piece, False) for piece in text[end : quoted.start()].split())
        yield quoted[0], True
        end = quoted.end()
    yield from ((piece, False) for piece in text[end:].split())


def _positions_of_names(chunks: list[_Chunk], names: Collection[str]) -> frozenset[int]:
    """The indices of the chunks that are names, possessives included, in any case.

    A name in lower case does not count where it stands in its own spelling too: "what mark did Mark
    get?"
    """
    by_first_word: dict[str, list[str]] = {}
    for words in map(str.split, names):
        if words:
            by_first_word.setdefault(words[0].lower(), []).append(" ".join(words).lower())

    found: list[tuple[str, bool, range]] = []
    for start, chunk in enumerate(chunks if by_first_word else ()):
        word = chunk.word.lower()
        for first_word in {word, _without_suffix(word)}:
            for name in by_first_word.get(first_word, ()):
                indices = range(start, start + name.count(" ") + 1)
                written = " ".join(part.word for part in chunks[start : indices.stop])
                if name in (written.lower(), _without_suffix(written.lower())):
                    found.append((name, written.islower(), indices))
    capitalised = {name for name, is_lower, _ in found if not is_lower}
    return frozenset(
        index
        for name, is_lower, indices in found
        if not (is_lower and name in capitalised)
        for index in indices
    )


def _without_suffix(word: str) -> str:
    return _SUFFIX.sub("", word)


def _mark_after_name(chunk: _Chunk) -> str:
    return chunk.text[-1] if chunk.text[-1] in _ASKING else ""


def _is_stop_word(chunk: _Chunk, shouted: bool) -> bool:
    word = chunk.word
    if len(word) > 1 and word.isupper() and not shouted:
        # IT, US, WHO.
        return False
    lower = word.lower()
    if lower not in QUESTION_STOP_WORDS:
        lower = _without_suffix(lower)
    if lower not in QUESTION_STOP_WORDS:
        return False
    return not (lower in _ALSO_NAMES and word[0].isupper() and not chunk.begins_sentence)


def _join(pieces: list[str]) -> str:
    """The pieces with a space between; nothing if they hold no word."""
    text = " ".join(filter(None, pieces))
    return text if any(map(str.isalnum, text)) else ""
