"""The table of the contract: what a client of the API may rely on, each row on both surfaces."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.blackbox.conftest import said
from tests.blackbox.surfaces import Answer, Surface

Run = Callable[[Surface, str], None]


@dataclass(frozen=True, slots=True)
class Case:
    """One statement about the API; `run` gets a surface and a tag that nobody else uses."""

    name: str
    run: Run


CASES: list[Case] = []

# The status of an error code over HTTP and over gRPC.
STATUSES: dict[str, tuple[int, str]] = {
    "INVALID_INPUT": (422, "INVALID_ARGUMENT"),
    "UNSUPPORTED_FORMAT": (415, "INVALID_ARGUMENT"),
    "NOT_FOUND": (404, "NOT_FOUND"),
    "CONFLICT": (409, "ALREADY_EXISTS"),
    "PAYLOAD_TOO_LARGE": (413, "RESOURCE_EXHAUSTED"),
    "QUEUE_SATURATED": (429, "RESOURCE_EXHAUSTED"),
    "CAPABILITY_UNAVAILABLE": (503, "FAILED_PRECONDITION"),
}


def case(name: str) -> Callable[[Run], Run]:
    """Makes a function a row."""

    def take(run: Run) -> Run:
        CASES.append(Case(name, run))
        return run

    return take


def is_refused(surface: Surface, answer: Answer, code: str, *texts: str) -> None:
    """Code and status fit together, and the message says what it should."""
    assert answer.code == code, answer
    assert answer.status == STATUSES[code][surface.name == "grpc"], answer
    assert answer.error
    assert len(answer.request_id) == 32
    for text in texts:
        assert text in answer.error, answer.error


def is_said(answer: Answer, text: str) -> None:
    """The whole message, as the reference words it."""
    assert answer.error == text


def short(value: Any) -> str:
    """`ADD_STATUS_QUEUED` and `queued` are the same."""
    return str(value).rpartition("_STATUS_")[2].rpartition("ROLE_")[2].lower()


ADD: dict[str, Any] = {
    "session_id": "refused",
    "messages": [said("hello", "u")],
    "defer_extraction": True,
}
FLUSH: dict[str, Any] = {"session_id": "refused"}
SEARCH: dict[str, Any] = {"user_id": "u", "query": "x", "method": "keyword"}
GET: dict[str, Any] = {"user_id": "u", "memory_type": "episode"}
_BASES = {"add": ADD, "flush": FLUSH, "search": SEARCH, "get": GET}


def message(**changes: Any) -> dict[str, Any]:
    """An add of one message with something changed."""
    return {"messages": [{**said("hello", "u"), **changes}]}


def refused(
    name: str, method: str, changes: dict[str, Any], *texts: str, code: str = "INVALID_INPUT"
) -> None:
    """A row: the good request with these changes is refused, and the message has these texts."""

    def run(surface: Surface, tag: str) -> None:
        body = {**copy.deepcopy(_BASES[method]), **changes}
        is_refused(surface, surface.call(method, body), code, *texts)

    CASES.append(Case(f"{method} refuses {name}", run))
