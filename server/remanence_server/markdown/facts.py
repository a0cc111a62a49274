"""Atomic facts as bullets, one line each, grouped under their episode.

- Alice climbs in Yosemite every spring. <!-- entry:af_20260528_00000001 timestamp=… episode=… -->
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo
from itertools import groupby

from remanence_server.domain.owners import Owner
from remanence_server.domain.records import AtomicFact, Kind
from remanence_server.markdown.block_entries import EntryError, read_timestamp, split_block
from remanence_server.markdown.escape import decode_line, encode_line
from remanence_server.markdown.values import (
    Value,
    as_list,
    as_text,
    decode_attributes,
    decode_value,
    decode_values,
    encode_attributes,
)
from remanence_server.runtime.instants import render_iso


def encode_fact(fact: AtomicFact, zone: tzinfo) -> str:
    """The line of a fact."""
    attributes: dict[str, Value] = {
        "timestamp": render_iso(fact.timestamp_ms, zone),
        "session": fact.session_id,
        "parent": fact.parent_id,
        "senders": fact.sender_ids,
        "messages": fact.message_ids,
    }
    if fact.parent_type != "episode":
        attributes["parent_type"] = fact.parent_type
    details = encode_attributes(attributes)
    return f"- {encode_line(fact.content)} <!-- entry:{fact.entry_id} {details} -->\n"


def decode_fact(owner: Owner, entry_id: str, text: str, details: str, zone: tzinfo) -> AtomicFact:
    """Undoes `encode_fact`. Raises EntryError."""
    try:
        attributes = decode_attributes(details)
    except ValueError:
        raise EntryError("the details after the entry id are not key=value pairs") from None
    return AtomicFact(
        owner=owner,
        entry_id=entry_id,
        session_id=as_text(attributes.get("session")),
        timestamp_ms=read_timestamp(as_text(attributes.get("timestamp")), zone),
        content=decode_line(text),
        parent_id=as_text(attributes.get("parent")),
        sender_ids=as_list(attributes.get("senders")),
        message_ids=as_list(attributes.get("messages")),
        parent_type=as_text(attributes.get("parent_type", "episode")),
    )


def decode_fact_block(owner: Owner, entry_id: str, body: str, zone: tzinfo) -> AtomicFact:
    """A fact that somebody wrote as a block with a section Fact. Raises EntryError."""
    _, keys, sections = split_block(body, Kind.ATOMIC_FACT)
    if "Fact" not in sections:
        raise EntryError("the section Fact is missing")
    return AtomicFact(
        owner=owner,
        entry_id=entry_id,
        session_id=decode_value(keys.get("session_id", "")),
        timestamp_ms=read_timestamp(keys.get("timestamp"), zone),
        content=sections["Fact"],
        parent_id=decode_value(keys.get("parent_id", "")),
        sender_ids=decode_values(keys.get("sender_ids", "")),
        parent_type=decode_value(keys.get("parent_type", "episode")),
    )


def group_facts(facts: Sequence[tuple[AtomicFact, str]]) -> str:
    """Encoded facts under a heading for their parent.

    The markers around a group say whether it was written to its end.
    """
    groups: list[str] = []
    for parent_id, members in groupby(facts, key=lambda pair: pair[0].parent_id):
        pairs = list(members)
        first = pairs[0][0]
        heading = encode_line(f"{parent_id or first.session_id}"[:160]) or "Facts"
        lines = "".join(line for _, line in pairs)
        groups.append(
            f"<!-- facts:{first.entry_id} -->\n## {heading}\n\n{lines}"
            f"<!-- /facts:{first.entry_id} -->\n"
        )
    return "\n".join(groups)
