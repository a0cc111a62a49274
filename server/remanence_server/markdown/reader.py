"""Files as records. What is broken is reported where it stands; the rest of the file works."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path

from remanence_server.domain.owners import Owner
from remanence_server.domain.records import Kind, Record
from remanence_server.markdown.block_entries import EntryError, decode_case, decode_episode
from remanence_server.markdown.disk import FileStamp, read_file, storage_errors
from remanence_server.markdown.facts import decode_fact, decode_fact_block
from remanence_server.markdown.front_matter import FrontMatterError, read_front_matter
from remanence_server.markdown.headers import (
    LARGE,
    MAXIMUM_FILE_BYTES,
    MAXIMUM_LARGE_FILE_BYTES,
    TOO_LARGE,
    header_conflict,
)
from remanence_server.markdown.paths import MemoryFile
from remanence_server.markdown.profile_page import decode_profile
from remanence_server.markdown.scan import NOT_UTF8, Flaw, Skeleton, Span, is_utf8, scan
from remanence_server.markdown.skill_page import decode_skill
from remanence_server.markdown.transcripts import decode_transcript
from remanence_server.runtime.ids import entry_sequence

OTHER_DAY = "the id belongs to the file of another day"

_HEAD_BYTES = 4096
_DECODE_BLOCK: Mapping[Kind, Callable[[Owner, str, str, tzinfo], Record]] = {
    Kind.EPISODE: decode_episode,
    Kind.ATOMIC_FACT: decode_fact_block,
    Kind.TRANSCRIPT: decode_transcript,
    Kind.AGENT_CASE: decode_case,
}


@dataclass(frozen=True, slots=True)
class ParsedRecord:
    """A record as it stands in a file. The hash covers all of the entry, inline keys included."""

    record: Record
    content_hash: str
    line: int


@dataclass(frozen=True, slots=True)
class Problem:
    """What a person should repair; `line` counts from 1. The reason quotes nothing of the file."""

    path: Path
    line: int
    entry_id: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """The records of a file and what is wrong with it.

    A file that is not `readable` as a whole yields no records: it is unknown what it holds now.
    """

    file: MemoryFile
    stamp: FileStamp
    records: tuple[ParsedRecord, ...]
    problems: tuple[Problem, ...]
    readable: bool = True


@dataclass(frozen=True, slots=True)
class DailyText:
    """A daily file's text and skeleton; `text` is decoded with surrogateescape."""

    text: str
    skeleton: Skeleton
    stamp: FileStamp


def content_hash(entry: str) -> str:
    """The hash of an entry or a whole file, the same for CRLF and LF."""
    return hashlib.blake2b(entry.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def parse_file(file: MemoryFile, zone: tzinfo) -> ParsedFile:
    """Reads one file. Raises FileNotFoundError when it is gone, ServiceError on disk errors."""
    if file.kind in _DECODE_BLOCK:
        return _parse_daily(file, zone)
    return _parse_page(file, zone)


def load_daily(file: MemoryFile) -> DailyText:
    """The text and skeleton of a daily file; what makes it unreadable is in `file_flaw`."""
    text, stamp = _load(file.path)
    has_bullets = file.kind is Kind.ATOMIC_FACT
    if text is None:
        skeleton = scan("", has_bullets=has_bullets)
        skeleton.file_flaw = Flaw(1, None, TOO_LARGE)
        return DailyText("", skeleton, stamp)
    # Zeros at the end are what a power cut leaves of an append.
    text = text.rstrip("\x00")
    skeleton = scan(text, has_bullets=has_bullets)
    if skeleton.file_flaw is None:
        reason = header_conflict(skeleton.front_matter.values, file)
        if reason is not None:
            skeleton.file_flaw = Flaw(1, None, reason)
    return DailyText(text, skeleton, stamp)


def parse_span(file: MemoryFile, text: str, span: Span, zone: tzinfo) -> ParsedRecord:
    """The record of one entry. Raises EntryError."""
    entry = text[span.start : span.end].replace("\r\n", "\n").rstrip("\n")
    if not is_utf8(entry):
        raise EntryError(NOT_UTF8)
    is_ours = entry_sequence(span.entry_id) is not None
    if is_ours and span.entry_id.split("_")[1] != f"{file.day:%Y%m%d}":
        raise EntryError(OTHER_DAY)
    body = text[span.body_start : span.body_end].replace("\r\n", "\n")
    record = (
        _DECODE_BLOCK[file.kind](file.owner, span.entry_id, body, zone)
        if span.attributes is None
        else decode_fact(file.owner, span.entry_id, body, span.attributes, zone)
    )
    return ParsedRecord(record, content_hash(entry), span.line)


def _parse_daily(file: MemoryFile, zone: tzinfo) -> ParsedFile:
    daily = load_daily(file)
    skeleton = daily.skeleton
    if skeleton.file_flaw is not None:
        return _unreadable(file, daily.stamp, skeleton.file_flaw)
    records: list[ParsedRecord] = []
    flaws = list(skeleton.flaws)
    for span in skeleton.entries:
        try:
            records.append(parse_span(file, daily.text, span, zone))
        except EntryError as error:
            flaws.append(Flaw(span.line, span.entry_id, error.reason))
    problems = tuple(
        Problem(file.path, flaw.line, flaw.entry_id, flaw.reason)
        for flaw in sorted(flaws, key=lambda flaw: flaw.line)
    )
    return ParsedFile(file, daily.stamp, tuple(records), problems)


@dataclass(frozen=True, slots=True)
class PageText:
    """A profile or skill file, LF and without byte order mark. `text` is None without a file."""

    text: str | None
    stamp: FileStamp | None
    content_hash: str
    flaw: Flaw | None = None


def load_page(file: MemoryFile) -> PageText:
    """The text of a profile or skill file."""
    try:
        text, stamp = _load(file.path)
    except FileNotFoundError:
        return PageText(None, None, "")
    if text is None:
        return PageText("", stamp, "", Flaw(1, None, TOO_LARGE))
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    flaw = None
    if not is_utf8(text):
        line = next(n for n, line in enumerate(text.split("\n"), start=1) if not is_utf8(line))
        flaw = Flaw(line, None, NOT_UTF8)
    return PageText(text, stamp, content_hash(text), flaw)


def decode_page(file: MemoryFile, text: str, zone: tzinfo) -> Record:
    """The record of a profile or skill file. Raises FrontMatterError or EntryError."""
    if file.kind is Kind.PROFILE:
        return decode_profile(file, text, zone)
    return decode_skill(file, text, zone)


def _parse_page(file: MemoryFile, zone: tzinfo) -> ParsedFile:
    page = load_page(file)
    if page.text is None or page.stamp is None:
        raise FileNotFoundError
    flaw = page.flaw
    if flaw is None:
        try:
            record = decode_page(file, page.text, zone)
            parsed = ParsedRecord(record, page.content_hash, 1)
            return ParsedFile(file, page.stamp, (parsed,), ())
        except FrontMatterError as error:
            flaw = Flaw(error.line, None, error.reason)
        except EntryError as error:
            flaw = Flaw(1, None, error.reason)
    return _unreadable(file, page.stamp, flaw)


def _load(path: Path) -> tuple[str | None, FileStamp]:
    """The text of a file; None when it is larger than it may be."""
    with storage_errors(missing_passes=True):
        data, stamp = read_file(path, MAXIMUM_FILE_BYTES + 1)
        if len(data) > MAXIMUM_FILE_BYTES:
            if stamp.size > MAXIMUM_LARGE_FILE_BYTES or not _says_large(data[:_HEAD_BYTES]):
                return None, stamp
            data, stamp = read_file(path)
    return data.decode("utf-8", "surrogateescape"), stamp


def _says_large(head: bytes) -> bool:
    try:
        values = read_front_matter(head.decode("utf-8", "replace")).values
    except FrontMatterError:
        return False
    return values.get(LARGE) is True


def _unreadable(file: MemoryFile, stamp: FileStamp, flaw: Flaw) -> ParsedFile:
    problem = Problem(file.path, flaw.line, flaw.entry_id, flaw.reason)
    return ParsedFile(file, stamp, (), (problem,), readable=False)
