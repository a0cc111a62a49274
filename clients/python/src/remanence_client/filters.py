"""The filter language: a mapping as in the JSON API, to the typed tree of the wire."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp

from remanence.v2 import memory_pb2
from remanence.v2.memory_pb2 import FilterNode
from remanence_client._enums import enum_number
from remanence_client.errors import InvalidInputError, invalid_input

Filters = FilterNode | Mapping[str, Any]


def filter_node(filters: Filters, where: str = "filters") -> FilterNode:
    """Builds a filter tree, for example from `{"timestamp": {"gte": moment}, "OR": [...]}`.

    Values are texts, numbers, aware datetimes or lists of them. Which fields and operators go
    together is the server's to say.

    Raises:
        InvalidInputError: the mapping is no filter; the message names the place.
    """
    if isinstance(filters, FilterNode):
        return filters
    if not isinstance(filters, Mapping):
        raise invalid_input("A filter should be an object", where)
    node = FilterNode()
    for key, value in filters.items():
        place = f"{where}.{key}"
        if key in ("AND", "OR"):
            if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
                raise invalid_input("Input should be a list", place)
            # `and` and `or` are words of Python, so the fields have no attribute of that name.
            nodes = getattr(node, key.lower())
            nodes.SetInParent()
            nodes.nodes.extend(
                filter_node(child, f"{place}[{index}]") for index, child in enumerate(value)
            )
        else:
            node.predicates.append(_predicate(key, value, place))
    return node


def _predicate(name: str, value: Any, where: str) -> memory_pb2.FilterPredicate:
    if not isinstance(name, str):
        raise invalid_input("A field name should be text", where)
    if not isinstance(value, Mapping):
        condition = memory_pb2.FilterCondition(
            operator=memory_pb2.FILTER_OPERATOR_EQ, value=_value(value, where)
        )
        return memory_pb2.FilterPredicate(field=name, conditions=[condition], shorthand=True)
    return memory_pb2.FilterPredicate(
        field=name,
        conditions=[
            memory_pb2.FilterCondition(
                operator=enum_number(memory_pb2.FilterOperator, operator, where),
                value=_value(operand, f"{where}.{operator}"),
            )
            for operator, operand in value.items()
        ],
    )


def _value(value: Any, where: str) -> memory_pb2.FilterValue:
    try:
        match value:
            case bool():
                return memory_pb2.FilterValue(flag=value)
            case str():
                return memory_pb2.FilterValue(text=value)
            case int():
                return memory_pb2.FilterValue(integer=value)
            case float():
                return memory_pb2.FilterValue(number=value)
            case datetime():
                return memory_pb2.FilterValue(time=_timestamp(value, where))
            case list() | tuple() | set() | frozenset():
                values = [_value(item, where) for item in value]
                return memory_pb2.FilterValue(list=memory_pb2.FilterValueList(values=values))
    except InvalidInputError:
        raise
    except ValueError:
        raise invalid_input("Value is out of range", where) from None
    raise invalid_input("A filter value should be text, a number, a datetime or a list", where)


def _timestamp(moment: datetime, where: str) -> Timestamp:
    if moment.tzinfo is None:
        raise invalid_input("A datetime needs a time zone", where)
    timestamp = Timestamp()
    timestamp.FromDatetime(moment)
    return timestamp
