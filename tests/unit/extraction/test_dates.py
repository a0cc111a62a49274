"""Relative dates, resolved on Thursday, 28 May 2026."""

from __future__ import annotations

from datetime import date

import pytest

from remanence_server.extraction.heuristic.dates import annotation, resolve

WRITTEN = date(2026, 5, 28)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("I ran a race last Saturday.", "last Saturday = 23 May 2026"),
        ("See you last Thursday", "last Thursday = 21 May 2026"),
        ("We met yesterday evening", "yesterday evening = 27 May 2026"),
        ("the day before yesterday", "the day before yesterday = 26 May 2026"),
        ("tomorrow", "tomorrow = 29 May 2026"),
        ("next Friday", "next Friday = 5 June 2026"),
        ("this Friday", "this Friday = 29 May 2026"),
        ("last week", "last week = 18–24 May 2026"),
        ("this weekend", "this weekend = 30–31 May 2026"),
        ("last weekend", "last weekend = 23–24 May 2026"),
        ("next month", "next month = June 2026"),
        ("last year", "last year = 2025"),
        ("last summer", "last summer = summer 2025"),
        ("last June", "last June = June 2025"),
        ("two days ago", "two days ago = 26 May 2026"),
        ("3 weeks ago", "3 weeks ago = around 7 May 2026"),
        ("five years ago", "five years ago = 2021"),
        ("We are leaving in two weeks", "in two weeks = around 11 June 2026"),
        ("昨天", "昨天 = 27 May 2026"),
        ("上周五", "上周五 = 22 May 2026"),
        ("去年", "去年 = 2025"),
        ("三天前", "三天前 = 25 May 2026"),
        ("上个月", "上个月 = April 2026"),
        ("先週の金曜日", "先週の金曜日 = 22 May 2026"),
        ("来月", "来月 = June 2026"),
        ("지난주 금요일", "지난주 금요일 = 22 May 2026"),
        ("어제", "어제 = 27 May 2026"),
        ("작년", "작년 = 2025"),
        ("Wir waren gestern dort", "gestern = 27 May 2026"),
        ("la semana pasada", "la semana pasada = 18–24 May 2026"),
    ],
)
def test_a_relative_date_is_resolved(text: str, shown: str) -> None:
    assert annotation(text, WRITTEN) == f"[{shown}]"


@pytest.mark.parametrize(
    "text",
    [
        "I may go second now, 5 of us",
        "over the last year I grew",
        "the last week of August",
        "we finished it in two weeks",
        "I have painted for seven years",
        "recently, the other day",
        "next to me",
        "On Friday we met",
        "明日香さん",
        "",
    ],
)
def test_spans_vague_words_and_names_are_left_alone(text: str) -> None:
    assert resolve(text, WRITTEN) == ()


def test_the_longest_expression_wins_and_each_is_shown_once() -> None:
    assert resolve("上周五 and 上周五, then last week", WRITTEN) == (
        ("上周五", "22 May 2026"),
        ("last week", "18–24 May 2026"),
    )


def test_dates_beyond_the_calendar_are_left_out() -> None:
    assert resolve("tomorrow, next year", date(9999, 12, 31)) == ()
    assert resolve("yesterday, 5 years ago", date(1, 1, 1)) == ()
