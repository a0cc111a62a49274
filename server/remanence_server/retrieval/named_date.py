"""A date as a question names it, and how well an instant fits."""

from __future__ import annotations

import calendar
import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, timedelta, tzinfo
from functools import lru_cache

from remanence_server.runtime.instants import day_of

# Days after which closeness has fallen to 1/e: what is told about a day is told soon after it, and
# about a month a little later. Before the day it falls twice as fast: plans are told more rarely.
_DAY_FADE_DAYS = 5
_RANGE_FADE_DAYS = 7
_BEFORE_FACTOR = 2
# A year holds so much that it hardly singles anything out.
_YEAR_CLOSENESS = 0.3
# Ranges from here on fade as months do.
_LONG_RANGE_DAYS = 28


@dataclass(frozen=True, slots=True)
class NamedDate:
    """A day, a range of days, a month or a year; `year` is None where the question leaves it out.

    With a `day`, `days` is the length of the range that begins on it. Without a `month` there is no
    `day`; without a `year` there is a `month`.
    """

    year: int | None
    month: int | None = None
    day: int | None = None
    days: int = 1


# Asked for every candidate of a search, and for the same few years.
@lru_cache(maxsize=1024)
def first_and_last_day(named: NamedDate, year: int) -> tuple[date, date] | None:
    """The days that a date covers, both included; None if the calendar has no such day.

    `year` is used where the date names none.
    """
    year = named.year or year
    try:
        if named.month is None:
            return date(year, 1, 1), date(year, 12, 31)
        if named.day is None:
            last = calendar.monthrange(year, named.month)[1]
            return date(year, named.month, 1), date(year, named.month, last)
        first = date(year, named.month, named.day)
        return first, first + timedelta(days=named.days - 1)
    except (ValueError, OverflowError):
        return None


def date_match(dates: Iterable[NamedDate], instant_ms: int, zone: tzinfo = UTC) -> float:
    """How well an instant fits the best of the dates, in [0, 1]; 0 without dates.

    1 within a named day or month; it fades over days, faster before than after. A year fits with
    0.3. A date without a year may lie in any year near the instant.
    """
    day = day_of(instant_ms, zone)
    return max((_closeness(named, day) for named in dates), default=0.0)


def _closeness(named: NamedDate, day: date) -> float:
    if named.month is None:
        return _YEAR_CLOSENESS if named.year == day.year else 0.0
    years = (named.year,) if named.year else (day.year - 1, day.year, day.year + 1)
    covered = (first_and_last_day(named, year) for year in years)
    gap = min((_gap_days(*days, day) for days in covered if days), default=math.inf)
    short = named.day is not None and named.days < _LONG_RANGE_DAYS
    return math.exp(-gap / (_DAY_FADE_DAYS if short else _RANGE_FADE_DAYS))


def _gap_days(first: date, last: date, day: date) -> int:
    if day < first:
        return _BEFORE_FACTOR * (first - day).days
    return max(0, (day - last).days)
