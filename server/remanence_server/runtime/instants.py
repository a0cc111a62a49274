"""Instants are UTC epoch milliseconds inside; zones appear only where a person or client reads."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, tzinfo

# Integers below this are seconds: as milliseconds they would lie in the first weeks of 1973, as
# seconds they reach the year 5138. (10^12, the reference's threshold, misreads dates before 2001.)
SECONDS_THRESHOLD = 100_000_000_000
# 9999-12-31T23:59:59.999Z, the last instant the calendar of Python can show.
LATEST_INSTANT_MS = 253_402_300_799_999

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def to_milliseconds(value: int) -> int:
    """Reads a client's epoch, in milliseconds or (below 10^11) in seconds, as milliseconds."""
    return value * 1000 if abs(value) < SECONDS_THRESHOLD else value


def to_datetime(instant_ms: int, zone: tzinfo = UTC) -> datetime:
    """The instant in a zone; in UTC near the ends of the calendar, where a zone overflows."""
    moment = _EPOCH + timedelta(milliseconds=instant_ms)
    try:
        return moment.astimezone(zone)
    except OverflowError:
        return moment


def from_datetime(moment: datetime) -> int:
    """Epoch milliseconds of an aware datetime."""
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def day_of(instant_ms: int, zone: tzinfo = UTC) -> date:
    """The calendar day of an instant in a zone: the day of a Markdown file."""
    return to_datetime(instant_ms, zone).date()


def render_iso(instant_ms: int, zone: tzinfo = UTC) -> str:
    """ISO-8601 text with offset; UTC renders as `Z`, fractions only where they are not zero."""
    moment = to_datetime(instant_ms, zone)
    text = moment.isoformat(timespec="milliseconds" if moment.microsecond else "seconds")
    return text.removesuffix("+00:00") + "Z" if text.endswith("+00:00") else text
