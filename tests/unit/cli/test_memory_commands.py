"""`add`, `flush`, `search` and `get` against a server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import struct_pb2

from remanence.v2 import memory_pb2 as pb


def test_add_sends_a_message_from_its_arguments(connected: Any, memory: Any) -> None:
    done = connected(
        "add",
        "I moved to Porto.",
        "--session=s1",
        "--sender=alice",
        "--name=Alice",
        "--timestamp=2026-05-28T11:30:36Z",
        "--app=work",
        "--project=home",
    )
    assert (done.code, done.err) == (0, "")
    assert done.out == "1 message kept in s1: accumulated\n"
    (request,) = memory.adds
    assert (request.session_id, request.app_id, request.project_id) == ("s1", "work", "home")
    (message,) = request.messages
    assert (message.text, message.sender_id, message.sender_name) == (
        "I moved to Porto.",
        "alice",
        "Alice",
    )
    assert message.timestamp == 1_779_967_836_000
    assert message.role == pb.ROLE_USER
    assert message.message_id


def test_add_reads_the_text_from_stdin(connected: Any, memory: Any) -> None:
    done = connected("add", "--session=s1", "--user=alice", stdin="two\nlines\n")
    assert done.code == 0
    assert memory.adds[0].messages[0].text == "two\nlines"


def test_add_sends_a_body_of_the_api(connected: Any, memory: Any, tmp_path: Path) -> None:
    body = {
        "session_id": "s2",
        "async_mode": True,
        "messages": [
            {"sender_id": "a", "role": "user", "timestamp": 1, "content": "x"},
            {"sender_id": "b", "role": "assistant", "timestamp": 2, "content": "y"},
        ],
    }
    file = tmp_path / "body.json"
    file.write_text(json.dumps(body), encoding="utf-8")
    done = connected("add", "--body", file, "--json")
    assert done.json == {"message_count": 2, "status": "queued"}
    assert [m.role for m in memory.adds[0].messages] == [pb.ROLE_USER, pb.ROLE_ASSISTANT]
    assert connected("add", "--body", "-", stdin=json.dumps(body)).code == 0


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["add", "text"], "--session and --sender"),
        (["add", "text", "--session=s", "--sender=a", "--timestamp=soon"], "--timestamp"),
        (["add", "text", "--body=-"], "not both"),
        (["add", "x", "--session=s", "--sender=a", "--server=nowhere"], "HOST:PORT"),
        (["search", "q"], "one of --user and --agent"),
        (["search", "q", "--user=a", "--agent=b"], "one of --user and --agent"),
        (["search", "q", "--user=a", "--filter={"], "not JSON"),
        (["search", "q", "--user=a", "--filter=[]"], "object"),
        (["get"], "one of --user and --agent"),
        (["flush"], "session"),
        (["flush", "s", "--loud"], "--loud"),
        (["frobnicate"], "frobnicate"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(
    connected: Any, arguments: list[str], expected: str
) -> None:
    done = connected(*arguments)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("remanence: ")
    assert done.err.count("\n") == 1
    assert expected.lower() in done.err.lower()


def test_a_body_that_is_no_request_is_refused(connected: Any) -> None:
    for body in ("{", "[]", "{}", '{"session_id": "s", "messages": 1}'):
        done = connected("add", "--body=-", stdin=body)
        assert done.code == 2, body


def test_flush_waits_unless_told_not_to(connected: Any, memory: Any) -> None:
    assert connected("flush", "s1").out == "s1: extracted\n"
    done = connected("flush", "s1", "--no-wait", "--json")
    assert done.json == {"status": "extracted"}
    assert [request.wait for request in memory.requests] == [True, False]


def found(stamp: Any, **more: Any) -> pb.SearchResponse:
    episode = pb.SearchEpisodeItem(
        id="alice_ep_20260528_00000001",
        user_id="alice",
        app_id="default",
        project_id="default",
        session_id="s1",
        timestamp=stamp,
        subject="A move to [bold]Porto[/bold]",
        summary="Alice moved\x1b[31m house.",
        episode="long",
        type="Conversation",
        score=0.634,
        atomic_facts=[pb.SearchAtomicFactItem(id="f", content="Alice lives in Porto.", score=0.5)],
    )
    return pb.SearchResponse(episodes=[episode], **more)


def test_search_shows_scores_subjects_summaries_and_facts(
    connected: Any, memory: Any, stamp: Any
) -> None:
    memory.search_responses[0] = found(stamp)
    done = connected("search", "where?", "--user=alice")
    assert done.code == 0
    assert "0.63" in done.out
    assert "Alice lives in Porto." in done.out
    # Memory text is data: no markup of ours, no control characters for the terminal.
    assert "A move to [bold]Porto[/bold]" in done.out
    assert "\x1b" not in done.out


def test_search_sends_what_it_was_told(connected: Any, memory: Any) -> None:
    connected(
        "search",
        "where?",
        "--agent=bot",
        "--method=keyword",
        "--top-k=3",
        "--radius=0.5",
        "--min-score=0.25",
        "--profile",
        '--filter={"sender_id": "alice"}',
        "--session=s1",
    )
    (request,) = memory.requests
    assert request.query == "where?"
    assert request.agent_id == "bot"
    assert request.method == pb.SEARCH_METHOD_KEYWORD
    assert (request.top_k, request.radius, request.min_score) == (3, 0.5, 0.25)
    assert request.include_profile
    (session,) = request.filters.predicates
    assert (session.field, session.shorthand) == ("session_id", True)
    (other,) = getattr(request.filters, "and").nodes
    assert other.predicates[0].field == "sender_id"


def test_a_word_that_is_no_method_is_refused_with_the_ones_there_are(connected: Any) -> None:
    done = connected("search", "q", "--user=a", "--method=psychic")
    assert done.code == 1
    assert "keyword, vector, hybrid" in done.err


def test_search_prints_the_json_of_the_api(connected: Any, memory: Any, stamp: Any) -> None:
    memory.search_responses[0] = found(stamp)
    data = connected("search", "where?", "--user=alice", "--json").json
    assert list(data) == [
        "episodes",
        "profiles",
        "agent_cases",
        "agent_skills",
        "unprocessed_messages",
    ]
    assert data["episodes"][0]["timestamp"] == "2026-05-28T11:30:36Z"


def test_search_shows_profiles_cases_skills_and_what_is_still_buffered(
    connected: Any, memory: Any, stamp: Any
) -> None:
    profile = struct_pb2.Struct()
    profile.update(
        {
            "summary": "a climber",
            "explicit_info": [{"category": "home", "description": "lives in Porto"}],
            "profile_timestamp_ms": 5,
        }
    )
    memory.search_responses[0] = pb.SearchResponse(
        profiles=[pb.SearchProfileItem(id="alice", user_id="alice", profile_data=profile)],
        agent_cases=[
            pb.SearchAgentCaseItem(
                task_intent="Deploy", approach="Blue-green", key_insight="Drain", timestamp=stamp
            )
        ],
        agent_skills=[pb.SearchAgentSkillItem(name="deploy", description="How to")],
        unprocessed_messages=[
            pb.UnprocessedMessage(sender_id="alice", text="not yet", timestamp=stamp)
        ],
    )
    out = connected("search", "q", "--user=alice").out
    for text in ("home: lives in Porto", "Deploy", "Blue-green", "Drain", "How to", "not yet"):
        assert text in out


def test_search_says_when_there_is_nothing(connected: Any) -> None:
    assert connected("search", "q", "--user=nobody").out == "nothing found\n"


def test_get_lists_a_page_and_says_where_it_is(connected: Any, memory: Any, stamp: Any) -> None:
    memory.get_response = pb.GetResponse(
        episodes=[pb.GetEpisodeItem(id="e1", subject="Climbing", timestamp=stamp)],
        total_count=41,
        count=1,
    )
    done = connected("get", "--user=alice", "--page=2", "--ascending", "--sort-by=timestamp")
    assert "Climbing" in done.out
    assert "e1" in done.out
    assert "page 2 of 3, 41 in all" in done.out
    (request,) = memory.requests
    assert request.memory_type == pb.MEMORY_TYPE_EPISODE
    assert request.sort_order == pb.SORT_ORDER_ASC
    assert request.page == 2


def test_get_lists_the_cases_of_an_agent_unless_told_otherwise(connected: Any, memory: Any) -> None:
    connected("get", "--agent=bot")
    data = connected("get", "--agent=bot", "--type=agent_skill", "--json").json
    assert data["total_count"] == 0
    assert [request.memory_type for request in memory.requests] == [
        pb.MEMORY_TYPE_AGENT_CASE,
        pb.MEMORY_TYPE_AGENT_SKILL,
    ]


def test_without_a_server_the_command_says_so_in_one_line(cli: Any) -> None:
    done = cli("search", "q", "--user=a", "--server=127.0.0.1:1", "--timeout=5")
    assert done.code == 1
    assert done.out == ""
    assert done.err == (
        "remanence: No server can be reached at 127.0.0.1:1; is it running? "
        "Start: remanence serve\n"
    )


def test_the_refusal_of_a_server_is_one_line(connected: Any, memory: Any) -> None:
    memory.refused_session = "s9"
    done = connected("add", "x", "--session=s9", "--sender=a")
    assert done.code == 1
    assert done.err == "remanence: String should match pattern\n"
