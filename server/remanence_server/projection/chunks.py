"""Long text in pieces of bounded length, cut where a reader would pause."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Best first: a paragraph, a line, a sentence (also of CJK), a word.
_PAUSES = (
    re.compile(r"\n\s*\n"),
    re.compile(r"\n"),
    re.compile(r"[.!?]\s+|[。！？]"),
    re.compile(r"\s+"),
)


def chunk_text(text: str, limit: int) -> Iterator[str]:
    """Yields pieces of at most `limit` characters that together hold all words of the text.

    Nothing is yielded for a blank text. A piece is at least half full unless it is the last, so the
    number of pieces is bounded; a word longer than the limit is cut through.
    """
    start = 0
    while start < len(text):
        end = len(text) if len(text) - start <= limit else start + _cut(text, start, limit)
        piece = text[start:end].strip()
        if piece:
            yield piece
        start = end


def _cut(text: str, start: int, limit: int) -> int:
    window = text[start : start + limit]
    for pause in _PAUSES:
        ends = [match.end() for match in pause.finditer(window, limit // 2)]
        if ends:
            return ends[-1]
    return limit
