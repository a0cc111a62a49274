"""The filter tree as a condition on the row `r` of the table `record`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from remanence_server.domain.filters import (
    AllOf,
    AnyOf,
    Comparison,
    Filter,
    FilterField,
    FilterOperator,
)
from remanence_server.index.catalogue.queries import marks

# A value to bind. Nothing of the user's becomes part of the SQL text.
Parameter = str | int

_COLUMNS: Mapping[FilterField, str] = {
    FilterField.SESSION_ID: "r.session_id",
    FilterField.PARENT_TYPE: "r.parent_type",
    FilterField.PARENT_ID: "r.parent_id",
    FilterField.TIMESTAMP: "r.timestamp_ms",
}
# A row without the field has NULL there, which no comparison holds for: NE included.
_OPERATORS: Mapping[FilterOperator, str] = {
    FilterOperator.EQ: "=",
    FilterOperator.NE: "<>",
    FilterOperator.GT: ">",
    FilterOperator.GTE: ">=",
    FilterOperator.LT: "<",
    FilterOperator.LTE: "<=",
}
_SMALLEST_INTEGER, _LARGEST_INTEGER = -(2**63), 2**63 - 1


def compile_filter(where: Filter | None) -> tuple[str, list[Parameter]]:
    """The condition and its parameters, in order; without a filter, the one that always holds."""
    parameters: list[Parameter] = []
    return ("1" if where is None else _condition(where, parameters)), parameters


def _condition(node: Filter, parameters: list[Parameter]) -> str:
    match node:
        case AllOf(children=children):
            return _joined([_condition(child, parameters) for child in children], "AND", "1")
        case AnyOf(children=children):
            return _joined([_condition(child, parameters) for child in children], "OR", "0")
        case Comparison():
            return _comparison(node, parameters)


def _joined(conditions: Sequence[str], operator: str, empty: str) -> str:
    """Joins by halves: SQLite bounds the depth of an expression, and a chain of n is n deep."""
    if len(conditions) < 2:
        return conditions[0] if conditions else empty
    middle = len(conditions) // 2
    left = _joined(conditions[:middle], operator, empty)
    right = _joined(conditions[middle:], operator, empty)
    return f"({left} {operator} {right})"


def _comparison(node: Comparison, parameters: list[Parameter]) -> str:
    values = node.value if isinstance(node.value, tuple) else (node.value,)
    # Instants beyond 64 bits compare as the last one that fits: nothing is stored out there.
    parameters.extend(
        min(max(value, _SMALLEST_INTEGER), _LARGEST_INTEGER) if isinstance(value, int) else value
        for value in values
    )
    if node.operator is FilterOperator.IN:
        right = f"IN ({marks(len(values))})"
    else:
        right = f"{_OPERATORS[node.operator]} ?"
    if node.field is not FilterField.SENDER_ID:
        return f"{_COLUMNS[node.field]} {right}"
    if node.operator is FilterOperator.NE:
        return f"({_sender('1')} AND NOT {_sender('s.sender_id = ?')})"
    if node.operator in (FilterOperator.EQ, FilterOperator.IN):
        return _sender(f"s.sender_id {right}")
    raise ValueError("senders have no order")


def _sender(condition: str) -> str:
    return f"EXISTS (SELECT 1 FROM record_sender s WHERE s.record_id = r.record_id AND {condition})"
