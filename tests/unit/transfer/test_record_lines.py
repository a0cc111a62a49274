from __future__ import annotations

import dataclasses

import orjson
import pytest
from tests.support.workshop import ALICE, CODER, T0, episode, transcript

from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.domain.records import AgentCase, AgentSkill, AtomicFact, Profile, Record
from remanence_server.transfer.record_lines import LineError, decode_line, encode_line

_RECORDS: list[Record] = [
    episode(content='"> <!-- entry:x -->\u2028 né 日本'),
    transcript("one\ntwo", "三"),
    AtomicFact(ALICE, "af_20260528_00000001", "s", T0, "c", "p", ("a",), ("m1", "m2")),
    AtomicFact(ALICE, "by-hand.1", "s", T0, "c", "p"),
    Profile(ALICE, {"summary": "s", "explicit_info": [{"category": "home"}], "odd": 1.5}, T0),
    AgentCase(CODER, "ac_20260528_00000001", "s", T0, "i", "a", 0.5, None, ("coder",)),
    AgentSkill(CODER, "Fix: imports/é", "d", "c", 1, 0, ("ac_1",), T0),
]


@pytest.mark.parametrize("record", _RECORDS, ids=lambda record: type(record).__name__)
def test_a_record_comes_back_as_one_of_another_owner(record: Record) -> None:
    line = encode_line(record)
    assert line.count(b"\n") == 1
    assert b'"owner' not in line
    heir = Owner(Scope("a", "b"), record.owner.track, "heir")
    assert decode_line(line, heir) == dataclasses.replace(record, owner=heir)


def test_a_line_has_names_that_stay() -> None:
    line = orjson.loads(encode_line(transcript("hi")))
    assert list(line) == [
        "kind", "id", "session_id", "timestamp", "timestamp_ms", "sender_ids", "turns",
        "parent_id", "parent_type",
    ]  # fmt: skip
    assert (line["kind"], line["id"]) == ("transcript", "tr_20260528_00000001")
    assert (line["timestamp"], line["timestamp_ms"]) == ("2026-05-28T11:30:36Z", T0)
    assert list(line["turns"][0]) == [
        "message_id", "sender_id", "speaker", "role", "timestamp", "timestamp_ms", "text",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "changed",
    [
        {"id": "ep_20260528_00000001\n"},
        {"id": "ep_20260528_٠٠٠٠٠٠٠١"},
        {"id": "<!--"},
        {"id": "a--b"},
        {"id": ""},
        {"id": "x" * 129},
        {"id": None},
        {"timestamp_ms": -1},
        {"timestamp_ms": True},
        {"timestamp_ms": 1.5},
        {"sender_ids": "alice"},
        {"content": 7},
    ],
)
def test_values_that_would_break_the_memory_are_refused(changed: dict[str, object]) -> None:
    line = {**orjson.loads(encode_line(episode())), **changed}
    with pytest.raises(LineError) as refused:
        decode_line(orjson.dumps(line), ALICE)
    name, value = next(iter(changed.items()))
    assert str(refused.value).rpartition(": ")[2].split(".")[0] == name
    assert not value or repr(value) not in str(refused.value)


def test_scores_are_shares() -> None:
    case = AgentCase(CODER, "ac_20260528_00000001", "s", T0, "i", "a", 1.5, None)
    with pytest.raises(LineError, match="from 0 to 1: quality_score"):
        decode_line(encode_line(case), CODER)


def test_what_the_other_track_holds_is_refused() -> None:
    with pytest.raises(LineError, match="episode is not what the agent track holds"):
        decode_line(encode_line(episode()), Owner(Scope(), Track.AGENT, "alice"))
