"""Days, weeks, months, seasons and years as a reader is shown them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

MONTH_NAMES = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
WEEKDAY_NAMES = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
# Northern seasons by their last month; winter is named by the year it begins in.
_SEASON_START = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of the calendar, as text."""

    shown: str


class Rule:
    """A pattern for an expression, and how its date follows from the day it was written on.

    `resolve` may raise OverflowError or ValueError where the calendar ends. Without one of the
    `hints` in the case-folded text the pattern cannot match, and is not tried.
    """

    def __init__(
        self,
        pattern: str,
        resolve: Callable[[re.Match[str], date], Span | None],
        hints: tuple[str, ...] = (),
    ) -> None:
        """Compiles the pattern, which does not care about case."""
        self.hints = hints
        self.pattern = re.compile(pattern, re.IGNORECASE)
        self.resolve = resolve


def show_day(day: date) -> str:
    """`22 May 2026`: no number that could be taken for a month."""
    return f"{day.day} {MONTH_NAMES[day.month - 1]} {day.year}"


def show_days(first: date, last: date) -> str:
    """`18–24 May 2026`, with what differs repeated."""
    if first.year != last.year:
        return f"{show_day(first)} – {show_day(last)}"
    if first.month != last.month:
        return f"{first.day} {MONTH_NAMES[first.month - 1]} – {show_day(last)}"
    return f"{first.day}–{show_day(last)}"


def day(moment: date) -> Span:
    """One day."""
    return Span(show_day(moment))


def week(today: date, offset: int) -> Span:
    """The week, Monday to Sunday, `offset` weeks from this one."""
    monday = today - timedelta(days=today.weekday()) + timedelta(weeks=offset)
    return Span(show_days(monday, monday + timedelta(days=6)))


def weekend(today: date, offset: int) -> Span:
    """The last complete weekend, this week's, or next week's."""
    saturday = today - timedelta(days=today.weekday()) + timedelta(days=5, weeks=offset)
    return Span(show_days(saturday, saturday + timedelta(days=1)))


def weekday_of_week(today: date, offset: int, number: int) -> Span:
    """A day (0 is Monday) of the week `offset` weeks from this one."""
    monday = today - timedelta(days=today.weekday())
    return day(monday + timedelta(weeks=offset, days=number))


def weekday(which: str, number: int, today: date) -> Span:
    """`last`, `this past`, `this`, `coming` or `next` day of the week (0 is Monday).

    "Last" is the latest before today. "Next" is the one of next week, as "this" is the coming one.
    """
    since = (today.weekday() - number) % 7
    if which in {"last", "this past"}:
        return day(today - timedelta(days=since or 7))
    if which == "next":
        return weekday_of_week(today, 1, number)
    return day(today + timedelta(days=-since % 7))


def month(today: date, offset: int) -> Span:
    """The month `offset` months from this one."""
    count = today.year * 12 + today.month - 1 + offset
    moment = date(count // 12, count % 12 + 1, 1)
    return Span(f"{MONTH_NAMES[moment.month - 1]} {moment.year}")


def year(today: date, offset: int) -> Span:
    """The year `offset` years from this one."""
    return Span(str(date(today.year + offset, 1, 1).year))


def named_month(which: str, number: int, today: date) -> Span:
    """`last March` is the latest that is over, `this` is this year's, `next` the next to begin."""
    wanted = today.year
    if which == "last" and number >= today.month:
        wanted -= 1
    elif which == "next" and number <= today.month:
        wanted += 1
    return Span(f"{MONTH_NAMES[number - 1]} {date(wanted, number, 1).year}")


def season(which: str, name: str, today: date) -> Span:
    """`last summer` is the latest that is over; winter is shown with both its years."""
    wanted = today.year
    start = _SEASON_START[name]
    if name == "winter":
        # In January and February this winter is the one that began last year.
        current = today.year - 1 if today.month <= 2 else today.year
        wanted = current + {"last": -1, "this": 0, "next": 1}[which]
        if which == "last" and today.month > 2 and today.month < 12:
            wanted = today.year - 1
        if which == "next" and 2 < today.month < 12:
            wanted = today.year
        return Span(f"winter {wanted}/{wanted + 1}")
    if which == "last" and today.month < start + 3:
        wanted -= 1
    elif which == "next" and today.month >= start:
        wanted += 1
    return Span(f"{name} {date(wanted, start, 1).year}")


def shifted(unit: str, count: int, today: date) -> Span | None:
    """`count` days, weeks, months or years from today, no more exact than the unit."""
    if unit == "day":
        return day(today + timedelta(days=count))
    if unit == "week":
        return Span(f"around {show_day(today + timedelta(weeks=count))}")
    if unit == "month":
        return month(today, count)
    return year(today, count)
