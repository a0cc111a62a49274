"""The filter language: JSON into FilterNode and back, and the shape that both surfaces ask for.

Only the shape is checked here. Which fields exist, which operators they know and what values they
take is decided where the filter is used.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import PlainValidator, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from remanence.v2.memory_pb2 import (
    FILTER_OPERATOR_EQ,
    FILTER_OPERATOR_GT,
    FILTER_OPERATOR_GTE,
    FILTER_OPERATOR_IN,
    FILTER_OPERATOR_LT,
    FILTER_OPERATOR_LTE,
    FILTER_OPERATOR_NE,
    FilterCondition,
    FilterNode,
    FilterNodeList,
    FilterPredicate,
    FilterValue,
    FilterValueList,
)

# Levels of nodes. Deeper trees say nothing that these cannot, and recursion must end somewhere.
MAXIMUM_DEPTH = 32
# Names come from the client; of a long one the beginning says which it is.
_LONGEST_SHOWN_NAME = 100
_INT64 = range(-(2**63), 2**63)

_OPERATORS = {
    "eq": FILTER_OPERATOR_EQ,
    "ne": FILTER_OPERATOR_NE,
    "gt": FILTER_OPERATOR_GT,
    "gte": FILTER_OPERATOR_GTE,
    "lt": FILTER_OPERATOR_LT,
    "lte": FILTER_OPERATOR_LTE,
    "in": FILTER_OPERATOR_IN,
}
_OPERATOR_NAMES = {number: name for name, number in _OPERATORS.items()}

type Path = tuple[str | int, ...]


class FilterError(Exception):
    """A filter of the wrong shape: what is wrong, and where below the filter."""

    def __init__(self, message: str, path: Path) -> None:
        super().__init__(message)
        self.message = message
        self.path = path


def filter_node_from_json(data: object, path: Path = (), depth: int = 1) -> FilterNode:
    """A node of the filter language as a message. Fails with FilterError."""
    if not isinstance(data, dict):
        raise FilterError("Input should be an object of the filter language", path)
    _check_depth(path, depth)
    children: dict[str, FilterNodeList] = {}
    predicates: list[FilterPredicate] = []
    for key, value in data.items():
        if key not in ("AND", "OR"):
            predicates.append(_predicate(key, value, (*path, key)))
        elif isinstance(value, list):
            nodes = [
                filter_node_from_json(item, (*path, key, index), depth + 1)
                for index, item in enumerate(value)
            ]
            children[key.lower()] = FilterNodeList(nodes=nodes)
        elif value is not None:
            raise FilterError(f"'{key}' must be a list of filter objects", (*path, key))
    # `and` and `or` are words of Python, so they cannot be written as arguments.
    return FilterNode(predicates=predicates, **children)


def filter_node_json(node: FilterNode) -> dict[str, Any]:
    """The JSON form of a node."""
    data: dict[str, Any] = {
        predicate.field: _predicate_json(predicate) for predicate in node.predicates
    }
    for key, children in _children(node):
        data[key] = [filter_node_json(child) for child in children.nodes]
    return data


def check_filter_node(node: FilterNode, path: Path = (), depth: int = 1) -> None:
    """Asks of a message what `filter_node_from_json` asks of JSON. Fails with FilterError."""
    _check_depth(path, depth)
    for predicate in node.predicates:
        where = (*path, predicate.field)
        if not predicate.conditions:
            raise _empty_map(predicate.field, where)
        for condition in predicate.conditions:
            if condition.operator not in _OPERATOR_NAMES:
                raise _unsupported(str(condition.operator), predicate.field, where)
            _check_value(condition.value, predicate.field, where, may_be_list=True)
    for key, children in _children(node):
        for index, child in enumerate(children.nodes):
            check_filter_node(child, (*path, key, index), depth + 1)


def _read_filters(value: object) -> FilterNode:
    try:
        if isinstance(value, FilterNode):
            check_filter_node(value)
            return value
        return filter_node_from_json(value)
    except FilterError as refused:
        error = PydanticCustomError("filter", "{message}", {"message": refused.message})
        details = InitErrorDetails(type=error, loc=refused.path, input=None)
        raise ValidationError.from_exception_data("filters", [details]) from None


# A filter in a request model: JSON in, the message out; a message is only checked.
Filters = Annotated[FilterNode, PlainValidator(_read_filters)]


def _predicate(field: str, value: object, path: Path) -> FilterPredicate:
    if not isinstance(value, dict):
        condition = FilterCondition(operator=FILTER_OPERATOR_EQ, value=_value(field, value, path))
        return FilterPredicate(field=field, conditions=[condition], shorthand=True)
    if not value:
        raise _empty_map(field, path)
    conditions = []
    for name, operand in value.items():
        operator = _OPERATORS.get(name)
        if operator is None:
            raise _unsupported(name, field, path)
        conditions.append(FilterCondition(operator=operator, value=_value(field, operand, path)))
    return FilterPredicate(field=field, conditions=conditions)


def _value(field: str, value: object, path: Path) -> FilterValue:
    if isinstance(value, list):
        return FilterValue(list=FilterValueList(values=[_scalar(field, v, path) for v in value]))
    return _scalar(field, value, path)


def _scalar(field: str, value: object, path: Path) -> FilterValue:
    if isinstance(value, str):
        return FilterValue(text=value)
    if isinstance(value, bool):
        return FilterValue(flag=value)
    if isinstance(value, int) and value in _INT64:
        return FilterValue(integer=value)
    if isinstance(value, int | float):
        return FilterValue(number=value)
    raise _no_value(field, path)


def _check_value(value: FilterValue, field: str, path: Path, *, may_be_list: bool) -> None:
    kind = value.WhichOneof("kind")
    if kind == "list" and may_be_list:
        for item in value.list.values:
            _check_value(item, field, path, may_be_list=False)
    elif kind in (None, "list") or (kind == "number" and not math.isfinite(value.number)):
        raise _no_value(field, path)


def _children(node: FilterNode) -> Iterator[tuple[str, FilterNodeList]]:
    if node.HasField("and"):
        yield "AND", getattr(node, "and")
    if node.HasField("or"):
        yield "OR", getattr(node, "or")


def _predicate_json(predicate: FilterPredicate) -> Any:
    if predicate.shorthand:
        return _value_json(predicate.conditions[0].value)
    return {
        _OPERATOR_NAMES[condition.operator]: _value_json(condition.value)
        for condition in predicate.conditions
    }


def _value_json(value: FilterValue) -> Any:
    match value.WhichOneof("kind"):
        case "text":
            return value.text
        case "integer":
            return value.integer
        case "number":
            return value.number
        case "flag":
            return value.flag
        case "time":
            return value.time.seconds * 1000 + value.time.nanos // 1_000_000
        case "list":
            return [_value_json(item) for item in value.list.values]
    return None


def _check_depth(path: Path, depth: int) -> None:
    if depth > MAXIMUM_DEPTH:
        message = f"the filter is nested deeper than {MAXIMUM_DEPTH} levels"
        # The whole path would be longer than the rest of the error.
        raise FilterError(message, path[:2])


def _unsupported(operator: str, field: str, path: Path) -> FilterError:
    return FilterError(f"unsupported operator {_shown(operator)} on field {_shown(field)}", path)


def _empty_map(field: str, path: Path) -> FilterError:
    return FilterError(f"field {_shown(field)} needs a value or at least one operator", path)


def _no_value(field: str, path: Path) -> FilterError:
    message = f"the value of field {_shown(field)} must be text, a number, a boolean or a list"
    return FilterError(message, path)


def _shown(name: str) -> str:
    return f"'{name[:_LONGEST_SHOWN_NAME]}'"
