"""Dates as English and digits write them.

Words that are more often something else ("may", "march", a bare year) count only in a form that
leaves no doubt.
"""

from __future__ import annotations

import re

from remanence_server.retrieval.date_forms import DateForm, possible
from remanence_server.retrieval.named_date import NamedDate

_MONTH_NAMES = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES, 1)}
MONTHS |= {name[:3]: number for name, number in MONTHS.items()} | {"sept": 9}
# Words of other trades: without a capital, they need an ordinal, a year or a preposition.
ALSO_WORDS = frozenset({"may", "march", "mar"})
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
# First month and length in days of the meteorological seasons, as the north has them.
SEASONS = {"spring": (3, 92), "summer": (6, 92), "autumn": (9, 91), "fall": (9, 91)}
SEASONS |= {"winter": (12, 90)}

# Latin letters with accents count as letters, unspaced scripts do not: they write dates without
# spaces around. (\w is ASCII here.)
START = r"(?<![\w\u00c0-\u024f])"
END = r"(?![\w\u00c0-\u024f])"
MONTH = rf"(?P<month>{'|'.join(sorted(MONTHS, key=len, reverse=True))}){END}\.?"
# A date inside a path, an address or a version is part of that.
_LONE_START = r"(?<![\w/.:=-])"
_LONE_END = r"(?![\w/=-]|\.\w)"
_DAY = r"(?P<day>\d{1,2})(?P<ordinal>st|nd|rd|th)?"
_TO_DAY = r"(?:\s?[-\u2013]\s?(?P<last>\d{1,2})(?:st|nd|rd|th)?)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_OF_YEAR = rf"(?:(?:,?\s+(?:of\s+)?|,){_YEAR}{END})"
_ON = rf"""(?P<lead>(?:on|by|since|until|till|before|after|from)\s+)?
    (?:(?:{"|".join(WEEKDAYS)}),?\s+)?(?:the\s+)?"""
_IN = r"""(?:(?:in|during)\s+(?:(?:the\s+)?(?:early|mid|late)[\s-]+)?|since\s+|until\s+|till\s+
    |(?:early|mid|late)[\s-]+|(?:end|beginning|start|middle|month)\s+of\s+|(?<=week\ )of\s+)"""


DIGIT_HINTS = tuple("0123456789")
MONTH_HINTS = tuple(name[:3] for name in _MONTH_NAMES)


def pattern_of(text: str) -> re.Pattern[str]:
    """A verbose pattern for text in any case, whose classes are ASCII."""
    return re.compile(text, re.IGNORECASE | re.ASCII | re.VERBOSE)


def _read_iso(match: re.Match[str]) -> tuple[NamedDate, ...]:
    return possible(NamedDate(int(match["year"]), int(match["month"]), int(match["day"])))


def _read_numbers(match: re.Match[str]) -> tuple[NamedDate, ...]:
    first, second, year = int(match["first"]), int(match["second"]), int(match["year"])
    if year < 100:
        year += 2000
    day_first = possible(NamedDate(year, second, first))
    # Dots put the day first; otherwise both readings count, where both are possible.
    if match["mark"] == "." or first == second:
        return day_first
    return day_first + possible(NamedDate(year, first, second))


def _read_day(match: re.Match[str]) -> tuple[NamedDate, ...]:
    sure = match["ordinal"] or match["year"] or match["lead"]
    if not sure and match["month"] in ALSO_WORDS:
        return ()
    year = int(match["year"]) if match["year"] else None
    day = int(match["day"])
    days = int(match["last"]) - day + 1 if match["last"] else 1
    return possible(NamedDate(year, MONTHS[match["month"].lower()], day, days))


def _read_month_of_year(match: re.Match[str]) -> tuple[NamedDate, ...]:
    return (NamedDate(int(match["year"]), MONTHS[match["month"].lower()]),)


def _read_month(match: re.Match[str]) -> tuple[NamedDate, ...]:
    return (NamedDate(None, MONTHS[match["month"].lower()]),)


def _read_this_month(match: re.Match[str]) -> tuple[NamedDate, ...]:
    # "This may help."
    if match["which"].lower() == "this" and match["month"] in ALSO_WORDS:
        return ()
    return _read_month(match)


def _read_season(match: re.Match[str]) -> tuple[NamedDate, ...]:
    year, (month, days) = int(match["year"]), SEASONS[match["season"].lower()]
    season = NamedDate(year, month, 1, days)
    # "The winter of 2022" may have begun or ended in that year.
    return (season, NamedDate(year - 1, month, 1, days)) if month == 12 else (season,)


def _read_year(match: re.Match[str]) -> tuple[NamedDate, ...]:
    return (NamedDate(int(match["year"])),)


# In the order in which they are tried: longer forms first.
ENGLISH_FORMS = tuple(
    # "Summer" is a word of the story too.
    DateForm(hints, pattern_of(text), read, is_cut=read is not _read_season)
    for hints, text, read in (
        (
            DIGIT_HINTS,
            rf"""{_LONE_START}{_YEAR}(?P<mark>[-/.])(?P<month>\d{{1,2}})(?P=mark)(?P<day>\d{{1,2}})
            (?:T\d\d:\d\d[\d:.]*(?:Z|[+-]\d\d:?\d\d)?)?{_LONE_END}""",
            _read_iso,
        ),
        (
            DIGIT_HINTS,
            rf"""{_LONE_START}(?P<first>\d{{1,2}})(?P<mark>[-/.])(?P<second>\d{{1,2}})(?P=mark)
            (?P<year>(?:19|20)\d\d|(?<=/)\d\d){_LONE_END}""",
            _read_numbers,
        ),
        (MONTH_HINTS, rf"{START}{_ON}{_DAY}{_TO_DAY}\s+(?:of\s+)?{MONTH}{_OF_YEAR}?", _read_day),
        (
            MONTH_HINTS,
            rf"""{START}{_ON}{MONTH}\s+(?:the\s+)?{_DAY}(?![\d:%]|[.,]\d(?!\d{{3}})){_TO_DAY}{END}
            {_OF_YEAR}?""",
            _read_day,
        ),
        (MONTH_HINTS, rf"{START}{_IN}?{MONTH}{_OF_YEAR}", _read_month_of_year),
        (("last", "this"), rf"{START}(?<!the\ )(?P<which>last|this)\s+{MONTH}", _read_this_month),
        (MONTH_HINTS, rf"{START}{_IN}{MONTH}", _read_month),
        (
            DIGIT_HINTS,
            rf"""{START}(?:(?:in|during)\s+)?(?:the\s+)?(?P<season>{"|".join(SEASONS)})
            (?:\s+of|,)?\s+{_YEAR}{_LONE_END}""",
            _read_season,
        ),
        (
            DIGIT_HINTS,
            rf"""{START}(?:in|during|since|of|until|year)\s+{_YEAR}
            (?![\w=/-]|[.,:]\d|\s+(?:words|characters|people|times|dollars|euros|miles|steps))""",
            _read_year,
        ),
    )
)
