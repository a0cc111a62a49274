"""What a user relies on, over both surfaces: told things are found, and only by their owner."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.blackbox.conftest import T0, eventually, said, tell_story
from tests.blackbox.surfaces import Surface

METHODS = ("keyword", "vector", "hybrid", "agentic")


@pytest.mark.parametrize("method", METHODS)
def test_a_story_is_found_by_every_method_right_after_the_flush(
    surface: Surface, tag: str, method: str
) -> None:
    user, session = f"alice{tag}", f"story-{tag}"
    tell_story(surface, user, session)
    found = surface.call(
        "search",
        {"user_id": user, "query": "Where does Alice like to climb?", "method": method, "top_k": 5},
    ).ok
    (episode,) = found["episodes"]
    assert re.fullmatch(rf"{user}_ep_20260528_\d{{8}}", episode["id"])
    assert episode["user_id"] == user
    assert episode["session_id"] == session
    assert episode["type"] == "Conversation"
    assert "Yosemite" in episode["episode"]
    assert episode["subject"]
    assert episode["summary"]
    assert 0 <= episode["score"] <= 1
    assert set(episode["sender_ids"]) == {user, "helper"}
    assert found["agent_cases"] == found["agent_skills"] == found["profiles"] == []


def test_a_hybrid_search_nests_the_facts_that_matched(surface: Surface, tag: str) -> None:
    user = f"alice{tag}"
    tell_story(surface, user, f"story-{tag}")
    body = {"user_id": user, "query": "coffee shop in SOMA", "top_k": 5}
    (episode,) = surface.call("search", body).ok["episodes"]
    best = episode["atomic_facts"][0]
    assert "Blue Bottle" in best["content"]
    assert re.fullmatch(rf"{user}_af_20260528_\d{{8}}", best["id"])


def test_the_profile_comes_with_a_search_that_asks_for_it(surface: Surface, tag: str) -> None:
    user = f"alice{tag}"
    tell_story(surface, user, f"story-{tag}")
    body = {"user_id": user, "query": "climb", "method": "keyword", "include_profile": True}
    (profile,) = eventually(lambda: surface.call("search", body).ok["profiles"])
    assert profile["user_id"] == user
    assert profile.get("score") is None
    stated = str(profile["profile_data"])
    assert "Yosemite" in stated or "Blue Bottle" in stated


def test_nothing_of_one_owner_or_scope_is_visible_in_another(surface: Surface, tag: str) -> None:
    user, session = f"alice{tag}", f"story-{tag}"
    tell_story(surface, user, session)
    tell_story(surface, f"bob{tag}", f"bob-{tag}")
    elsewhere = (
        {"user_id": user, "project_id": f"other{tag}"},
        {"user_id": user, "app_id": f"other{tag}"},
        {"user_id": user + " "},
        {"user_id": user.upper()},
        {"user_id": user + "*"},
        {"user_id": f"{user}' OR '1'='1"},
    )
    for who in elsewhere:
        for method in METHODS:
            found = surface.call("search", {**who, "query": "Yosemite", "method": method}).ok
            assert found["episodes"] == [], (who, method)
        listed = surface.call("get", {**who, "memory_type": "episode"}).ok
        assert listed["total_count"] == 0, who
    agent = surface.call("search", {"agent_id": user, "query": "Yosemite"}).ok
    assert agent["agent_cases"] == agent["agent_skills"] == agent["episodes"] == []
    mine = surface.call("search", {"user_id": user, "query": "Yosemite", "top_k": 100}).ok
    assert [episode["user_id"] for episode in mine["episodes"]] == [user]


def test_pages_hold_every_record_once_in_either_order(surface: Surface, tag: str) -> None:
    user = f"alice{tag}"
    for number in range(5):
        # Two sessions of one instant, so that the order needs a tie-breaker.
        body = {
            "session_id": f"s{number}-{tag}",
            "messages": [said(f"Day {number} of the hike.", user, 1000 * (number // 2))],
            "defer_extraction": True,
        }
        surface.call("add", body)
        surface.call("flush", {"session_id": f"s{number}-{tag}"})
    seen = {}
    for order in ("asc", "desc"):
        ids = []
        for page in (1, 2, 3, 4):
            listed = surface.call(
                "get",
                {
                    "user_id": user,
                    "memory_type": "episode",
                    "page": page,
                    "page_size": 2,
                    "sort_order": order,
                },
            ).ok
            assert listed["total_count"] == 5
            assert listed["count"] == len(listed["episodes"])
            ids += [episode["id"] for episode in listed["episodes"]]
        assert len(ids) == len(set(ids)) == 5
        seen[order] = ids
    assert seen["asc"] == seen["desc"][::-1]


def test_open_messages_come_back_for_their_session_in_the_order_given(
    surface: Surface, tag: str
) -> None:
    session = f"open-{tag}"
    call = {"id": "c1", "type": "function", "function": {"name": "grep", "arguments": '{"q": 1}'}}
    parts = [{"type": "text", "text": "two parts"}, {"type": "text", "text": "second"}]
    body = {
        "session_id": session,
        "defer_extraction": True,
        "messages": [
            said("later first", "al", 9000, sender_name="Al"),
            said(parts, "al"),
            said("", "bot", 2, "assistant", tool_calls=[call]),
            said("out", "grep", 3, "tool", tool_call_id="c1"),
        ],
    }
    surface.call("add", body)
    search = {"user_id": "nobody", "query": "x", "method": "keyword"}
    found = surface.call("search", {**search, "filters": {"session_id": session}}).ok
    messages = found["unprocessed_messages"]
    assert next(m.get("text", m.get("content")) for m in messages) == "later first"
    assert [m["sender_id"] for m in messages] == ["al", "al", "bot", "grep"]
    assert messages[2]["tool_calls"][0]["function"]["name"] == "grep"
    assert messages[3]["tool_call_id"] == "c1"
    assert len({m["id"] for m in messages}) == 4
    as_agent = {"agent_id": "nobody", "query": "x", "filters": {"session_id": session}}
    assert len(surface.call("search", as_agent).ok["unprocessed_messages"]) == 4
    compound = {"AND": [{"session_id": session}]}
    assert surface.call("search", {**search, "filters": compound}).ok["unprocessed_messages"] == []


def test_an_empty_buffer_has_nothing_to_extract(surface: Surface, tag: str) -> None:
    flushed = surface.call("flush", {"session_id": f"never-{tag}"}).ok
    assert flushed["status"].lower().endswith("no_extraction")


def test_a_message_id_sent_twice_is_remembered_once(surface: Surface, tag: str) -> None:
    user, session = f"ines{tag}", f"b04-{tag}"
    body = {
        "session_id": session,
        "defer_extraction": True,
        "messages": [said("I am allergic to hazelnuts", user, message_id="m-1")],
    }
    for _ in range(3):
        assert surface.call("add", body).ok["message_count"] == 1
    surface.call("flush", {"session_id": session})
    surface.call("add", body)
    assert (
        surface.call("flush", {"session_id": session})
        .ok["status"]
        .lower()
        .endswith("no_extraction")
    )
    (episode,) = surface.call("get", {"user_id": user, "memory_type": "episode"}).ok["episodes"]
    assert episode["episode"].count("hazelnuts") == 1


def test_a_long_pause_closes_a_segment_without_a_flush(surface: Surface, tag: str) -> None:
    user, session = f"ola{tag}", f"gap-{tag}"
    first = said("My sister Elif studies geology in Ankara.", user)
    next_day = said("Good morning, what a day.", user, 30 * 3_600_000)
    assert (
        surface.call("add", {"session_id": session, "messages": [first]})
        .ok["status"]
        .lower()
        .endswith("accumulated")
    )
    answered = surface.call("add", {"session_id": session, "messages": [next_day]}).ok
    assert answered["status"].lower().endswith("extracted")
    # An add does not wait for the index, only for the Markdown.
    body = {"user_id": user, "memory_type": "episode"}
    (episode,) = eventually(lambda: surface.call("get", body).ok["episodes"])
    assert "Ankara" in episode["episode"]
    assert "Good morning" not in episode["episode"]


def test_words_of_three_scripts_are_found_by_keyword(surface: Surface, tag: str) -> None:
    user, session = f"mei{tag}", f"b01-{tag}"
    texts = (
        "今天我们玩成语接龙游戏，我养了一只叫豆包的橘猫",
        "今日は駅前でしりとりをした",
        "오늘 끝말잇기 게임을 했다",
    )
    messages = [said(text, user, 1000 * number) for number, text in enumerate(texts)]
    surface.call("add", {"session_id": session, "messages": messages, "defer_extraction": True})
    surface.call("flush", {"session_id": session})

    def hits(query: str) -> list[str]:
        body = {"user_id": user, "query": query, "method": "keyword"}
        return [episode["episode"] for episode in surface.call("search", body).ok["episodes"]]

    for word in ("成语接龙", "しりとり", "끝말잇기", "猫"):
        assert hits(word), word
    assert hits("量子力学") == []


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("use rm -rf carefully", "rm -rf"),
        ("C++ and C# both", "C++"),
        ("tier1-test AND unicode", "tier1-test"),
        ("path /usr/local/bin", "/usr/local/bin"),
        ("email jo@example.org", "jo@example.org"),
        ("don't panic", "don't"),
    ],
)
def test_symbols_are_words(surface: Surface, tag: str, text: str, query: str) -> None:
    user = f"jo{tag}"
    for number, content in enumerate((text, "nothing of that kind here", "use both paths")):
        session = f"b29-{number}-{tag}"
        messages = [said(content, user, number)]
        surface.call("add", {"session_id": session, "messages": messages, "defer_extraction": True})
        surface.call("flush", {"session_id": session})
    body = {"user_id": user, "query": query, "method": "keyword"}
    episodes = surface.call("search", body).ok["episodes"]
    assert text in episodes[0]["episode"]


HOSTILE = [
    "AND",
    "OR",
    "NOT",
    "a AND",
    '"',
    '"unclosed',
    "*",
    "?",
    "foo*",
    ":",
    "field:value",
    "/",
    "/regex/",
    "(",
    ")",
    "[a TO z]",
    "{",
    "~",
    "^",
    "\\",
    "&&",
    "!",
    "+",
    "-",
    "the of and",
    "，。",
    "\u200b",
    "a && b",
]


def test_hostile_query_text_is_data(surface: Surface, tag: str) -> None:
    user = f"alice{tag}"
    tell_story(surface, user, f"story-{tag}")
    for query in (*HOSTILE, "word " * 10_000, "x" * 40_000):
        for method in ("keyword", "hybrid"):
            body = {"user_id": user, "query": query, "method": method, "top_k": 3}
            assert surface.call("search", body).data is not None, (query[:20], method)
    body = {"user_id": user, "query": "foo*", "method": "keyword"}
    assert surface.call("search", body).ok["episodes"] == []


YES_NO_FILTERS = [
    ({}, True),
    ({"session_id": "$S"}, True),
    ({"session_id": {"eq": "$S"}}, True),
    ({"session_id": {"in": ["x", "$S"]}}, True),
    ({"session_id": {"ne": "x"}}, True),
    ({"sender_id": "$U"}, True),
    ({"sender_id": {"in": ["zz", "$U"]}}, True),
    ({"parent_type": "memcell"}, True),
    ({"timestamp": {"gte": T0, "lt": T0 + 10**7}}, True),
    ({"timestamp": {"gte": "2026-05-28T11:30:00"}}, True),
    ({"timestamp": {"gte": "2026-05-28T13:30:00+02:00"}}, True),
    ({"AND": [{"session_id": "$S"}, {"sender_id": "$U"}]}, True),
    ({"OR": [{"session_id": "x"}, {"sender_id": "$U"}]}, True),
    ({"session_id": "$S", "OR": [{"sender_id": "$U"}, {"sender_id": "bob"}]}, True),
    ({"AND": []}, True),
    ({"OR": []}, False),
    ({"session_id": {"in": []}}, False),
    ({"session_id": "x"}, False),
    ({"session_id": {"ne": "$S"}}, False),
    ({"sender_id": "zz"}, False),
    ({"timestamp": {"lt": T0 - 1}}, False),
    ({"timestamp": {"gt": "2026-05-29T00:00:00Z"}}, False),
    ({"AND": [{"session_id": "$S"}, {"sender_id": "zz"}]}, False),
    ({"session_id": "x') OR ('1'='1"}, False),
]


def test_a_filter_selects_the_same_in_search_and_get(surface: Surface, tag: str) -> None:
    user, session = f"gil{tag}", f"s'1\"-{tag}"
    tell_story(surface, user, session)

    def fill(node: object) -> object:
        if isinstance(node, dict):
            return {key: fill(value) for key, value in node.items()}
        if isinstance(node, list):
            return [fill(value) for value in node]
        return {"$S": session, "$U": user}.get(node, node) if isinstance(node, str) else node

    for template, selects in YES_NO_FILTERS:
        filters = fill(template)
        listed = surface.call(
            "get", {"user_id": user, "memory_type": "episode", "filters": filters}
        )
        assert listed.ok["total_count"] == int(selects), template
        for method in ("keyword", "vector", "hybrid"):
            body = {
                "user_id": user,
                "query": "climbing Yosemite",
                "method": method,
                "filters": filters,
            }
            found = surface.call("search", {**body, "top_k": 5}).ok["episodes"]
            assert bool(found) is selects, (method, template)


def test_a_tool_run_becomes_a_case_that_is_listed_and_found(surface: Surface, tag: str) -> None:
    agent, session = f"agent{tag}", f"run-{tag}"
    rounds = [
        ("run_tests", '{"suite":"billing"}', "2 failed: port 8443 already bound"),
        ("read_file", '{"path":"deploy.yaml"}', "port: 8443"),
        ("edit_file", '{"path":"deploy.yaml","port":9443}', "ok"),
        ("run_tests", '{"suite":"billing"}', "all 41 passed"),
    ]
    messages = [
        said("The deploy of the billing service fails on staging, please fix it.", f"dev{tag}")
    ]
    for number, (name, arguments, output) in enumerate(rounds):
        call = {"id": f"c{number}", "function": {"name": name, "arguments": arguments}}
        messages.append(said("", agent, 2000 * number + 1, "assistant", tool_calls=[call]))
        messages.append(said(output, name, 2000 * number + 2, "tool", tool_call_id=f"c{number}"))
    messages.append(
        said("Fixed: I moved the service to 9443, all tests pass.", agent, 9999, "assistant")
    )
    surface.call("add", {"session_id": session, "messages": messages, "defer_extraction": True})
    surface.call("flush", {"session_id": session})
    (case,) = surface.call("get", {"agent_id": agent, "memory_type": "agent_case"}).ok[
        "agent_cases"
    ]
    assert re.fullmatch(rf"{agent}_ac_20260528_\d{{8}}", case["id"])
    assert "billing" in case["task_intent"]
    assert "edit_file" in case["approach"]
    assert 0.5 < case["quality_score"] <= 1
    for method in METHODS:
        body = {"agent_id": agent, "query": "billing deploy fails", "method": method, "top_k": 3}
        (hit,) = surface.call("search", body).ok["agent_cases"]
        assert hit["id"] == case["id"]


def test_a_talk_without_tools_is_no_case(surface: Surface, tag: str) -> None:
    agent, session = f"chatty{tag}", f"chat-{tag}"
    messages = [said("Hi, how are you?", f"u{tag}"), said("Fine, thanks!", agent, 1, "assistant")]
    surface.call("add", {"session_id": session, "messages": messages, "defer_extraction": True})
    surface.call("flush", {"session_id": session})
    assert (
        surface.call("get", {"agent_id": agent, "memory_type": "agent_case"}).ok["total_count"] == 0
    )


def test_memories_are_markdown_files_of_the_day_of_the_messages(
    surface: Surface, tag: str, root: Path
) -> None:
    user = f"alice{tag}"
    tell_story(surface, user, f"story-{tag}")
    folder = root / "default_app" / "default_project" / "users" / user
    text = (folder / "episodes" / "episode-2026-05-28.md").read_text(encoding="utf-8")
    assert "Yosemite" in text
    assert eventually((folder / ".atomic_facts" / "atomic_fact-2026-05-28.md").exists)


def test_unrelated_questions_get_low_scores_and_a_floor_keeps_them_out(
    surface: Surface, tag: str
) -> None:
    user = f"alice{tag}"
    tell_story(surface, user, f"story-{tag}")
    for method in METHODS:
        body = {"user_id": user, "query": "zebra taxation", "method": method, "min_score": 1.0}
        assert surface.call("search", {**body, "top_k": 5}).ok["episodes"] == []
