"""Questions about records, on one connection."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import apsw
import numpy as np

from remanence_server.domain.filters import Filter
from remanence_server.domain.owners import Owner, Scope
from remanence_server.domain.record_codec import (
    decode_record,
    encoded_text,
    transcript_message_ids,
)
from remanence_server.domain.records import AtomicFact, Kind, Record
from remanence_server.index.catalogue.filter_sql import compile_filter
from remanence_server.index.catalogue.interface import PassageHome, SortBy
from remanence_server.index.catalogue.queries import Ids, bound, marks, rows, value
from remanence_server.index.catalogue.rows import EPISODE_OF_R, Owners
from remanence_server.index.damage import IndexDamagedError

_SORT_COLUMNS = {SortBy.TIMESTAMP: "r.timestamp_ms", SortBy.UPDATED_AT: "r.updated_at_ms"}
_KINDS = {kind.value: kind for kind in Kind}
_OF_KIND = "r.owner_key = ? AND r.kind = ?"


def _decoded(owner: Owner, kind: Kind, payload: bytes) -> Record:
    try:
        return decode_record(owner, kind, payload)
    except Exception as error:
        # We wrote it, so it could be read once.
        raise IndexDamagedError("catalogue") from error


def get_records(
    connection: apsw.Connection, owners: Owners, owner: Owner, kind: Kind, entry_ids: Iterable[str]
) -> dict[str, Record]:
    """Records of one owner and kind by entry id."""
    owner_key = owners.find(connection, owner)
    wanted = tuple(dict.fromkeys(entry_ids))
    if owner_key is None or not wanted:
        return {}
    found = rows(
        connection,
        f"SELECT r.entry_id, r.payload FROM record r WHERE {_OF_KIND} "
        f"AND r.entry_id IN ({marks(len(wanted))})",
        (owner_key, kind, *wanted),
    )
    return {entry_id: _decoded(owner, kind, payload) for entry_id, payload in found}


def entry_paths(
    connection: apsw.Connection, owners: Owners, owner: Owner, kind: Kind, entry_ids: Iterable[str]
) -> dict[str, str]:
    """Paths by entry id, one look for each: a file has few."""
    owner_key = owners.find(connection, owner)
    found = {}
    for entry_id in entry_ids if owner_key is not None else ():
        path = value(
            connection,
            "SELECT path FROM record WHERE owner_key = ? AND kind = ? AND entry_id = ?",
            (owner_key, kind, entry_id),
        )
        if path is not None:
            found[entry_id] = path
    return found


def records_by_ids(
    connection: apsw.Connection, owners: Owners, record_ids: Iterable[int]
) -> list[Record]:
    """Records in the order of their ids as given."""
    wanted = list(record_ids)
    found = {
        record_id: _decoded(owners.owner(connection, owner_key), Kind(kind), payload)
        for record_id, owner_key, kind, payload in rows(
            connection,
            "SELECT record_id, owner_key, kind, payload FROM record "
            "WHERE record_id IN (SELECT value FROM carray(?))",
            (bound(wanted),),
        )
    }
    return [found[record_id] for record_id in wanted if record_id in found]


def find_public(
    connection: apsw.Connection, owners: Owners, scope: Scope, public_id: str
) -> list[Record]:
    """Records with a public id within a scope."""
    found = rows(
        connection,
        "SELECT owner_key, kind, payload FROM record JOIN owner USING (owner_key) "
        "WHERE public_id = ? AND app_id = ? AND project_id = ? ORDER BY kind, owner_key",
        (public_id, scope.app_id, scope.project_id),
    )
    return [
        _decoded(owners.owner(connection, owner_key), Kind(kind), payload)
        for owner_key, kind, payload in found
    ]


def list_records(
    connection: apsw.Connection,
    owners: Owners,
    owner: Owner,
    kind: Kind,
    where: Filter | None,
    sort_by: SortBy,
    descending: bool,
    offset: int,
    limit: int,
) -> tuple[int, list[Record]]:
    """The number of matches and a page of them."""
    owner_key = owners.find(connection, owner)
    if owner_key is None:
        return 0, []
    condition, parameters = compile_filter(where)
    if where is None:
        total = _count_of(connection, owner_key, kind)
    else:
        total = value(
            connection,
            f"SELECT count(*) FROM record r WHERE {_OF_KIND} AND {condition}",
            (owner_key, kind, *parameters),
        )
    if offset >= total:
        return total, []
    if kind in (Kind.PROFILE, Kind.AGENT_SKILL):
        sort_by = SortBy.UPDATED_AT
    direction = "DESC" if descending else "ASC"
    found = rows(
        connection,
        f"SELECT r.payload FROM record r WHERE {_OF_KIND} AND {condition} "
        f"ORDER BY {_SORT_COLUMNS[sort_by]} {direction}, r.public_id {direction} "
        "LIMIT ? OFFSET ?",
        (owner_key, kind, *parameters, limit, offset),
    )
    return total, [_decoded(owner, kind, payload) for (payload,) in found]


def _count_of(connection: apsw.Connection, owner_key: int, kind: Kind) -> int:
    return (
        value(
            connection,
            "SELECT records FROM tally WHERE owner_key = ? AND kind = ?",
            (owner_key, kind),
        )
        or 0
    )


def counts(connection: apsw.Connection, owners: Owners, owner: Owner | None) -> dict[Kind, int]:
    """Records of each kind; zero where there are none."""
    result = dict.fromkeys(Kind, 0)
    for kind, records in rows(
        connection,
        "SELECT kind, sum(records) FROM tally WHERE ?1 OR owner_key = ?2 GROUP BY kind",
        (owner is None, owners.find(connection, owner) if owner else None),
    ):
        result[Kind(kind)] = records
    return result


def matching_record_ids(
    connection: apsw.Connection, owners: Owners, owner: Owner, kind: Kind, where: Filter | None
) -> Ids:
    """Ids of records of a kind whose own fields match, ascending."""
    owner_key = owners.find(connection, owner)
    condition, parameters = compile_filter(where)
    return _ids(
        connection,
        f"SELECT r.record_id FROM record r WHERE {_OF_KIND} AND {condition}",
        (owner_key, kind, *parameters),
    )


def allowed_record_ids(
    connection: apsw.Connection, owners: Owners, owner: Owner, where: Filter
) -> Ids:
    """Ids of records that match by themselves or through their episode, ascending."""
    owner_key = owners.find(connection, owner)
    condition, parameters = compile_filter(where)
    return _ids(
        connection,
        "WITH matching AS MATERIALIZED (SELECT r.record_id, r.kind, r.entry_id FROM record r "
        "WHERE r.owner_key = ?1 AND r.kind IN "
        f"('episode', 'profile', 'agent_case', 'agent_skill') AND {condition}) "
        "SELECT record_id FROM matching UNION ALL "
        "SELECT c.record_id FROM matching m CROSS JOIN record c "
        "ON c.owner_key = ?1 AND c.kind IN ('atomic_fact', 'transcript') "
        "AND c.parent_id = m.entry_id WHERE m.kind = 'episode'",
        (owner_key, *parameters),
    )


def _ids(connection: apsw.Connection, query: str, parameters: tuple[Any, ...]) -> Ids:
    found = rows(connection, query, parameters)
    return np.sort(np.fromiter((row[0] for row in found), dtype=np.int64, count=len(found)))


def facts_citing(
    connection: apsw.Connection,
    owners: Owners,
    owner: Owner,
    message_ids: Mapping[str, Collection[str]],
) -> dict[str, list[AtomicFact]]:
    """Facts by the entry id of their episode."""
    result: dict[str, list[AtomicFact]] = {entry_id: [] for entry_id in message_ids}
    owner_key = owners.find(connection, owner)
    if owner_key is None:
        return result
    for entry_id, wanted in message_ids.items():
        # An episode has dozens of facts, and building one costs many times this look at its bytes.
        may_cite = " OR ".join(["instr(r.payload, ?) > 0"] * len(wanted)) or "0"
        payloads = rows(
            connection,
            f"SELECT r.payload FROM record r WHERE {_OF_KIND} AND r.parent_id = ? AND ({may_cite})",
            (owner_key, Kind.ATOMIC_FACT, entry_id, *map(encoded_text, wanted)),
        )
        for (payload,) in payloads:
            fact = _decoded(owner, Kind.ATOMIC_FACT, payload)
            if isinstance(fact, AtomicFact) and not set(fact.message_ids).isdisjoint(wanted):
                result[entry_id].append(fact)
        # Not in SQL: for the order's sake it would walk all facts of the owner.
        result[entry_id].sort(key=lambda fact: fact.entry_id)
    return result


def turn_message_ids(
    connection: apsw.Connection, turns: Iterable[tuple[int, int]]
) -> dict[tuple[int, int], str]:
    """Message ids by record id of the transcript and index of the turn."""
    wanted = tuple(turns)
    found = {
        record_id: transcript_message_ids(payload)
        for record_id, payload in rows(
            connection,
            "SELECT record_id, payload FROM record "
            "WHERE kind = 'transcript' AND record_id IN (SELECT value FROM carray(?))",
            (bound({record_id for record_id, _ in wanted}),),
        )
    }
    return {
        (record_id, index): found[record_id][index]
        for record_id, index in wanted
        if index < len(found.get(record_id, ()))
    }


def passage_homes(
    connection: apsw.Connection, passage_ids: Iterable[int]
) -> dict[int, PassageHome]:
    """Where passages belong."""
    return {
        row[0]: PassageHome(row[0], row[1], _KINDS[row[2]], *row[3:])
        for row in rows(
            connection,
            "SELECT p.passage_id, p.record_id, r.kind, r.entry_id, r.parent_id, p.channel, "
            f"p.ordinal, {EPISODE_OF_R} "
            "FROM carray(?) c CROSS JOIN passage p ON p.passage_id = c.value "
            "JOIN record r ON r.record_id = p.record_id",
            (bound(passage_ids),),
        )
    }


def passage_texts(connection: apsw.Connection, passage_ids: Iterable[int]) -> dict[int, str]:
    """Texts of passages."""
    found = rows(
        connection,
        "SELECT passage_id, text FROM passage WHERE passage_id IN (SELECT value FROM carray(?))",
        (bound(passage_ids),),
    )
    return {item[0]: item[1] for item in found}


def episodes_of(connection: apsw.Connection, record_ids: Iterable[int]) -> dict[int, int]:
    """What records climb to."""
    return {
        record_id: episode_id
        for record_id, episode_id in rows(
            connection,
            f"SELECT r.record_id, {EPISODE_OF_R} FROM carray(?) c "
            "CROSS JOIN record r ON r.record_id = c.value",
            (bound(record_ids),),
        )
        if episode_id is not None
    }


def timestamps_of(connection: apsw.Connection, record_ids: Iterable[int]) -> dict[int, int]:
    """The instants of records."""
    found = rows(
        connection,
        "SELECT record_id, timestamp_ms FROM record "
        "WHERE timestamp_ms IS NOT NULL AND record_id IN (SELECT value FROM carray(?))",
        (bound(record_ids),),
    )
    return {item[0]: item[1] for item in found}
