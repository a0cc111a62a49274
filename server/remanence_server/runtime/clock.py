"""Time as a parameter: what reads the clock takes a `Clock`, so that tests can move it."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """A wall clock and a monotonic one."""

    def now_ms(self) -> int:
        """Unix epoch in milliseconds."""
        ...

    def monotonic_seconds(self) -> float:
        """Seconds of a clock that never goes back."""
        ...


class SystemClock:
    """The clock of the machine."""

    def now_ms(self) -> int:
        """Unix epoch in milliseconds."""
        return time.time_ns() // 1_000_000

    def monotonic_seconds(self) -> float:
        """Seconds of a clock that never goes back."""
        return time.monotonic()


class ManualClock:
    """A clock for tests: stands still until it is moved."""

    def __init__(self, now_ms: int = 1_767_225_600_000) -> None:
        self._now_ms = now_ms

    def now_ms(self) -> int:
        """Unix epoch in milliseconds."""
        return self._now_ms

    def monotonic_seconds(self) -> float:
        """Seconds since an arbitrary start."""
        return self._now_ms / 1000

    def advance_ms(self, milliseconds: int) -> None:
        """Moves both clocks forward."""
        self._now_ms += milliseconds
