"""Dates as Chinese, Japanese and Korean write them, without spaces around."""

from __future__ import annotations

import re
from datetime import date, timedelta

from remanence_server.retrieval.date_forms import (
    DateForm,
    RelativeDateForm,
    months_before,
    possible,
    range_of,
    units_ago,
    weeks_before,
)
from remanence_server.retrieval.named_date import NamedDate

_DIGITS = {character: value for value, character in enumerate("〇一二三四五六七八九十")}
_DIGITS |= {"两": 2, "兩": 2, "零": 0}
_NUMERALS = "".join(_DIGITS)
_NO_NUMBER_BEFORE = rf"(?<![\d{_NUMERALS}每])"
_NUMBER = rf"(?:\d{{1,2}}|[{_NUMERALS}]{{1,3}})"
_YEAR = rf"(?P<year>(?:19|20)\d\d|[一二][{_NUMERALS}]{{3}})\s?[年년]"
_YEARS_AGO = {"去年": 1, "昨年": 1, "작년": 1, "前年": 2, "一昨年": 2, "재작년": 2, "今年": 0}
_YEARS_AGO |= {"올해": 0}
_YEAR_WORDS = "|".join(sorted(_YEARS_AGO, key=len, reverse=True))
# 五月天 is a band, 三月間 a duration.
_MONTH = rf"(?P<month>{_NUMBER})\s?(?:月份?(?![天間间])|월)"
_DAY = rf"(?P<day>{_NUMBER})\s?[日号號일]"
_DAYS_AGO = {"昨天": 1, "昨日": 1, "昨晚": 1, "어제": 1, "前天": 2, "一昨日": 2, "おととい": 2}
_DAYS_AGO |= {"그저께": 2, "그제": 2}
# 晚上周杰伦 and 晚上月亮 are evenings.
_LAST_WEEK = r"(?:(?<![晚早])上(?:个|個)?(?:周|週|星期|礼拜|禮拜)|先週|지난\s?주)"
# The day of the week: 上周五, 先週の金曜日, 지난주 금요일.
_WEEKDAY = (
    r"(?:の?(?P<weekday>[一二三四五六日天月火水木金土])(?:曜日?)?"
    r"|\s?(?P<korean>[월화수목금토일])요일)"
)
_WEEKDAYS = tuple(map(set, ("一月월", "二火화", "三水수", "四木목", "五金금", "六土토", "日天일")))
_UNITS = {"day": "天日일", "week": "周週星礼禮주", "month": "月개달", "year": "年년"}
_AGO = (
    rf"{_NO_NUMBER_BEFORE}(?P<count>\d{{1,3}}|[{_NUMERALS}]{{1,3}})\s?(?:个|個|ヶ|か|カ|ケ|箇)?"
    r"(?P<unit>[天日일年년月달周週주]|星期|礼拜|禮拜|개월)間?(?:\s?(?:以?前|之前)|\s?전)"
)


def _number(text: str) -> int:
    if text.isdecimal():
        return int(text)
    digits = [_DIGITS[character] for character in text]
    if 10 not in digits:
        return int("".join(map(str, digits)))
    ten = digits.index(10)
    tens = _plain(digits[:ten]) if ten else 1
    return tens * 10 + _plain(digits[ten + 1 :])


def _plain(digits: list[int]) -> int:
    return int("".join(map(str, digits)) or "0")


def _optional(match: re.Match[str], group: str) -> int | None:
    text = match[group]
    return _number(text) if text else None


def _read_full(match: re.Match[str]) -> tuple[NamedDate, ...]:
    named = NamedDate(_number(match["year"]), _optional(match, "month"), _optional(match, "day"))
    return possible(named)


def _read_month_and_day(match: re.Match[str]) -> tuple[NamedDate, ...]:
    return possible(NamedDate(None, _number(match["month"]), _optional(match, "day")))


def _read_shifted_year(match: re.Match[str], today: date) -> tuple[NamedDate, ...]:
    year = today.year - _YEARS_AGO[match["year"]]
    month = _optional(match, "month")
    # 今年 alone tells nothing apart.
    if month is None and year == today.year:
        return ()
    return possible(NamedDate(year, month, _optional(match, "day")))


def _read_day_word(match: re.Match[str], today: date) -> tuple[NamedDate, ...]:
    return (units_ago(today, _DAYS_AGO[match[0]], "day"),)


def _read_last_week(match: re.Match[str], today: date) -> tuple[NamedDate, ...]:
    monday = weeks_before(today, 1)
    day = match["weekday"] or match["korean"]
    if not day:
        return (range_of(monday, 7),)
    number = next(index for index, names in enumerate(_WEEKDAYS) if day in names)
    return (range_of(monday + timedelta(days=number)),)


def _read_last_month(_match: re.Match[str], today: date) -> tuple[NamedDate, ...]:
    return (months_before(today, 1),)


def _read_ago(match: re.Match[str], today: date) -> tuple[NamedDate, ...]:
    unit = next(unit for unit, characters in _UNITS.items() if match["unit"][0] in characters)
    return (units_ago(today, _number(match["count"]), unit),)


# In the order in which they are tried: longer forms first.
CJK_FORMS = (
    DateForm(
        ("年", "년"),
        re.compile(rf"{_NO_NUMBER_BEFORE}{_YEAR}(?:\s?{_MONTH}(?:\s?{_DAY})?)?"),
        _read_full,
    ),
    DateForm(
        ("月", "월"), re.compile(rf"{_NO_NUMBER_BEFORE}{_MONTH}(?:\s?{_DAY})?"), _read_month_and_day
    ),
)
CJK_RELATIVE_FORMS = (
    RelativeDateForm(
        tuple(_YEARS_AGO),
        re.compile(rf"(?P<year>{_YEAR_WORDS})の?(?:\s?{_MONTH}(?:\s?{_DAY})?)?"),
        _read_shifted_year,
    ),
    RelativeDateForm(("前", "전"), re.compile(_AGO), _read_ago),
    RelativeDateForm(
        tuple(_DAYS_AGO),
        re.compile("|".join(sorted(_DAYS_AGO, key=len, reverse=True))),
        _read_day_word,
    ),
    RelativeDateForm(
        ("上", "先週", "지난"), re.compile(rf"{_LAST_WEEK}{_WEEKDAY}?"), _read_last_week
    ),
    RelativeDateForm(
        ("上", "先月", "지난"),
        re.compile(r"(?<![晚早])上(?:个|個)?月|先月|지난\s?달"),
        _read_last_month,
    ),
)
