"""Who speaks in the episodes of an owner: names heard in most of them tell none apart."""

from __future__ import annotations

import apsw

from remanence_server.domain.owners import Owner
from remanence_server.domain.records import Kind, Record, Transcript
from remanence_server.index.catalogue.queries import rows, value
from remanence_server.index.catalogue.rows import Owners


def replace_speakers(
    connection: apsw.Connection, record_id: int, owner_key: int, record: Record
) -> None:
    """Notes the speakers of a transcript, in place of those it had before."""
    if not isinstance(record, Transcript):
        return
    connection.execute("DELETE FROM record_speaker WHERE record_id = ?", (record_id,))
    connection.executemany(
        "INSERT INTO record_speaker VALUES (?, ?, ?)",
        [
            (record_id, speaker, owner_key)
            for speaker in dict.fromkeys(turn.speaker for turn in record.turns)
        ],
    )


def frequent_speakers(
    connection: apsw.Connection, owners: Owners, owner: Owner, share: float
) -> tuple[int, dict[str, int]]:
    """How many transcripts there are, and in how many those are heard who are in most of them."""
    owner_key = owners.find(connection, owner)
    if owner_key is None:
        return 0, {}
    total = value(
        connection,
        "SELECT records FROM tally WHERE owner_key = ? AND kind = ?",
        (owner_key, Kind.TRANSCRIPT),
    )
    found = rows(
        connection,
        "SELECT speaker, records FROM speaker_tally WHERE owner_key = ? AND records >= ?",
        (owner_key, share * (total or 0)),
    )
    return total or 0, dict(found)
