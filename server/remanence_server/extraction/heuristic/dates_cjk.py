"""The relative dates of Chinese, Japanese and Korean."""

from __future__ import annotations

import re
from datetime import date, timedelta

from remanence_server.extraction.heuristic import spans
from remanence_server.extraction.heuristic.spans import Rule, Span

_DAYS = {
    "大前天": -3, "前天": -2, "昨天": -1, "昨晚": -1, "今天": 0, "今晚": 0, "今早": 0,
    "明天": 1, "明晚": 1, "后天": 2, "後天": 2, "大后天": 3, "大後天": 3,
    "一昨日": -2, "おととい": -2, "昨日": -1, "きのう": -1, "昨夜": -1, "ゆうべ": -1, "今日": 0,
    "今朝": 0, "今夜": 0, "明日": 1, "明後日": 2, "あさって": 2,
    "그저께": -2, "그제": -2, "어제": -1, "어젯밤": -1, "오늘": 0, "내일": 1, "모레": 2,
}  # fmt: skip
_WEEK_OFFSET = {
    "上": -1, "上个": -1, "上個": -1, "这": 0, "這": 0, "这个": 0, "這個": 0, "本": 0, "下": 1,
    "下个": 1, "下個": 1, "先": -1, "今": 0, "来": 1, "來": 1, "지난": -1, "이번": 0, "다음": 1,
    "上上": -2, "先々": -2,
}  # fmt: skip
_YEARS = {
    "前年": -2, "去年": -1, "昨年": -1, "今年": 0, "明年": 1, "来年": 1, "後年": 2, "后年": 2,
    "재작년": -2, "작년": -1, "지난해": -1, "올해": 0, "내년": 1,
}  # fmt: skip
_WEEKDAY = {
    **{character: number for number, character in enumerate("一二三四五六日")},
    "天": 6,
    **{character: number for number, character in enumerate("月火水木金土")},
    **{character: number for number, character in enumerate("월화수목금토일")},
}
_DIGITS = {character: number for number, character in enumerate("零一二三四五六七八九十")} | {
    "两": 2, "兩": 2, "한": 1, "두": 2, "세": 3, "네": 4, "다섯": 5, "일": 1, "이": 2, "삼": 3,
}  # fmt: skip
_UNITS = {
    "天": "day", "日": "day", "일": "day", "周": "week", "週": "week", "星期": "week",
    "个星期": "week", "個星期": "week", "週間": "week", "주": "week", "주일": "week",
    "个月": "month", "個月": "month", "か月": "month", "ヶ月": "month", "カ月": "month",
    "달": "month", "개월": "month", "年": "year", "년": "year",
}  # fmt: skip


def _alternatives(table: dict[str, int] | dict[str, str]) -> str:
    return "|".join(sorted(table, key=len, reverse=True))


_NUMBER = rf"(?P<number>\d{{1,3}}|{_alternatives(_DIGITS)})"
_ZH_WEEK = r"(?P<which>上上|上个|上個|上|这个|這個|这|這|本|下个|下個|下)(?:周|週|星期|礼拜|禮拜)"
_JA_WEEK = r"(?P<which>先々|先|今|来)週"
_KO_WEEK = r"(?P<which>지난|이번|다음)\s?주"


def _day(match: re.Match[str], today: date) -> Span:
    return spans.day(today + timedelta(days=_DAYS[match.group()]))


def _weekday(match: re.Match[str], today: date) -> Span:
    return spans.weekday_of_week(today, _WEEK_OFFSET[match["which"]], _WEEKDAY[match["weekday"]])


def _weekend(match: re.Match[str], today: date) -> Span:
    return spans.weekend(today, _WEEK_OFFSET[match["which"]])


def _week(match: re.Match[str], today: date) -> Span:
    return spans.week(today, _WEEK_OFFSET[match["which"]])


def _month(match: re.Match[str], today: date) -> Span:
    return spans.month(today, _WEEK_OFFSET[match["which"]])


def _year(match: re.Match[str], today: date) -> Span:
    return spans.year(today, _YEARS[match.group()])


def _shift(match: re.Match[str], today: date, sign: int) -> Span | None:
    text = match["number"]
    number = int(text) if text.isdigit() else _DIGITS[text]
    return spans.shifted(_UNITS[match["unit"]], sign * number, today)


CJK_RULES: tuple[Rule, ...] = (
    Rule(rf"{_ZH_WEEK}(?:的)?(?P<weekday>[一二三四五六日天])", _weekday),
    Rule(rf"{_JA_WEEK}の?(?P<weekday>[月火水木金土日])曜日?", _weekday),
    Rule(rf"{_KO_WEEK}\s?(?P<weekday>[월화수목금토일])요일", _weekday),
    Rule(rf"{_ZH_WEEK}(?:的)?末", _weekend),
    Rule(rf"{_JA_WEEK}末", _weekend),
    Rule(rf"{_KO_WEEK}말", _weekend),
    # 一周 is a length, and 上周 within 上周末 is taken by the rule above.
    Rule(_ZH_WEEK, _week),
    Rule(_JA_WEEK, _week),
    Rule(rf"{_KO_WEEK}(?!말)", _week),
    Rule(r"(?P<which>上上|上|这|這|本|下)(?:个|個)?月(?![一二三四五六七八九十\d])", _month),
    Rule(r"(?P<which>先|今|来)月", _month),
    Rule(r"(?P<which>지난|이번|다음)\s?달", _month),
    Rule(
        rf"{_NUMBER}\s?(?P<unit>{_alternatives(_UNITS)})\s?(?:以?前|전)(?!後|后)",
        lambda match, today: _shift(match, today, -1),
    ),
    Rule(
        rf"{_NUMBER}\s?(?P<unit>{_alternatives(_UNITS)})\s?(?:以?后|以?後|뒤|후)(?!悔)",
        lambda match, today: _shift(match, today, 1),
    ),
    # 明日香, 今日子: given names; 今天 and 昨天 cannot be.
    Rule(rf"(?:{_alternatives(_DAYS)})(?!香|子|葉)", _day),
    Rule(_alternatives(_YEARS), _year),
)
