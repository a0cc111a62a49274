"""The two clients: the same methods, context managers, waiting for a server, public names."""

from __future__ import annotations

import asyncio
import inspect
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest

import remanence_client as rc
from remanence.v2 import memory_pb2 as pb

METHODS = [
    "add",
    "backup",
    "close",
    "delete",
    "drop_job",
    "export_owner",
    "flush",
    "get",
    "get_job",
    "get_task",
    "health",
    "import_owner",
    "list_jobs",
    "list_tasks",
    "quiesce",
    "rebuild",
    "retry_job",
    "search",
    "trigger",
    "wait_until_ready",
]


def test_both_clients_have_the_same_methods_with_the_same_parameters() -> None:
    for client in (rc.Client, rc.AsyncClient):
        public = [name for name in vars(client) if not name.startswith("_")]
        assert sorted(public) == METHODS
    for name in [*METHODS, "__init__"]:
        blocking, other = getattr(rc.Client, name), getattr(rc.AsyncClient, name)
        assert inspect.signature(blocking) == inspect.signature(other), name
        assert inspect.iscoroutinefunction(other) == (name != "__init__"), name


def test_the_public_names_are_these() -> None:
    assert sorted(rc.__all__) == [
        "AccessDeniedError",
        "Activity",
        "AddResult",
        "AgentCase",
        "AgentSkill",
        "AsyncClient",
        "AtomicFact",
        "CapabilityUnavailableError",
        "CascadeHealth",
        "Client",
        "ConflictError",
        "ContentItem",
        "DeadlineExceededError",
        "DeleteResult",
        "Episode",
        "FilterNode",
        "Filters",
        "FlushResult",
        "FoundAgentCase",
        "FoundAgentSkill",
        "FoundEpisode",
        "FoundProfile",
        "Health",
        "HealthCapabilities",
        "ImportResult",
        "InvalidInputError",
        "Job",
        "JobPage",
        "JobsHealth",
        "MarkdownProblem",
        "MemorizeQueueHealth",
        "Message",
        "NotFoundError",
        "Page",
        "PayloadTooLargeError",
        "Profile",
        "QueueSaturatedError",
        "QuiesceResult",
        "RebuildResult",
        "ReceivedFiles",
        "RemanenceError",
        "Run",
        "SearchResult",
        "ServerFaultError",
        "ServerUnreachableError",
        "ServiceUnavailableError",
        "Task",
        "TaskPage",
        "ToolCall",
        "ToolFunction",
        "TriggerResult",
        "UnprocessedMessage",
        "to_json",
    ]
    assert all(hasattr(rc, name) for name in rc.__all__)


async def test_the_async_client_sends_and_reads_the_same(server: Any) -> None:
    server.reply("Add", pb.AddResponse(message_count=1, status=pb.ADD_STATUS_EXTRACTED))
    async with rc.AsyncClient(server.address, metadata={"x-team": "a"}) as client:
        result = await client.add("s1", [rc.Message("alice", "hi", message_id="m")])
        await asyncio.gather(*(client.search(f"q{n}", user_id="alice") for n in range(5)))
    assert result.status == "extracted"
    assert len(result.request_id or "") == 32
    assert server.received[0].request.messages[0].message_id == "m"
    assert server.received[0].metadata["x-team"] == "a"
    assert sorted(r.request.query for r in server.received[1:]) == ["q0", "q1", "q2", "q3", "q4"]


async def test_the_async_client_raises_the_same_errors(server: Any) -> None:
    server.fail("Flush", grpc.StatusCode.UNAVAILABLE, "starting")
    async with rc.AsyncClient(server.address) as client:
        with pytest.raises(rc.ServerUnreachableError) as raised:
            await client.flush("s")
        with pytest.raises(rc.InvalidInputError):
            await client.add("s", [{"sender_id": "a"}])
    assert raised.value.status is grpc.StatusCode.UNAVAILABLE


async def test_cancelling_a_task_cancels_its_call(server: Any) -> None:
    server.answering.clear()
    async with rc.AsyncClient(server.address) as client:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.flush("s"), timeout=0.2)
        server.answering.set()
        assert (await client.health()).status == ""


def test_one_client_serves_many_threads(server: Any) -> None:
    with rc.Client(server.address) as client, ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: client.search(f"q{n}", user_id="u"), range(20)))
    assert len(server.received) == 20


def test_a_closed_client_refuses_calls(server: Any) -> None:
    client = rc.Client(server.address)
    client.close()
    with pytest.raises(ValueError, match="closed"):
        client.health()


def test_waiting_until_ready_ends_when_a_server_appears() -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
    late = grpc.server(ThreadPoolExecutor(2))
    answer: Any = grpc.unary_unary_rpc_method_handler(lambda request, context: b"\n\x02ok")
    late.add_generic_rpc_handlers(
        [grpc.method_handlers_generic_handler("remanence.v2.OpsService", {"GetHealth": answer})]
    )
    late.add_insecure_port(f"127.0.0.1:{port}")
    starting = threading.Timer(0.4, late.start)
    starting.start()
    with rc.Client(f"127.0.0.1:{port}") as client:
        health = client.wait_until_ready(timeout_seconds=10)
    assert health.status == "ok"
    starting.join()
    late.stop(grace=None).wait()


def test_waiting_until_ready_gives_up_after_the_time_allowed() -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{reserved.getsockname()[1]}"
        with rc.Client(address) as client, pytest.raises(rc.DeadlineExceededError):
            client.wait_until_ready(timeout_seconds=0.5)
