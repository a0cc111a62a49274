"""The filter language as a mapping, and as the typed tree it becomes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict

from remanence_client import FilterNode, InvalidInputError
from remanence_client.filters import filter_node


def tree(filters: dict[str, Any]) -> dict[str, Any]:
    return MessageToDict(filter_node(filters), preserving_proto_field_name=True)


def predicate(field: str, *conditions: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {
        "field": field,
        "conditions": [
            {"operator": f"FILTER_OPERATOR_{operator}", "value": value}
            for operator, value in conditions
        ],
    }


def shorthand(field: str, **value: Any) -> dict[str, Any]:
    return {**predicate(field, ("EQ", value)), "shorthand": True}


def test_bare_values_become_equalities_marked_as_shorthand() -> None:
    assert tree({"session_id": "s1", "sender_id": "alice"}) == {
        "predicates": [shorthand("session_id", text="s1"), shorthand("sender_id", text="alice")]
    }


def test_an_operator_map_becomes_one_predicate_with_its_conditions() -> None:
    assert tree({"timestamp": {"gte": 1_748_390_400_000, "lt": "2026-01-01"}}) == {
        "predicates": [
            predicate(
                "timestamp", ("GTE", {"integer": "1748390400000"}), ("LT", {"text": "2026-01-01"})
            )
        ]
    }


def test_and_and_or_nest_beside_predicates() -> None:
    filters = {"session_id": "s", "OR": [{"sender_id": "a"}, {"AND": [{"sender_id": "b"}]}]}
    assert tree(filters) == {
        "predicates": [shorthand("session_id", text="s")],
        "or": {
            "nodes": [
                {"predicates": [shorthand("sender_id", text="a")]},
                {"and": {"nodes": [{"predicates": [shorthand("sender_id", text="b")]}]}},
            ]
        },
    }


def test_an_empty_or_is_kept_because_it_matches_nothing() -> None:
    assert filter_node({"OR": []}).HasField("or")
    assert not filter_node({"OR": []}).HasField("and")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, {"flag": True}),
        (1.5, {"number": 1.5}),
        (datetime(2026, 1, 2, tzinfo=UTC), {"time": "2026-01-02T00:00:00Z"}),
        (["a", 1], {"list": {"values": [{"text": "a"}, {"integer": "1"}]}}),
    ],
)
def test_values_keep_their_type(value: Any, expected: dict[str, Any]) -> None:
    assert tree({"f": {"in": value}}) == {"predicates": [predicate("f", ("IN", expected))]}


def test_a_typed_tree_is_taken_as_it_is() -> None:
    node = FilterNode()
    assert filter_node(node) is node


@pytest.mark.parametrize(
    ("filters", "place"),
    [
        ("session_id", "filters"),
        ({"AND": {"session_id": "s"}}, "filters.AND"),
        ({"OR": [{"x": 1}, "y"]}, "filters.OR[1]"),
        ({"session_id": None}, "filters.session_id"),
        ({"session_id": {"like": "s"}}, "filters.session_id"),
        ({"timestamp": {"gte": {}}}, "filters.timestamp.gte"),
        ({"timestamp": {"gte": 2**63}}, "filters.timestamp.gte"),
        ({"timestamp": {"in": [None]}}, "filters.timestamp.in"),
        ({"timestamp": {"gte": datetime(2026, 1, 1)}}, "filters.timestamp.gte"),
        ({3: "s"}, "filters.3"),
    ],
)
def test_what_is_no_filter_is_refused_naming_the_place(filters: Any, place: str) -> None:
    with pytest.raises(InvalidInputError) as raised:
        filter_node(filters)
    assert raised.value.field == place
