"""Well-known values in JSON."""

from __future__ import annotations

import math
from datetime import UTC, timedelta, timezone
from typing import Any

from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp

from remanence.v2 import memory_pb2, ops_pb2
from remanence_http import memory, ops
from remanence_server.api.transcoding.values import struct_json, struct_to_proto, timestamp_text


def test_an_object_comes_back_from_a_struct_as_it_was() -> None:
    data: dict[str, Any] = {
        "a": None,
        "b": [True, 1, 1.5, "x", []],
        "c": {"d": {}},
        "e": -(2**53),
        "f": "",
    }
    back = struct_json(struct_to_proto(data))
    assert back == data
    assert [type(v) for v in back["b"]] == [bool, int, float, str, list]


def test_a_struct_is_what_protobuf_would_make_of_it() -> None:
    data: dict[str, Any] = {"a": None, "b": [True, 1, "x"], "c": {"d": 2}}
    expected = Struct()
    expected.update(data)
    assert struct_to_proto(data) == expected


def test_numbers_that_are_no_integers_stay_doubles() -> None:
    back = struct_json(struct_to_proto({"huge": 1e300, "inf": math.inf}))
    assert back == {"huge": 1e300, "inf": math.inf}
    assert isinstance(back["huge"], float)


def test_an_instant_is_shown_in_the_display_zone() -> None:
    moment = Timestamp(seconds=1_779_967_836)
    assert timestamp_text(moment, UTC) == "2026-05-28T11:30:36Z"
    shanghai = timezone(timedelta(hours=8))
    assert timestamp_text(moment, shanghai) == "2026-05-28T19:30:36+08:00"
    moment.nanos = 250_000_000
    assert timestamp_text(moment, UTC) == "2026-05-28T11:30:36.250Z"


def test_a_search_response_has_the_documented_shape() -> None:
    episode = memory_pb2.SearchEpisodeItem(
        id="a_ep_20260528_00000001",
        user_id="a",
        timestamp=Timestamp(seconds=1_779_967_836),
        sender_ids=["a"],
        type="Conversation",
        score=1.0,
        atomic_facts=[memory_pb2.SearchAtomicFactItem(id="f", content="c", score=0.5)],
    )
    profile = memory_pb2.SearchProfileItem(id="p", profile_data=struct_to_proto({"k": 1}))
    response = memory_pb2.SearchResponse(episodes=[episode], profiles=[profile])
    data = memory.search_response_json(response, UTC)
    assert data["episodes"] == [
        {
            "id": "a_ep_20260528_00000001",
            "user_id": "a",
            "app_id": "",
            "project_id": "",
            "session_id": "",
            "timestamp": "2026-05-28T11:30:36Z",
            "sender_ids": ["a"],
            "summary": "",
            "subject": "",
            "episode": "",
            "type": "Conversation",
            "score": 1.0,
            "atomic_facts": [{"id": "f", "content": "c", "score": 0.5}],
        }
    ]
    assert data["profiles"][0]["profile_data"] == {"k": 1}
    assert data["profiles"][0]["score"] is None
    assert data["profiles"][0]["user_id"] is None
    assert [key for key, value in data.items() if value == []] == [
        "agent_cases",
        "agent_skills",
        "unprocessed_messages",
    ]


def test_pending_is_left_out_unless_it_is_known() -> None:
    status = memory_pb2.ADD_STATUS_ACCUMULATED
    response = memory_pb2.AddResponse(message_count=2, status=status)
    assert memory.add_response_json(response, UTC) == {"message_count": 2, "status": "accumulated"}
    response.pending = 0
    assert memory.add_response_json(response, UTC)["pending"] == 0


def test_no_tool_calls_are_null_in_a_buffered_message() -> None:
    data = memory.unprocessed_message_json(memory_pb2.UnprocessedMessage(text=""), UTC)
    assert data["tool_calls"] is None
    assert data["content"] == ""


def test_a_map_is_an_object() -> None:
    data = ops.cascade_health_json(ops_pb2.CascadeHealth(index_rows={"episode": 3}), UTC)
    assert data["index_rows"] == {"episode": 3}
    assert data["reasons"] == []
