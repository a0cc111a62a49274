"""The dates that a question names, and the question without them.

On conversations every eighth question names a date. Reading it gained 3.7 points of recall@1;
leaving it among the words would only find the same digits elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, tzinfo
from operator import attrgetter

from remanence_server.retrieval.date_forms import RelativeDateForm
from remanence_server.retrieval.date_forms_cjk import CJK_FORMS, CJK_RELATIVE_FORMS
from remanence_server.retrieval.date_forms_english import ENGLISH_FORMS
from remanence_server.retrieval.date_forms_english_relative import ENGLISH_RELATIVE_FORMS
from remanence_server.retrieval.named_date import NamedDate, date_match, first_and_last_day
from remanence_server.runtime.instants import day_of

__all__ = [
    "QUOTED",
    "NamedDate",
    "cut_dates",
    "date_match",
    "first_and_last_day",
    "named_dates",
    "without_dates",
]

FORMS = (*ENGLISH_FORMS, *CJK_FORMS)
RELATIVE_FORMS = (*ENGLISH_RELATIVE_FORMS, *CJK_RELATIVE_FORMS)

# A longer text is a pasted document, and the dates further down are not what is asked about.
_MAX_CHARACTERS = 2_048
# More than a question has; every date costs time for every candidate.
_MAX_DATES = 16
_MAX_SPANS = 64

# What stands in quotes is meant to the letter.
QUOTED = re.compile(
    "|".join(
        (
            r'(?<!\w)"[^"\n]{1,200}"(?!\w)',
            r"`[^`\n]{1,200}`",
            r"“[^“”\n]{1,200}”",
            r"«[^«»\n]{1,200}»",
            r"「[^「」\n]{1,200}」",
        )
    )
)


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int
    dates: tuple[NamedDate, ...]
    is_cut: bool = True


def named_dates(text: str, now_ms: int | None = None, zone: tzinfo = UTC) -> tuple[NamedDate, ...]:
    """The dates in a question, in the order in which they stand, each once.

    An ambiguous one ("5/7/2023") gives every reading. With the asker's clock, `now_ms` in epoch
    milliseconds, and `zone`, relative dates that look back ("last week") are read too.
    """
    return cut_dates(text, now_ms, zone)[1]


def without_dates(text: str, now_ms: int | None = None, zone: tzinfo = UTC) -> str:
    """The question without the dates that `named_dates` reads; all else stays as it is."""
    return cut_dates(text, now_ms, zone)[0]


def cut_dates(
    text: str, now_ms: int | None = None, zone: tzinfo = UTC
) -> tuple[str, tuple[NamedDate, ...]]:
    """`without_dates` and `named_dates` at once."""
    today = None if now_ms is None else day_of(now_ms, zone)
    spans = _spans(text[:_MAX_CHARACTERS], today)
    dates = dict.fromkeys(named for span in spans for named in span.dates)
    pieces, end = [], 0
    for span in filter(attrgetter("is_cut"), spans):
        pieces.append(text[end : span.start])
        end = span.end
        before, after = text[max(span.start - 1, 0) : span.start], text[end : end + 1]
        if after == " " and before in ("", " "):
            # One of the two spaces about the date goes with it.
            end += 1
        elif before.strip() and after.strip():
            # What the date kept apart stays apart.
            pieces.append(" ")
    pieces.append(text[end:])
    return "".join(pieces), tuple(dates)[:_MAX_DATES]


def _spans(text: str, today: date | None) -> list[_Span]:
    taken = [_Span(match.start(), match.end(), ()) for match in QUOTED.finditer(text)]
    for span in _candidates(text, today):
        if all(span.end <= other.start or span.start >= other.end for other in taken):
            taken.append(span)
            if len(taken) >= _MAX_SPANS:
                break
    return sorted((span for span in taken if span.dates), key=lambda span: span.start)


def _candidates(text: str, today: date | None) -> Iterator[_Span]:
    lower = text.lower()
    # "Last May" is nearer to what is meant than "May": relative forms come first.
    if today is not None:
        for relative in RELATIVE_FORMS:
            if any(hint in lower for hint in relative.hints):
                for match in relative.pattern.finditer(text):
                    if dates := _read_relative(relative, match, today):
                        yield _Span(match.start(), match.end(), dates)
    for form in FORMS:
        if any(hint in lower for hint in form.hints):
            for match in form.pattern.finditer(text):
                if dates := form.read(match):
                    yield _Span(match.start(), match.end(), dates, form.is_cut)


def _read_relative(
    form: RelativeDateForm, match: re.Match[str], today: date
) -> tuple[NamedDate, ...]:
    try:
        return form.read(match, today)
    except (ValueError, OverflowError):
        # "9999 years ago": outside the calendar.
        return ()
