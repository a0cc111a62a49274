"""What Markdown holds, in the terms of the catalogue."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from remanence_server.domain.records import Record
from remanence_server.index.catalogue.changes import EntryProblem, FileState, IndexedRecord
from remanence_server.markdown.daily_files import WrittenEntry
from remanence_server.markdown.disk import FileStamp
from remanence_server.markdown.reader import ParsedFile
from remanence_server.projection.passages import RULES_VERSION, passages_of


def relative_path(root: Path, path: Path) -> str:
    """A path as the catalogue knows it: relative to the root, with `/`."""
    return path.relative_to(root).as_posix()


def indexed(root: Path, path: Path, record: Record, content_hash: str) -> IndexedRecord:
    """A record with its passages. Its hash changes with the entry and with the passage rules."""
    return IndexedRecord(
        record=record,
        path=relative_path(root, path),
        content_hash=f"{RULES_VERSION}:{content_hash}",
        passages=passages_of(record),
    )


def indexed_entries(root: Path, entries: Sequence[WrittenEntry]) -> list[IndexedRecord]:
    """Entries that have just been written."""
    return [indexed(root, entry.path, entry.record, entry.content_hash) for entry in entries]


def indexed_file(root: Path, parsed: ParsedFile) -> tuple[FileState, list[IndexedRecord]]:
    """A whole file as it was read."""
    state = file_state(
        relative_path(root, parsed.file.path),
        parsed.stamp,
        tuple(
            EntryProblem(problem.entry_id, problem.line, problem.reason)
            for problem in parsed.problems
        ),
    )
    records = [
        indexed(root, parsed.file.path, entry.record, entry.content_hash)
        for entry in parsed.records
    ]
    return state, records


def file_state(path: str, stamp: FileStamp, problems: tuple[EntryProblem, ...] = ()) -> FileState:
    """How a file looked when it was read or written."""
    return FileState(
        path=path,
        size=stamp.size,
        mtime_ns=stamp.modified_ns,
        # Entries carry hashes of their own; size and time tell whether to look at them.
        content_hash="",
        problems=problems,
    )


def is_unchanged(state: FileState, stamp: FileStamp) -> bool:
    """Whether a file still looks as it did when it was projected."""
    return (state.size, state.mtime_ns) == (stamp.size, stamp.modified_ns)
