"""The filter language: its shape in JSON and in protobuf."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from remanence.v2 import memory_pb2 as pb
from remanence_http import memory
from remanence_server.api.transcoding import (
    FilterError,
    check_filter_node,
    filter_node_from_json,
    filter_node_json,
    validate_message,
)
from remanence_server.api.transcoding.validation import validate
from remanence_server.runtime.errors import ServiceError

ROUND_TRIPS: list[dict[str, Any]] = [
    {},
    {"session_id": "s"},
    {"session_id": {"eq": "s"}},
    {"session_id": {"in": ["a", "b"]}},
    {"timestamp": {"gte": 1748390400000, "lt": "2026-05-28T11:30:00"}},
    {"timestamp": 1.5},
    {"flag": True},
    {"session_id": "s", "OR": [{"sender_id": "a"}, {"sender_id": "b"}]},
    {"AND": [], "OR": []},
    {"AND": [{"OR": [{"x": 1}]}, {}]},
    {"and": ["a", 1, 2.5, False]},
]


def nested(levels: int) -> dict[str, Any]:
    node: dict[str, Any] = {"session_id": "x"}
    for _ in range(levels - 1):
        node = {"AND": [node]}
    return node


def nested_pb(levels: int) -> pb.FilterNode:
    node = pb.FilterNode()
    for _ in range(levels - 1):
        holder = pb.FilterNode()
        getattr(holder, "and").nodes.append(node)
        node = holder
    return node


def predicate(*conditions: pb.FilterCondition, **fields: Any) -> pb.FilterNode:
    one = pb.FilterPredicate(field="timestamp", conditions=conditions, **fields)
    return pb.FilterNode(predicates=[one])


@pytest.mark.parametrize("data", ROUND_TRIPS)
def test_a_filter_comes_back_as_it_was_sent(data: dict[str, Any]) -> None:
    node = filter_node_from_json(data)
    check_filter_node(node)
    assert filter_node_json(node) == data


def test_values_keep_their_type() -> None:
    node = filter_node_from_json({"a": True, "b": 1, "c": 1.0, "d": "1", "e": [1, "x"]})
    kinds = [p.conditions[0].value.WhichOneof("kind") for p in node.predicates]
    assert kinds == ["flag", "integer", "number", "text", "list"]


def test_an_integer_beyond_64_bits_is_kept_as_a_number() -> None:
    node = filter_node_from_json({"timestamp": {"gte": 2**63}})
    assert node.predicates[0].conditions[0].value.number == 2.0**63


def test_a_bare_value_is_told_apart_from_an_equality_operator() -> None:
    bare = filter_node_from_json({"session_id": "s"}).predicates[0]
    spelled = filter_node_from_json({"session_id": {"eq": "s"}}).predicates[0]
    assert bare.shorthand
    assert not spelled.shorthand
    assert list(bare.conditions) == list(spelled.conditions)


def test_absent_and_empty_combinators_are_told_apart() -> None:
    assert not filter_node_from_json({}).HasField("and")
    assert filter_node_from_json({"AND": []}).HasField("and")
    assert not filter_node_from_json({"OR": None}).HasField("or")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("s3", "Input should be an object of the filter language: filters"),
        ([], "Input should be an object of the filter language: filters"),
        (
            {"AND": ["x"]},
            "Input should be an object of the filter language: filters.AND.0",
        ),
        ({"AND": {"a": "b"}}, "'AND' must be a list of filter objects: filters.AND"),
        (
            {"OR": [{}, {"OR": "x"}]},
            "'OR' must be a list of filter objects: filters.OR.1.OR",
        ),
        (
            {"timestamp": {"like": "2026%"}},
            "unsupported operator 'like' on field 'timestamp': filters.timestamp",
        ),
        (
            {"session_id": {}},
            "field 'session_id' needs a value or at least one operator: filters.session_id",
        ),
        (
            {"session_id": None},
            "the value of field 'session_id' must be text, a number, a boolean or a list: "
            "filters.session_id",
        ),
        (
            {"AND": [{"session_id": {"in": ["a", None]}}]},
            "the value of field 'session_id' must be text, a number, a boolean or a list: "
            "filters.AND.0.session_id",
        ),
        (
            {"session_id": {"eq": {"a": 1}}},
            "the value of field 'session_id' must be text, a number, a boolean or a list: "
            "filters.session_id",
        ),
        (
            {"session_id": {"in": [["a"]]}},
            "the value of field 'session_id' must be text, a number, a boolean or a list: "
            "filters.session_id",
        ),
        (nested(33), "the filter is nested deeper than 32 levels: filters.AND.0"),
        (nested(300), "the filter is nested deeper than 32 levels: filters.AND.0"),
    ],
)
def test_a_filter_of_the_wrong_shape_is_refused(data: object, text: str) -> None:
    with pytest.raises(ServiceError) as caught:
        validate(memory.SearchRequest, {"user_id": "u", "query": "x", "filters": data})
    assert caught.value.message == text


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (
            predicate(),
            "field 'timestamp' needs a value or at least one operator: filters.timestamp",
        ),
        (
            predicate(pb.FilterCondition(value=pb.FilterValue(integer=1))),
            "unsupported operator '0' on field 'timestamp': filters.timestamp",
        ),
        (
            predicate(pb.FilterCondition(operator=pb.FILTER_OPERATOR_EQ)),
            "the value of field 'timestamp' must be text, a number, a boolean or a list: "
            "filters.timestamp",
        ),
        (
            predicate(
                pb.FilterCondition(
                    operator=pb.FILTER_OPERATOR_GT, value=pb.FilterValue(number=float("inf"))
                )
            ),
            "the value of field 'timestamp' must be text, a number, a boolean or a list: "
            "filters.timestamp",
        ),
        (nested_pb(33), "the filter is nested deeper than 32 levels: filters.AND.0"),
    ],
)
def test_grpc_asks_for_the_same_shape(node: pb.FilterNode, text: str) -> None:
    with pytest.raises(ServiceError) as caught:
        validate_message(pb.SearchRequest(user_id="u", query="x", filters=node))
    assert caught.value.message == text


def test_the_deepest_filter_that_is_allowed_passes_on_both_surfaces() -> None:
    assert filter_node_json(filter_node_from_json(nested(32))) == nested(32)
    check_filter_node(nested_pb(32))


def test_a_filter_reaches_the_servicer_whole() -> None:
    body = {"user_id": "u", "query": "x", "filters": {"session_id": "s", "OR": [{"a": 1}]}}
    request = memory.search_request_to_proto(validate(memory.SearchRequest, body))
    assert filter_node_json(request.filters) == body["filters"]
    assert validate_message(request).filters == request.filters


def test_a_filter_as_deep_as_json_can_be_does_not_exhaust_the_stack() -> None:
    data = nested(sys.getrecursionlimit() * 3)
    with pytest.raises(FilterError, match="nested deeper"):
        filter_node_from_json(data)
