from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from remanence_server.runtime.instants import (
    LATEST_INSTANT_MS,
    day_of,
    from_datetime,
    render_iso,
    to_datetime,
    to_milliseconds,
)

_BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("sent", "instant_ms"),
    [
        (1_767_225_600, 1_767_225_600_000),
        (1_767_225_600_000, 1_767_225_600_000),
        (946_684_800_000, 946_684_800_000),  # 2000, in milliseconds below 10^12
        (99_999_999_999, 99_999_999_999_000),
        (100_000_000_000, 100_000_000_000),
    ],
)
def test_seconds_are_told_from_milliseconds(sent: int, instant_ms: int) -> None:
    assert to_milliseconds(sent) == instant_ms


@pytest.mark.parametrize(
    ("instant_ms", "zone", "text"),
    [
        (1_779_967_836_000, UTC, "2026-05-28T11:30:36Z"),
        (1_779_967_836_007, UTC, "2026-05-28T11:30:36.007Z"),
        (1_779_967_836_000, _BERLIN, "2026-05-28T13:30:36+02:00"),
        (0, UTC, "1970-01-01T00:00:00Z"),
        # Berlin would be in the year 10000: it is shown in UTC instead of failing.
        (LATEST_INSTANT_MS, _BERLIN, "9999-12-31T23:59:59.999Z"),
    ],
)
def test_instants_are_rendered_in_the_zone(instant_ms: int, zone: ZoneInfo, text: str) -> None:
    assert render_iso(instant_ms, zone) == text
    assert from_datetime(datetime.fromisoformat(text)) == instant_ms


def test_the_day_is_that_of_the_zone() -> None:
    late_evening = from_datetime(datetime(2026, 5, 28, 22, 30, tzinfo=UTC))
    assert day_of(late_evening) == date(2026, 5, 28)
    assert day_of(late_evening, _BERLIN) == date(2026, 5, 29)


def test_instants_before_the_epoch_are_instants() -> None:
    assert to_datetime(-1) == datetime(1969, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC)
