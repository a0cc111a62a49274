"""Relative dates ("last Friday", 上周五) resolved against the day they were written.

Only expressions that name a day, week, month, season or year are resolved; vague ones ("recently",
"the other day") and spans ("for two years", "over the last month") are left alone. A table of our
own: a general date parser takes "may", "second" and bare numbers for dates.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta

from remanence_server.extraction.heuristic import spans
from remanence_server.extraction.heuristic.dates_cjk import CJK_RULES
from remanence_server.extraction.heuristic.spans import Rule, Span
from remanence_server.extraction.heuristic.words import CJK

_WEEKDAYS = {
    name: number
    for number, names in enumerate(
        (
            ("monday", "mon"),
            ("tuesday", "tues", "tue"),
            ("wednesday", "wed"),
            ("thursday", "thurs", "thur", "thu"),
            ("friday", "fri"),
            ("saturday", "sat"),
            ("sunday", "sun"),
        )
    )
    for name in names
}
_MONTHS = {
    name: number
    for number, name in enumerate(
        [
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
        ],
        start=1,
    )
}
_SEASONS = ("spring", "summer", "autumn", "fall", "winter")
_NUMBERS = {
    word: number
    for number, word in enumerate(
        [
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
        ],
        start=1,
    )
} | {"a": 1, "an": 1, "a couple of": 2, "couple of": 2}

_WEEKDAY = "|".join(sorted(_WEEKDAYS, key=len, reverse=True))
_MONTH = "|".join(_MONTHS)
_SEASON = "|".join(_SEASONS)
_UNIT = "(?P<unit>days?|weeks?|months?|years?)"
_NUMBER = rf"\d{{1,3}}|(?:a )?couple of|{'|'.join(w for w in _NUMBERS if ' ' not in w)}"
# "the last week of August", "over the last year", "every last Friday": not that week.
_SPAN_OPENERS = ("the ", "every ", "of ")
_NOT_OF = r"(?!\s+of\b)(?!-)"
_PART_OF_DAY = r"(?:\s+(?:morning|afternoon|evening|night))?"
_STEPS = {"last": -1, "past": -1, "this past": -1, "this": 0, "next": 1, "coming": 1}


def _named(match: re.Match[str], today: date) -> Span | None:
    """`last`, `this` or `next`, and a day, week, month, season or year."""
    if match.string[: match.start()].casefold().endswith(_SPAN_OPENERS):
        return None
    which = " ".join(match["which"].casefold().split())
    name = match["name"].casefold()
    step = _STEPS[which]
    if name in _UNIT_SPANS:
        return _UNIT_SPANS[name](today, step)
    if name in _WEEKDAYS:
        return spans.weekday(which, _WEEKDAYS[name], today)
    if which not in {"last", "this", "next"}:
        return None
    if name in _MONTHS:
        return spans.named_month(which, _MONTHS[name], today)
    return spans.season(which, name, today)


_UNIT_SPANS: dict[str, Callable[[date, int], Span]] = {
    "week": spans.week,
    "weekend": spans.weekend,
    "month": spans.month,
    "year": spans.year,
}


def _ago(match: re.Match[str], today: date) -> Span | None:
    return _shift(match, today, -1)


def _ahead(match: re.Match[str], today: date) -> Span | None:
    return _shift(match, today, 1)


def _shift(match: re.Match[str], today: date, sign: int) -> Span | None:
    text = match["number"].casefold()
    number = int(text) if text.isdigit() else _NUMBERS[text]
    return spans.shifted(match["unit"].casefold().rstrip("s"), sign * number, today)


def _day(offset: int) -> Callable[[re.Match[str], date], Span]:
    return lambda match, today: spans.day(today + timedelta(days=offset))


_ENGLISH_RULES: tuple[Rule, ...] = (
    Rule(r"\bthe day before yesterday\b", _day(-2), ("before yesterday",)),
    Rule(r"\bthe day after tomorrow\b", _day(2), ("after tomorrow",)),
    Rule(r"\byesterday\b" + _PART_OF_DAY, _day(-1), ("yesterday",)),
    Rule(r"\blast night\b" + _NOT_OF, _day(-1), ("last night",)),
    Rule(r"\btomorrow\b" + _PART_OF_DAY, _day(1), ("tomorrow",)),
    Rule(
        r"\b(?:today|tonight|this (?:morning|afternoon|evening))\b",
        _day(0),
        ("today", "tonight", "this "),
    ),
    Rule(
        rf"\b(?P<which>last|this\s+past|past|this|next|coming)\s+(?P<name>{_WEEKDAY}|{_MONTH}|"
        rf"{_SEASON}|weekend|week|month|year)\b{_PART_OF_DAY}{_NOT_OF}",
        _named,
        ("last", "past", "this", "next", "coming"),
    ),
    Rule(rf"\b(?P<number>{_NUMBER})\s+{_UNIT}\s+(?:ago|back)\b", _ago, ("ago", "back")),
    Rule(
        rf"\b(?P<number>{_NUMBER})\s+{_UNIT}\s+from\s+(?:now|today)\b",
        _ahead,
        ("from now", "from today"),
    ),
    # "in two weeks" is a date after "leaving" or "will", and a duration after "finished".
    Rule(
        r"(?:\b(?:will|going|gonna|leav(?:e|ing)|fly(?:ing)?|start(?:s|ing)?|due|coming|mov(?:e|ing)|"
        r"is|are|am|begins?|visit(?:ing)?|returns?|arriv\w+|travel\w*)\b|['’](?:ll|re|m|s)\b)"
        rf"[^.!?]*?\b(?P<shown>in\s+(?P<number>{_NUMBER})\s+(?P<unit>days?|weeks?|months?|years?))\b"
        r"(?!')",
        _ahead,
        ("day", "week", "month", "year"),
    ),
)
_OTHER_RULES: tuple[Rule, ...] = (
    Rule(
        r"\b(?:vorgestern|anteayer|avant-hier|l'altro ieri)\b",
        _day(-2),
        ("vor", "ante", "avant", "altro"),
    ),
    Rule(
        r"\b(?:gestern|ayer|ieri|ontem|вчера|أمس)\b",
        _day(-1),
        ("gest", "ayer", "ieri", "ontem", "вчера", "أمس"),
    ),
    # German "hier" is "here".
    Rule(r"\b(?:j'ai|j'étais|je|nous|on)\b[^.!?]*?\b(?P<shown>hier)\b", _day(-1), ("hier",)),
    Rule(r"\bhier(?= (?:soir|matin|j'ai|j'étais|je|nous|on)\b)", _day(-1), ("hier",)),
    Rule(
        r"\b(?:übermorgen|pasado mañana|après-demain|dopodomani)\b",
        _day(2),
        ("über", "pasado", "après", "dopo"),
    ),
    Rule(
        r"\b(?:letzte|vorige|vergangene) woche\b|\bla semana pasada\b|\bla semaine dernière\b"
        r"|\bla settimana scorsa\b|\bна прошлой неделе\b",
        lambda match, today: spans.week(today, -1),
        ("woche", "semana", "semaine", "settimana", "неделе"),
    ),
    Rule(
        r"\b(?:letzten|vorigen) monat\b|\bel mes pasado\b|\ble mois dernier\b|\bil mese scorso\b",
        lambda match, today: spans.month(today, -1),
        ("monat", "mes ", "mois", "mese"),
    ),
    Rule(
        r"\b(?:letztes|voriges) jahr\b|\bel año pasado\b|\bl'année dernière\b|\bl'anno scorso\b"
        r"|\bв прошлом году\b",
        lambda match, today: spans.year(today, -1),
        ("jahr", "año", "année", "anno", "году"),
    ),
)
_RULES = (*_ENGLISH_RULES, *_OTHER_RULES)
# Most sentences hold none of the words: one look, and done.
_ANY_HINT = re.compile(
    "|".join(sorted({re.escape(hint) for rule in _RULES for hint in rule.hints}))
)


def resolve(text: str, written_on: date) -> tuple[tuple[str, str], ...]:
    """Pairs of a relative expression in `text`, as written, and the date it names.

    In order of appearance, each expression once. Expressions beyond the calendar are left out.
    """
    folded = text.casefold()
    rules = (
        *(_RULES if _ANY_HINT.search(folded) else ()),
        *(CJK_RULES if CJK.search(text) else ()),
    )
    found: dict[int, tuple[int, str, str]] = {}
    for rule in rules:
        if rule.hints and not any(hint in folded for hint in rule.hints):
            continue
        for match in rule.pattern.finditer(text):
            group: str | int = "shown" if "shown" in rule.pattern.groupindex else 0
            start, end = match.span(group)
            # The rules are in order of precedence; a longer expression holds shorter ones.
            if any(start < other_end and at < end for at, (other_end, _, _) in found.items()):
                continue
            try:
                span = rule.resolve(match, written_on)
            except (OverflowError, ValueError):
                continue
            if span is not None:
                found[start] = (end, text[start:end], span.shown)
    return tuple(dict.fromkeys((words, shown) for _, (_, words, shown) in sorted(found.items())))


def annotation(text: str, written_on: date) -> str:
    """What `resolve` finds, as a bracket to put behind the text: `[last Friday = 22 May 2026]`."""
    pairs = resolve(text, written_on)
    if not pairs:
        return ""
    return "[" + "; ".join(f"{words} = {shown}" for words, shown in pairs) + "]"
