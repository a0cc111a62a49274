"""The work behind add and flush, seen and steered, on a server that cannot take everything."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.markdown.paths import MemoryPaths
from tests.blackbox.conftest import eventually, said
from tests.blackbox.surfaces import Answer, GrpcSurface, HttpSurface, Surface
from tests.support.poisoned_server import MODULE
from tests.support.server_process import ServerProcess, start_server

_ATTEMPTS = 2
_BLASTED = "blasted"


def _tell(surface: Surface, user: str, text: str = "I love climbing.", **scope: str) -> None:
    """One cell of the session that has the user's name; returns when its episode is on disk."""
    session = {"session_id": user, **scope}
    added = surface.call(
        "add", {**session, "messages": [said(text, user)], "defer_extraction": True}
    )
    assert added.ok
    assert surface.call("flush", {**session, "wait": False}).ok


def _list(surface: Surface, **query: Any) -> list[Mapping[str, Any]]:
    items: list[Mapping[str, Any]] = surface.jobs(**query).ok["items"]
    return items


def _the_job(surface: Surface, **query: Any) -> Mapping[str, Any]:
    """The only job that matches, as soon as there is one."""
    found = eventually(lambda: _list(surface, **query))
    assert len(found) == 1
    return found[0]


def _act(surface: Surface, action: str, job: Mapping[str, Any], **scope: str) -> Answer:
    return surface.job(action, int(job["id"]), **scope)


def _status(answer: Answer) -> str:
    return str(answer.ok["job"]["status"]).removeprefix("JOB_STATUS_").lower()


def _episodes(surface: Surface, user: str) -> int:
    return len(surface.call("get", {"memory_type": "episode", "user_id": user}).ok["episodes"])


def _succeeds(surface: Surface, job: Mapping[str, Any]) -> Mapping[str, Any]:
    eventually(lambda: _status(_act(surface, "get", job)) == "succeeded")
    done: Mapping[str, Any] = _act(surface, "get", job).ok["job"]
    return done


@pytest.fixture(scope="module")
def antidotes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("antidotes")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, antidotes: Path) -> Iterator[ServerProcess]:
    """A server that has been killed by one job, as often as it may."""
    root = tmp_path_factory.mktemp("jobs") / "root"

    def start() -> ServerProcess:
        return start_server(
            root,
            MODULE,
            REMANENCE_EMBEDDINGS__PROVIDER="hashing",
            REMANENCE_JOBS__MAXIMUM_ATTEMPTS=str(_ATTEMPTS),
            REMANENCE_JOBS__RETRY_BACKOFF_SECONDS="0.05",
            ANTIDOTES=str(antidotes),
        )

    first = start()
    with contextlib.suppress(httpx.TransportError):
        _tell(HttpSurface(first.http), _BLASTED, "He sold me dynamite .")
    assert first.process.wait(30) < 0
    first.stop()
    for _ in range(_ATTEMPTS - 1):
        # It may die before it says that it is ready.
        with contextlib.suppress(RuntimeError):
            blasted = start()
            blasted.process.wait(30)
            blasted.stop()
    started = start()
    yield started
    assert started.stop() == 0


@pytest.fixture(scope="module")
def http(server: ServerProcess) -> HttpSurface:
    return HttpSurface(server.http)


@pytest.fixture(scope="module")
def grpc_surface(server: ServerProcess) -> GrpcSurface:
    return GrpcSurface(server.grpc)


def test_a_job_that_killed_the_server_too_often_is_a_dead_letter_and_the_rest_goes_on(
    surface: Surface, grpc_surface: GrpcSurface
) -> None:
    job = _the_job(surface, session_id=_BLASTED, status="dead_letter")
    assert (job["stage"], job["attempts"], job["maximum_attempts"]) == ("facts", 2, 2)
    assert (job["error_code"], job["error"]) == ("CRASHED", "the server stopped meanwhile")
    assert (job["session_id"], job["user_id"], job.get("agent_id")) == (_BLASTED, _BLASTED, None)
    assert job["finished_at"] >= job["created_at"]
    assert _act(surface, "get", job).ok["job"] == job
    health = grpc_surface.health()
    assert health.jobs.dead_letters >= 1
    assert "jobs were given up" in " ".join(health.reasons)
    eventually(lambda: _episodes(surface, _BLASTED) == 1)


def test_a_dead_letter_succeeds_when_it_is_retried_after_the_repair(
    surface: Surface, antidotes: Path, tag: str
) -> None:
    _tell(surface, tag, "There was poison in it.")
    job = _the_job(surface, session_id=tag, status="dead_letter")
    assert (job["stage"], job["attempts"], job["error_code"]) == ("facts", 2, "RuntimeError")
    # What comes after it in its session does not wait for it.
    _tell(surface, tag, "My favourite crag is Ettringen.")
    eventually(lambda: surface.jobs(session_id=tag, status="succeeded").ok["total"] == 5)
    assert _status(_act(surface, "get", job)) == "dead_letter"
    (antidotes / tag).touch()
    retried = _act(surface, "retry", job)
    assert _status(retried) == "queued"
    assert (retried.ok["job"]["attempts"], retried.ok["job"].get("error")) == (0, None)
    done = _succeeds(surface, job)
    assert (done["attempts"], done.get("error"), done.get("next_attempt_at")) == (1, None, None)
    again = _act(surface, "retry", job)
    assert (again.code, again.status) in (("CONFLICT", 409), ("CONFLICT", "ALREADY_EXISTS"))
    assert again.error == f"job {job['id']} is succeeded and cannot be retried"


def test_a_dead_letter_that_is_dropped_is_gone_for_good(surface: Surface, tag: str) -> None:
    _tell(surface, tag, "There was poison in it.")
    job = _the_job(surface, session_id=tag, status="dead_letter")
    for _ in range(2):
        assert _status(_act(surface, "drop", job)) == "cancelled"
    retried = _act(surface, "retry", job)
    assert retried.error == f"job {job['id']} is cancelled and cannot be retried"
    assert _list(surface, session_id=tag, status="dead_letter") == []
    assert _the_job(surface, session_id=tag, status="cancelled")["id"] == job["id"]
    # What the cell led to before stays.
    eventually(lambda: _episodes(surface, tag) == 1)


def test_a_running_job_that_is_dropped_does_not_count_when_it_ends(
    surface: Surface, antidotes: Path, tag: str
) -> None:
    _tell(surface, tag, "Everything was full of treacle .")
    job = _the_job(surface, session_id=tag, status="running", stage="facts")
    assert _status(_act(surface, "retry", job)) == "running"
    assert _status(_act(surface, "drop", job)) == "cancelled"
    (antidotes / tag).touch()
    # The next of its serial key did not have to wait.
    _tell(surface, tag, "My favourite crag is Ettringen.")
    eventually(lambda: surface.jobs(session_id=tag, status="succeeded").ok["total"] == 5)
    assert _status(_act(surface, "get", job)) == "cancelled"


def test_a_finished_job_is_not_dropped(surface: Surface, tag: str) -> None:
    _tell(surface, tag)
    job = _the_job(surface, session_id=tag, stage="episode")
    refused = _act(surface, "drop", job)
    assert (refused.code, refused.error) == (
        "CONFLICT",
        f"job {job['id']} is succeeded and cannot be dropped",
    )


def test_a_job_of_another_scope_is_not_found(surface: Surface, tag: str) -> None:
    _tell(surface, tag, app_id=tag)
    assert _list(surface, session_id=tag) == []
    job = _the_job(surface, session_id=tag, stage="episode", app_id=tag)
    assert (job["app_id"], job["project_id"]) == (tag, "default")
    for action in ("get", "retry", "drop"):
        for scope in ({}, {"app_id": tag, "project_id": "other"}):
            refused = _act(surface, action, job, **scope)
            assert (refused.code, refused.error) == ("NOT_FOUND", f"job {job['id']} not found")
    assert _status(_act(surface, "get", job, app_id=tag)) == "succeeded"


def test_a_profile_that_a_person_broke_holds_up_its_job_only_until_it_is_mended(
    surface: Surface, server: ServerProcess, tag: str
) -> None:
    page = MemoryPaths(server.root).profile(Owner(Scope(), Track.USER, tag)).path
    page.parent.mkdir(parents=True)
    page.write_text("---\nkind: [profile\n---\n", encoding="utf-8")
    _tell(surface, tag)
    job = _the_job(surface, session_id=tag, status="waiting_retry")
    assert (job["stage"], job["error_code"]) == ("profile", "CONFLICT")
    assert job["error"] == "the profile was edited and cannot be read"
    assert job["next_attempt_at"] > job["created_at"]
    # Nothing else waits for it, however often it is tried.
    _tell(surface, tag, "My favourite crag is Ettringen.")
    eventually(lambda: surface.jobs(session_id=tag, status="succeeded").ok["total"] == 4)
    page.unlink()
    done = _succeeds(surface, job)
    assert done["attempts"] == 1
    eventually(lambda: surface.jobs(session_id=tag, status="succeeded").ok["total"] == 6)


def test_jobs_are_listed_page_by_page_newest_first(surface: Surface, tag: str) -> None:
    for _ in range(2):
        _tell(surface, tag)
    eventually(lambda: surface.jobs(session_id=tag, status="succeeded").ok["total"] == 6)
    pages = [surface.jobs(session_id=tag, page=page, page_size=4).ok for page in (1, 2, 3)]
    assert [(page["total"], page["page"], page["page_size"]) for page in pages] == [
        (6, number, 4) for number in (1, 2, 3)
    ]
    ids = [int(job["id"]) for page in pages for job in page["items"]]
    assert ids == sorted(ids, reverse=True)
    assert len(ids) == 6
    stages = sorted(job["stage"] for job in _list(surface, session_id=tag))
    assert stages == ["episode", "episode", "facts", "facts", "profile", "profile"]


@pytest.mark.parametrize("query", [{"page": 0}, {"page_size": 101}])
def test_a_page_that_cannot_be_is_refused(surface: Surface, query: dict[str, int]) -> None:
    refused = surface.jobs(**query)
    assert refused.code == "INVALID_INPUT"
    assert next(iter(query)) in (refused.error or "")


def test_jobs_say_nothing_of_what_was_said(
    surface: Surface, server: ServerProcess, tag: str
) -> None:
    _tell(surface, tag, "The poison is in bottle 4711.")
    _the_job(surface, session_id=tag, status="dead_letter")
    assert "4711" not in json.dumps(_list(surface, session_id=tag))
    assert "4711" not in server.log


def test_the_command_line_lists_shows_retries_and_drops(
    server: ServerProcess, http: HttpSurface, tag: str
) -> None:
    def run(*arguments: str) -> Any:
        command = [sys.executable, "-m", "remanence_server.cli.main", "jobs", *arguments]
        command += ["--root", str(server.root), "--app", tag, "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        return json.loads(done.stdout)

    _tell(http, tag, "There was poison in it.", app_id=tag)
    eventually(lambda: http.jobs(app_id=tag, status="dead_letter").ok["total"] == 1)
    listed = run("list", "--stage", "facts", "--session", tag)
    assert listed == http.jobs(app_id=tag, stage="facts").ok
    (dead,) = listed["items"]
    assert run("show", str(dead["id"])) == dead
    (retried,) = run("retry", "--all", "--yes")
    assert (retried["id"], retried["attempts"]) == (dead["id"], 0)
    eventually(lambda: http.jobs(app_id=tag, status="dead_letter").ok["total"] == 1)
    (dropped,) = run("drop", str(dead["id"]), "--yes")
    assert dropped["status"] == "cancelled"
    assert run("retry", "--all") == []
