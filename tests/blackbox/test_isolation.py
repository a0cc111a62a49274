"""Nothing of one owner or scope is reached from another, by any call of the contract.

`CHECKS` names every RPC of the descriptors. One that is added without an entry fails the test until
somebody says how its isolation is checked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor import MethodDescriptor

from remanence.v2 import (
    jobs_pb2,
    knowledge_pb2,
    knowledge_pb2_grpc,
    memory_pb2,
    ome_pb2,
    ome_pb2_grpc,
    ops_pb2,
    tasks_pb2,
    transfer_pb2,
    transfer_pb2_grpc,
)
from tests.blackbox.conftest import eventually, said
from tests.blackbox.surfaces import GrpcSurface, HttpSurface, Surface
from tests.support.server_process import ServerProcess, start_server

DAY_MS = 24 * 3600 * 1000
FILLERS = 200
SCOPE = {"app_id": "a", "project_id": "p"}
ME = {"user_id": "u1", **SCOPE}
# What each owner said; all say "quagga" as well.
MINE, OTHERS = "marker-mine", re.compile(r"marker-(project|app|user|agent|buffer|prey)")

# Names that look like u1, or that a store might take for more than a name.
LOOKALIKES = (
    "u1 ",
    " u1",
    "U1",
    "u1*",
    "u1%",
    "u_",
    "*",
    "u1' OR '1'='1",
    "u1\x00",
    "u1\n",
    "u1/../u2",
    "users/u1",
    "a/p/users/u1",
    "\uff551",  # fullwidth u
    "u\uff11",  # fullwidth 1
    "u1\u0301",  # a combining mark
    "u1\u200b",  # zero width
    "u\u00b9",  # superscript 1
    "\u03c51",  # upsilon
)
SCOPE_LOOKALIKES = ("A", "a ", "a*", "%", "a/p", "\uff41", "..", "", "a\x00")
STRANGERS: tuple[dict[str, str], ...] = (
    *({"user_id": name, **SCOPE} for name in LOOKALIKES),
    *({"agent_id": name, **SCOPE} for name in LOOKALIKES),
    *({"user_id": "u1", "app_id": name, "project_id": "p"} for name in SCOPE_LOOKALIKES),
    *({"user_id": "u1", "app_id": "a", "project_id": name} for name in SCOPE_LOOKALIKES),
    {"user_id": "u1", "app_id": "p", "project_id": "a"},
    {"user_id": "u1"},
    {"user_id": "nobody", **SCOPE},
)
METHODS = ("keyword", "vector", "hybrid", "agentic")


@dataclass(frozen=True)
class World:
    """A server that knows several owners, on both surfaces."""

    server: ServerProcess
    http: HttpSurface
    grpc: GrpcSurface
    my_task: str


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    root = tmp_path_factory.mktemp("isolation") / "root"
    server = start_server(root, REMANENCE_EMBEDDINGS__PROVIDER="hashing")
    http = HttpSurface(server.http)
    _remember(http, "s-mine", SCOPE, [said(f"The quagga {MINE} is mine.", "u1")])
    _remember(
        http,
        "s-project",
        {"app_id": "a", "project_id": "q"},
        [said("The quagga marker-project.", "u1")],
    )
    _remember(
        http, "s-app", {"app_id": "b", "project_id": "p"}, [said("The quagga marker-app.", "u1")]
    )
    fillers = [
        said(f"Quagga quagga, the marker-user number {n}.", "u2", n * DAY_MS)
        for n in range(FILLERS)
    ]
    _remember(http, "s-user", SCOPE, fillers)
    _remember(http, "s-agent", SCOPE, _tool_run("u1"))
    _remember(http, "s-prey", SCOPE, [said("The quagga marker-prey is to stay.", "v1")])
    buffered = {"session_id": "s-buffer", **SCOPE, "defer_extraction": True}
    http.call("add", {**buffered, "messages": [said("The quagga marker-buffer.", "u2")]}).ok  # noqa: B018
    queued = http.call("add", {**buffered, "async_mode": True, "messages": [said("x", "u2")]})
    eventually(lambda: http.task(queued.request_id).ok["status"] == "success")
    agent = {"agent_id": "u1", **SCOPE, "memory_type": "agent_case"}
    eventually(lambda: http.call("get", agent).ok["total_count"])
    eventually(lambda: _is_idle(http), 60)
    yield World(server, http, GrpcSurface(server.grpc), queued.request_id)
    assert server.stop() == 0


def _is_idle(http: HttpSurface) -> bool:
    health = http.client.get("/health").json()
    waiting = health["jobs"]["pending"] + health["jobs"]["running"] + health["cascade"]["pending"]
    return waiting == 0


def _remember(
    surface: Surface, session: str, scope: Mapping[str, str], messages: list[dict[str, Any]]
) -> None:
    body = {"session_id": session, **scope}
    surface.call("add", {**body, "messages": messages, "defer_extraction": True}).ok  # noqa: B018
    assert surface.call("flush", body).ok["status"] == "extracted"


def _tool_run(agent: str) -> list[dict[str, Any]]:
    run = [said("Find out why the quagga marker-agent does not start.", "dev")]
    for number in range(4):
        call = {"id": f"c{number}", "function": {"name": "look", "arguments": "{}"}}
        offset = 1000 * (2 * number + 1)
        run.append(said("", agent, offset, "assistant", tool_calls=[call]))
        run.append(said("marker-agent ok", "look", offset + 500, "tool", tool_call_id=f"c{number}"))
    return [*run, said("The quagga marker-agent starts now.", agent, 60_000, "assistant")]


def _sees(answer: Any, whose: re.Pattern[str] | str) -> bool:
    return re.search(whose, str(answer)) is not None


# --------------------------------------------------------------------------------- the checks


def _search(world: World, surface: Surface) -> None:
    for method in METHODS:
        for top_k in (1, 100):
            ask = {"query": "quagga marker", "method": method, "top_k": top_k}
            mine = surface.call("search", {**ME, **ask, "include_profile": True}).ok
            # One of mine among 200 of somebody else's, who says the words more often.
            assert _sees(mine["episodes"], MINE), (method, top_k)
            assert not _sees(mine, OTHERS), (method, top_k)
        for stranger in STRANGERS:
            body = {**stranger, "query": "quagga marker", "method": method, "top_k": 100}
            body |= {"include_profile": True} if "user_id" in stranger else {}
            assert not _sees(surface.call("search", body).ok, "marker-"), body
        agent = {"agent_id": "u1", **SCOPE, "query": "quagga", "method": method}
        found = surface.call("search", agent).ok
        assert _sees(found["agent_cases"], "marker-agent")
        assert not _sees(found, r"marker-(mine|user|project|app|prey)")
        assert not found["episodes"]
        assert not found["profiles"]
    # The buffer of a session belongs to its scope, whoever asks.
    look = {"query": "x", "method": "keyword", "filters": {"session_id": "s-buffer"}}
    assert _sees(surface.call("search", {**ME, **look}).ok, "marker-buffer")
    for stranger in STRANGERS:
        if (stranger.get("app_id"), stranger.get("project_id")) != ("a", "p"):
            assert not _sees(surface.call("search", {**stranger, **look}).ok, "marker-"), stranger


def _get(world: World, surface: Surface) -> None:
    for kind in ("episode", "profile"):
        listed = surface.call("get", {**ME, "memory_type": kind, "page_size": 100}).ok
        assert not _sees(listed, OTHERS), kind
    assert surface.call("get", {**ME, "memory_type": "episode"}).ok["total_count"] == 1
    kinds = {"user_id": ("episode", "profile"), "agent_id": ("agent_case", "agent_skill")}
    for stranger in STRANGERS:
        for kind in kinds["user_id" if "user_id" in stranger else "agent_id"]:
            for filters in (None, {"session_id": "s-mine"}, {"sender_id": "u1"}):
                body = {**stranger, "memory_type": kind, "filters": filters}
                listed = surface.call("get", body).ok
                assert listed["total_count"] == 0, body
                assert not _sees(listed, "marker-"), body
    dev = {"agent_id": "u1", **SCOPE, "memory_type": "agent_case"}
    assert surface.call("get", dev).ok["total_count"] == 1


def _add(world: World, surface: Surface) -> None:
    """A session of the same name in another scope is another session."""
    elsewhere = {"app_id": "a", "project_id": f"add-{surface.name}"}
    body = {"session_id": "s-buffer", **elsewhere, "defer_extraction": True}
    surface.call("add", {**body, "messages": [said("of another", "u2")]}).ok  # noqa: B018
    look = {"query": "x", "method": "keyword", "filters": {"session_id": "s-buffer"}}
    mine = surface.call("search", {**ME, **look}).ok["unprocessed_messages"]
    theirs = surface.call("search", {"user_id": "u1", **elsewhere, **look}).ok
    assert not _sees(mine, "of another")
    assert _sees(theirs, "of another")
    assert not _sees(theirs, "marker-")


def _flush(world: World, surface: Surface) -> None:
    """A flush in another scope extracts nothing of this one."""
    for app, project in (("a", "q"), ("b", "p"), ("A", "p"), ("default", "default")):
        body = {"session_id": "s-buffer", "app_id": app, "project_id": project}
        status = surface.call("flush", body).ok["status"]
        assert status in ("no_extraction", "FLUSH_STATUS_NO_EXTRACTION")
    look = {"query": "x", "method": "keyword", "filters": {"session_id": "s-buffer"}}
    assert _sees(surface.call("search", {**ME, **look}).ok, "marker-buffer")


def _like_prey(name: str) -> str:
    """A name that looks like v1 as the given one looks like u1."""
    pattern = "(?<![a-z])[uU\uff55](?=[1_\uff11\u00b9])"
    return re.sub(pattern, lambda letter: chr(ord(letter[0]) + 1), name)


def _delete(world: World, surface: Surface) -> None:
    """Whoever is not the owner deletes nothing of v1, by no way of naming it."""
    prey = {"user_id": "v1", **SCOPE, "memory_type": "episode"}
    (episode,) = surface.call("get", prey).ok["episodes"]
    number = episode["id"].removeprefix("v1_")
    by_name = (
        {"ids": [episode["id"], episode["id"] + " ", "%", "*"]},
        {"session_id": "s-prey"},
        {"filters": {"session_id": "s-prey"}},
    )
    anything = (*by_name, {"ids": [number, f"u1_{number}", f"v1 _{number}"]}, {"everything": True})
    names = ("user_id", "agent_id")
    strangers = [
        {key: _like_prey(value) if key in names else value for key, value in stranger.items()}
        for stranger in STRANGERS
    ]
    assert _like_prey(ME["user_id"]) == prey["user_id"]
    strangers += [{"agent_id": "v1", **SCOPE}, {"user_id": "w1", **SCOPE}]
    attempts = [{**stranger, **what} for stranger in strangers for what in anything]
    # The owner of other memories of this scope; nobody, in another.
    attempts += [{**ME, **what} for what in by_name]
    attempts += [
        {**scope, "session_id": "s-prey"}
        for name in SCOPE_LOOKALIKES
        for scope in ({"app_id": name, "project_id": "p"}, {"app_id": "a", "project_id": name})
    ]
    for body in attempts:
        answer = surface.call("delete", body)
        if answer.error is None:
            assert answer.ok["deleted"] == 0, body
        else:
            assert answer.code == "INVALID_INPUT", (body, answer)
    assert surface.call("get", prey).ok["total_count"] == 1
    found = surface.call("search", {"user_id": "v1", **SCOPE, "query": "quagga"}).ok
    assert _sees(found["episodes"], "marker-prey")


def _get_task(world: World, surface: Surface) -> None:
    """The id is the secret: 32 random digits, and nothing but all of them is an id."""
    assert re.fullmatch(r"[0-9a-f]{32}", world.my_task)
    guesses = (world.my_task[:-1], world.my_task.upper(), world.my_task + " ", "%", "*", "0" * 32)
    for guess in guesses:
        if guess != world.my_task:
            assert surface.task(guess).code == "NOT_FOUND", guess
    assert not _sees(surface.task(world.my_task).ok, "marker-")


def _list_tasks(world: World, surface: Surface) -> None:
    mine = surface.tasks(**SCOPE).ok
    assert [item["id"] for item in mine["items"]] == [world.my_task]
    assert not _sees(mine, "marker-")
    scopes = [("a", name) for name in SCOPE_LOOKALIKES] + [(name, "p") for name in SCOPE_LOOKALIKES]
    for app, project in (*scopes, ("default", "default"), ("p", "a")):
        for session in ({}, {"session_id": "s-buffer"}):
            listed = surface.tasks(app_id=app, project_id=project, **session).ok
            assert listed["total"] == 0, (app, project, session)


def _jobs_of(surface: Surface, app: str, project: str) -> list[Any]:
    return list(surface.jobs(app_id=app, project_id=project, page_size=100).ok["items"])


def _list_jobs(world: World, surface: Surface) -> None:
    mine = _jobs_of(surface, "a", "p")
    assert mine
    assert not _sees(mine, "marker-")
    assert {(job["app_id"], job["project_id"]) for job in mine} == {("a", "p")}
    for name in SCOPE_LOOKALIKES:
        assert _jobs_of(surface, name, "p") == []
        assert _jobs_of(surface, "a", name) == []


def _one_job(action: str) -> Callable[[World, Surface], None]:
    def check(world: World, surface: Surface) -> None:
        (job, *_) = _jobs_of(surface, "a", "p")
        own = surface.job("get", int(job["id"]), **SCOPE).ok
        for name in SCOPE_LOOKALIKES:
            for scope in (
                {"app_id": name, "project_id": "p"},
                {"app_id": "a", "project_id": name},
            ):
                answer = surface.job(action, int(job["id"]), **scope)
                assert answer.code == "NOT_FOUND", (scope, answer)
        assert surface.job(action, int(job["id"])).code == "NOT_FOUND"
        assert surface.job("get", int(job["id"]), **SCOPE).ok == own

    return check


def _exported(world: World, who: Mapping[str, str]) -> dict[str, bytes]:
    """The files of an export."""
    transfer = transfer_pb2_grpc.TransferServiceStub(world.grpc.channel)
    files: dict[str, bytes] = {}
    path = ""
    for part in transfer.ExportOwner(transfer_pb2.ExportOwnerRequest(**who), timeout=30):
        path = part.chunk.path or path
        files[path] = files.get(path, b"") + part.chunk.data
    return files


def _export_owner(world: World, surface: Surface) -> None:
    mine = b"".join(_exported(world, ME).values()).decode()
    assert MINE in mine
    assert not _sees(mine, OTHERS)
    agent = b"".join(_exported(world, {"agent_id": "u1", **SCOPE}).values()).decode()
    assert "marker-agent" in agent
    assert not _sees(agent, r"marker-(mine|user|project|app|prey|buffer)")
    for stranger in STRANGERS:
        try:
            files = _exported(world, stranger)
        except grpc.RpcError as error:
            assert error.code() is grpc.StatusCode.INVALID_ARGUMENT, (stranger, error)
        else:
            assert b"marker-" not in b"".join(files.values()), stranger
            assert all(".." not in name.split("/") and name[0] != "/" for name in files), stranger


def _import_owner(world: World, surface: Surface) -> None:
    """What is taken in is the target's, whatever owner its lines name."""
    transfer = transfer_pb2_grpc.TransferServiceStub(world.grpc.channel)
    records = _exported(world, ME)["memories.jsonl"]
    lines = [json.loads(line) for line in records.splitlines()]
    for line in lines:
        scope = {"app_id": "a", "project_id": "p"}
        line |= {"owner_id": "v1", "user_id": "v1", "parent_id": "v1_ep_20260528_00000001", **scope}
        line["owner"] = {"scope": scope, "track": "user", "owner_id": "v1"}

    def take(**who: str) -> None:
        requests = (
            transfer_pb2.ImportOwnerRequest(target=transfer_pb2.ImportTarget(**who)),
            transfer_pb2.ImportOwnerRequest(chunk="\n".join(map(json.dumps, lines)).encode()),
        )
        transfer.ImportOwner(iter(requests), timeout=30)

    elsewhere = {"app_id": "a", "project_id": f"import-{surface.name}"}
    take(user_id="taker", **elsewhere)
    taken = {"user_id": "taker", **elsewhere, "memory_type": "episode"}
    listed = eventually(lambda: surface.call("get", taken).ok["episodes"])
    assert {(e["user_id"], e["project_id"]) for e in listed} == {
        ("taker", f"import-{surface.name}")
    }
    # None of these names can be written; those that can are somebody else's, and take nothing here.
    for name in ("u1/../v1", "../v1", "users/v1", "v1\x00", "v1 ", "..", "\uff561", "v1%2e"):
        for who in ({"user_id": name, **SCOPE}, {"user_id": "v1", "app_id": name}):
            with pytest.raises(grpc.RpcError) as refused:
                take(**who)
            assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT, who
    for owner in ("u1", "v1"):
        body = {"user_id": owner, **SCOPE, "memory_type": "episode"}
        assert surface.call("get", body).ok["total_count"] == 1, owner


def _not_in_this_build(call: Callable[[GrpcSurface], Any]) -> Callable[[World, Surface], None]:
    """What cannot be called can show nothing; once it can, a real check belongs here."""

    def check(world: World, surface: Surface) -> None:
        with pytest.raises(grpc.RpcError) as raised:
            call(world.grpc)
        assert raised.value.code() is grpc.StatusCode.FAILED_PRECONDITION

    return check


def _knowledge(name: str, request: Any) -> Callable[[World, Surface], None]:
    def call(surface: GrpcSurface) -> Any:
        stub = knowledge_pb2_grpc.KnowledgeServiceStub(surface.channel)
        return getattr(stub, name)(request, timeout=30)

    return _not_in_this_build(call)


def _of_the_whole_root(world: World, surface: Surface) -> None:
    """For whoever runs the service: it names no owner, and the answer of a probe tells of none."""
    assert not _sees(world.http.client.get("/health").text, "marker-|u1|u2|s-")


_METADATA = knowledge_pb2.DocumentMetadata(title="t")
Check = Callable[[World, Surface], None]
CHECKS: dict[str, Check] = {
    "MemoryService.Add": _add,
    "MemoryService.Flush": _flush,
    "MemoryService.Search": _search,
    "MemoryService.Get": _get,
    "MemoryService.Delete": _delete,
    "TaskService.GetTask": _get_task,
    "TaskService.ListTasks": _list_tasks,
    "JobService.ListJobs": _list_jobs,
    "JobService.GetJob": _one_job("get"),
    "JobService.RetryJob": _one_job("retry"),
    "JobService.DropJob": _one_job("drop"),
    "TransferService.ExportOwner": _export_owner,
    "TransferService.ImportOwner": _import_owner,
    "TransferService.Backup": _of_the_whole_root,
    "OmeService.Trigger": _not_in_this_build(
        lambda surface: ome_pb2_grpc.OmeServiceStub(surface.channel).Trigger(
            ome_pb2.TriggerRequest(name="reflect_episodes"), timeout=30
        )
    ),
    "KnowledgeService.CreateDocument": _knowledge(
        "CreateDocument", iter([knowledge_pb2.CreateDocumentRequest(metadata=_METADATA)])
    ),
    "KnowledgeService.ReplaceDocument": _knowledge(
        "ReplaceDocument",
        iter(
            [
                knowledge_pb2.ReplaceDocumentRequest(
                    metadata=knowledge_pb2.DocumentMetadata(title="t", doc_id="d_" + "0" * 12)
                )
            ]
        ),
    ),
    "KnowledgeService.ListDocuments": _knowledge(
        "ListDocuments", knowledge_pb2.ListDocumentsRequest()
    ),
    "KnowledgeService.GetDocument": _knowledge(
        "GetDocument", knowledge_pb2.GetDocumentRequest(doc_id="d")
    ),
    "KnowledgeService.UpdateDocument": _knowledge(
        "UpdateDocument", knowledge_pb2.UpdateDocumentRequest(doc_id="d", title="t")
    ),
    "KnowledgeService.DeleteDocument": _knowledge(
        "DeleteDocument", knowledge_pb2.DeleteDocumentRequest(doc_id="d")
    ),
    "KnowledgeService.GetTopic": _knowledge(
        "GetTopic", knowledge_pb2.GetTopicRequest(topic_id="t")
    ),
    "KnowledgeService.SearchTopics": _knowledge(
        "SearchTopics", knowledge_pb2.SearchTopicsRequest(query="q")
    ),
    "KnowledgeService.ListCategories": _knowledge(
        "ListCategories", knowledge_pb2.ListCategoriesRequest()
    ),
    "OpsService.GetHealth": _of_the_whole_root,
    "OpsService.GetLiveness": _of_the_whole_root,
    "OpsService.GetReadiness": _of_the_whole_root,
    "OpsService.Quiesce": _of_the_whole_root,
    "OpsService.Rebuild": _of_the_whole_root,
}
_FILES = (memory_pb2, tasks_pb2, jobs_pb2, transfer_pb2, ome_pb2, knowledge_pb2, ops_pb2)
METHODS_OF_THE_CONTRACT: dict[str, MethodDescriptor] = {
    f"{service.name}.{method.name}": method
    for file in _FILES
    for service in file.DESCRIPTOR.services_by_name.values()
    for method in service.methods
}


def test_every_call_of_the_contract_says_how_its_isolation_is_checked() -> None:
    assert CHECKS.keys() == METHODS_OF_THE_CONTRACT.keys()


def test_a_call_for_the_whole_root_names_nobody() -> None:
    for name, check in CHECKS.items():
        if check is _of_the_whole_root:
            assert not METHODS_OF_THE_CONTRACT[name].input_type.fields, name


@pytest.mark.slow
@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize("surface_name", ["http", "grpc"])
def test_nothing_of_another_owner_or_scope_is_reached(
    world: World, name: str, surface_name: str
) -> None:
    CHECKS[name](world, world.http if surface_name == "http" else world.grpc)
