from __future__ import annotations

import pytest

from remanence_server.domain.messages import Role
from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.domain.records import (
    AgentCase,
    AgentSkill,
    AtomicFact,
    Episode,
    Profile,
    Record,
    Transcript,
    Turn,
)
from remanence_server.state.record_json import dump_records, load_records

_ALICE = Owner(Scope("app", "project"), Track.USER, "alice")
_BOT = Owner(Scope(), Track.AGENT, "alice")

RECORDS: list[Record] = [
    Episode(_ALICE, "ep_20260528_00000001", "s\n1", 5, ("alice", "bob"), "Subject", "Sum", "Body"),
    AtomicFact(
        _ALICE, "af_20260528_00000001", "s", 5, "A fact.", "ep_1", ("alice",), ("m-1", "m-2")
    ),
    Transcript(
        _ALICE,
        "tr_20260528_00000001",
        "s",
        5,
        ("alice",),
        (Turn("m-1", "alice", "Alice", Role.USER, 4, "今天\n### not a heading"),),
        "ep_1",
    ),
    Profile(_ALICE, {"summary": "x", "explicit_info": [{"category": "home"}]}, 5),
    AgentCase(_BOT, "ac_20260528_00000001", "s", 5, "Intent", "1. do", 0.75, None, ("alice",)),
    AgentSkill(_BOT, "fix-it", "Fixes it", "Steps", 0.5, 1.0, ("ac_1",), 5),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_a_record_survives_the_row_of_its_job_whole(record: Record) -> None:
    assert load_records(dump_records([record])) == (record,)


def test_records_keep_their_order_and_owners() -> None:
    assert load_records(dump_records(RECORDS)) == tuple(RECORDS)
