"""One table of filters for every compiler of them: records, filters, and which records hold."""

from __future__ import annotations

from dataclasses import dataclass

from remanence_server.domain.filters import (
    AllOf,
    AnyOf,
    Comparison,
    Filter,
    FilterField,
    FilterOperator,
)


@dataclass(frozen=True, slots=True)
class FilterRecord:
    """The fields of a record that filters see."""

    id: int
    session_id: str | None = None
    timestamp_ms: int | None = None
    parent_type: str | None = None
    parent_id: str | None = None
    sender_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FilterCase:
    """A filter and the ids of the records for which it holds."""

    name: str
    where: Filter
    expected: frozenset[int]


RECORDS = (
    FilterRecord(1, "s-1", 1_000, "memcell", "mc_1", ("alice", "bob")),
    FilterRecord(2, "s-2", 2_000, "memcell", "mc_2", ("alice",)),
    FilterRecord(3, "s 3/é'\";--", 3_000, "episode", "ep_20260528_00000001", ("bob smith",)),
    # A skill: no session, no time, no parent, no sender.
    FilterRecord(4),
    FilterRecord(5, "S-1", 0, "memcell", "mc_1", ("Alice", "会議")),
    FilterRecord(6, "s-2*", -1, "episode", "", ("alice*",)),
    FilterRecord(7, "x" * 2_000, 2**62, None, None, ("carol", "alice")),
)
ALL_IDS = frozenset(record.id for record in RECORDS)

_EQ, _NE, _IN = FilterOperator.EQ, FilterOperator.NE, FilterOperator.IN
_SESSION, _TIME, _SENDER = FilterField.SESSION_ID, FilterField.TIMESTAMP, FilterField.SENDER_ID
_PARENT_TYPE, _PARENT_ID = FilterField.PARENT_TYPE, FilterField.PARENT_ID


def _is(field: FilterField, value: str | int) -> Comparison:
    return Comparison(field, _EQ, value)


def _case(name: str, where: Filter, *expected: int) -> FilterCase:
    return FilterCase(name, where, frozenset(expected))


def _time(operator: FilterOperator, value: int) -> Comparison:
    return Comparison(_TIME, operator, value)


CASES = (
    _case("equal text", _is(_SESSION, "s-1"), 1),
    _case("equality minds the case", _is(_SESSION, "S-1"), 5),
    _case("quotes and spaces are text", _is(_SESSION, "s 3/é'\";--"), 3),
    _case("a star is a star", _is(_SESSION, "s-2*"), 6),
    _case("a percent sign is no pattern", _is(_SESSION, "s-%")),
    _case("a long value", _is(_SESSION, "x" * 2_000), 7),
    _case("a long value with another end", _is(_SESSION, "x" * 1_999 + "y")),
    _case("equal to nothing known", _is(_SESSION, "nowhere")),
    _case("the empty text is a value", _is(_PARENT_ID, ""), 6),
    _case("unequal text needs the field", Comparison(_SESSION, _NE, "s-1"), 2, 3, 5, 6, 7),
    _case("unequal parent needs a parent", Comparison(_PARENT_TYPE, _NE, "memcell"), 3, 6),
    _case("text in a list", Comparison(_SESSION, _IN, ("s-1", "s-2", "nowhere")), 1, 2),
    _case("text in a list of one", Comparison(_PARENT_ID, _IN, ("mc_2",)), 2),
    _case("parent type", _is(_PARENT_TYPE, "episode"), 3, 6),
    _case("parent id", _is(_PARENT_ID, "mc_1"), 1, 5),
    _case("sender among others", _is(_SENDER, "bob"), 1),
    _case("sender is matched whole", _is(_SENDER, "bob smith"), 3),
    _case("sender not in Latin letters", _is(_SENDER, "会議"), 5),
    _case("any sender of a list", Comparison(_SENDER, _IN, ("bob", "carol")), 1, 7),
    _case("no such sender, among some", Comparison(_SENDER, _NE, "alice"), 3, 5, 6),
    _case("time equal", _time(_EQ, 2_000), 2),
    _case("time zero is a time", _time(_EQ, 0), 5),
    _case("time unequal needs a time", _time(_NE, 2_000), 1, 3, 5, 6, 7),
    _case("time after", _time(FilterOperator.GT, 2_000), 3, 7),
    _case("time at or after", _time(FilterOperator.GTE, 2_000), 2, 3, 7),
    _case("time before", _time(FilterOperator.LT, 1_000), 5, 6),
    _case("time at or before", _time(FilterOperator.LTE, 1_000), 1, 5, 6),
    _case("time after the last instant there is", _time(FilterOperator.GT, 2**63 - 1)),
    _case("time before the first instant there is", _time(FilterOperator.LT, -(2**63))),
    _case(
        "a span of time",
        AllOf((_time(FilterOperator.GTE, 1_000), _time(FilterOperator.LT, 3_000))),
        1,
        2,
    ),
    _case("all of nothing is everything", AllOf(()), *ALL_IDS),
    _case("any of nothing is nothing", AnyOf(())),
    _case("all of two", AllOf((_is(_SENDER, "alice"), _is(_SESSION, "s-2"))), 2),
    _case("any of two", AnyOf((_is(_SESSION, "s-1"), _is(_PARENT_TYPE, "episode"))), 1, 3, 6),
    _case(
        "unequal within any",
        AnyOf((Comparison(_SESSION, _NE, "s-1"), _is(_PARENT_ID, "mc_1"))),
        *(ALL_IDS - {4}),
    ),
    _case(
        "unequal twice", AllOf((Comparison(_SESSION, _NE, "s-1"), _time(_NE, 3_000))), 2, 5, 6, 7
    ),
    _case(
        "nested",
        AllOf(
            (
                AnyOf((_is(_SENDER, "alice"), _is(_SENDER, "bob smith"))),
                AnyOf((_time(FilterOperator.LT, 1_500), AllOf((_is(_PARENT_TYPE, "episode"),)))),
                AllOf(()),
            )
        ),
        1,
        3,
    ),
    _case("nothing within all", AllOf((AnyOf(()), _is(_SESSION, "s-1")))),
    _case(
        "a list longer than any limit of clauses",
        AnyOf((*(_is(_SESSION, f"no-{n}") for n in range(1_500)), _is(_SESSION, "s-2"))),
        2,
    ),
)
