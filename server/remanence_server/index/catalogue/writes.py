"""Changes of the catalogue, each within a transaction that the caller holds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import apsw
import orjson

from remanence_server.domain.owners import Owner
from remanence_server.domain.record_codec import encode_payload
from remanence_server.domain.records import Kind, kind_of, public_id, record_key
from remanence_server.index.catalogue.changes import (
    ChangeSet,
    FileState,
    IndexedRecord,
    PassageDraft,
)
from remanence_server.index.catalogue.filter_values import filter_values
from remanence_server.index.catalogue.queries import bound, row, rows
from remanence_server.index.catalogue.rows import Owners, read_passages, read_removed
from remanence_server.index.catalogue.speakers import replace_speakers

_INHERITING = (Kind.ATOMIC_FACT, Kind.TRANSCRIPT)


def text_hash(text: str) -> bytes:
    """What a text's vector is kept under."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


@dataclass(slots=True)
class Change:
    """One transaction's change, as it grows."""

    connection: apsw.Connection
    owners: Owners
    # The change counter before this transaction.
    start: int
    stamp: int = field(init=False)
    written: int = 0
    deleted: int = 0
    unchanged: int = 0
    # Texts whose vector may have lost its last passage.
    orphans: set[bytes] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.stamp = self.start

    def next_stamp(self) -> int:
        """Counts one change of a passage."""
        self.stamp += 1
        return self.stamp

    def finish(self) -> ChangeSet:
        """Drops vectors that nothing needs any more, and says what has changed."""
        self.connection.executemany(
            "DELETE FROM embeddings.embedding WHERE text_hash = ?1 AND NOT EXISTS "
            "(SELECT 1 FROM passage WHERE text_hash = ?1 AND dense)",
            [(digest,) for digest in self.orphans],
        )
        if self.stamp == self.start:
            added, removed = [], []
        else:
            added = read_passages(
                self.connection, self.owners, "p.stamp > ? ORDER BY p.stamp", (self.start,)
            )
            removed = read_removed(
                self.connection, self.owners, self.start, self.stamp - self.start
            )
        return ChangeSet(
            self.stamp, tuple(added), tuple(removed), self.written, self.deleted, self.unchanged
        )


def upsert_records(change: Change, records: Sequence[IndexedRecord], now_ms: int) -> None:
    """Writes what is new or differs; passages that stay the same keep their id and vector."""
    # Episodes first: what inherits from them then needs no second look.
    for item in sorted(records, key=lambda item: kind_of(item.record) is not Kind.EPISODE):
        _upsert(change, item, now_ms)


def _upsert(change: Change, item: IndexedRecord, now_ms: int) -> None:
    connection, record = change.connection, item.record
    kind, entry_id = kind_of(record), record_key(record)
    owner_key = change.owners.key(connection, record.owner)
    values = filter_values(record)
    stored = row(
        connection,
        "SELECT record_id, content_hash, path, session_id, parent_type, parent_id, timestamp_ms "
        "FROM record WHERE owner_key = ? AND kind = ? AND entry_id = ?",
        (owner_key, kind, entry_id),
    )
    if stored is not None and stored[1] == item.content_hash:
        change.unchanged += 1
        if stored[2] != item.path:
            connection.execute(
                "UPDATE record SET path = ? WHERE record_id = ?", (item.path, stored[0])
            )
        return
    change.written += 1
    columns = (values.session_id, values.parent_type, values.parent_id, values.timestamp_ms)
    if stored is None:
        connection.execute(
            "INSERT INTO record (owner_key, kind, entry_id, public_id, path, content_hash, "
            "session_id, parent_type, parent_id, timestamp_ms, updated_at_ms, payload) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                owner_key,
                kind,
                entry_id,
                public_id(record),
                item.path,
                item.content_hash,
                *columns,
                now_ms,
                encode_payload(record),
            ),
        )
        record_id = connection.last_insert_rowid()
    else:
        record_id = stored[0]
        connection.execute(
            "UPDATE record SET path = ?, content_hash = ?, session_id = ?, parent_type = ?, "
            "parent_id = ?, timestamp_ms = ?, updated_at_ms = ?, payload = ? WHERE record_id = ?",
            (item.path, item.content_hash, *columns, now_ms, encode_payload(record), record_id),
        )
    senders_changed = _replace_senders(connection, record_id, values.sender_ids)
    fields_changed = stored is None or senders_changed or columns != stored[3:7]
    replace_speakers(connection, record_id, owner_key, record)
    _replace_passages(change, record_id, owner_key, item.passages, new=stored is None)
    if fields_changed and stored is not None:
        _restamp(change, "record_id = ?", (record_id,))
    if fields_changed and kind is Kind.EPISODE:
        # Facts and transcripts that are here already answer to this episode's fields now.
        _restamp(
            change,
            "record_id IN (SELECT record_id FROM record "
            "WHERE owner_key = ? AND kind IN (?, ?) AND parent_id = ?)",
            (owner_key, *_INHERITING, entry_id),
        )


def _replace_senders(
    connection: apsw.Connection, record_id: int, sender_ids: tuple[str, ...]
) -> bool:
    stored = rows(
        connection,
        "SELECT sender_id FROM record_sender WHERE record_id = ? ORDER BY position",
        (record_id,),
    )
    if sender_ids == tuple(sender_id for (sender_id,) in stored):
        return False
    connection.execute("DELETE FROM record_sender WHERE record_id = ?", (record_id,))
    connection.executemany(
        "INSERT INTO record_sender VALUES (?, ?, ?)",
        [(record_id, position, sender_id) for position, sender_id in enumerate(sender_ids)],
    )
    return True


def _replace_passages(
    change: Change, record_id: int, owner_key: int, drafts: Sequence[PassageDraft], *, new: bool
) -> None:
    wanted: dict[tuple[str, int, bytes, bool, bool], str] = {
        (item.channel, item.ordinal, text_hash(item.text), item.dense, item.lexical): item.text
        for item in drafts
    }
    if not new:
        vanished = []
        for passage_id, channel, ordinal, digest, dense, lexical in rows(
            change.connection,
            "SELECT passage_id, channel, ordinal, text_hash, dense, lexical FROM passage "
            "WHERE record_id = ?",
            (record_id,),
        ):
            kept = wanted.pop((channel, ordinal, digest, bool(dense), bool(lexical)), None)
            if kept is None:
                vanished.append(passage_id)
        _delete_passages(change, vanished)
    change.connection.executemany(
        "INSERT INTO passage (record_id, owner_key, channel, ordinal, text_hash, dense, lexical, "
        "text, stamp, embedded) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?6 AND EXISTS "
        "(SELECT 1 FROM embeddings.embedding e WHERE e.text_hash = ?5))",
        [(record_id, owner_key, *key, text, change.next_stamp()) for key, text in wanted.items()],
    )


def _restamp(change: Change, condition: str, parameters: tuple[str | int, ...]) -> None:
    """Marks passages as changed: what the lexical index knows of their record is out of date."""
    passage_ids = rows(
        change.connection,
        f"SELECT passage_id FROM passage WHERE {condition} AND stamp <= ?",
        (*parameters, change.start),
    )
    change.connection.executemany(
        "UPDATE passage SET stamp = ? WHERE passage_id = ?",
        [(change.next_stamp(), passage_id) for (passage_id,) in passage_ids],
    )


def _delete_passages(change: Change, passage_ids: Sequence[int]) -> None:
    if not passage_ids:
        return
    chosen = "WHERE passage_id IN (SELECT value FROM carray(?))"
    doomed = rows(
        change.connection,
        f"SELECT passage_id, owner_key, channel, text_hash, dense FROM passage {chosen}",
        (bound(passage_ids),),
    )
    change.orphans.update(digest for *_, digest, dense in doomed if dense)
    change.connection.executemany(
        "INSERT INTO deleted_passage VALUES (?, ?, ?, ?)",
        [(change.next_stamp(), *columns) for *columns, _, _ in doomed],
    )
    change.connection.execute(f"DELETE FROM passage {chosen}", (bound(passage_ids),))


def delete_records(change: Change, owner: Owner, kind: Kind, entry_ids: Iterable[str]) -> None:
    """Deletes records with their passages; unknown ids are passed over."""
    owner_key = change.owners.find(change.connection, owner)
    if owner_key is None:
        return
    record_ids = [
        record_id
        for entry_id in dict.fromkeys(entry_ids)
        for (record_id,) in rows(
            change.connection,
            "SELECT record_id FROM record WHERE owner_key = ? AND kind = ? AND entry_id = ?",
            (owner_key, kind, entry_id),
        )
    ]
    _delete_by_id(change, record_ids)


def delete_file(change: Change, path: str) -> None:
    """Deletes all records of a file, and what is known of the file."""
    _delete_vanished(change, path, set())
    change.connection.execute("DELETE FROM file WHERE path = ?", (path,))


def replace_file(
    change: Change, state: FileState, records: Sequence[IndexedRecord], now_ms: int
) -> None:
    """Makes the records of a file exactly those given."""
    upsert_records(change, records, now_ms)
    present = {
        (
            change.owners.key(change.connection, item.record.owner),
            str(kind_of(item.record)),
            record_key(item.record),
        )
        for item in records
    }
    _delete_vanished(change, state.path, present)
    save_file_state(change, state)


def save_file_state(change: Change, state: FileState) -> None:
    """Remembers how a file looked when it was projected."""
    problems = [(p.entry_id, p.line, p.reason) for p in state.problems]
    change.connection.execute(
        "INSERT OR REPLACE INTO file VALUES (?, ?, ?, ?, ?)",
        (state.path, state.size, state.mtime_ns, state.content_hash, orjson.dumps(problems)),
    )


def _delete_vanished(change: Change, path: str, present: set[tuple[int, str, str]]) -> None:
    stored = rows(
        change.connection,
        "SELECT record_id, owner_key, kind, entry_id FROM record WHERE path = ?",
        (path,),
    )
    _delete_by_id(change, [row[0] for row in stored if row[1:] not in present])


def _delete_by_id(change: Change, record_ids: Sequence[int]) -> None:
    if not record_ids:
        return
    chosen = "WHERE record_id IN (SELECT value FROM carray(?))"
    passages = rows(
        change.connection, f"SELECT passage_id FROM passage {chosen}", (bound(record_ids),)
    )
    _delete_passages(change, [passage_id for (passage_id,) in passages])
    for table in ("record_sender", "record_speaker", "record"):
        change.connection.execute(f"DELETE FROM {table} {chosen}", (bound(record_ids),))
    change.deleted += len(record_ids)
