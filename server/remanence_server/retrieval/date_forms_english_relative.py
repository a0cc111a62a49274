"""Dates in English that are named by their distance from the asker's today.

Only forms that look back are read: what is asked about today or next week was hardly told then.
"""

from __future__ import annotations

import re
from datetime import date, timedelta

from remanence_server.retrieval.date_forms import (
    RelativeDateForm,
    months_before,
    range_of,
    units_ago,
    weeks_before,
)
from remanence_server.retrieval.date_forms_english import (
    ALSO_WORDS,
    END,
    MONTH,
    MONTHS,
    SEASONS,
    START,
    WEEKDAYS,
    pattern_of,
)
from remanence_server.retrieval.named_date import NamedDate, first_and_last_day

_NUMBER_WORDS = (
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)
_NUMBERS = {word: number for number, word in enumerate(_NUMBER_WORDS, 1)}
_NUMBERS |= {"a": 1, "an": 1, "couple": 2, "few": 3, "several": 4}
_COUNT = rf"(?:a\s+)?(?P<count>\d{{1,4}}|{'|'.join(_NUMBERS)})\s+(?:of\s+)?"
_UNIT = r"(?P<unit>day|week|month|year)"
_UNIT_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
_PAST_HINTS = ("last", "past", "previous")
_OPENING = r"(?:(?:in|during|over|within|on)\s+)?(?:the\s+)?"


def _read_month_of_year(match: re.Match[str], today: date) -> tuple[NamedDate, ...]:
    year = today.year - (match["which"].lower() == "last")
    return (NamedDate(year, MONTHS[match["month"].lower()]),)


def _read_named_month(match: re.Match[str], today: date) -> tuple[NamedDate, ...]:
    month, last = MONTHS[match["month"].lower()], match["which"].lower() == "last"
    # "This may help."
    if not last and match["month"] in ALSO_WORDS:
        return ()
    return (NamedDate(today.year - (last and month >= today.month), month),)


def _read_day_word(match: re.Match[str], today: date) -> tuple[NamedDate, ...]:
    words = match[0].lower().split()
    if "before" in words:
        return (units_ago(today, 2, "day"),)
    # Of last night is told that night, perhaps past midnight.
    return (range_of(today - timedelta(days=1), 2 if words[-1] == "night" else 1),)


def _count_of(match: re.Match[str]) -> int:
    text = match["count"].lower()
    return int(text) if text.isdigit() else _NUMBERS[text]


def _read_ago(match: re.Match[str], today: date) -> tuple[NamedDate, ...]:
    return (units_ago(today, _count_of(match), match["unit"].lower()),)


def _read_past_units(match: re.Match[str], today: date) -> tuple[NamedDate, ...]:
    days = _count_of(match) * _UNIT_DAYS[match["unit"].lower()]
    return (range_of(today - timedelta(days=days), days + 1),)


def _read_last(match: re.Match[str], today: date) -> tuple[NamedDate, ...]:
    what = match["what"].lower()
    match what:
        case "week":
            return (range_of(weeks_before(today, 1), 7),)
        case "weekend":
            # On a Sunday, this is not the weekend that still lasts.
            return (range_of(weeks_before(today, 1) + timedelta(days=5), 2),)
        case "month":
            return (months_before(today, 1),)
        case "year":
            return (units_ago(today, 1, "year"),)
        case _ if what in SEASONS:
            month, days = SEASONS[what]
            years = (today.year, today.year - 1, today.year - 2)
            return tuple(s for y in years if _is_over(s := NamedDate(y, month, 1, days), today))[:1]
        case _:
            days_since = (today.weekday() - WEEKDAYS.index(what) - 1) % 7 + 1
            return (units_ago(today, days_since, "day"),)


def _is_over(season: NamedDate, today: date) -> bool:
    covered = first_and_last_day(season, today.year)
    return covered is not None and covered[1] < today


# In the order in which they are tried: longer forms first.
ENGLISH_RELATIVE_FORMS = tuple(
    RelativeDateForm(hints, pattern_of(text), read)
    for hints, text, read in (
        (
            ("year",),
            rf"{START}(?:in\s+)?{MONTH},?\s+(?:of\s+)?(?P<which>last|this)\s+year{END}",
            _read_month_of_year,
        ),
        (
            ("last", "this"),
            # With a day or a year it is no longer relative.
            rf"{START}(?<!the\ )(?:in\s+)?(?P<which>last|this)\s+{MONTH}(?!,?\s+\d)",
            _read_named_month,
        ),
        (
            ("yesterday", "night"),
            rf"{START}(?:(?:the\s+)?day\s+before\s+yesterday|yesterday|last\s+night){END}",
            _read_day_word,
        ),
        (("ago",), rf"{START}{_COUNT}{_UNIT}s?\s+ago{END}", _read_ago),
        (
            _PAST_HINTS,
            rf"{START}{_OPENING}(?:last|past|previous)\s+{_COUNT}{_UNIT}s?{END}",
            _read_past_units,
        ),
        (
            _PAST_HINTS,
            rf"""{START}{_OPENING}(?:last|past|previous)\s+
            (?P<what>weekend|week|month|year|{"|".join((*WEEKDAYS, *SEASONS))}){END}""",
            _read_last,
        ),
    )
)
