"""What reading and writing share: owners by key, passages with what filters see of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.domain.records import Kind
from remanence_server.index.catalogue.changes import FilterValues, IndexedPassage, RemovedPassage
from remanence_server.index.catalogue.queries import bound, rows, value

# A fact or a transcript `r` stands for its episode; everything else for itself.
EPISODE_OF_R = (
    "CASE WHEN r.kind IN ('atomic_fact', 'transcript') THEN "
    "(SELECT e.record_id FROM record e WHERE e.owner_key = r.owner_key "
    "AND e.kind = 'episode' AND e.entry_id = r.parent_id) ELSE r.record_id END"
)


class Owners:
    """Owners and their keys, remembered; keys never change. For one thread."""

    def __init__(self) -> None:
        self._keys: dict[Owner, int] = {}
        self._owners: dict[int, Owner] = {}

    def find(self, connection: apsw.Connection, owner: Owner) -> int | None:
        """The key of an owner, or None while nothing of it has been stored."""
        key = self._keys.get(owner)
        if key is None:
            key = value(
                connection,
                "SELECT owner_key FROM owner "
                "WHERE app_id = ? AND project_id = ? AND track = ? AND owner_id = ?",
                _columns(owner),
            )
            if key is not None:
                self._remember(key, owner)
        return key

    def key(self, connection: apsw.Connection, owner: Owner) -> int:
        """The key of an owner, given now if it has none. Within a transaction that writes."""
        key = self.find(connection, owner)
        if key is None:
            connection.execute(
                "INSERT INTO owner (app_id, project_id, track, owner_id) VALUES (?, ?, ?, ?)",
                _columns(owner),
            )
            key = connection.last_insert_rowid()
            self._remember(key, owner)
        return key

    def owner(self, connection: apsw.Connection, key: int) -> Owner:
        """The owner of a key."""
        owner = self._owners.get(key)
        if owner is None:
            [(app_id, project_id, track, owner_id)] = rows(
                connection,
                "SELECT app_id, project_id, track, owner_id FROM owner WHERE owner_key = ?",
                (key,),
            )
            owner = Owner(Scope(app_id, project_id), Track(track), owner_id)
            self._remember(key, owner)
        return owner

    def forget(self) -> None:
        """Drops what is remembered: after a transaction that may have given keys was undone."""
        self._keys.clear()
        self._owners.clear()

    def _remember(self, key: int, owner: Owner) -> None:
        self._keys[owner] = key
        self._owners[key] = owner


def _columns(owner: Owner) -> tuple[str, str, str, str]:
    return (owner.scope.app_id, owner.scope.project_id, owner.track, owner.owner_id)


def read_passages(
    connection: apsw.Connection, owners: Owners, condition: str, parameters: Sequence[Any]
) -> list[IndexedPassage]:
    """Passages `p` that a condition selects, with the filter values of their episode.

    The condition may end in ORDER BY and LIMIT.
    """
    found = rows(
        connection,
        "SELECT p.passage_id, p.stamp, p.record_id, p.owner_key, r.kind, p.channel, p.ordinal, "
        "p.text, p.dense, p.lexical, p.embedded, f.record_id, f.session_id, f.parent_type, "
        "f.parent_id, f.timestamp_ms "
        "FROM passage p JOIN record r ON r.record_id = p.record_id "
        f"JOIN record f ON f.record_id = coalesce({EPISODE_OF_R}, r.record_id) "
        f"WHERE {condition}",
        parameters,
    )
    senders = _senders_of(connection, {row[11] for row in found})
    return [
        IndexedPassage(
            passage_id=row[0],
            stamp=row[1],
            record_id=row[2],
            owner=owners.owner(connection, row[3]),
            kind=Kind(row[4]),
            channel=row[5],
            ordinal=row[6],
            text=row[7],
            dense=bool(row[8]),
            lexical=bool(row[9]),
            embedded=bool(row[10]),
            filter_values=FilterValues(
                row[12], row[13], row[14], row[15], tuple(senders.get(row[11], ()))
            ),
        )
        for row in found
    ]


def read_removed(
    connection: apsw.Connection, owners: Owners, after_stamp: int, limit: int
) -> list[RemovedPassage]:
    """Passages deleted after a stamp, in the order of their stamps."""
    return [
        RemovedPassage(passage_id, stamp, owners.owner(connection, owner_key), channel)
        for passage_id, stamp, owner_key, channel in rows(
            connection,
            "SELECT passage_id, stamp, owner_key, channel FROM deleted_passage "
            "WHERE stamp > ? ORDER BY stamp LIMIT ?",
            (after_stamp, limit),
        )
    ]


def _senders_of(connection: apsw.Connection, record_ids: set[int]) -> dict[int, list[str]]:
    senders: dict[int, list[str]] = {}
    for record_id, sender_id in rows(
        connection,
        "SELECT record_id, sender_id FROM record_sender "
        "WHERE record_id IN (SELECT value FROM carray(?)) ORDER BY record_id, position",
        (bound(record_ids),),
    ):
        senders.setdefault(record_id, []).append(sender_id)
    return senders
