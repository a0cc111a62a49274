"""The writer of daily files: appends entries, never rewrites a file to add one.

An append looks at the whole file only when somebody else has touched it since our last write;
otherwise it opens, writes and syncs. What is found then decides:

- an entry whose id is there whole is not written again, one whose id was removed neither;
- the rest of an entry that a crash cut short goes when the same id is written again. Until then it
  stays, reported: it might be an entry whose closing marker a person deleted;
- a file that a person left unreadable is not touched: the day goes on in another file.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, tzinfo
from pathlib import Path

from remanence_server.domain.owners import Owner
from remanence_server.domain.records import (
    AgentCase,
    AtomicFact,
    Episode,
    Kind,
    Record,
    Transcript,
    kind_of,
    record_key,
)
from remanence_server.markdown.block_entries import EntryError, encode_case, encode_episode
from remanence_server.markdown.disk import (
    FileStamp,
    append_durably,
    replace_durably,
    stamp_of,
    storage_errors,
    sync_file,
    truncate_durably,
)
from remanence_server.markdown.durable_names import sync_names
from remanence_server.markdown.facts import encode_fact, group_facts
from remanence_server.markdown.headers import (
    MAXIMUM_FILE_BYTES,
    MAXIMUM_LARGE_FILE_BYTES,
    render_daily_header,
)
from remanence_server.markdown.known_files import KnownFile, KnownFiles
from remanence_server.markdown.paths import MemoryFile, MemoryPaths
from remanence_server.markdown.reader import content_hash, load_daily, parse_span
from remanence_server.markdown.transcripts import encode_transcript
from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.runtime.ids import entry_sequence
from remanence_server.runtime.instants import day_of

DailyRecord = Episode | AtomicFact | Transcript | AgentCase

# A day goes on in another file beyond this, so that parsing a changed file stays quick.
ROLL_OVER_BYTES = 2 << 20

_LOCKS = 64
# A person may save the file at the same moment, but not this often in a row.
_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class WrittenEntry:
    """A record as it stands on disk.

    `stamp` is the file's after the write, `stamp_before` the one before it (None: a new file). A
    reader that knew the file as `stamp_before` knows it as `stamp` now, with nothing to re-read.
    """

    record: Record
    path: Path
    content_hash: str
    stamp: FileStamp
    stamp_before: FileStamp | None


class DailyFiles:
    """The daily files under a root. Methods block; they may be called from any thread."""

    def __init__(self, paths: MemoryPaths, zone: tzinfo) -> None:
        self._paths = paths
        self._zone = zone
        self._known = KnownFiles()
        self._locks = tuple(threading.Lock() for _ in range(_LOCKS))

    def append(self, records: Sequence[DailyRecord]) -> tuple[WrittenEntry, ...]:
        """Writes entries, synced when this returns; the answer is in the order given.

        An entry that is there already comes back as it is on disk. One that was removed, or that a
        person left unreadable, is not written and not in the answer. Raises ServiceError
        (EXTERNAL_SERVICE_UNAVAILABLE) when the disk refuses: the entries of one file are then all
        written or none.
        """
        groups: dict[tuple[Owner, Kind, date], list[DailyRecord]] = {}
        for record in records:
            day = self._day_of(record)
            groups.setdefault((record.owner, kind_of(record), day), []).append(record)
        written: dict[tuple[Owner, Kind, str], WrittenEntry] = {}
        for (owner, kind, day), members in groups.items():
            with self._lock_of(owner, kind, day):
                for entry in self._append_to_day(owner, kind, day, members):
                    written[owner, kind, record_key(entry.record)] = entry
        return tuple(
            written[key]
            for record in records
            if (key := (record.owner, kind_of(record), record.entry_id)) in written
        )

    def last_sequence(self, owner: Owner, kind: Kind, day: date) -> int:
        """The highest number among the ids of a day, removed and broken entries included."""
        with self._lock_of(owner, kind, day), storage_errors():
            files = self._day_files(owner, kind, day)
            return max((known.last_sequence for _, known in files), default=0)

    def remove(
        self, owner: Owner, kind: Kind, entry_ids: Iterable[str], *, everywhere: bool = False
    ) -> frozenset[str]:
        """Removes entries; only their ids stay, so that a late write cannot bring them back.

        Returns the ids that were there. What is broken under such an id goes too. With
        `everywhere`, also from files of other days than those that the ids name.
        """
        wanted = set(entry_ids)
        removed: set[str] = set()
        with storage_errors():
            for file in list(self._files_of(owner, kind, wanted, everywhere=everywhere)):
                assert file.day is not None  # noqa: S101 - daily files only
                with self._lock_of(owner, kind, file.day):
                    known = self._known.look(file)
                    if known is not None:
                        here = wanted & (known.ids | known.fragments)
                        if wanted & known.removed:
                            # Whoever removed them may not have come to the sync.
                            sync_names(self._paths.root, file.path)
                        self._cut(file, here, keep_ids=True)
                        removed |= here
        return frozenset(removed)

    def _append_to_day(
        self, owner: Owner, kind: Kind, day: date, records: list[DailyRecord]
    ) -> list[WrittenEntry]:
        with storage_errors():
            for _ in range(_ATTEMPTS):
                files = self._day_files(owner, kind, day)
                used = {i for _, known in files for i in known.ids | known.removed}
                new = {r.entry_id: r for r in records if r.entry_id not in used}
                cut = [(file, known.fragments & new.keys()) for file, known in files]
                if any(ids for _, ids in cut):
                    for file, ids in cut:
                        self._cut(file, ids, keep_ids=False)
                    continue
                present = self._present(files, {record.entry_id for record in records})
                written = self._write(owner, kind, day, files, list(new.values())) if new else []
                if written is not None:
                    return [*present, *written]
        raise _busy()

    def _present(
        self, files: Sequence[tuple[MemoryFile, KnownFile]], ids: set[str]
    ) -> list[WrittenEntry]:
        """What is on disk already, read from there and made sure of."""
        found: list[WrittenEntry] = []
        for file, known in files:
            wanted = known.ids & ids
            if not wanted or not known.usable:
                continue
            # Whoever wrote it may have been killed before its syncs, or one of them has failed.
            sync_file(file.path)
            sync_names(self._paths.root, file.path)
            daily = load_daily(file)
            for span in daily.skeleton.entries:
                if span.entry_id not in wanted:
                    continue
                try:
                    parsed = parse_span(file, daily.text, span, self._zone)
                except EntryError:
                    continue
                stamp = daily.stamp
                found.append(
                    WrittenEntry(parsed.record, file.path, parsed.content_hash, stamp, stamp)
                )
        return found

    def _write(
        self,
        owner: Owner,
        kind: Kind,
        day: date,
        files: Sequence[tuple[MemoryFile, KnownFile]],
        records: Sequence[DailyRecord],
    ) -> list[WrittenEntry] | None:
        """Writes new entries to the last file of the day or a new one; None: look again."""
        entries = [_encode(record, self._zone) for record in records]
        data = _join(records, entries).encode()
        file, known = files[-1] if files else (None, None)
        before: FileStamp | None = None
        if file and known and known.usable and known.end + len(data) <= ROLL_OVER_BYTES:
            before = known.stamp
            stamp = self._append_bytes(file, known, data)
        else:
            if len(data) > MAXIMUM_LARGE_FILE_BYTES // 2:
                raise ServiceError(ErrorCode.PAYLOAD_TOO_LARGE, "an entry is too large to be kept")
            file = self._paths.daily_file(owner, kind, day, file.number + 1 if file else 1)
            known = KnownFile.new()
            header = render_daily_header(file, large=len(data) > MAXIMUM_FILE_BYTES // 2)
            data = header.encode() + data
            stamp = replace_durably(self._paths.root, file.path, data, None)
            known.is_named = True
        if stamp is None:
            self._known.forget(file.path)
            return None
        known.wrote({record.entry_id for record in records}, stamp)
        self._known.remember(file.path, known)
        return [
            WrittenEntry(record, file.path, content_hash(entry.rstrip("\n")), stamp, before)
            for record, entry in zip(records, entries, strict=True)
        ]

    def _append_bytes(self, file: MemoryFile, known: KnownFile, data: bytes) -> FileStamp | None:
        expected: FileStamp | None = known.stamp
        if known.end < known.stamp.size:
            if stamp_of(file.path) != expected:
                return None
            # Half a marker or half a bullet of ours: the job that wrote it will write it again.
            truncate_durably(file.path, known.end)
            expected = stamp_of(file.path)
        if expected is None:
            return None
        if not known.is_named:
            # Its first entry may still be on its way to the disk.
            sync_names(self._paths.root, file.path)
            known.is_named = True
        blank_line = b"\n" if known.ends_line else b"\n\n"
        return append_durably(file.path, blank_line + data, expected)

    def _cut(self, file: MemoryFile, ids: set[str], *, keep_ids: bool) -> None:
        """Takes entries and fragments out of a file; everything else stays as it is.

        With `keep_ids` a marker stays for each; without, only fragments are taken.
        """
        for _ in range(_ATTEMPTS):
            if not ids:
                return
            try:
                daily = load_daily(file)
            except FileNotFoundError:
                return
            self._known.forget(file.path)
            entries = daily.skeleton.entries if keep_ids else []
            spans = [s for s in (*entries, *daily.skeleton.fragments) if s.entry_id in ids]
            text = daily.text
            for span in sorted(spans, key=lambda span: span.start, reverse=True):
                mark = f"<!-- removed:{span.entry_id} -->\n" if keep_ids else ""
                text = text[: span.start] + mark + text[span.end :]
            data = text.encode("utf-8", "surrogateescape")
            root = self._paths.root
            if replace_durably(root, file.path, data, daily.stamp) is not None:
                return
        raise _busy()

    def _day_of(self, record: DailyRecord) -> date:
        # The id decides: it was given from the counter of that day, and must be found there again
        # though the zone has changed or a fact is older than its episode.
        if entry_sequence(record.entry_id) is not None:
            try:
                return date.fromisoformat(record.entry_id.split("_")[1])
            except ValueError:
                pass
        return day_of(record.timestamp_ms, self._zone)

    def _day_files(self, owner: Owner, kind: Kind, day: date) -> list[tuple[MemoryFile, KnownFile]]:
        found: list[tuple[MemoryFile, KnownFile]] = []
        number = 1
        while True:
            file = self._paths.daily_file(owner, kind, day, number)
            known = self._known.look(file)
            if known is not None:
                found.append((file, known))
            elif number > 1:  # the first one may have been deleted by hand
                return found
            number += 1

    def _files_of(
        self, owner: Owner, kind: Kind, ids: set[str], *, everywhere: bool
    ) -> Iterator[MemoryFile]:
        days = {i.split("_")[1] for i in ids if entry_sequence(i) is not None}
        any_day = everywhere or any(entry_sequence(entry_id) is None for entry_id in ids)
        for file in self._paths.daily_files(owner, kind):
            if any_day or f"{file.day:%Y%m%d}" in days:
                yield file

    def _lock_of(self, owner: Owner, kind: Kind, day: date) -> threading.Lock:
        return self._locks[hash((owner, kind, day)) % _LOCKS]


def _encode(record: DailyRecord, zone: tzinfo) -> str:
    match record:
        case Episode():
            return encode_episode(record, zone)
        case AtomicFact():
            return encode_fact(record, zone)
        case Transcript():
            return encode_transcript(record, zone)
        case AgentCase():
            return encode_case(record, zone)


def _join(records: Sequence[DailyRecord], entries: Sequence[str]) -> str:
    facts = [
        (record, entry)
        for record, entry in zip(records, entries, strict=True)
        if isinstance(record, AtomicFact)
    ]
    return group_facts(facts) if facts else "\n".join(entries)


def _busy() -> ServiceError:
    return ServiceError(
        ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE,
        "a memory file keeps changing while it is written",
        retry_after_seconds=1.0,
    )
