"""Kill at every step: nothing that was accepted is lost, and nothing is there twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from remanence_server.runtime.fault_points import FaultPoint
from tests.crash.rounds import Crashes, plan

# Each part kills one root at a share of the points, so that the parts can run in parallel.
_PARTS = 4

pytestmark = [pytest.mark.crash, pytest.mark.slow]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("part", range(_PARTS))
def test_what_was_accepted_outlives_a_kill_at_every_step(tmp_path: Path, part: int) -> None:
    crashes = Crashes(tmp_path / "root")
    for number, point in enumerate(list(FaultPoint)[part::_PARTS]):
        # Any of the first three arrivals, never a hang: that is for `make crash`.
        crashes.kill_at(*plan(point, number % 3))
    crashes.finish()
    assert crashes.ledger.acknowledged
