"""Rows about what is accepted, kept, found and shown."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.blackbox.conftest import T0, eventually, said, tell_story
from tests.blackbox.contract.table import case, is_refused, short
from tests.blackbox.surfaces import Surface

SEARCH_KEYS = {"episodes", "profiles", "agent_cases", "agent_skills", "unprocessed_messages"}
GET_KEYS = (SEARCH_KEYS - {"unprocessed_messages"}) | {"total_count", "count"}
EPISODE_KEYS = {
    *("id", "user_id", "app_id", "project_id", "session_id", "timestamp", "sender_ids"),
    *("summary", "subject", "episode", "type"),
}
MESSAGE_KEYS = {
    *("id", "app_id", "project_id", "session_id", "sender_id", "sender_name", "role"),
    *("content", "timestamp", "tool_calls", "tool_call_id"),
}


# Users and sessions, by their surface.
_told: dict[int, tuple[str, str]] = {}


def _story(surface: Surface) -> tuple[str, str]:
    """A user and the session in which they told something, once for each surface."""
    if id(surface) not in _told:
        user, session = f"teller-{id(surface)}", f"told-{id(surface)}"
        tell_story(surface, user, session)
        _told[id(surface)] = user, session
    return _told[id(surface)]


def _ask(surface: Surface, **body: Any) -> dict[str, Any]:
    return dict(surface.call("search", {"query": "climbing Yosemite", **body}).ok)


def _listed(surface: Surface, **body: Any) -> dict[str, Any]:
    return dict(surface.call("get", {"memory_type": "episode", **body}).ok)


def _open(surface: Surface, session: str, **body: Any) -> list[dict[str, Any]]:
    ask = {"user_id": "nobody", "method": "keyword", "filters": {"session_id": session}, **body}
    return list(_ask(surface, **ask)["unprocessed_messages"])


def _keys(surface: Surface, shown: dict[str, Any], expected: set[str]) -> None:
    """JSON has every key; typed messages leave out what is absent."""
    assert set(shown) == expected if surface.name == "http" else set(shown) <= expected, shown


@case("an answer carries a request id, a success as well as a refusal")
def _(surface: Surface, tag: str) -> None:
    good = surface.call("flush", {"session_id": f"none-{tag}"})
    bad = surface.call("flush", {})
    for answer in (good, bad):
        assert re.fullmatch(r"[0-9a-f]{32}", answer.request_id)
    assert good.request_id != bad.request_id


@case("a deferred add of 500 messages is accumulated, and its count is theirs")
def _(surface: Surface, tag: str) -> None:
    messages = [said("x", "u", n) for n in range(500)]
    body = {"session_id": f"many-{tag}", "messages": messages, "defer_extraction": True}
    answer = surface.call("add", body).ok
    assert (answer["message_count"], short(answer["status"])) == (500, "accumulated")


@case("seconds are instants, and so are milliseconds before 2001")
def _(surface: Surface, tag: str) -> None:
    session = f"epoch-{tag}"
    for at in (T0 // 1000, T0, 946_684_800_000):
        body = {"session_id": session, "messages": [{**said("x", "u"), "timestamp": at}]}
        surface.call("add", {**body, "defer_extraction": True})
    assert [m["timestamp"] for m in _open(surface, session)] == [
        *("2026-05-28T11:30:36Z", "2026-05-28T11:30:36Z", "2000-01-01T00:00:00Z"),
    ]


@case("open messages come back in order and in full for their session")
def _(surface: Surface, tag: str) -> None:
    session, call = f"open-{tag}", {"id": "c", "function": {"name": "grep", "arguments": "{}"}}
    parts = [{"type": "text", "text": "two parts"}, {"type": "text", "text": "second"}]
    messages = [
        said("one", "al", sender_name="Al"),
        said(parts, "al", 1),
        said("", "bot", 2, "assistant", tool_calls=[call]),
        said("out", "grep", 3, "tool", tool_call_id="c"),
    ]
    body = {"session_id": session, "messages": messages, "defer_extraction": True}
    surface.call("add", body)
    found = _open(surface, session)
    assert [short(m["role"]) for m in found] == ["user", "user", "assistant", "tool"]
    if surface.name == "http":
        _keys(surface, found[0], MESSAGE_KEYS)
        assert found[0]["content"] == "one"
        assert found[0]["tool_calls"] is found[0]["tool_call_id"] is None
        assert [part["text"] for part in found[1]["content"]] == ["two parts", "second"]
    assert (found[0]["sender_name"], found[0]["timestamp"]) == ("Al", "2026-05-28T11:30:36Z")
    assert found[2]["tool_calls"][0]["function"]["name"] == "grep"
    assert found[2]["tool_calls"][0]["type"] == "function"
    assert found[3]["tool_call_id"] == "c"


@case("only the bare session of a filter brings open messages")
def _(surface: Surface, tag: str) -> None:
    session = f"bare-{tag}"
    body = {"session_id": session, "messages": [said("x", "u")], "defer_extraction": True}
    surface.call("add", body)
    for filters in (
        {"session_id": {"eq": session}},
        {"session_id": {"in": [session]}},
        {"AND": [{"session_id": session}]},
        {"OR": [{"session_id": session}]},
    ):
        assert _open(surface, session, filters=filters) == []
    assert len(_open(surface, session)) == 1


@case("open messages come for an agent as for a user")
def _(surface: Surface, tag: str) -> None:
    session = f"agent-{tag}"
    body = {"session_id": session, "messages": [said("x", "u")], "defer_extraction": True}
    surface.call("add", body)
    assert len(_open(surface, session, user_id=None, agent_id="nobody")) == 1


@case("two messages of one instant are two")
def _(surface: Surface, tag: str) -> None:
    session = f"same-{tag}"
    for text in ("first", "second"):
        body = {"session_id": session, "messages": [said(text, "u")], "defer_extraction": True}
        surface.call("add", body)
    found = _open(surface, session)
    assert [m.get("content", m.get("text")) for m in found] == ["first", "second"]


@case("a session of another project is another session")
def _(surface: Surface, tag: str) -> None:
    body = {"session_id": tag, "messages": [said("x", "u")], "defer_extraction": True}
    surface.call("add", {**body, "project_id": f"p{tag}"})
    assert _open(surface, tag) == []
    assert len(_open(surface, tag, project_id=f"p{tag}")) == 1


@case("nothing to flush is a success, before and after")
def _(surface: Surface, tag: str) -> None:
    _, session = _story(surface)
    for name in (f"never-{tag}", session):
        assert short(surface.call("flush", {"session_id": name}).ok["status"]) == "no_extraction"


def _finds(method: str) -> None:
    @case(f"a {method} search finds the story, in the documented shape")
    def _(surface: Surface, tag: str) -> None:
        user, session = _story(surface)
        found = _ask(surface, user_id=user, method=method, top_k=5)
        _keys(surface, found, SEARCH_KEYS)
        (episode,) = found["episodes"]
        assert set(episode) == EPISODE_KEYS | {"score", "atomic_facts"}
        assert re.fullmatch(rf"{user}_ep_20260528_\d+", episode["id"])
        assert (episode["user_id"], episode["session_id"]) == (user, session)
        assert (episode["app_id"], episode["project_id"]) == ("default", "default")
        assert episode["type"] == "Conversation"
        assert episode["timestamp"].endswith("Z")
        assert user in episode["sender_ids"]
        assert isinstance(episode["score"], float)
        assert "Yosemite" in episode["episode"]
        assert episode["subject"]
        assert episode["summary"]
        for fact in episode["atomic_facts"]:
            assert set(fact) == {"id", "content", "score"}
            assert re.fullmatch(rf"{user}_af_20260528_\d+", fact["id"])
        assert not any(found[key] for key in SEARCH_KEYS - {"episodes"})


for _method in ("keyword", "vector", "hybrid", "agentic"):
    _finds(_method)


@case("hybrid is the method of who names none, and nests facts")
def _(surface: Surface, tag: str) -> None:
    user, _ = _story(surface)

    def facts() -> list[Any]:
        found = _ask(surface, user_id=user, query="coffee shop in SOMA", top_k=5)
        return [fact for episode in found["episodes"] for fact in episode["atomic_facts"]]

    assert eventually(facts)


@case("a listing is not ranked, counts all, and is empty past its end")
def _(surface: Surface, tag: str) -> None:
    user, _ = _story(surface)
    listed = _listed(surface, user_id=user)
    _keys(surface, listed, GET_KEYS)
    assert listed["total_count"] == listed["count"] == 1
    assert set(listed["episodes"][0]) == EPISODE_KEYS
    past = _listed(surface, user_id=user, page=99)
    assert (past["episodes"], past["count"], past["total_count"]) == ([], 0, 1)


@case("dates of ids are those of the messages")
def _(surface: Surface, tag: str) -> None:
    user, _ = _story(surface)
    (episode,) = _listed(surface, user_id=user)["episodes"]
    assert "_ep_20260528_" in episode["id"]
    assert episode["timestamp"].startswith("2026-05-28T11:30")


@case("nothing is seen from another scope, nor as an agent of the same name")
def _(surface: Surface, tag: str) -> None:
    user, _ = _story(surface)
    for scope in ({"project_id": f"p{tag}"}, {"app_id": f"a{tag}"}):
        assert _ask(surface, user_id=user, **scope)["episodes"] == []
    assert not any(_ask(surface, agent_id=user).values())


@case("the profile is asked for, there is one, and it has no score")
def _(surface: Surface, tag: str) -> None:
    user, _ = _story(surface)
    (profile,) = eventually(
        lambda: _ask(surface, user_id=user, include_profile=True, method="keyword")["profiles"]
    )
    _keys(
        surface,
        profile,
        {"id", "user_id", "app_id", "project_id", "profile_data", "score"},
    )
    assert profile.get("score") is None
    assert isinstance(profile["profile_data"], dict)
    listed = _listed(surface, user_id=user, memory_type="profile", page=7, sort_by="updated_at")
    assert (listed["total_count"], len(listed["profiles"])) == (1, 1)


@case("a min_score of 1 lets nothing pass that is not certain")
def _(surface: Surface, tag: str) -> None:
    user, _ = _story(surface)
    for method in ("vector", "hybrid"):
        ask = {"query": "zebra taxation", "method": method, "min_score": 1.0, "top_k": 5}
        assert _ask(surface, user_id=user, **ask)["episodes"] == []


@case("agents take every filter")
def _(surface: Surface, tag: str) -> None:
    for kind in ("agent_case", "agent_skill"):
        listed = _listed(surface, agent_id="nobody", memory_type=kind, filters={"session_id": "x"})
        assert listed["total_count"] == 0
    found = _ask(surface, agent_id="nobody", filters={"timestamp": {"gt": T0}})
    assert not any(found.values())


def _accepted(surface: Surface, session: str, **extra: Any) -> Any:
    body = {"session_id": session, "messages": [said("x", "u")], "async_mode": True, **extra}
    return surface.call("add", body)


@case("a queued add is told by its request id, and succeeds")
def _(surface: Surface, tag: str) -> None:
    answer = _accepted(surface, f"queued-{tag}")
    assert answer.status == (202 if surface.name == "http" else "OK")
    assert (short(answer.ok["status"]), answer.ok["message_count"]) == ("queued", 1)
    assert answer.ok["pending"] >= 1

    def ended() -> Any:
        task = surface.task(answer.request_id).ok
        return task if short(task["status"]) not in ("queued", "processing") else None

    task = eventually(ended)
    expected = {"id", "status", "task_type", "error", "error_code", "created_at", "finished_at"}
    _keys(surface, dict(task), expected)
    assert short(task["status"]) == "success"
    assert task["task_type"].lower().endswith("memory_add")
    assert task.get("error") is task.get("error_code") is None
    assert task["finished_at"] >= task["created_at"]


@case("a queued add that is too large is refused and leaves no task")
def _(surface: Surface, tag: str) -> None:
    large = [said("x" * (4 * 1024 * 1024 + 10), "u")]
    answer = _accepted(surface, f"large-{tag}", messages=large)
    is_refused(surface, answer, "PAYLOAD_TOO_LARGE", str(4 * 1024 * 1024))
    assert surface.tasks(session_id=f"large-{tag}").ok["total"] == 0


@case("tasks are listed newest first, by session and status, at most 100 a page")
def _(surface: Surface, tag: str) -> None:
    ids = [_accepted(surface, tag).request_id for _ in range(3)]
    eventually(lambda: surface.tasks(session_id=tag, status="success").ok["total"] == 3)
    page = surface.tasks(session_id=tag, page_size=2).ok
    assert [item["id"] for item in page["items"]] == ids[:0:-1]
    assert (page["total"], page["page"], page["page_size"]) == (3, 1, 2)
    assert surface.tasks(page_size=500).ok["page_size"] == 100
    assert surface.tasks(session_id=tag, project_id="elsewhere").ok["total"] == 0


@case("of a burst to one session what was accepted is kept once, in order")
def _(surface: Surface, tag: str) -> None:
    def add(number: int) -> Any:
        message = said(f"b{number:03d}", "u", number)
        return _accepted(surface, f"burst-{tag}", messages=[message], defer_extraction=True)

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(add, range(120)))
    accepted = [answer for answer in answers if answer.data is not None]
    for answer in answers:
        if answer.data is None:
            is_refused(surface, answer, "QUEUE_SATURATED")
    assert accepted

    def left() -> int:
        statuses = ("queued", "processing")
        session = f"burst-{tag}"
        return sum(surface.tasks(session_id=session, status=s).ok["total"] for s in statuses)

    eventually(lambda: left() == 0, 60)
    assert len(_open(surface, f"burst-{tag}")) == len(accepted)
