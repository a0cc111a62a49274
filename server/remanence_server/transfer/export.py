"""All that one owner has, as files, straight from the truth.

The order is that in which a message becomes a memory: what moves on meanwhile is seen at least
once. The manifest comes last; an export without one is not whole.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from remanence_server.domain.owners import Owner, Track
from remanence_server.domain.records import record_key
from remanence_server.markdown.disk import FileStamp, read_file, stamp_of, storage_errors
from remanence_server.markdown.paths import MemoryFile
from remanence_server.markdown.reader import ParsedFile, Problem
from remanence_server.markdown.store import MarkdownStore
from remanence_server.markdown.twins import file_order, without_entries
from remanence_server.runtime.clock import Clock
from remanence_server.runtime.instants import render_iso
from remanence_server.state.unextracted import UnextractedMessages
from remanence_server.transfer.message_lines import encode_message_line
from remanence_server.transfer.pieces import (
    PIECE_BYTES,
    FilePiece,
    cut,
    portable_path,
    regular_files,
    whole,
)
from remanence_server.transfer.record_lines import KINDS_OF_TRACK, encode_line

FORMAT = "remanence-owner"
FORMAT_VERSION = 1
MANIFEST = "manifest.json"
RECORDS = "memories.jsonl"
MESSAGES = "messages.jsonl"

# A file that is being appended to is read again, this often.
_REPEATS = 4
_PAUSE_SECONDS = 0.02
# Larger files are streamed as they are at the moment of opening.
_READ_AT_ONCE_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class ExportSource:
    """What an export reads."""

    markdown: MarkdownStore
    messages: UnextractedMessages
    clock: Clock
    server_version: str


@dataclass(slots=True)
class _Findings:
    """What the manifest will tell."""

    counts: Counter[str] = field(default_factory=Counter)
    problems: list[dict[str, Any]] = field(default_factory=list)


async def export_owner(source: ExportSource, owner: Owner) -> AsyncGenerator[FilePiece]:
    """The files of an export; one of an owner who has nothing has no records.

    Raises ServiceError (EXTERNAL_SERVICE_UNAVAILABLE) when the disk refuses.
    """
    findings = _Findings()
    started_ms = source.clock.now_ms()
    async for piece in cut(MESSAGES, _message_lines(source, owner, findings)):
        yield piece
    folders = await asyncio.to_thread(source.markdown.owner_folders, owner)
    names = {
        folder: "markdown" if number == 1 else f"markdown-{number}"
        for number, folder in enumerate(folders, 1)
    }
    async for piece in cut(RECORDS, _record_lines(source, owner, names, findings)):
        yield piece
    for folder, name in names.items():
        for path in await asyncio.to_thread(_files_of, folder):
            content = await asyncio.to_thread(_open, path)
            if content is None:
                continue
            findings.counts["files"] += 1
            async for piece in cut(f"{name}/{portable_path(path, folder)}", content.parts()):
                yield piece
    manifest = _manifest(source, owner, findings, started_ms)
    async for piece in cut(MANIFEST, whole(manifest)):
        yield piece


async def _message_lines(
    source: ExportSource, owner: Owner, findings: _Findings
) -> AsyncIterator[bytes]:
    async for session_id, message in source.messages.of(owner):
        findings.counts["messages"] += 1
        yield encode_message_line(session_id, message)


async def _record_lines(
    source: ExportSource, owner: Owner, names: dict[Path, str], findings: _Findings
) -> AsyncIterator[bytes]:
    kinds = KINDS_OF_TRACK[owner.track]
    listed = await asyncio.to_thread(lambda: list(source.markdown.owner_files(owner)))
    # A folder that has come meanwhile holds what was a message when the messages were read.
    files = [file for file in listed if any(map(file.path.is_relative_to, names))]
    files.sort(key=lambda file: (kinds.index(file.kind), file_order(file)))
    seen: dict[str, set[str]] = {kind.value: set() for kind in kinds}
    for file in files:
        parsed = await asyncio.to_thread(_read, source.markdown, file)
        if parsed is None:
            continue
        known = seen[file.kind.value]
        ids = {record_key(item.record) for item in parsed.records}
        parsed = without_entries(parsed, ids & known)
        known |= ids
        findings.problems += [_problem(problem, names) for problem in parsed.problems]
        findings.counts[file.kind.value] += len(parsed.records)
        yield await asyncio.to_thread(_encode, parsed)


def _read(markdown: MarkdownStore, file: MemoryFile) -> ParsedFile | None:
    """A file that nobody was writing while it was read; None when it is gone."""

    def read() -> tuple[ParsedFile, FileStamp]:
        parsed = markdown.read(file)
        return parsed, parsed.stamp

    return _steady(read, file.path)


def _encode(parsed: ParsedFile) -> bytes:
    return b"".join(encode_line(item.record) for item in parsed.records)


def _steady[T](read: Callable[[], tuple[T, FileStamp]], path: Path) -> T | None:
    """What is read of a file, again if it changed meanwhile; None when it is gone."""
    try:
        result, stamp = read()
        for _ in range(_REPEATS):
            if stamp_of(path) == stamp:
                break
            time.sleep(_PAUSE_SECONDS)
            result, stamp = read()
    except FileNotFoundError:
        return None
    return result


@dataclass(frozen=True, slots=True)
class _Content:
    """The bytes of a file: read, or, of a very large one, still to be read."""

    data: bytes
    path: Path | None = None
    size: int = 0

    async def parts(self) -> AsyncIterator[bytes]:
        yield self.data
        if self.path is None:
            return
        with storage_errors():
            file = await asyncio.to_thread(self.path.open, "rb")
            try:
                remaining = self.size
                while remaining and (
                    part := await asyncio.to_thread(file.read, min(remaining, PIECE_BYTES))
                ):
                    remaining -= len(part)
                    yield part
            finally:
                file.close()


def _open(path: Path) -> _Content | None:
    def read() -> tuple[_Content, FileStamp]:
        stamp = stamp_of(path)
        if stamp is not None and stamp.size > _READ_AT_ONCE_BYTES:
            return _Content(b"", path, stamp.size), stamp
        data, stamp = read_file(path)
        return _Content(data), stamp

    with storage_errors(missing_passes=True):
        return _steady(read, path)


def _files_of(folder: Path) -> list[Path]:
    with storage_errors():
        return list(regular_files(folder))


def _problem(problem: Problem, names: dict[Path, str]) -> dict[str, Any]:
    folder = next(folder for folder in names if problem.path.is_relative_to(folder))
    return {
        "file": f"{names[folder]}/{portable_path(problem.path, folder)}",
        "line": problem.line,
        "id": problem.entry_id,
        "reason": problem.reason,
    }


def _manifest(source: ExportSource, owner: Owner, findings: _Findings, started_ms: int) -> bytes:
    kinds = [kind.value for kind in KINDS_OF_TRACK[owner.track]]
    manifest = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "server_version": source.server_version,
        "exported_at": render_iso(started_ms),
        "exported_at_ms": started_ms,
        "user_id": owner.owner_id if owner.track is Track.USER else None,
        "agent_id": owner.owner_id if owner.track is Track.AGENT else None,
        "app_id": owner.scope.app_id,
        "project_id": owner.scope.project_id,
        "counts": {name: findings.counts[name] for name in (*kinds, "messages", "files")},
        "problems": findings.problems,
    }
    return orjson.dumps(manifest, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
