"""Filters as Lucene queries. Only the Java thread may call this."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from remanence_server.domain.filters import (
    AllOf,
    AnyOf,
    Comparison,
    Filter,
    FilterField,
    FilterOperator,
)
from remanence_server.index.lexical.keys import Key, key_term, presence_term
from remanence_server.index.lexical.lucene_types import LuceneTypes

# Names of the index's fields.
KEYS_FIELD = "keys"
TIMESTAMP_FIELD = "timestamp"

_MIN_LONG = -(2**63)
_MAX_LONG = 2**63 - 1

_KEYS = {
    FilterField.SESSION_ID: Key.SESSION_ID,
    FilterField.PARENT_TYPE: Key.PARENT_TYPE,
    FilterField.PARENT_ID: Key.PARENT_ID,
    FilterField.SENDER_ID: Key.SENDER_ID,
    FilterField.TIMESTAMP: Key.TIMESTAMP,
}


def compile_filter(types: LuceneTypes, node: Filter) -> Any:
    """The query that matches the passages for which the filter holds."""
    match node:
        case AllOf(children=()):
            return types.MatchAllDocsQuery()
        case AnyOf(children=()):
            return types.MatchNoDocsQuery()
        case AllOf(children=children):
            return _combine(
                types, ((compile_filter(types, child), types.Occur.FILTER) for child in children)
            )
        case AnyOf(children=children):
            return _combine(
                types, ((compile_filter(types, child), types.Occur.SHOULD) for child in children)
            )
        case Comparison(operator=FilterOperator.NE, field=field, value=value):
            # Only records that have the field can differ from a value.
            equal = compile_filter(types, Comparison(field, FilterOperator.EQ, value))
            return _combine(
                types,
                [
                    (key_query(types, presence_term(_KEYS[field])), types.Occur.FILTER),
                    (equal, types.Occur.MUST_NOT),
                ],
            )
        case Comparison(field=FilterField.TIMESTAMP):
            return _timestamp(types, node)
        case Comparison():
            return _text(types, node)


def key_query(types: LuceneTypes, term: str) -> Any:
    """The query for one exact-match term."""
    return types.TermQuery(types.Term(KEYS_FIELD, term))


def _text(types: LuceneTypes, node: Comparison) -> Any:
    key = _KEYS[node.field]
    match node.operator, node.value:
        case FilterOperator.EQ, str(value):
            return key_query(types, key_term(key, value))
        case FilterOperator.IN, tuple(values):
            terms = types.ArrayList()
            for value in values:
                terms.add(types.BytesRef(key_term(key, value)))
            return types.TermInSetQuery(KEYS_FIELD, terms)
        case _:
            raise ValueError(f"{node.operator} is not an operator of {node.field}")


def _timestamp(types: LuceneTypes, node: Comparison) -> Any:
    value = node.value
    if not isinstance(value, int):
        raise ValueError("a timestamp is compared with epoch milliseconds")
    match node.operator:
        case FilterOperator.EQ:
            low, high = value, value
        case FilterOperator.GT:
            low, high = value + 1, _MAX_LONG
        case FilterOperator.GTE:
            low, high = value, _MAX_LONG
        case FilterOperator.LT:
            low, high = _MIN_LONG, value - 1
        case FilterOperator.LTE:
            low, high = _MIN_LONG, value
        case _:
            raise ValueError(f"{node.operator} is not an operator of {node.field}")
    low, high = max(low, _MIN_LONG), min(high, _MAX_LONG)
    if low > high:
        return types.MatchNoDocsQuery()
    return types.LongField.newRangeQuery(TIMESTAMP_FIELD, low, high)


def _combine(types: LuceneTypes, clauses: Iterable[tuple[Any, Any]]) -> Any:
    builder = types.BooleanBuilder()
    for query, occur in clauses:
        builder.add(query, occur)
    return builder.build()
