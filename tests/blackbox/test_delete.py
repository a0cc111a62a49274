"""Delete means gone, everywhere and for good, and says what it means by it."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from remanence_server.runtime.fault_points import ALLOW_VARIABLE, FAULT_VARIABLE
from tests.blackbox.conftest import eventually, said, tell_story
from tests.blackbox.surfaces import GrpcSurface, HttpSurface, Surface
from tests.support.server_process import ServerProcess, start_server

PIN = "My PIN is 9931"
METHODS = ("keyword", "vector", "hybrid", "agentic")
HASHING = {"REMANENCE_EMBEDDINGS__PROVIDER": "hashing"}


def remember(surface: Surface, session: str, *messages: Mapping[str, Any], **scope: str) -> None:
    added = surface.call(
        "add",
        {"session_id": session, "defer_extraction": True, "messages": list(messages), **scope},
    )
    assert added.error is None
    assert surface.call("flush", {"session_id": session, **scope}).error is None


def listed(surface: Surface, user: str, **more: Any) -> list[dict[str, Any]]:
    body = {"user_id": user, "memory_type": "episode", "page_size": 100, **more}
    return list(surface.call("get", body).ok["episodes"])


def profile(surface: Surface, user: str) -> dict[str, Any]:
    profiles = surface.call("get", {"user_id": user, "memory_type": "profile"}).ok["profiles"]
    return dict(profiles[0]["profile_data"]) if profiles else {}


def found(surface: Surface, user: str, query: str) -> str:
    """Everything that any method answers, as text."""
    answers = [
        surface.call(
            "search",
            {"user_id": user, "query": query, "method": method, "include_profile": True},
        ).ok
        for method in METHODS
    ]
    return json.dumps(answers, default=str)


def delete(surface: Surface, **body: Any) -> dict[str, int]:
    """The counts that are not zero."""
    answer = surface.call("delete", body).ok
    counts = {key: count for key, count in answer.items() if key != "request_id"}
    assert set(counts) == {
        "deleted", "episodes", "atomic_facts", "agent_cases", "agent_skills", "profile_items",
        "messages",
    }  # fmt: skip
    assert counts.pop("deleted") == sum(counts.values())
    return {key: count for key, count in counts.items() if count}


def traces(root: Path, text: str) -> list[str]:
    """Files under the root that hold a text, whatever they are."""
    return [
        str(path.relative_to(root))
        for path in root.rglob("*")
        if path.is_file() and text.encode() in path.read_bytes()
    ]


def has_no_trace(root: Path, text: str) -> bool:
    """Whether the last traces go in time; what remains is told."""
    deadline = time.monotonic() + 20
    while left := traces(root, text):
        assert time.monotonic() < deadline, left
        time.sleep(0.1)
    return True


def settled(surface: Surface, user: str, episodes: int) -> None:
    """Facts and profile have followed the episodes."""

    def is_settled() -> bool:
        jobs = surface.jobs(page_size=100).ok["items"]
        return len(listed(surface, user)) == episodes and all(
            "succeeded" in job["status"].lower() or "cancelled" in job["status"].lower()
            for job in jobs
        )

    eventually(is_settled)


def test_a_deleted_session_is_gone_everywhere_for_ever_and_its_name_is_free(
    surface: Surface, root: Path, tag: str
) -> None:
    bo, pin = f"bo-{tag}", f"9931{tag}"
    remember(surface, f"b12a-{tag}", said(f"My PIN is {pin}", bo), said("I live in Oslo.", bo, 1))
    remember(surface, f"b12b-{tag}", said("I like plums.", bo, 1000))
    settled(surface, bo, 2)
    assert pin in found(surface, bo, "PIN")
    assert "Oslo" in json.dumps(profile(surface, bo))

    gone = delete(surface, user_id=bo, session_id=f"b12a-{tag}")

    assert gone["episodes"] == 1
    assert gone["profile_items"] >= 1
    assert gone["atomic_facts"] >= 1
    assert pin not in found(surface, bo, "PIN")
    assert "Oslo" not in found(surface, bo, "Where do I live?")
    assert [episode["session_id"] for episode in listed(surface, bo)] == [f"b12b-{tag}"]
    left = json.dumps(profile(surface, bo))
    assert "plums" in left
    assert "Oslo" not in left
    assert has_no_trace(root, pin)
    assert delete(surface, user_id=bo, session_id=f"b12a-{tag}") == {}

    remember(surface, f"b12a-{tag}", said("My PIN changed, said Bo.", bo, 2000))

    assert len(listed(surface, bo)) == 2
    assert "PIN changed" in found(surface, bo, "PIN")


def test_what_does_not_exist_is_deleted_zero_times(surface: Surface, tag: str) -> None:
    assert delete(surface, user_id=f"nobody-{tag}", ids=["nobody_ep_20260528_00000001"]) == {}
    assert delete(surface, user_id=f"nobody-{tag}", session_id="none") == {}
    assert delete(surface, session_id=f"none-{tag}") == {}
    assert delete(surface, user_id=f"nobody-{tag}", everything=True) == {}
    assert delete(surface, agent_id=f"nobody-{tag}", filters={}) == {}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"ids": []},
        {"session_id": "s", "everything": True},
        {"ids": ["x"], "filters": {}},
        {"everything": False},
    ],
)
def test_it_must_be_said_what_to_delete(surface: Surface, body: dict[str, Any]) -> None:
    answer = surface.call("delete", {"user_id": "bo", **body})

    assert answer.code == "INVALID_INPUT"
    assert answer.error is not None
    assert "exactly one of ids, session_id, filters, everything" in answer.error


@pytest.mark.parametrize("body", [{"everything": True}, {"ids": ["x"]}, {"filters": {}}])
def test_an_owner_is_needed_for_anything_but_a_session(
    surface: Surface, body: dict[str, Any]
) -> None:
    answer = surface.call("delete", body)

    assert answer.code == "INVALID_INPUT"
    assert "exactly one of user_id / agent_id must be provided" in (answer.error or "")


FILTERS: list[tuple[dict[str, Any], set[str] | None]] = [
    ({}, {"s'1", 's"2', "s3"}),
    ({"AND": []}, {"s'1", 's"2', "s3"}),
    ({"OR": []}, set()),
    ({"session_id": "s'1"}, {"s'1"}),
    ({"session_id": {"in": []}}, set()),
    ({"session_id": {"in": ["s'1", "s'1"]}}, {"s'1"}),
    ({"sesion_id": "s3"}, None),
    ({"timestamp": {"like": "2026%"}}, None),
    ({"timestamp": "abc"}, None),
    ({"owner_id": "gil"}, None),
    ({"session_id": {"ne": "s3"}}, {"s'1", 's"2'}),
    ({"session_id": "s3) OR (1=1"}, set()),
]


@pytest.mark.parametrize(("filters", "sessions"), FILTERS)
def test_a_filter_deletes_what_it_finds(
    http: HttpSurface, tag: str, filters: dict[str, Any], sessions: set[str] | None
) -> None:
    gil = f"gil-{tag}"
    for session in ("s'1", 's"2', "s3"):
        remember(http, session, said("I collect stamps.", gil), project_id=tag)
    where = {"user_id": gil, "project_id": tag}
    body = {**where, "filters": filters}
    looked_up = http.call("get", {"memory_type": "episode", **body})

    answer = http.call("delete", body)

    if sessions is None:
        assert (answer.status, answer.code) == (422, "INVALID_INPUT")
        assert (answer.status, answer.error) == (looked_up.status, looked_up.error)
        assert len(listed(http, gil, project_id=tag)) == 3
        return
    assert {episode["session_id"] for episode in looked_up.ok["episodes"]} == sessions
    assert answer.ok["episodes"] == len(sessions)
    left = {episode["session_id"] for episode in listed(http, gil, project_id=tag)}
    assert left == {"s'1", 's"2', "s3"} - sessions


def test_ids_of_search_are_what_delete_takes_and_a_fact_goes_alone(
    surface: Surface, tag: str
) -> None:
    user = f"alice-{tag}"
    tell_story(surface, user, f"s-{tag}")
    settled(surface, user, 1)

    def search() -> Mapping[str, Any]:
        body = {"user_id": user, "query": "coffee shop Blue Bottle", "method": "hybrid"}
        return surface.call("search", body).ok

    episode = search()["episodes"][0]
    fact = episode["atomic_facts"][0]

    assert delete(surface, user_id=f"other-{tag}", ids=[episode["id"], fact["id"]]) == {}
    assert delete(surface, agent_id=user, ids=[episode["id"]]) == {}
    assert delete(surface, user_id=user, ids=[fact["id"], fact["id"]]) == {"atomic_facts": 1}
    shown = search()["episodes"][0]
    assert fact["id"] not in [each["id"] for each in shown["atomic_facts"]]
    gone = delete(surface, user_id=user, ids=[episode["id"], "unknown"])
    assert gone["episodes"] == 1
    assert search()["episodes"] == []
    assert profile(surface, user) == {}


def test_what_another_remembers_of_a_session_is_theirs(
    surface: Surface, root: Path, tag: str
) -> None:
    bo, amy, session = f"bo-{tag}", f"amy-{tag}", f"group-{tag}"
    remember(
        surface,
        session,
        said(f"My PIN is 9931{tag}", bo),
        said(f"Mine is 4711{tag}", amy, 1000),
    )
    settled(surface, bo, 1)
    waiting = surface.call(
        "add",
        {
            "session_id": session,
            "defer_extraction": True,
            "messages": [said("I am Bo.", bo, 2000), said("I am Amy.", amy, 3000)],
        },
    )
    assert waiting.error is None

    gone = delete(surface, user_id=bo, session_id=session)

    assert (gone["episodes"], gone["messages"]) == (1, 1)
    assert listed(surface, bo) == []
    assert len(listed(surface, amy)) == 1
    assert surface.call("flush", {"session_id": session}).error is None
    settled(surface, amy, 2)
    assert listed(surface, bo) == []

    whole = delete(surface, session_id=session)

    assert whole["episodes"] == 2
    assert listed(surface, amy) == []
    assert has_no_trace(root, f"9931{tag}")
    assert has_no_trace(root, f"4711{tag}")


def test_everything_of_an_owner_leaves_no_file_and_nothing_of_others(
    surface: Surface, root: Path, tag: str
) -> None:
    name = f"kim-{tag}"
    remember(surface, f"s-{tag}", said(f"My PIN is 9931{tag}", name))
    remember(surface, f"t-{tag}", said("I like tea.", f"lee-{tag}"))
    waiting = surface.call(
        "add",
        {
            "session_id": f"u-{tag}",
            "defer_extraction": True,
            "messages": [said(f"It is still 9931{tag}", name)],
        },
    )
    assert waiting.error is None
    settled(surface, name, 1)
    folder = root / "default_app/default_project/users" / name
    first_id = listed(surface, name)[0]["id"]
    (folder / "mine.txt").write_text(f"9931{tag}")
    (folder / "episodes/episode-2020-01-01.md").write_text(f"broken 9931{tag}")

    gone = delete(surface, user_id=name, everything=True)

    assert (gone["episodes"], gone["messages"]) == (1, 1)
    assert not folder.exists()
    assert has_no_trace(root, f"9931{tag}")
    assert len(listed(surface, f"lee-{tag}")) == 1
    remember(surface, f"s-{tag}", said("I am new here.", name))
    assert listed(surface, name)[0]["id"] != first_id


def test_messages_that_wait_go_with_their_session(surface: Surface, root: Path, tag: str) -> None:
    session = f"s-{tag}"
    body = {
        "session_id": session,
        "defer_extraction": True,
        "messages": [
            said(f"My PIN is 9931{tag}", f"bo-{tag}", message_id="m1"),
            said(f"Noted: 9931{tag}", "helper", 1, "assistant"),
        ],
    }
    assert surface.call("add", body).error is None

    assert delete(surface, user_id=f"other-{tag}", session_id=session) == {}
    assert delete(surface, user_id=f"bo-{tag}", session_id=session) == {"messages": 2}

    assert has_no_trace(root, f"9931{tag}")
    again = surface.call("add", body).ok
    assert "known_count" not in again
    assert delete(surface, session_id=session) == {"messages": 2}


def test_queued_requests_of_a_deleted_session_are_cancelled(
    surface: Surface, root: Path, tag: str
) -> None:
    session = f"s-{tag}"
    tasks = [
        surface.call(
            "add",
            {
                "session_id": session,
                "async_mode": True,
                "messages": [said(f"My PIN is 9931{tag} {number}", f"bo-{tag}", number)],
            },
        ).request_id
        for number in range(5)
    ]

    delete(surface, session_id=session)

    def finished() -> bool:
        states = [surface.task(task).ok for task in tasks]
        return all("QUEUED" not in s["status"].upper() and "PROCESS" not in s["status"].upper()
                   for s in states)  # fmt: skip

    eventually(finished)
    assert has_no_trace(root, f"9931{tag}")
    assert listed(surface, f"bo-{tag}") == []


def _remembering(root: Path, **environment: str) -> tuple[ServerProcess, HttpSurface]:
    server = start_server(root, **HASHING, **environment)
    return server, HttpSurface(server.http)


def test_a_restart_and_a_new_index_bring_nothing_back(tmp_path: Path) -> None:
    root = tmp_path / "root"
    server, surface = _remembering(root)
    try:
        remember(surface, "b12a", said(PIN, "bo"))
        remember(surface, "b12b", said("I like plums.", "bo", 1000))
        settled(surface, "bo", 2)
        assert traces(root, "9931")
        assert delete(surface, user_id="bo", session_id="b12a")["episodes"] == 1
        assert has_no_trace(root, "9931")
    finally:
        server.stop()
    assert traces(root, "9931") == []
    for step in ("restart", "new index"):
        if step == "new index":
            shutil.rmtree(root / ".index")
        server, surface = _remembering(root)
        try:
            settled(surface, "bo", 1)
            assert "9931" not in found(surface, "bo", "PIN")
            assert delete(surface, user_id="bo", session_id="b12a") == {}
        finally:
            server.stop()
        assert traces(root, "9931") == [], step


@pytest.mark.parametrize(
    "point", ["delete_recorded", "delete_markdown_removed", "delete_index_removed"]
)
def test_a_deletion_that_a_kill_cut_short_is_finished_at_the_next_start(
    tmp_path: Path, point: str
) -> None:
    root = tmp_path / "root"
    server, surface = _remembering(root, **{ALLOW_VARIABLE: "1", FAULT_VARIABLE: f"{point}:kill"})
    remember(surface, "b12a", said(PIN, "bo"))
    remember(surface, "b12b", said("I like plums.", "bo", 1000))
    settled(surface, "bo", 2)
    with pytest.raises(Exception, match=r"."):
        surface.call("delete", {"user_id": "bo", "session_id": "b12a"})
    assert server.stop() == -9
    server, surface = _remembering(root)
    try:
        eventually(lambda: [each["session_id"] for each in listed(surface, "bo")] == ["b12b"])
        assert has_no_trace(root, "9931")
        assert "9931" not in found(surface, "bo", "PIN")
        assert "plums" in json.dumps(profile(surface, "bo"))
        assert surface.client.get("/health").json()["reasons"] == []
    finally:
        assert server.stop() == 0


def test_user_and_agent_of_one_name_are_deleted_apart(
    http: HttpSurface, grpc_surface: GrpcSurface, tag: str
) -> None:
    name = f"sam-{tag}"
    remember(http, f"s-{tag}", said("I like tea.", name))

    assert delete(grpc_surface, agent_id=name, everything=True) == {}
    assert delete(grpc_surface, agent_id=name, session_id=f"s-{tag}") == {}

    assert len(listed(http, name)) == 1
