"""Files that come and go: folders that are whole or not there, and what a server may not do."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import pytest

import remanence_client as rc
from remanence.v2 import transfer_pb2 as pb
from remanence.v2 import transfer_pb2_grpc

type _Run = Callable[..., Any]


@dataclass
class Files(transfer_pb2_grpc.TransferServiceServicer):
    """Sends the chunks it is told to, and keeps what it is sent."""

    address: str = ""
    chunks: list[pb.FileChunk] = field(default_factory=list)
    fails_at_the_end: bool = False
    requests: list[Any] = field(default_factory=list)

    def ExportOwner(self, request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        self.requests.append(request)
        yield from (pb.ExportOwnerResponse(chunk=chunk) for chunk in self.chunks)
        if self.fails_at_the_end:
            context.abort(grpc.StatusCode.UNAVAILABLE, "gone")

    def Backup(self, request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        yield from (pb.BackupResponse(chunk=chunk) for chunk in self.chunks)

    def ImportOwner(self, request_iterator: Any, context: grpc.ServicerContext) -> Any:
        self.requests += request_iterator
        return pb.ImportOwnerResponse(imported=2, present=3)


@pytest.fixture
def files() -> Iterator[Files]:
    service = Files()
    server = grpc.server(ThreadPoolExecutor(2))
    transfer_pb2_grpc.add_TransferServiceServicer_to_server(service, server)
    service.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    yield service
    server.stop(grace=None).wait()


@pytest.fixture(params=[rc.Client, rc.AsyncClient])
def run(request: pytest.FixtureRequest, files: Files) -> _Run:
    """Calls a method of a client of either kind."""

    def call(name: str, *arguments: Any, **named: Any) -> Any:
        if request.param is rc.Client:
            with rc.Client(files.address) as client:
                return getattr(client, name)(*arguments, **named)

        async def called() -> Any:
            async with rc.AsyncClient(files.address) as client:
                result = getattr(client, name)(*arguments, **named)
                assert inspect.isawaitable(result)
                return await result

        return asyncio.run(called())

    return call


def chunk(path: str | None, data: bytes, last: bool = True) -> pb.FileChunk:
    return pb.FileChunk(path=path, data=data, last=last)


def test_files_arrive_whole_in_a_folder_for_its_owner_alone(
    run: _Run, files: Files, tmp_path: Path
) -> None:
    files.chunks = [
        chunk("a/.b/c.md", b"one ", last=False),
        chunk(None, b"two"),
        chunk("empty", b""),
    ]
    (tmp_path / "out").mkdir()
    received = run("export_owner", tmp_path / "out", agent_id="coder", app_id="x")
    assert received == rc.ReceivedFiles(files=2, size_bytes=7)
    assert (tmp_path / "out" / "a" / ".b" / "c.md").read_bytes() == b"one two"
    assert (tmp_path / "out" / "empty").read_bytes() == b""
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "out" / "empty").stat().st_mode & 0o777 == 0o600
    assert not (tmp_path / "out.partial").exists()
    assert files.requests == [pb.ExportOwnerRequest(agent_id="coder", app_id="x")]
    assert run("backup", tmp_path / "deep" / "backup").files == 2


@pytest.mark.parametrize(
    "chunks",
    [
        [chunk("../outside", b"x")],
        [chunk("/outside", b"x")],
        [chunk("a/../../outside", b"x")],
        [chunk("", b"x")],
        [chunk("nul\0", b"x")],
        [chunk(None, b"no name")],
        [chunk("a", b"x", last=False), chunk("b", b"x")],
        [chunk("a", b"x", last=False)],
    ],
)
def test_what_is_no_file_inside_the_folder_is_refused_and_nothing_stays(
    run: _Run, files: Files, tmp_path: Path, chunks: list[pb.FileChunk]
) -> None:
    files.chunks = [chunk("first", b"x"), *chunks]
    with pytest.raises(rc.RemanenceError, match="do not make up files"):
        run("backup", tmp_path / "in" / "out")
    assert list((tmp_path / "in").iterdir()) == []
    assert not (tmp_path / "outside").exists()


def test_a_transfer_that_fails_leaves_nothing(run: _Run, files: Files, tmp_path: Path) -> None:
    files.chunks, files.fails_at_the_end = [chunk("a", b"x")], True
    with pytest.raises(rc.ServerUnreachableError):
        run("export_owner", tmp_path / "out", user_id="alice")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_something_in_it_is_left_alone(
    run: _Run, files: Files, tmp_path: Path
) -> None:
    (tmp_path / "mine").write_text("keep")
    for there in (tmp_path, tmp_path / "mine", Path("/")):
        with pytest.raises(rc.InvalidInputError, match="not empty"):
            run("backup", there)
    (tmp_path / "new.partial").mkdir()
    with pytest.raises(rc.InvalidInputError, match="cut off"):
        run("backup", tmp_path / "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "new.partial"]


def test_records_are_sent_in_pieces_behind_their_target(
    run: _Run, files: Files, tmp_path: Path
) -> None:
    data = b"x" * 600_000
    (tmp_path / "memories.jsonl").write_bytes(data)
    for source in (tmp_path, tmp_path / "memories.jsonl"):
        files.requests.clear()
        result = run("import_owner", source, user_id="bob", project_id="p")
        assert result == rc.ImportResult(imported=2, present=3)
        first, *rest = files.requests
        assert first.target == pb.ImportTarget(user_id="bob", project_id="p")
        assert b"".join(each.chunk for each in rest) == data
        assert max(len(each.chunk) for each in rest) == 256 * 1024
    with pytest.raises(rc.InvalidInputError, match=r"memories\.jsonl"):
        run("import_owner", tmp_path / "none", user_id="bob")
