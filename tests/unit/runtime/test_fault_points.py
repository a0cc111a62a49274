"""Fault points: off unless allowed, in one file, and every one of them somewhere in the server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from remanence_server import runtime
from remanence_server.runtime import fault_points
from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.runtime.fault_points import (
    FaultAction,
    FaultPoint,
    arm_from,
    armed_fault,
    hooked,
    is_armed,
    parse_fault,
    reach,
)

_SERVER = Path(runtime.__file__).parents[1]


@pytest.fixture
def disarmed_later(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(fault_points, "_hook", None)
    yield


def test_every_point_is_somewhere_in_the_server() -> None:
    used = set()
    for path in _SERVER.rglob("*.py"):
        if path.name != "fault_points.py":
            used.update(re.findall(r"FaultPoint\.([A-Z_]+)", path.read_text(encoding="utf-8")))
    assert used == {point.name for point in FaultPoint}


def test_without_an_environment_nothing_is_armed_and_nothing_happens(disarmed_later: None) -> None:
    arm_from({})
    arm_from({"REMANENCE_ALLOW_FAULTS": "1", "REMANENCE_FAULT": ""})
    assert armed_fault() is None
    for point in FaultPoint:
        reach(point)


def test_a_fault_that_is_not_allowed_is_refused(disarmed_later: None) -> None:
    for allow in ({}, {"REMANENCE_ALLOW_FAULTS": "yes"}):
        with pytest.raises(ServiceError, match="REMANENCE_ALLOW_FAULTS=1") as refused:
            arm_from({"REMANENCE_FAULT": "boundary:kill", **allow})
        assert refused.value.code is ErrorCode.CONFIGURATION_ERROR
    assert armed_fault() is None


@pytest.mark.parametrize(
    "text",
    [
        "boundary",
        "boundary:",
        "nowhere:kill",
        "boundary:explode",
        "boundary:kill:0",
        "boundary:kill:-1",
        "boundary:kill:many",
        "boundary:tear",
        "markdown_half_appended:kill",
    ],
)
def test_a_fault_that_cannot_happen_is_refused(text: str) -> None:
    with pytest.raises(ServiceError) as refused:
        parse_fault(text)
    assert refused.value.code is ErrorCode.CONFIGURATION_ERROR
    assert text in refused.value.message


def test_an_allowed_fault_is_armed_and_strikes_at_its_point_alone(disarmed_later: None) -> None:
    arm_from({"REMANENCE_ALLOW_FAULTS": "1", "REMANENCE_FAULT": "boundary:error:2"})
    assert armed_fault() == "boundary:error:2"
    assert is_armed(FaultPoint.BOUNDARY)
    assert not is_armed(FaultPoint.CUT_COMMITTED)
    reach(FaultPoint.CUT_COMMITTED)
    for _ in range(2):
        with pytest.raises(RuntimeError):
            reach(FaultPoint.BOUNDARY)
    reach(FaultPoint.BOUNDARY)


@pytest.mark.parametrize(
    ("action", "failure"),
    [
        (FaultAction.FULL, "No space left"),
        (FaultAction.READ_ONLY, "Read-only"),
        (FaultAction.PROVIDER, "provider does not answer"),
    ],
)
def test_a_failure_is_that_of_a_disk_or_of_a_provider(action: FaultAction, failure: str) -> None:
    with (
        hooked(parse_fault(f"boundary:{action}")),
        pytest.raises((OSError, ServiceError), match=failure),
    ):
        reach(FaultPoint.BOUNDARY)
    reach(FaultPoint.BOUNDARY)
