"""A small memory server on loopback, and the command line run in this process."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf import timestamp_pb2
from google.rpc import error_details_pb2, status_pb2

from remanence.v2 import memory_pb2 as pb
from remanence.v2 import (
    memory_pb2_grpc,
    ops_pb2,
    ops_pb2_grpc,
    tasks_pb2,
    tasks_pb2_grpc,
    transfer_pb2,
    transfer_pb2_grpc,
)
from remanence_server.cli.main import main


@dataclass
class MemoryServer(
    memory_pb2_grpc.MemoryServiceServicer,
    ops_pb2_grpc.OpsServiceServicer,
    tasks_pb2_grpc.TaskServiceServicer,
    transfer_pb2_grpc.TransferServiceServicer,
):
    """Keeps messages by session and id, and what it was asked."""

    address: str = ""
    # Messages by session, once for each id.
    sessions: dict[str, dict[str, pb.MessageItem]] = field(default_factory=dict)
    adds: list[pb.AddRequest] = field(default_factory=list)
    flushed: list[str] = field(default_factory=list)
    requests: list[Any] = field(default_factory=list)
    # What an export or a backup sends, and what an import brought.
    files: dict[str, bytes] = field(default_factory=dict)
    imported: list[transfer_pb2.ImportOwnerRequest] = field(default_factory=list)
    task: tasks_pb2.GetTaskResponse = field(default_factory=tasks_pb2.GetTaskResponse)
    # Answers to come; the last one stays.
    search_responses: list[pb.SearchResponse] = field(default_factory=lambda: [pb.SearchResponse()])
    get_response: pb.GetResponse = field(default_factory=pb.GetResponse)
    health: ops_pb2.GetHealthResponse = field(
        default_factory=lambda: ops_pb2.GetHealthResponse(status="ok", version="0.1.0")
    )
    # A session whose third message is refused.
    refused_session: str = ""
    # After so many adds the server is gone.
    adds_until_unreachable: int = 1_000_000

    def Add(self, request: pb.AddRequest, context: grpc.ServicerContext) -> pb.AddResponse:
        if len(self.adds) >= self.adds_until_unreachable:
            context.abort(grpc.StatusCode.UNAVAILABLE, "gone")
        self.adds.append(request)
        if request.session_id == self.refused_session:
            self._refuse(context, "String should match pattern", "messages.2.sender_id")
        kept = self.sessions.setdefault(request.session_id, {})
        known = sum(message.message_id in kept for message in request.messages)
        for message in request.messages:
            kept.setdefault(message.message_id, message)
        return pb.AddResponse(
            message_count=len(request.messages),
            known_count=known or None,
            status=pb.ADD_STATUS_QUEUED if request.async_mode else pb.ADD_STATUS_ACCUMULATED,
        )

    def Flush(self, request: pb.FlushRequest, context: grpc.ServicerContext) -> pb.FlushResponse:
        self.requests.append(request)
        self.flushed.append(request.session_id)
        return pb.FlushResponse(status=pb.FLUSH_STATUS_EXTRACTED)

    def Search(self, request: pb.SearchRequest, context: grpc.ServicerContext) -> pb.SearchResponse:
        self.requests.append(request)
        return (
            self.search_responses.pop(0) if self.search_responses[1:] else self.search_responses[0]
        )

    def Get(self, request: pb.GetRequest, context: grpc.ServicerContext) -> pb.GetResponse:
        self.requests.append(request)
        return self.get_response

    def GetHealth(self, request: Any, context: grpc.ServicerContext) -> ops_pb2.GetHealthResponse:
        return self.health

    def GetTask(self, request: Any, context: grpc.ServicerContext) -> Any:
        self.requests.append(request)
        return self.task

    def ListTasks(self, request: Any, context: grpc.ServicerContext) -> Any:
        self.requests.append(request)
        return tasks_pb2.ListTasksResponse(total=0, page=1, page_size=20)

    def ExportOwner(self, request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        self.requests.append(request)
        for path, data in self.files.items():
            chunk = transfer_pb2.FileChunk(path=path, data=data, last=True)
            yield transfer_pb2.ExportOwnerResponse(chunk=chunk)

    def Backup(self, request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        for response in self.ExportOwner(request, context):
            yield transfer_pb2.BackupResponse(chunk=response.chunk)

    def ImportOwner(self, request_iterator: Any, context: grpc.ServicerContext) -> Any:
        self.imported += request_iterator
        return transfer_pb2.ImportOwnerResponse(imported=4, present=1)

    def Delete(self, request: pb.DeleteRequest, context: grpc.ServicerContext) -> pb.DeleteResponse:
        self.requests.append(request)
        return pb.DeleteResponse(deleted=3, episodes=1, atomic_facts=2)

    def Quiesce(self, request: Any, context: grpc.ServicerContext) -> ops_pb2.QuiesceResponse:
        raise NotImplementedError

    def GetLiveness(self, request: Any, context: grpc.ServicerContext) -> Any:
        raise NotImplementedError

    def GetReadiness(self, request: Any, context: grpc.ServicerContext) -> Any:
        raise NotImplementedError

    def Rebuild(self, request: Any, context: grpc.ServicerContext) -> Any:
        raise NotImplementedError

    def _refuse(self, context: grpc.ServicerContext, message: str, name: str) -> None:
        violation = error_details_pb2.BadRequest.FieldViolation(field=name)
        status = status_pb2.Status(code=3, message=message)
        status.details.add().Pack(error_details_pb2.ErrorInfo(reason="INVALID_INPUT"))
        status.details.add().Pack(error_details_pb2.BadRequest(field_violations=[violation]))
        context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
        context.abort(grpc.StatusCode.INVALID_ARGUMENT, message)


@pytest.fixture
def memory() -> Iterator[MemoryServer]:
    service = MemoryServer()
    server = grpc.server(ThreadPoolExecutor(2))
    memory_pb2_grpc.add_MemoryServiceServicer_to_server(service, server)
    ops_pb2_grpc.add_OpsServiceServicer_to_server(service, server)
    tasks_pb2_grpc.add_TaskServiceServicer_to_server(service, server)
    transfer_pb2_grpc.add_TransferServiceServicer_to_server(service, server)
    service.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    yield service
    server.stop(grace=None).wait()


@dataclass
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass
class CommandLine:
    """Runs `remanence` with a root of its own and, if there is one, against a server."""

    root: Path
    capture: pytest.CaptureFixture[str]
    monkeypatch: pytest.MonkeyPatch

    def __call__(self, *arguments: object, stdin: str | None = None) -> Outcome:
        if stdin is not None:
            self.monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        self.capture.readouterr()
        code = main([str(argument) for argument in arguments])
        return Outcome(code, *self.capture.readouterr())

    def publish_server(self, address: str, pid: int | None = None) -> None:
        """Leaves the note of a running server in the root."""
        note = {
            "pid": os.getpid() if pid is None else pid,
            "http": "127.0.0.1:1",
            "grpc": address,
            "version": "0.1.0",
            "started_at": "2026-01-01T00:00:00+00:00",
        }
        (self.root / ".run").mkdir(parents=True, exist_ok=True)
        (self.root / ".run" / "server.json").write_text(json.dumps(note), encoding="utf-8")


@pytest.fixture
def cli(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> CommandLine:
    for variable in os.environ:
        if variable.startswith("REMANENCE_"):
            monkeypatch.delenv(variable)
    monkeypatch.setenv("REMANENCE_ROOT", str(tmp_path / "root"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("TZ", "UTC")
    return CommandLine(tmp_path / "root", capsys, monkeypatch)


@pytest.fixture
def connected(cli: CommandLine, memory: MemoryServer) -> CommandLine:
    """The command line with `memory` as the server of its root."""
    cli.publish_server(memory.address)
    return cli


@pytest.fixture
def stamp() -> timestamp_pb2.Timestamp:
    """2026-05-28T11:30:36Z."""
    return timestamp_pb2.Timestamp(seconds=1_779_967_836)
