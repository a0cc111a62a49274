"""Instants from 1970 to 9999 over both surfaces, and a server that shows them in Shanghai."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.blackbox.conftest import T0, eventually, said, tell_story
from tests.blackbox.surfaces import GrpcSurface, HttpSurface, Surface
from tests.support.server_process import ServerProcess, start_server

LATEST = 253_402_300_799_999  # 9999-12-31T23:59:59.999Z
# Letter, what is sent, the day of its file in UTC, and how it is shown there.
STAMPS = [
    ("a", 1_767_225_600, "2026-01-01", "2026-01-01T00:00:00Z"),
    ("b", 1_767_225_600_000, "2026-01-01", "2026-01-01T00:00:00Z"),
    ("c", 946_684_800_000, "2000-01-01", "2000-01-01T00:00:00Z"),
    ("d", 1, "1970-01-01", "1970-01-01T00:00:01Z"),
    ("e", LATEST, "9999-12-31", "9999-12-31T23:59:59.999Z"),
]


def _tell_stamps(surface: Surface, user: str) -> None:
    for letter, at, _, _ in STAMPS:
        session = f"b06{letter}-{user}"
        message = {**said(f"This is stamp {letter} of ola.", user), "timestamp": at}
        body = {"session_id": session, "messages": [message], "defer_extraction": True}
        surface.call("add", body).ok  # noqa: B018
        surface.call("flush", {"session_id": session}).ok  # noqa: B018


def _listed(surface: Surface, user: str, **more: Any) -> list[dict[str, Any]]:
    body = {"user_id": user, "memory_type": "episode", "sort_order": "asc", **more}
    return list(surface.call("get", body).ok["episodes"])


def test_seconds_milliseconds_and_the_ends_of_the_calendar_keep_their_years(
    surface: Surface, tag: str, root: Path
) -> None:
    user = f"ola{tag}"
    _tell_stamps(surface, user)
    letters = {
        re.search(r"stamp (.)", episode["episode"])[1]: episode  # type: ignore[index]
        for episode in eventually(lambda: _listed(surface, user))
    }
    assert [*letters][:2] == ["d", "c"]
    assert {*[*letters][2:4]} == {"a", "b"}
    assert [*letters][4:] == ["e"]
    folder = root / "default_app/default_project/users" / user / "episodes"
    for letter, _, day, shown in STAMPS:
        assert letters[letter]["timestamp"] == shown
        assert f"_ep_{day.replace('-', '')}_" in letters[letter]["id"]
        assert f"stamp {letter}" in (folder / f"episode-{day}.md").read_text()
    later = {"filters": {"timestamp": {"gte": LATEST}}}
    assert len(_listed(surface, user, **later)) == 1
    before = surface.call(
        "add", {"session_id": tag, "messages": [{**said("x", user), "timestamp": -1}]}
    )
    assert before.code == "INVALID_INPUT"


@pytest.fixture(scope="module")
def shanghai(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    root = tmp_path_factory.mktemp("shanghai") / "root"
    server = start_server(
        root, REMANENCE_EMBEDDINGS__PROVIDER="hashing", REMANENCE_MEMORY__TIMEZONE="Asia/Shanghai"
    )
    yield server
    assert server.stop() == 0


def _instants(shown: Any) -> Iterator[str]:
    """Every instant anywhere in an answer, by the names that the contract gives them."""
    if isinstance(shown, dict):
        for key, value in shown.items():
            if (key == "timestamp" or key.endswith("_at")) and isinstance(value, str):
                yield value
            yield from _instants(value)
    elif isinstance(shown, list):
        for item in shown:
            yield from _instants(item)


def test_every_instant_is_shown_in_the_zone(shanghai: ServerProcess, tag: str) -> None:
    http, user = HttpSurface(shanghai.http), f"wen{tag}"
    tell_story(http, user, f"told-{tag}")
    _tell_stamps(http, f"ola{tag}")
    body = {"session_id": f"open-{tag}", "messages": [said("x", user)], "async_mode": True}
    queued = http.call("add", {**body, "defer_extraction": True})
    eventually(lambda: http.task(queued.request_id).ok["status"] == "success")
    look = {"user_id": user, "query": "Yosemite", "filters": {"session_id": f"open-{tag}"}}
    answers = [
        http.call("search", {"user_id": user, "query": "Yosemite"}).ok,
        http.call("search", look).ok,
        http.call("get", {"user_id": user, "memory_type": "episode"}).ok,
        http.task(queued.request_id).ok,
        http.tasks().ok,
        http.client.get("/nope").json(),
        http.client.get("/api/v2/jobs").json(),
        http.client.get("/health").json(),
    ]
    for answer in answers[:7]:
        assert list(_instants(answer)), answer
    for instant in (shown for answer in answers for shown in _instants(answer)):
        assert instant.endswith("+08:00"), instant
        assert datetime.fromisoformat(instant).astimezone(UTC).year >= 2026
    # Of an instant after the last day that the zone can show, UTC is shown.
    shown = {e["timestamp"] for e in http.call("get", {**_all(f"ola{tag}")}).ok["episodes"]}
    assert shown == {
        *("2026-01-01T08:00:00+08:00", "2000-01-01T08:00:00+08:00", "1970-01-01T08:00:01+08:00"),
        "9999-12-31T23:59:59.999Z",
    }


def _all(user: str) -> dict[str, Any]:
    return {"user_id": user, "memory_type": "episode", "page_size": 100}


@pytest.mark.parametrize("kind", ["http", "grpc"])
def test_a_filter_without_an_offset_is_meant_in_the_zone(
    shanghai: ServerProcess, tag: str, kind: str
) -> None:
    surface = HttpSurface(shanghai.http) if kind == "http" else GrpcSurface(shanghai.grpc)
    user = f"wen{tag}"
    tell_story(surface, user, f"told-{tag}")
    # The last message of the story was said at 19:30:45 in Shanghai.
    for text, count in (
        ("2026-05-28T19:30:45", 1),
        ("2026-05-28T19:30:46", 0),
        ("2026-05-28T11:30:45Z", 1),
        ("2026-05-28T11:30:46+00:00", 0),
        ("2026-05-28T13:30:45+02:00", 1),
        ("2026-05-28", 1),
        ("2026-05-29", 0),
        (T0 + 9_000, 1),
        (T0 + 9_001, 0),
    ):
        filters = {"timestamp": {"gte": text}}
        assert len(_listed(surface, user, filters=filters)) == count, text
        ask = {"user_id": user, "query": "Yosemite", "method": "keyword", "filters": filters}
        assert len(surface.call("search", ask).ok["episodes"]) == count, text
    (episode,) = _listed(surface, user)
    moment = datetime.fromisoformat(episode["timestamp"])
    assert moment == datetime(2026, 5, 28, 11, 30, 45, tzinfo=UTC)
    assert "_ep_20260528_" in episode["id"]


def test_files_are_of_the_day_in_the_zone(shanghai: ServerProcess, tag: str) -> None:
    http, user = HttpSurface(shanghai.http), f"late{tag}"
    message = said("Past midnight in Shanghai.", user, 5 * 3600 * 1000)
    body = {"session_id": tag, "messages": [message], "defer_extraction": True}
    http.call("add", body)
    http.call("flush", {"session_id": tag})
    folder = shanghai.root / "default_app/default_project/users" / user / "episodes"
    assert [path.name for path in folder.iterdir()] == ["episode-2026-05-29.md"]
