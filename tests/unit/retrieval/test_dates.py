"""Which dates a question names, what is left of it, and how instants fit them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remanence_server.retrieval.dates import (
    NamedDate,
    cut_dates,
    date_match,
    first_and_last_day,
    named_dates,
    without_dates,
)
from remanence_server.runtime.instants import from_datetime

DAY_MS = 86_400_000


def ms(year: int, month: int, day: int, hour: int = 12) -> int:
    return from_datetime(datetime(year, month, day, hour, tzinfo=UTC))


# A Saturday.
NOW_MS = ms(2026, 4, 11)
D = NamedDate


@pytest.mark.parametrize(
    ("text", "dates", "rest"),
    [
        ("What did Ann do on 7 May 2023?", [D(2023, 5, 7)], "What did Ann do ?"),
        ("the 7th of May, 2023", [D(2023, 5, 7)], ""),
        ("Sunday, May 7th, 2023: where?", [D(2023, 5, 7)], ": where?"),
        ("the photo of December 1,2023 here", [D(2023, 12, 1)], "the photo of here"),
        ("May 7-9, 2023 in Rome", [D(2023, 5, 7, 3)], "in Rome"),
        ("What about May 7?", [D(None, 5, 7)], "What about ?"),
        ("on may 7 we met", [D(None, 5, 7)], "we met"),
        ("Dec. 25 dinner", [D(None, 12, 25)], "dinner"),
        ("between May 7 and June 8", [D(None, 5, 7), D(None, 6, 8)], "between and "),
        ("Who came in May 2023?", [D(2023, 5)], "Who came ?"),
        ("september of 2021 news", [D(2021, 9)], "news"),
        ("Who came in May?", [D(None, 5)], "Who came ?"),
        ("Where in late august?", [D(None, 8)], "Where ?"),
        ("the second week of November", [D(None, 11)], "the second week "),
        ("Who came last May?", [D(None, 5)], "Who came ?"),
        ("Where was she in 2022?", [D(2022)], "Where was she ?"),
        ("2023-05-07", [D(2023, 5, 7)], ""),
        ("at 2023-05-07T10:30:00Z then", [D(2023, 5, 7)], "at then"),
        ("2023/5/7 notes", [D(2023, 5, 7)], "notes"),
        ("on 13/5/2023", [D(2023, 5, 13)], "on "),
        ("on 5/13/23", [D(2023, 5, 13)], "on "),
        ("on 5/7/2023", [D(2023, 7, 5), D(2023, 5, 7)], "on "),
        ("am 5.7.2023", [D(2023, 7, 5)], "am "),
        ("2023年5月7日我们去了哪里", [D(2023, 5, 7)], "我们去了哪里"),
        ("二〇二三年十一月二十三日", [D(2023, 11, 23)], ""),
        ("5月的计划", [D(None, 5)], "的计划"),
        ("５月７日の予定", [D(None, 5, 7)], "の予定"),
        ("2023년 5월 7일에", [D(2023, 5, 7)], "에"),
        ("会议是2023-05-07吗", [D(2023, 5, 7)], "会议是 吗"),
    ],
)
def test_explicit_dates_are_read_and_cut(text: str, dates: list[NamedDate], rest: str) -> None:
    assert cut_dates(text) == (rest, tuple(dates))


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("Where did she go in the summer of 2022?", [D(2022, 6, 1, 92)]),
        ("her winter of 2022", [D(2022, 12, 1, 90), D(2021, 12, 1, 90)]),
    ],
)
def test_a_season_is_read_but_its_words_stay(text: str, dates: list[NamedDate]) -> None:
    assert cut_dates(text) == (text, tuple(dates))


@pytest.mark.parametrize(
    "text",
    [
        "How may this help?",
        "how this may help",
        "what may 7 people do",
        "May I ask?",
        "they march 3 times",
        "the last march we joined",
        "during the march",
        "she sat on the second chair",
        "Is April a friend of June?",
        "for sure 24/7",
        "v1.2.2023",
        "10.1.20.3",
        "logs/2023-05-07/err.log",
        "backup-2023-05-07.tar",
        "2,000 words and 2022 files",
        "an essay in 2000 words",
        "read in 2022-edition",
        "2023-02-30",
        "45/13/2023",
        "May 7:30",
        'who said "in May 2023"?',
        "`date 2023-05-07`",
        "5个月",
        "3か月間",
        "3개월",
        "五月天的歌",
        "13月",
        "",
    ],
)
def test_what_only_looks_like_a_date_is_left_alone(text: str) -> None:
    assert cut_dates(text, None) == (text, ())
    assert cut_dates(text, NOW_MS) == (text, ())


@pytest.mark.parametrize(
    ("text", "dates", "rest"),
    [
        ("What did I say yesterday?", [D(2026, 4, 10)], "What did I say ?"),
        ("the day before yesterday", [D(2026, 4, 9)], ""),
        ("last night", [D(2026, 4, 10, 2)], ""),
        ("what happened last week", [D(2026, 3, 30, 7)], "what happened "),
        ("over the last weekend", [D(2026, 4, 4, 2)], ""),
        ("last month", [D(2026, 3)], ""),
        ("last year", [D(2025)], ""),
        ("last Friday", [D(2026, 4, 10)], ""),
        ("last Saturday", [D(2026, 4, 4)], ""),
        ("last summer", [D(2025, 6, 1, 92)], ""),
        ("last spring", [D(2025, 3, 1, 92)], ""),
        ("last winter", [D(2025, 12, 1, 90)], ""),
        ("last May", [D(2025, 5)], ""),
        ("last April", [D(2025, 4)], ""),
        ("last March", [D(2026, 3)], ""),
        ("in June of last year", [D(2025, 6)], ""),
        ("3 days ago", [D(2026, 4, 8)], ""),
        ("a couple of weeks ago", [D(2026, 3, 25, 7)], ""),
        ("five months ago", [D(2025, 11)], ""),
        ("two years ago", [D(2024)], ""),
        ("in the last 3 days", [D(2026, 4, 8, 4)], ""),
        ("昨天我说了什么", [D(2026, 4, 10)], "我说了什么"),
        ("前天", [D(2026, 4, 9)], ""),
        ("上个月", [D(2026, 3)], ""),
        ("上周五", [D(2026, 4, 3)], ""),
        ("去年五月", [D(2025, 5)], ""),
        ("三天前", [D(2026, 4, 8)], ""),
        ("先週の話", [D(2026, 3, 30, 7)], "の話"),
        ("先週の金曜日", [D(2026, 4, 3)], ""),
        ("一昨日", [D(2026, 4, 9)], ""),
        ("어제", [D(2026, 4, 10)], ""),
        ("지난주 금요일", [D(2026, 4, 3)], ""),
        ("2년 전", [D(2024)], ""),
    ],
)
def test_relative_dates_are_read_by_the_askers_clock(
    text: str, dates: list[NamedDate], rest: str
) -> None:
    assert named_dates(text, NOW_MS) == tuple(dates)
    assert without_dates(text, NOW_MS) == rest


@pytest.mark.parametrize(
    "text", ["last week", "yesterday", "two years ago", "昨天", "上个月", "先週", "어제"]
)
def test_relative_dates_need_a_clock(text: str) -> None:
    assert cut_dates(text) == (text, ())


@pytest.mark.parametrize(
    "text",
    [
        "9999 years ago",
        "999 years ago, 9999 weeks ago",
        "晚上月亮",
        "10분 전",
        "today",
        "next week",
    ],
)
def test_what_no_memory_can_be_of_is_no_relative_date(text: str) -> None:
    assert all(named.year and named.year > 1000 for named in named_dates(text, NOW_MS))


def test_the_askers_zone_says_which_day_was_yesterday() -> None:
    late_ms = ms(2026, 4, 10, 23)
    east = timezone(timedelta(hours=9))
    assert named_dates("yesterday", late_ms) == (D(2026, 4, 9),)
    assert named_dates("yesterday", late_ms, east) == (D(2026, 4, 10),)


def test_a_date_named_twice_counts_once() -> None:
    assert named_dates("7 May 2023, that is 2023-05-07") == (D(2023, 5, 7),)


def test_only_the_beginning_of_a_pasted_document_is_read() -> None:
    text = "On 7 May 2023: " + "x " * 10_000 + "8 June 2023"
    assert named_dates(text) == (D(2023, 5, 7),)
    assert len(named_dates(" ".join(f"{day} May 2023," for day in range(1, 32)))) == 16


def test_the_day_itself_fits_wholly_and_the_days_about_it_less() -> None:
    dates = (D(2023, 5, 7),)
    fits = [date_match(dates, ms(2023, 5, day)) for day in (7, 8, 9, 14, 21)]
    assert fits[0] == 1
    assert fits == sorted(fits, reverse=True)
    assert fits[-1] < 0.1
    assert date_match(dates, ms(2023, 5, 6)) < date_match(dates, ms(2023, 5, 8))
    # e^-1 after five days, e^-2 five days before.
    assert date_match(dates, ms(2023, 5, 12)) == pytest.approx(0.3679, abs=1e-4)
    assert date_match(dates, ms(2023, 5, 2)) == pytest.approx(0.1353, abs=1e-4)


def test_every_day_of_a_month_or_range_fits_wholly() -> None:
    assert [date_match((D(2024, 2),), ms(2024, 2, day)) for day in (1, 29)] == [1, 1]
    assert [date_match((D(2023, 5, 7, 3),), ms(2023, 5, day)) for day in (7, 9)] == [1, 1]
    assert date_match((D(2023, 5, 7, 3),), ms(2023, 5, 10)) < 1
    assert date_match((D(2024, 2),), ms(2024, 3, 8)) == pytest.approx(0.3189, abs=1e-4)


def test_a_year_fits_a_little_and_another_year_not() -> None:
    assert date_match((D(2023),), ms(2023, 1, 1)) == 0.3
    assert date_match((D(2023),), ms(2024, 1, 1)) == 0


def test_a_date_without_a_year_fits_in_any_year_and_across_its_end() -> None:
    assert date_match((D(None, 5, 7),), ms(2019, 5, 7)) == 1
    new_year = (D(None, 1, 1),)
    assert date_match(new_year, ms(2022, 12, 31)) == date_match(new_year, ms(2023, 12, 31)) > 0.5
    assert date_match((D(None, 12, 31),), ms(2023, 1, 1)) > 0.8
    # No leap day near: the two years about 2022 have none.
    assert date_match((D(None, 2, 29),), ms(2022, 2, 28)) == 0


def test_the_best_of_several_dates_counts_and_none_fits_nothing() -> None:
    assert date_match((D(2020, 1, 1), D(2023, 5, 7)), ms(2023, 5, 7)) == 1
    assert date_match((), ms(2023, 5, 7)) == 0


def test_the_zone_says_on_which_day_an_instant_lies() -> None:
    instant_ms = ms(2023, 5, 6, 23)
    assert date_match((D(2023, 5, 7),), instant_ms) < 1
    assert date_match((D(2023, 5, 7),), instant_ms, timezone(timedelta(hours=9))) == 1


def test_a_date_knows_the_days_it_covers() -> None:
    def covered(named: NamedDate) -> list[str] | None:
        days = first_and_last_day(named, 2024)
        return [day.isoformat() for day in days] if days else None

    assert covered(D(2023)) == ["2023-01-01", "2023-12-31"]
    assert covered(D(None, 2)) == ["2024-02-01", "2024-02-29"]
    assert covered(D(2023, 5, 30, 7)) == ["2023-05-30", "2023-06-05"]
    assert covered(D(2023, 2, 29)) is None


@given(
    year=st.none() | st.integers(1, 9999),
    month=st.integers(1, 12),
    day=st.none() | st.integers(1, 31),
    instant_ms=st.integers(-62_135_596_800_000, 253_402_300_799_999),
)
def test_a_fit_lies_between_nothing_and_one(
    year: int | None, month: int, day: int | None, instant_ms: int
) -> None:
    assert 0 <= date_match((D(year, month, day),), instant_ms) <= 1


_PIECES = """
    7 7th 31 2023 1999 - / . , " the of in on last this year years ago two a few days week May june
    Friday summer yesterday night 年 月 日 五 十 两 前 上 周 去年 昨天 년 월 일 전 지난 주
"""


@given(
    st.lists(st.sampled_from([*_PIECES.split(), *" " * 20]), max_size=30).map("".join),
    # The first and the last day of the calendar, and one between.
    st.sampled_from([-62_135_596_800_000, NOW_MS, 253_402_300_799_999]),
)
def test_no_text_breaks_the_reader_and_cutting_only_removes(text: str, now_ms: int) -> None:
    rest, dates = cut_dates(text, now_ms)
    letters = iter(text)
    assert all(letter in letters for letter in rest if letter != " ")
    assert all(first_and_last_day(named, 2024) for named in dates)
    if not dates:
        assert rest == text
