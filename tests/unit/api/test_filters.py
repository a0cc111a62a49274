from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

import pytest

from remanence_client.filters import filter_node
from remanence_server.api.filters import read_filter, session_shorthand
from remanence_server.domain.filters import (
    AllOf,
    AnyOf,
    Comparison,
    FilterField,
    FilterOperator,
)
from remanence_server.runtime.errors import ErrorCode, ServiceError

_ZONE = ZoneInfo("Asia/Shanghai")
_T0 = 1_779_967_836_000  # 2026-05-28T11:30:36Z


def _time(operator: FilterOperator, value: int) -> Comparison:
    return Comparison(FilterField.TIMESTAMP, operator, value)


def _text(field: FilterField, operator: FilterOperator, value: Any) -> Comparison:
    return Comparison(field, operator, value)


SESSION_EQ = _text(FilterField.SESSION_ID, FilterOperator.EQ, "s")


@pytest.mark.parametrize(
    ("sent", "tree"),
    [
        ({}, AllOf(())),
        ({"session_id": "s"}, SESSION_EQ),
        ({"session_id": {"eq": "s"}}, SESSION_EQ),
        (
            {"session_id": {"in": ["a", "b"]}},
            _text(FilterField.SESSION_ID, FilterOperator.IN, ("a", "b")),
        ),
        ({"session_id": {"in": []}}, _text(FilterField.SESSION_ID, FilterOperator.IN, ())),
        ({"AND": []}, AllOf(())),
        ({"OR": []}, AnyOf(())),
        ({"OR": [{"session_id": "s"}, {}]}, AnyOf((SESSION_EQ, AllOf(())))),
        (
            {"session_id": "s", "AND": [{"sender_id": "u"}]},
            AllOf((SESSION_EQ, AllOf((_text(FilterField.SENDER_ID, FilterOperator.EQ, "u"),)))),
        ),
        (
            {"timestamp": {"gte": _T0, "lt": _T0 + 1}},
            AllOf((_time(FilterOperator.GTE, _T0), _time(FilterOperator.LT, _T0 + 1))),
        ),
        # Seconds, an offset, and no offset: the display zone's own time.
        ({"timestamp": {"gt": _T0 // 1000}}, _time(FilterOperator.GT, _T0)),
        ({"timestamp": {"gt": "2026-05-28T11:30:36Z"}}, _time(FilterOperator.GT, _T0)),
        ({"timestamp": {"gt": "2026-05-28T19:30:36"}}, _time(FilterOperator.GT, _T0)),
        ({"timestamp": {"gt": float(_T0)}}, _time(FilterOperator.GT, _T0)),
        ({"timestamp": -1}, _time(FilterOperator.EQ, -1000)),
    ],
)
def test_a_filter_becomes_its_tree(sent: dict[str, Any], tree: object) -> None:
    assert read_filter(filter_node(sent), _ZONE) == tree


@pytest.mark.parametrize(
    ("sent", "field", "said"),
    [
        ({"sesion_id": "x"}, "filters.sesion_id", "session_id"),
        ({"owner_type": "x"}, "filters.owner_type", "reserved"),
        ({"session_id": {"gt": "x"}}, "filters.session_id", "'gt'"),
        ({"sender_id": {"ne": "x"}}, "filters.sender_id", "'ne'"),
        ({"timestamp": {"in": [1]}}, "filters.timestamp", "'in'"),
        ({"session_id": {"in": "x"}}, "filters.session_id", "list"),
        ({"session_id": 5}, "filters.session_id", "text"),
        ({"session_id": {"in": ["x", 5]}}, "filters.session_id", "text"),
        ({"timestamp": "yesterday"}, "filters.timestamp", "ISO-8601"),
        ({"timestamp": True}, "filters.timestamp", "ISO-8601"),
        ({"timestamp": 1.5}, "filters.timestamp", "ISO-8601"),
        ({"timestamp": 1e30}, "filters.timestamp", "year 10000"),
        ({"timestamp": "9999-12-31T23:59:59-12:00"}, "filters.timestamp", "year 10000"),
        ({"OR": [{}, {"zzz": 1}]}, "filters.OR.1.zzz", "zzz"),
    ],
)
def test_a_filter_that_makes_no_sense_is_refused_at_its_place(
    sent: dict[str, Any], field: str, said: str
) -> None:
    with pytest.raises(ServiceError) as refused:
        read_filter(filter_node(sent), _ZONE)
    assert refused.value.code is ErrorCode.INVALID_INPUT
    assert refused.value.field == field
    assert said in refused.value.message


@pytest.mark.parametrize(
    ("sent", "session"),
    [
        ({"session_id": "s"}, "s"),
        ({"session_id": "s", "sender_id": "u"}, "s"),
        ({"session_id": {"eq": "s"}}, None),
        ({"session_id": {"in": ["s"]}}, None),
        ({"AND": [{"session_id": "s"}]}, None),
        ({}, None),
    ],
)
def test_only_a_bare_session_at_the_top_asks_for_its_open_messages(
    sent: dict[str, Any], session: str | None
) -> None:
    assert session_shorthand(filter_node(sent)) == session
