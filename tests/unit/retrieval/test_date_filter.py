"""Days that a question names, as a filter."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone, tzinfo

import pytest
from tests.support.memory_lexical_index import filter_holds

from remanence_server.domain.filters import AnyOf
from remanence_server.index.lexical.interface import LexicalDocument
from remanence_server.retrieval.date_filter import within_dates
from remanence_server.retrieval.named_date import NamedDate
from remanence_server.runtime.instants import from_datetime

TODAY = date(2026, 4, 11)


def holds(named: NamedDate, moment: datetime, zone: tzinfo = UTC) -> bool:
    condition = within_dates([named], TODAY, zone)
    assert condition is not None
    document = LexicalDocument(1, "o", "episode", "", timestamp_ms=from_datetime(moment))
    return filter_holds(condition, document)


@pytest.mark.parametrize(
    ("named", "inside", "outside"),
    [
        (NamedDate(2023, 5, 7), datetime(2023, 5, 7, 23, 59), datetime(2023, 5, 8)),
        (NamedDate(2023, 5, 7, 3), datetime(2023, 5, 9, 12), datetime(2023, 5, 10)),
        (NamedDate(2023, 5), datetime(2023, 5, 31, 23), datetime(2023, 4, 30, 23)),
        (NamedDate(None, 5, 7), datetime(2024, 5, 7), datetime(2024, 5, 6)),
        (NamedDate(None, 2, 29), datetime(2024, 2, 29), datetime(2023, 3, 1)),
    ],
)
def test_it_holds_from_the_first_midnight_to_the_last(
    named: NamedDate, inside: datetime, outside: datetime
) -> None:
    assert holds(named, inside.replace(tzinfo=UTC))
    assert not holds(named, outside.replace(tzinfo=UTC))


def test_days_begin_in_the_zone_of_the_memory() -> None:
    late = datetime(2023, 5, 6, 20, tzinfo=UTC)
    assert holds(NamedDate(2023, 5, 7), late, timezone(timedelta(hours=9)))
    assert not holds(NamedDate(2023, 5, 7), late)


def test_a_year_or_no_date_is_no_filter() -> None:
    assert within_dates([], TODAY) is None
    assert within_dates([NamedDate(2023)], TODAY) is None


@pytest.mark.parametrize("named", [NamedDate(9999, 12, 31), NamedDate(1, 1, 1)])
def test_the_ends_of_the_calendar_are_days_too(named: NamedDate) -> None:
    zone = timezone(timedelta(hours=-9 if named.year == 9999 else 9))
    assert isinstance(within_dates([named], TODAY, zone), AnyOf)
