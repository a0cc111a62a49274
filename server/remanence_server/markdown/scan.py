"""The skeleton of a daily file: where its entries are, and what is not whole.

Looks at marker lines only, so that the writer can know a file without decoding it. Works on text
decoded with `surrogateescape`: bytes that are not UTF-8 spoil the entry they are in, not the file.

An entry is a block between `<!-- entry:ID -->` and `<!-- /entry:ID -->`, or a bullet that ends in
`<!-- entry:ID key=value … -->`. `<!-- removed:ID -->` stands where an entry was deleted: its id is
used up, and a late write of it is refused. Bullets come in groups (`<!-- facts:ID -->` …
`<!-- /facts:ID -->`): a group that is not closed tells a write that was cut short.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from remanence_server.markdown.front_matter import FrontMatter, FrontMatterError, read_front_matter

_MARKER = re.compile(
    r"<!--[ \t]*(/?entry|removed|/?facts):[ \t]*([^\s<>]+)([^<>\n]*?)[ \t]*-->[ \t]*\r?(?=\n|\Z)"
)
_BULLET = ("- ", "* ", "+ ")
_UNMARKED_BULLET = re.compile(r"^[-*+] \S.*", re.MULTILINE)
_NOT_UTF8 = re.compile("[\udc80-\udcff]")
_MARKER_BEGINNINGS = ("<!-- entry:", "<!-- /entry:", "<!-- facts:", "<!-- /facts:")

NOT_CLOSED = "the entry has no closing marker"
TWICE = "another entry before it has the same id"
NOT_OPENED = "a closing marker without an entry"
UNMARKED = "a bullet without an entry marker is not part of the memory"
NOT_UTF8 = "the text is not valid UTF-8"


@dataclass(frozen=True, slots=True)
class Span:
    """One entry: its place in the text, line breaks included, and its first line (from 1)."""

    entry_id: str
    start: int
    end: int
    line: int
    # Between the markers of a block; the words and the attributes of a bullet.
    body_start: int
    body_end: int
    attributes: str | None = None


@dataclass(frozen=True, slots=True)
class Flaw:
    """Something in the file that is not as it should be."""

    line: int
    entry_id: str | None
    reason: str


@dataclass(slots=True)
class Skeleton:
    """What a daily file consists of. With a `file_flaw` the file as a whole is unreadable."""

    front_matter: FrontMatter
    entries: list[Span] = field(default_factory=list)
    # Entries that were begun and never closed, or stand there a second time.
    fragments: list[Span] = field(default_factory=list)
    removed: set[str] = field(default_factory=set)
    flaws: list[Flaw] = field(default_factory=list)
    file_flaw: Flaw | None = None
    # Where an unfinished line of ours at the end of the file begins.
    torn_from: int | None = None


def scan(text: str, *, has_bullets: bool) -> Skeleton:
    """The skeleton of a daily file.

    Where entries are bullets, a bullet without a marker is a flaw; between blocks, a list is
    somebody's note.
    """
    try:
        front_matter = read_front_matter(text)
    except FrontMatterError as error:
        skeleton = Skeleton(FrontMatter({}, 0), file_flaw=Flaw(error.line, None, error.reason))
    else:
        skeleton = Skeleton(front_matter)
    open_group = _collect(text, skeleton)
    _find_torn_line(text, skeleton, open_group)
    if has_bullets:
        _find_unmarked_bullets(text, skeleton)
    if skeleton.file_flaw is None and not text.isascii():
        _find_stray_bytes(text, skeleton)
    return skeleton


def _collect(text: str, skeleton: Skeleton) -> bool:
    """Fills entries, fragments and removed ids; returns whether a group of bullets is open."""
    lines = _LineCounter(text)
    seen: set[str] = set()
    opened: tuple[str, int, int, int] | None = None
    open_group = False

    def give_up_open(end: int) -> None:
        nonlocal opened
        if opened is not None:
            entry_id, start, body_start, line = opened
            skeleton.fragments.append(Span(entry_id, start, end, line, body_start, end))
            skeleton.flaws.append(Flaw(line, entry_id, NOT_CLOSED))
            opened = None

    def keep(span: Span) -> None:
        if span.entry_id in seen:
            skeleton.fragments.append(span)
            skeleton.flaws.append(Flaw(span.line, span.entry_id, TWICE))
        else:
            seen.add(span.entry_id)
            skeleton.entries.append(span)

    for match in _MARKER.finditer(text):
        marker, entry_id = match[1], match[2]
        start = match.start()
        line_start = text.rfind("\n", 0, start) + 1
        end = min(match.end() + 1, len(text))
        indent = text[line_start:start].removeprefix("\ufeff")
        if indent and not (marker == "entry" and indent.startswith(_BULLET)):
            continue  # a marker in the middle of a line is somebody's text
        if marker == "/entry" and opened is not None and opened[0] == entry_id:
            _, begin, body_start, line = opened
            opened = None
            keep(Span(entry_id, begin, end, line, body_start, start))
            continue
        give_up_open(line_start)
        line = lines.at(line_start)
        if marker == "entry" and indent:
            keep(Span(entry_id, line_start, end, line, line_start + 2, start, match[3]))
        elif marker == "entry":
            opened = (entry_id, line_start, end, line)
        elif marker == "removed":
            skeleton.removed.add(entry_id)
        elif marker == "/entry":
            skeleton.flaws.append(Flaw(line, entry_id, NOT_OPENED))
        else:
            open_group = marker == "facts"
    give_up_open(len(text))
    return open_group


class _LineCounter:
    """Line numbers of growing positions, without counting any line twice."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._line = 1

    def at(self, position: int) -> int:
        self._line += self._text.count("\n", self._position, position)
        self._position = position
        return self._line


def _find_torn_line(text: str, skeleton: Skeleton, open_group: bool) -> None:
    if text.endswith("\n") or not text:
        return
    line_start = text.rfind("\n") + 1
    last_line = text[line_start:]
    is_cut_marker = ">" not in last_line and any(
        begin.startswith(last_line) or last_line.startswith(begin) for begin in _MARKER_BEGINNINGS
    )
    is_entry = any(span.end == len(text) for span in skeleton.entries)
    is_cut_bullet = open_group and not is_entry and (last_line == "-" or last_line[:2] == "- ")
    if is_cut_marker or is_cut_bullet:
        skeleton.torn_from = line_start


def _find_unmarked_bullets(text: str, skeleton: Skeleton) -> None:
    inside = iter(sorted((s.start, s.end) for s in (*skeleton.entries, *skeleton.fragments)))
    start, end = next(inside, (len(text), len(text)))
    lines = _LineCounter(text)
    for match in _UNMARKED_BULLET.finditer(text, skeleton.front_matter.body_start):
        while match.start() >= end:
            start, end = next(inside, (len(text) + 1, len(text) + 1))
        if match.start() < start and match.start() != skeleton.torn_from:
            skeleton.flaws.append(Flaw(lines.at(match.start()), None, UNMARKED))


def _find_stray_bytes(text: str, skeleton: Skeleton) -> None:
    stray = _NOT_UTF8.search(text)
    if stray is None:
        return
    spans = sorted((s.start, s.end) for s in (*skeleton.entries, *skeleton.fragments))
    position = 0
    torn_from = len(text) if skeleton.torn_from is None else skeleton.torn_from
    for start, end in (*spans, (len(text), len(text))):
        stray = _NOT_UTF8.search(text, position, max(position, start))
        if stray is not None and stray.start() < torn_from:
            line = text.count("\n", 0, stray.start()) + 1
            skeleton.file_flaw = Flaw(line, None, NOT_UTF8)
            return
        position = end


def is_utf8(text: str) -> bool:
    """Whether text decoded with `surrogateescape` was valid UTF-8."""
    return text.isascii() or _NOT_UTF8.search(text) is None
