"""What comes back: every field of an answer, as a value and as the JSON of the API."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime
from typing import Any

import pytest
from google.protobuf import struct_pb2, timestamp_pb2

import remanence_client as rc
from remanence.v2 import jobs_pb2, ome_pb2, ops_pb2, tasks_pb2
from remanence.v2 import memory_pb2 as pb

REQUEST_ID = "0123456789abcdef0123456789abcdef"
MOMENT = datetime(2026, 5, 28, 11, 30, 36, tzinfo=UTC)
STAMP = timestamp_pb2.Timestamp(seconds=int(MOMENT.timestamp()))
SCOPE: Any = {"app_id": "default", "project_id": "default"}


@pytest.fixture
def client(server: Any) -> Any:
    with rc.Client(server.address, timeout_seconds=10) as connected:
        yield connected


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (rc.AddResult, pb.AddResponse),
        (rc.FlushResult, pb.FlushResponse),
        (rc.SearchResult, pb.SearchResponse),
        (rc.FoundEpisode, pb.SearchEpisodeItem),
        (rc.AtomicFact, pb.SearchAtomicFactItem),
        (rc.FoundProfile, pb.SearchProfileItem),
        (rc.FoundAgentCase, pb.SearchAgentCaseItem),
        (rc.FoundAgentSkill, pb.SearchAgentSkillItem),
        (rc.UnprocessedMessage, pb.UnprocessedMessage),
        (rc.Page, pb.GetResponse),
        (rc.Episode, pb.GetEpisodeItem),
        (rc.Profile, pb.GetProfileItem),
        (rc.AgentCase, pb.GetAgentCaseItem),
        (rc.AgentSkill, pb.GetAgentSkillItem),
        (rc.DeleteResult, pb.DeleteResponse),
        (rc.ContentItem, pb.ContentItem),
        (rc.ToolCall, pb.ToolCall),
        (rc.ToolFunction, pb.ToolFunction),
        (rc.Message, pb.MessageItem),
        (rc.Task, tasks_pb2.TaskItem),
        (rc.Task, tasks_pb2.GetTaskResponse),
        (rc.TaskPage, tasks_pb2.ListTasksResponse),
        (rc.Job, jobs_pb2.Job),
        (rc.JobPage, jobs_pb2.ListJobsResponse),
        (rc.Run, ome_pb2.RunSummary),
        (rc.TriggerResult, ome_pb2.TriggerResponse),
        (rc.QuiesceResult, ops_pb2.QuiesceResponse),
        (rc.RebuildResult, ops_pb2.RebuildResponse),
        (rc.Activity, ops_pb2.Activity),
        (rc.MarkdownProblem, ops_pb2.MarkdownProblem),
        (rc.Health, ops_pb2.GetHealthResponse),
        (rc.HealthCapabilities, ops_pb2.HealthCapabilities),
        (rc.CascadeHealth, ops_pb2.CascadeHealth),
        (rc.MemorizeQueueHealth, ops_pb2.MemorizeQueueHealth),
        (rc.JobsHealth, ops_pb2.JobsHealth),
    ],
)
def test_every_value_has_the_fields_of_its_message(value: Any, message: Any) -> None:
    descriptor = message.DESCRIPTOR
    real_oneofs = [o for o in descriptor.oneofs if not o.name.startswith("_")]
    expected = {f.name for f in descriptor.fields} | {o.name for o in real_oneofs}
    for oneof in real_oneofs:
        expected -= {f.name for f in oneof.fields}
    # Clients follow the token, so that a result is whole.
    expected -= {"truncated", "next_page_token"}
    assert {f.name for f in dataclasses.fields(value)} - {"request_id"} == expected


def test_a_search_returns_every_field_of_every_kind(server: Any, client: rc.Client) -> None:
    profile = struct_pb2.Struct()
    profile.update({"summary": "climber", "explicit_info": [{"category": "home"}]})
    server.reply(
        "Search",
        pb.SearchResponse(
            episodes=[
                pb.SearchEpisodeItem(
                    id="alice_ep_20260528_00000001",
                    user_id="alice",
                    session_id="s1",
                    timestamp=STAMP,
                    sender_ids=["alice"],
                    summary="short",
                    subject="Climbing",
                    episode="long",
                    type="Conversation",
                    score=0.5,
                    atomic_facts=[pb.SearchAtomicFactItem(id="f1", content="fact", score=0.25)],
                    **SCOPE,
                )
            ],
            profiles=[pb.SearchProfileItem(id="alice", profile_data=profile, **SCOPE)],
            agent_skills=[
                pb.SearchAgentSkillItem(
                    id="k1", name="deploy", source_case_ids=["c1"], confidence=0.75, **SCOPE
                )
            ],
            unprocessed_messages=[
                pb.UnprocessedMessage(
                    id="m1", role=pb.ROLE_ASSISTANT, text="hi", timestamp=STAMP, **SCOPE
                ),
                pb.UnprocessedMessage(
                    id="m2",
                    role=pb.ROLE_USER,
                    items=pb.ContentItemList(
                        items=[pb.ContentItem(type=pb.CONTENT_TYPE_TEXT, text="x")]
                    ),
                    timestamp=STAMP,
                    tool_calls=[
                        pb.ToolCall(
                            id="c",
                            type="function",
                            function=pb.ToolFunction(name="f", arguments="{}"),
                        )
                    ],
                    **SCOPE,
                ),
            ],
        ),
    )
    result = client.search("where?", user_id="alice")
    (episode,) = result.episodes
    assert episode == rc.FoundEpisode(
        id="alice_ep_20260528_00000001",
        user_id="alice",
        session_id="s1",
        timestamp=MOMENT,
        sender_ids=("alice",),
        summary="short",
        subject="Climbing",
        episode="long",
        type="Conversation",
        score=0.5,
        atomic_facts=(rc.AtomicFact(id="f1", content="fact", score=0.25),),
        **SCOPE,
    )
    assert result.profiles[0].user_id is None
    assert result.profiles[0].score is None
    assert result.profiles[0].profile_data["explicit_info"] == [{"category": "home"}]
    assert result.agent_skills[0].source_case_ids == ("c1",)
    assert result.agent_cases == ()
    first, second = result.unprocessed_messages
    assert (first.role, first.content, first.tool_calls) == ("assistant", "hi", ())
    assert second.content == (rc.ContentItem("text", text="x"),)
    assert second.tool_calls == (rc.ToolCall("c", rc.ToolFunction("f", "{}")),)
    assert result.request_id == REQUEST_ID

    data = rc.to_json(result)
    assert sorted(data) == [
        "agent_cases",
        "agent_skills",
        "episodes",
        "profiles",
        "unprocessed_messages",
    ]
    assert data["episodes"][0]["timestamp"] == "2026-05-28T11:30:36Z"
    assert data["episodes"][0]["atomic_facts"] == [{"id": "f1", "content": "fact", "score": 0.25}]
    assert data["profiles"][0]["score"] is None
    assert data["unprocessed_messages"][0]["tool_calls"] is None
    assert data["unprocessed_messages"][1]["content"] == [{"type": "text", "text": "x"}]


def test_a_listing_has_no_scores(server: Any, client: rc.Client) -> None:
    case = pb.GetAgentCaseItem(
        id="c1", agent_id="bot", task_intent="deploy", quality_score=0.5, timestamp=STAMP
    )
    server.reply("Get", pb.GetResponse(agent_cases=[case], total_count=7, count=1))
    page = client.get("agent_case", agent_id="bot")
    assert (page.total_count, page.count) == (7, 1)
    assert page.agent_cases[0].key_insight is None
    data = rc.to_json(page)
    assert "score" not in data["agent_cases"][0]
    assert data["agent_cases"][0]["key_insight"] is None
    assert "request_id" not in data


def test_an_add_that_was_queued_carries_the_id_of_its_task(server: Any, client: rc.Client) -> None:
    server.reply(
        "Add",
        pb.AddResponse(message_count=1, status=pb.ADD_STATUS_QUEUED, pending=2),
        pb.AddResponse(message_count=1, status=pb.ADD_STATUS_ACCUMULATED),
    )
    queued = client.add("s", [rc.Message("a", "x")], async_mode=True)
    assert queued == rc.AddResult(
        message_count=1, status="queued", pending=2, request_id=REQUEST_ID
    )
    direct = client.add("s", [rc.Message("a", "x")])
    assert rc.to_json(direct) == {"message_count": 1, "status": "accumulated"}


def test_a_flush_says_only_what_the_answer_says(server: Any, client: rc.Client) -> None:
    server.reply("Flush", pb.FlushResponse(status=pb.FLUSH_STATUS_NO_EXTRACTION))
    assert rc.to_json(client.flush("s")) == {"status": "no_extraction"}


def test_tasks_have_words_and_instants(server: Any, client: rc.Client) -> None:
    server.reply(
        "GetTask",
        tasks_pb2.GetTaskResponse(
            id="t1",
            status=tasks_pb2.TASK_STATUS_PROCESSING,
            task_type=tasks_pb2.TASK_TYPE_MEMORY_ADD,
            created_at=STAMP,
        ),
    )
    assert client.get_task("t1") == rc.Task(
        id="t1",
        status="processing",
        task_type="memory_add",
        error=None,
        error_code=None,
        created_at=MOMENT,
        finished_at=None,
    )
    item = tasks_pb2.TaskItem(
        id="t2",
        status=tasks_pb2.TASK_STATUS_FAILED,
        task_type=tasks_pb2.TASK_TYPE_MEMORY_FLUSH,
        error="no",
        created_at=STAMP,
        finished_at=STAMP,
    )
    server.reply(
        "ListTasks", tasks_pb2.ListTasksResponse(total=1, page=1, page_size=20, items=[item])
    )
    page = client.list_tasks()
    assert (page.items[0].error, page.items[0].finished_at) == ("no", MOMENT)


def test_health_and_the_other_reports_are_read(server: Any, client: rc.Client) -> None:
    server.reply(
        "GetHealth",
        ops_pb2.GetHealthResponse(
            status="degraded",
            version="0.1.0",
            reasons=["disk"],
            capabilities=ops_pb2.HealthCapabilities(embed=True),
            cascade=ops_pb2.CascadeHealth(healthy=True, index_rows={"episode": 3}),
            memorize_queue=ops_pb2.MemorizeQueueHealth(oldest_pending_age_s=1.5),
            jobs=ops_pb2.JobsHealth(dead_letters=2),
        ),
    )
    health = client.health()
    assert (health.status, health.reasons) == ("degraded", ("disk",))
    assert health.capabilities.embed
    assert health.cascade.index_rows == {"episode": 3}
    assert health.memorize_queue.oldest_pending_age_s == 1.5
    assert health.memorize_queue.last_loop_error_at is None
    assert health.jobs.dead_letters == 2
    run = ome_pb2.RunSummary(run_id="r", status=ome_pb2.RUN_STATUS_DEAD_LETTER, error="bad")
    server.reply(
        "Trigger",
        ome_pb2.TriggerResponse(
            status=ome_pb2.TRIGGER_STATUS_OK, name="x", dispatched=1, runs=[run]
        ),
    )
    assert client.trigger("x").runs == (rc.Run(run_id="r", status="dead_letter", error="bad"),)
    server.reply("Quiesce", ops_pb2.QuiesceResponse(quiesced=True, drained=4))
    assert client.quiesce().drained == 4
    server.reply("Rebuild", ops_pb2.RebuildResponse(started=True))
    assert client.rebuild().started
    server.reply("Delete", pb.DeleteResponse(deleted=3))
    assert client.delete(user_id="u", everything=True).deleted == 3


def test_a_word_of_a_later_version_does_not_break_reading(server: Any, client: rc.Client) -> None:
    response = pb.FlushResponse()
    response.MergeFromString(b"\x08\x63")  # status = 99
    server.reply("Flush", response)
    assert client.flush("s").status == "99"


def test_an_answer_above_the_stock_limit_of_grpc_is_received(
    server: Any, client: rc.Client
) -> None:
    episode = pb.SearchEpisodeItem(id="e", episode="x" * (5 * 1024 * 1024), timestamp=STAMP)
    server.reply("Search", pb.SearchResponse(episodes=[episode]))
    assert len(client.search("q", user_id="u").episodes[0].episode) == 5 * 1024 * 1024


def _parts_of_a_search() -> list[pb.SearchResponse]:
    """What a server answers whose client receives little."""
    parts = [pb.SearchResponse(), pb.SearchResponse(), pb.SearchResponse()]
    for number, part in enumerate(parts):
        part.episodes.add(id=f"e{number}", timestamp=STAMP)
        if number < 2:
            part.truncated = True
            part.next_page_token = f"token-{number}"
    parts[2].unprocessed_messages.add(id="m", text="waiting", timestamp=STAMP)
    return parts


def test_an_answer_in_parts_is_given_whole(server: Any, client: rc.Client) -> None:
    server.reply("Search", *_parts_of_a_search())
    found = client.search("q", user_id="u", top_k=3)
    assert [episode.id for episode in found.episodes] == ["e0", "e1", "e2"]
    assert [message.id for message in found.unprocessed_messages] == ["m"]
    requests = [received.request for received in server.received]
    assert [request.page_token for request in requests] == ["", "token-0", "token-1"]
    for request in requests:
        request.ClearField("page_token")
        assert request == requests[0]


async def test_the_async_client_gives_an_answer_in_parts_whole(server: Any) -> None:
    server.reply("Search", *_parts_of_a_search())
    async with rc.AsyncClient(server.address) as client:
        found = await client.search("q", user_id="u")
    assert [episode.id for episode in found.episodes] == ["e0", "e1", "e2"]


def test_a_listing_in_parts_counts_all_of_its_page(server: Any, client: rc.Client) -> None:
    first = pb.GetResponse(total_count=7, count=1, truncated=True, next_page_token="t")
    first.episodes.add(id="e0", timestamp=STAMP)
    second = pb.GetResponse(total_count=7, count=2)
    second.episodes.add(id="e1", timestamp=STAMP)
    second.episodes.add(id="e2", timestamp=STAMP)
    server.reply("Get", first, second)
    page = client.get("episode", user_id="u")
    assert [episode.id for episode in page.episodes] == ["e0", "e1", "e2"]
    assert (page.count, page.total_count) == (3, 7)


def test_the_server_is_told_how_much_the_client_receives(server: Any, client: rc.Client) -> None:
    client.search("q", user_id="u")
    client.get("episode", user_id="u")
    client.flush("s")
    told = [received.metadata.get("x-max-response-bytes") for received in server.received]
    assert told == [str(64 * 1024 * 1024)] * 2 + [None]


def test_results_cannot_be_changed(server: Any, client: rc.Client) -> None:
    result = client.flush("s")
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.status = "queued"  # type: ignore[misc]


@pytest.mark.parametrize("call", ["get_job", "retry_job", "drop_job"])
def test_a_job_comes_back_as_a_value(server: Any, client: rc.Client, call: str) -> None:
    job = jobs_pb2.Job(
        id=7,
        stage="facts",
        status=jobs_pb2.JOB_STATUS_WAITING_RETRY,
        user_id="alice",
        attempts=1,
        maximum_attempts=5,
        error="storage is full",
    )
    job.created_at.CopyFrom(STAMP)
    job.next_attempt_at.FromMilliseconds(STAMP.ToMilliseconds() + 1500)
    name = "".join(part.capitalize() for part in call.split("_"))
    server.reply(name, getattr(jobs_pb2, f"{name}Response")(job=job))
    found = getattr(client, call)(7)
    assert (found.id, found.stage, found.status) == (7, "facts", "waiting_retry")
    assert (found.user_id, found.agent_id, found.finished_at) == ("alice", None, None)
    assert (found.next_attempt_at - found.created_at).total_seconds() == 1.5
