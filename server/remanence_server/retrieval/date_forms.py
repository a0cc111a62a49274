"""What the ways of writing a date have in common."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

from remanence_server.retrieval.named_date import NamedDate, first_and_last_day

# Any leap year: a day without a year is possible if it is possible then.
_LEAP_YEAR = 2024

Read = Callable[[re.Match[str]], tuple[NamedDate, ...]]
ReadRelative = Callable[[re.Match[str], date], tuple[NamedDate, ...]]


@dataclass(frozen=True, slots=True)
class DateForm:
    """A way of writing a date. Nothing read from a match means that it was no date after all.

    A text in whose lower case none of the `hints` occurs need not be searched: looking for a hint
    costs a hundredth of a search.
    """

    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    read: Read
    # Whether its words go from the question.
    is_cut: bool = True


@dataclass(frozen=True, slots=True)
class RelativeDateForm:
    """A way of naming a date by its distance from the asker's today.

    `read` may raise ValueError or OverflowError for what lies outside the calendar.
    """

    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    read: ReadRelative


def possible(named: NamedDate) -> tuple[NamedDate, ...]:
    """The date, or nothing if no calendar has it."""
    return (named,) if named.days > 0 and first_and_last_day(named, _LEAP_YEAR) else ()


def range_of(first: date, days: int = 1) -> NamedDate:
    """The range of `days` days that begins on a day."""
    return NamedDate(first.year, first.month, first.day, days)


def months_before(today: date, months: int) -> NamedDate:
    """The month that lies so many months before this one. ValueError before the calendar."""
    year, month = divmod(today.year * 12 + today.month - 1 - months, 12)
    first = date(year, month + 1, 1)
    return NamedDate(first.year, first.month)


def weeks_before(today: date, weeks: int) -> date:
    """The Monday of the week so many weeks before this one. OverflowError before the calendar."""
    return today - timedelta(days=today.weekday(), weeks=weeks)


def units_ago(today: date, count: int, unit: str) -> NamedDate:
    """The date `count` units ("day", "week", "month" or "year") before today, as vague as the unit.

    ValueError or OverflowError before the calendar.
    """
    match unit:
        case "day":
            return range_of(today - timedelta(days=count))
        case "week":
            # "Two weeks ago" is seldom that very day: three days about it.
            return range_of(today - timedelta(weeks=count, days=3), 7)
        case "month":
            return months_before(today, count)
        case _:
            return NamedDate(date(today.year - count, 1, 1).year)
