"""The filter of a request to the filter tree: which fields, which operators, which values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, tzinfo

from remanence.v2 import memory_pb2 as pb
from remanence_server.domain.filters import (
    AllOf,
    AnyOf,
    Comparison,
    Filter,
    FilterField,
    FilterOperator,
)
from remanence_server.runtime.errors import ServiceError, invalid_input
from remanence_server.runtime.instants import LATEST_INSTANT_MS, from_datetime, to_milliseconds

# Names come from the client; of a long one the beginning says which it is.
_LONGEST_SHOWN_NAME = 100
_RESERVED = ("owner_id", "owner_type", "app_id", "project_id")

_TEXT_OPERATORS = (FilterOperator.EQ, FilterOperator.NE, FilterOperator.IN)
_OPERATORS: Mapping[FilterField, tuple[FilterOperator, ...]] = {
    FilterField.SESSION_ID: _TEXT_OPERATORS,
    FilterField.PARENT_TYPE: _TEXT_OPERATORS,
    FilterField.PARENT_ID: _TEXT_OPERATORS,
    FilterField.SENDER_ID: (FilterOperator.EQ, FilterOperator.IN),
    FilterField.TIMESTAMP: (
        FilterOperator.EQ,
        FilterOperator.NE,
        FilterOperator.GT,
        FilterOperator.GTE,
        FilterOperator.LT,
        FilterOperator.LTE,
    ),
}
_OPERATOR_NAMES: Mapping[int, FilterOperator] = {
    pb.FILTER_OPERATOR_EQ: FilterOperator.EQ,
    pb.FILTER_OPERATOR_NE: FilterOperator.NE,
    pb.FILTER_OPERATOR_GT: FilterOperator.GT,
    pb.FILTER_OPERATOR_GTE: FilterOperator.GTE,
    pb.FILTER_OPERATOR_LT: FilterOperator.LT,
    pb.FILTER_OPERATOR_LTE: FilterOperator.LTE,
    pb.FILTER_OPERATOR_IN: FilterOperator.IN,
}


def read_filter(node: pb.FilterNode, zone: tzinfo, path: str = "filters") -> Filter:
    """Checks a filter and builds its tree. Instants without an offset are read in `zone`.

    Raises ServiceError (INVALID_INPUT) that names the field or operator at fault. The depth of the
    tree has been checked with the rest of the request.
    """
    children: list[Filter] = [
        _read_predicate(predicate, zone, path) for predicate in node.predicates
    ]
    # `and` and `or` are words of Python, so the fields are reached by name.
    if node.HasField("and"):
        children.append(AllOf(_read_nodes(getattr(node, "and"), zone, f"{path}.AND")))
    if node.HasField("or"):
        children.append(AnyOf(_read_nodes(getattr(node, "or"), zone, f"{path}.OR")))
    return children[0] if len(children) == 1 else AllOf(tuple(children))


def session_shorthand(node: pb.FilterNode) -> str | None:
    """The session of a filter that names one as a bare value at the top, `{"session_id": "s"}`."""
    for predicate in node.predicates:
        if predicate.field == FilterField.SESSION_ID and predicate.shorthand:
            return predicate.conditions[0].value.text
    return None


def _read_nodes(nodes: pb.FilterNodeList, zone: tzinfo, path: str) -> tuple[Filter, ...]:
    return tuple(
        read_filter(node, zone, f"{path}.{index}") for index, node in enumerate(nodes.nodes)
    )


def _read_predicate(predicate: pb.FilterPredicate, zone: tzinfo, path: str) -> Filter:
    name = predicate.field[:_LONGEST_SHOWN_NAME]
    where = f"{path}.{name}"
    if name in _RESERVED:
        raise invalid_input(f"'{name}' is reserved: set it at the top of the request", where)
    try:
        field = FilterField(predicate.field)
    except ValueError:
        known = ", ".join(FilterField)
        raise invalid_input(f"unknown filter field '{name}', use one of {known}", where) from None
    if not predicate.conditions:
        raise invalid_input(f"filter field '{name}' needs a value or an operator", where)
    comparisons = tuple(
        _read_condition(field, condition, zone, where) for condition in predicate.conditions
    )
    return comparisons[0] if len(comparisons) == 1 else AllOf(comparisons)


def _read_condition(
    field: FilterField, condition: pb.FilterCondition, zone: tzinfo, where: str
) -> Comparison:
    operator = _OPERATOR_NAMES.get(condition.operator)
    if operator is None:
        raise invalid_input(f"filter field '{field}' needs an operator", where)
    allowed = _OPERATORS[field]
    if operator not in allowed:
        known = ", ".join(allowed)
        raise invalid_input(
            f"operator '{operator}' does not apply to '{field}', use one of {known}", where
        )
    if operator is FilterOperator.IN:
        if condition.value.WhichOneof("kind") != "list":
            raise invalid_input(f"'in' on '{field}' needs a list of values", where)
        values = condition.value.list.values
        return Comparison(field, operator, tuple(_text(value, field, where) for value in values))
    read: Callable[[], str | int] = (
        (lambda: _instant(condition.value, zone, where))
        if field is FilterField.TIMESTAMP
        else (lambda: _text(condition.value, field, where))
    )
    return Comparison(field, operator, read())


def _text(value: pb.FilterValue, field: FilterField, where: str) -> str:
    if value.WhichOneof("kind") != "text":
        raise invalid_input(f"the value of '{field}' must be a text", where)
    return value.text


def _instant(value: pb.FilterValue, zone: tzinfo, where: str) -> int:
    kind = value.WhichOneof("kind")
    if kind == "integer":
        instant_ms = to_milliseconds(value.integer)
    elif kind == "number" and value.number.is_integer():
        instant_ms = to_milliseconds(int(value.number))
    elif kind == "time":
        # Not `ToMilliseconds`, which raises for seconds that no calendar has.
        instant_ms = value.time.seconds * 1000 + value.time.nanos // 1_000_000
    elif kind == "text":
        try:
            moment = datetime.fromisoformat(value.text)
        except ValueError:
            raise _not_an_instant(where) from None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=zone)
        try:
            instant_ms = from_datetime(moment.astimezone(UTC))
        except OverflowError:
            raise _not_an_instant(where) from None
    else:
        raise _not_an_instant(where)
    if abs(instant_ms) > LATEST_INSTANT_MS:
        raise _not_an_instant(where)
    return instant_ms


def _not_an_instant(where: str) -> ServiceError:
    return invalid_input(
        "the value of 'timestamp' must be epoch milliseconds or an ISO-8601 text before year 10000",
        where,
    )
