"""The fields of a record that filters look at."""

from __future__ import annotations

from remanence_server.domain.records import AgentSkill, Profile, Record
from remanence_server.index.catalogue.changes import FilterValues


def filter_values(record: Record) -> FilterValues:
    """The record's own fields that filters look at.

    A profile and a skill have none: they come of many sessions, and their instant is not that of
    an event.
    """
    match record:
        case Profile() | AgentSkill():
            return FilterValues(None, None, None, None, ())
        case _:
            return FilterValues(
                record.session_id,
                record.parent_type,
                record.parent_id,
                record.timestamp_ms,
                tuple(dict.fromkeys(record.sender_ids)),
            )
