"""Text into sentences, in any script, without losing a character that carries meaning.

Code blocks, quoted lines, and blocks that a client marks as system or recalled text stay whole and
are labelled, so that nothing takes them for a statement of who sent them.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum

# A unit longer than this is cut at a space into pieces: it is not a sentence anyone can read.
MAXIMUM_UNIT_CHARACTERS = 600

_BLOCK = re.compile(
    r"(?P<code>(?P<fence>```|~~~).*?(?:(?P=fence)|\Z))"
    r"|(?P<context><(?P<tag>(?:system|memory|memories|recalled|relevant|context)[\w-]{0,40})\b[^<>\n]{0,200}>"
    r".*?(?:</(?P=tag)>|\Z))",
    re.DOTALL,
)
# A line end within a sentence that somebody's mail program wrapped.
_SOFT_WRAP = re.compile(r"(?<=[^\n]{40}[a-z,;])\r?\n(?=[a-z])")
_LINE_END = re.compile(r"[\r\n\u2028\u2029]+")
_CLOSERS = "\"'”’»)\\]」』）】》*_"
_SENTENCE_END = re.compile(
    # CJK ends need no space after them.
    rf"[。！？｡](?:[。！？｡!?…]*)[{_CLOSERS}]*\s*"
    # Others do: `3.5`, `v1.2` and `example.org` are no ends. Emoji stay with their sentence.
    rf"|(?<![.!?…])(?P<stop>[.!?…؟۔।‽]++)[{_CLOSERS}]*+(?:\s+|\s*(?=[\U0001F300-\U0001FAFF\u2600-\u27BF]))"
)
_EMOJI_RUN = re.compile("(?:[\U0001f300-\U0001faff\u2600-\u27bf\ufe0f\u200d]\\s*)+")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:[A-Za-z]|(?:[A-Za-z]\.)+[A-Za-z]|mr|mrs|ms|dr|prof|st|jr|sr|vs|etc|approx|no|"
    r"dept|inc|ltd|co|fig|vol|mt|ave|blvd|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|z\.b|bzw|"
    r"ca|sra?|mme)$",
    re.IGNORECASE,
)
_LIST_NUMBER = re.compile(r"^\s*\d{1,3}$")
_LIST_MARK = re.compile(r"^\s*(?:[-*•·–]\s+|\d{1,3}[.)]\s+|#{1,6}\s+)")
_QUOTED_LINE = re.compile(r"^\s*>")
_ANNOTATION = re.compile(r"^[\[(【（].*[\])】）][.!]?$", re.DOTALL)
_BRACKETED = re.compile(r"\s*\[[^\[\]]*\]\s*$")
_CLAUSE_MARKS = "、，；：,;:"
_CLAUSE_MARK = re.compile(f"[{_CLAUSE_MARKS}](?!\\d)")
_SPACE = re.compile(r"\s")
# Text without a space for longer than this is no word, and may be cut anywhere.
_LONGEST_WORD_CHARACTERS = 60


class UnitKind(StrEnum):
    """What a unit of text is."""

    SENTENCE = "sentence"
    CODE = "code"
    # Lines behind a `>`: the words of somebody else.
    QUOTE = "quote"
    CONTEXT = "context"


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence, or a block that is kept whole."""

    text: str
    kind: UnitKind = UnitKind.SENTENCE


def split_units(text: str) -> tuple[Unit, ...]:
    """The sentences and blocks of `text` in order; linear in its length."""
    units: list[Unit] = []
    position = 0
    if "```" in text or "~~~" in text or "<" in text:
        for block in _BLOCK.finditer(text):
            units += _sentences(text[position : block.start()])
            kind = UnitKind.CODE if block["code"] else UnitKind.CONTEXT
            units.append(Unit(block.group().strip(), kind))
            position = block.end()
    units += _sentences(text[position:])
    return tuple(units)


def split_sentences(text: str) -> tuple[str, ...]:
    """The sentences of `text`, its blocks left out."""
    return tuple(unit.text for unit in split_units(text) if unit.kind is UnitKind.SENTENCE)


def without_annotation(sentence: str) -> str:
    """The sentence without a bracket at its end, unless that is all there is."""
    return _BRACKETED.sub("", sentence) or sentence


def _sentences(text: str) -> list[Unit]:
    units: list[Unit] = []
    found: list[str] = []
    if "\n" in text:
        text = _SOFT_WRAP.sub(" ", text)
    for line in _LINE_END.split(text):
        if _QUOTED_LINE.match(line):
            units += _units(found)
            found = []
            units.append(Unit(line.strip(), UnitKind.QUOTE))
            continue
        for sentence in _of_line(_LIST_MARK.sub("", line)):
            # "I painted it. [shares a photo: …]": the bracket is about the sentence before it.
            if found and _ANNOTATION.match(sentence) and len(found[-1]) + len(sentence) < 400:
                found[-1] = f"{found[-1]} {sentence}"
            else:
                found.append(sentence)
    return units + _units(found)


def _units(sentences: list[str]) -> list[Unit]:
    return [Unit(piece) for sentence in sentences for piece in pieces(sentence)]


def _of_line(line: str) -> list[str]:
    sentences = []
    start = 0
    for end in _SENTENCE_END.finditer(line):
        stop = end["stop"]
        if stop is not None and not _ends_here(line, start, end):
            continue
        emoji = _EMOJI_RUN.match(line, end.end())
        stop_at = emoji.end() if emoji else end.end()
        if stop_at <= start:
            continue
        sentences.append(line[start:stop_at].strip())
        start = stop_at
    sentences.append(line[start:].strip())
    return [sentence for sentence in sentences if sentence]


def _ends_here(line: str, start: int, end: re.Match[str]) -> bool:
    """Whether a full stop or the like ends a sentence, or an abbreviation or a pause in one."""
    stop = end["stop"]
    following = line[end.end() : end.end() + 1]
    if stop == ".":
        # The look-back is short: no abbreviation is longer than this.
        before = line[max(start, end.start() - 12) : end.start()]
        if before.endswith("I") and following.isupper():
            return True
        return not (_ABBREVIATION.search(before) or _LIST_NUMBER.match(before))
    if stop in {"..", "...", "…"}:
        return not following.islower()
    return True


def pieces(text: str, limit: int = MAXIMUM_UNIT_CHARACTERS) -> tuple[str, ...]:
    """`text` in pieces of at most `limit` characters, cut after a clause mark or at a space.

    Together the pieces are the whole text. Only text without any such place, longer than `limit`,
    is cut elsewhere, and then not before a combining character.
    """
    found = []
    start = 0
    while len(text) - start > limit:
        end = _cut_position(text, start, start + limit)
        found.append(text[start:end].strip())
        start = end
    found.append(text[start:].strip())
    return tuple(piece for piece in found if piece)


def clip(text: str, limit: int, mark: str = " […]") -> str:
    """`text` in at most `limit` characters, cut at a word and marked if anything is left out."""
    if len(text) <= limit:
        return text
    end = _cut_position(text, 0, max(limit - len(mark), 1))
    return text[:end].rstrip(" \t\n" + _CLAUSE_MARKS) + mark


def _cut_position(text: str, start: int, limit: int) -> int:
    earliest = start + (limit - start) // 2
    marks = [match.end() for match in _CLAUSE_MARK.finditer(text, earliest, limit)]
    if marks:
        return marks[-1]
    spaces = [match.start() for match in _SPACE.finditer(text, start + 1, limit + 1)]
    if spaces and limit - spaces[-1] <= _LONGEST_WORD_CHARACTERS:
        return spaces[-1]
    position = limit
    while position > start + 1 and (
        unicodedata.combining(text[position])
        or text[position] in "\u200d\ufe0f"
        or text[position - 1] == "\u200d"
    ):
        position -= 1
    return position
