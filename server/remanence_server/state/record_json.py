"""Records of any owners as one JSON text, the form in which a job keeps its output."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.domain.record_codec import decode_record, encode_payload
from remanence_server.domain.records import Kind, Record, kind_of


def dump_records(records: Sequence[Record]) -> str:
    """The records as text."""
    return orjson.dumps(
        [
            (kind_of(record), _place(record.owner), encode_payload(record).decode())
            for record in records
        ]
    ).decode()


def load_records(text: str) -> tuple[Record, ...]:
    """The records that `dump_records` wrote."""
    return tuple(
        decode_record(Owner(Scope(app_id, project_id), Track(track), owner_id), Kind(kind), payload)
        for kind, (app_id, project_id, track, owner_id), payload in orjson.loads(text)
    )


def _place(owner: Owner) -> tuple[str, str, str, str]:
    return owner.scope.app_id, owner.scope.project_id, owner.track, owner.owner_id
