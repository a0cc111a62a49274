"""Vectors of passages, kept as 16-bit floats under the hash of their text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import apsw
import numpy as np

from remanence_server.domain.owners import Owner
from remanence_server.index.catalogue.interface import (
    Matrix,
    PendingPassage,
    StoredVector,
    VectorBlock,
)
from remanence_server.index.catalogue.queries import Row, bound, rows, stream, value
from remanence_server.index.catalogue.rows import Owners

# Unit vectors in 16 bits: a cosine moves by less than 0.001, in half the space.
_STORED = np.dtype("<f2")
_WITH_VECTOR = (
    "SELECT p.passage_id, p.record_id, e.vector FROM {source} "
    "JOIN embeddings.embedding e ON e.text_hash = p.text_hash WHERE {condition}"
)


def passages_without_vector(
    connection: apsw.Connection, owners: Owners, limit: int, after_passage_id: int
) -> list[PendingPassage]:
    """Dense passages that wait for a vector, the oldest first."""
    found = rows(
        connection,
        "SELECT passage_id, record_id, owner_key, channel, text FROM passage "
        "WHERE dense AND NOT embedded AND passage_id > ? ORDER BY passage_id LIMIT ?",
        (after_passage_id, limit),
    )
    return [
        PendingPassage(row[0], row[1], owners.owner(connection, row[2]), row[3], row[4])
        for row in found
    ]


def count_without_vector(connection: apsw.Connection) -> int:
    """How many dense passages wait for a vector."""
    count: int = value(connection, "SELECT count(*) FROM passage WHERE dense AND NOT embedded")
    return count


def save_vectors(
    connection: apsw.Connection, owners: Owners, passage_ids: Sequence[int], vectors: Matrix
) -> list[StoredVector]:
    """Stores vectors; see the interface. Within a transaction."""
    found = rows(
        connection,
        "SELECT passage_id, text_hash FROM passage "
        "WHERE dense AND passage_id IN (SELECT value FROM carray(?))",
        (bound(passage_ids),),
    )
    digests: dict[int, bytes] = {item[0]: item[1] for item in found}
    row_of_digest = {
        digests[passage_id]: row
        for row, passage_id in enumerate(passage_ids)
        if passage_id in digests
    }
    connection.executemany(
        "INSERT INTO embeddings.embedding (text_hash, vector) VALUES (?, ?) "
        "ON CONFLICT DO UPDATE SET vector = excluded.vector",
        [(digest, vectors[row].astype(_STORED).tobytes()) for digest, row in row_of_digest.items()],
    )
    stored = []
    for digest, row in row_of_digest.items():
        for passage_id, record_id, owner_key, channel in rows(
            connection,
            "SELECT passage_id, record_id, owner_key, channel FROM passage "
            "WHERE text_hash = ? AND dense",
            (digest,),
        ):
            owner = owners.owner(connection, owner_key)
            stored.append(StoredVector(row, passage_id, record_id, owner, channel))
    connection.execute(
        "UPDATE passage SET embedded = 1 "
        "WHERE NOT embedded AND passage_id IN (SELECT value FROM carray(?))",
        (bound(item.passage_id for item in stored),),
    )
    return stored


def vectors_of(
    connection: apsw.Connection, passage_ids: Iterable[int], dimensions: int
) -> VectorBlock:
    """The stored vectors of passages, in the order of their ids."""
    query = _WITH_VECTOR.format(
        source="carray(?) c CROSS JOIN passage p ON p.passage_id = c.value",
        condition="p.embedded ORDER BY p.passage_id",
    )
    return _block(stream(connection, query, (bound(passage_ids),)), dimensions)


def load_partition(
    connection: apsw.Connection, owners: Owners, owner: Owner, channel: str, dimensions: int
) -> VectorBlock:
    """All vectors of an owner's channel, in the order of passage ids."""
    query = _WITH_VECTOR.format(
        source="passage p",
        condition="p.owner_key = ? AND p.channel = ? AND p.embedded ORDER BY p.passage_id",
    )
    owner_key = owners.find(connection, owner)
    return _block(stream(connection, query, (owner_key, channel)), dimensions)


def prune_vectors(connection: apsw.Connection) -> int:
    """Drops vectors whose text no dense passage has."""
    connection.execute(
        "DELETE FROM embeddings.embedding WHERE NOT EXISTS "
        "(SELECT 1 FROM passage p WHERE p.text_hash = embedding.text_hash AND p.dense)"
    )
    return connection.changes()


def _block(found: Iterable[Row], dimensions: int) -> VectorBlock:
    passage_ids: list[int] = []
    record_ids: list[int] = []
    # One growing buffer: a list of 100,000 small objects would take twice the memory and time.
    buffer = bytearray()
    width = dimensions * _STORED.itemsize
    for passage_id, record_id, vector in found:
        if len(vector) != width:
            continue
        passage_ids.append(passage_id)
        record_ids.append(record_id)
        buffer += vector
    matrix = np.frombuffer(buffer, dtype=_STORED).reshape(-1, dimensions).astype(np.float32)
    return VectorBlock(
        np.array(passage_ids, dtype=np.int64), np.array(record_ids, dtype=np.int64), matrix
    )
