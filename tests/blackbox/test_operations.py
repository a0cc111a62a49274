"""What operators see of calls: refusals of the gRPC library, and the log."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2

from remanence_server.runtime.errors import ErrorCode
from tests.blackbox.conftest import said
from tests.blackbox.surfaces import GrpcSurface, HttpSurface
from tests.support.server_process import start_server


@pytest.mark.parametrize(
    ("method", "request_bytes", "status", "code"),
    [
        ("/remanence.v2.MemoryService/Forget", b"", "UNIMPLEMENTED", ErrorCode.METHOD_NOT_ALLOWED),
        ("/remanence.v9.MemoryService/Add", b"", "UNIMPLEMENTED", ErrorCode.METHOD_NOT_ALLOWED),
        ("/remanence.v2.MemoryService/Add", b"\xff", "INVALID_ARGUMENT", ErrorCode.BAD_REQUEST),
    ],
)
def test_a_call_that_no_servicer_sees_is_refused_with_details(
    grpc_surface: GrpcSurface, method: str, request_bytes: bytes, status: str, code: ErrorCode
) -> None:
    call: Any = grpc_surface.channel.unary_unary(method)
    with pytest.raises(grpc.RpcError) as raised:
        call(request_bytes, timeout=10)
    error: Any = raised.value
    assert error.code().name == status
    trailing: dict[str, Any] = dict(error.trailing_metadata())
    assert len(trailing["x-request-id"]) == 32
    details = status_pb2.Status.FromString(trailing["grpc-status-details-bin"])
    assert details.message == error.details()
    info = error_details_pb2.ErrorInfo()
    assert details.details[0].Unpack(info)
    assert (info.reason, info.domain) == (code.value, "remanence")


def test_unknown_methods_of_any_streaming_kind_are_refused_at_once(
    grpc_surface: GrpcSurface,
) -> None:
    method = "/remanence.v2.MemoryService/Forget"
    channel: Any = grpc_surface.channel
    calls: tuple[Callable[[], object], ...] = (
        lambda: list(channel.unary_stream(method)(b"", timeout=10)),
        lambda: channel.stream_unary(method)(iter([b"", b""]), timeout=10),
        lambda: list(channel.stream_stream(method)(iter([b""]), timeout=10)),
    )
    for call in calls:
        with pytest.raises(grpc.RpcError) as raised:
            call()
        assert raised.value.code() is grpc.StatusCode.UNIMPLEMENTED


def test_a_json_log_is_json_throughout_and_holds_no_text_of_anybody(tmp_path: Path) -> None:
    server = start_server(
        tmp_path / "root",
        REMANENCE_EMBEDDINGS__PROVIDER="hashing",
        REMANENCE_LOG__LEVEL="debug",
        REMANENCE_LOG__FORMAT="json",
    )
    http, grpc_surface = HttpSurface(server.http), GrpcSurface(server.grpc)
    secret = "Zanzibarine"
    ids: dict[str, str] = {}
    for surface in (http, grpc_surface):
        user, session = f"user-{surface.name}", f"session-{surface.name}"
        message = said(f"My {secret} bike is blue.", user)
        body = {"session_id": session, "messages": [message], "defer_extraction": True}
        ids[surface.name] = surface.call("add", body).request_id
        surface.call("flush", {"session_id": session})
        queued = {"session_id": f"q-{session}", "messages": [message], "async_mode": True}
        surface.call("add", queued)
        for method in ("keyword", "vector", "hybrid", "agentic"):
            surface.call("search", {"user_id": user, "query": f"{secret} bike", "method": method})
        surface.call("search", {"user_id": user, "query": secret, "top_k": 0})
        surface.call("add", {"session_id": session, "messages": [{**message, "sender_id": ""}]})
        surface.call("get", {"user_id": user, "memory_type": "profile"})
    http.client.post("/api/v2/memory/add", content=f'{{"session_id": "{secret}')
    http.client.get(f"/api/v2/tasks/{secret}")
    http.client.get(f"/{secret}")
    for method, request in (("Add", secret.encode()), (secret, b"")):
        call: Any = grpc_surface.channel.unary_unary(f"/remanence.v2.MemoryService/{method}")
        with pytest.raises(grpc.RpcError):
            call(request)
    assert server.stop() == 0
    assert secret not in server.log
    lines = [json.loads(line) for line in server.log.splitlines()]
    assert all({"event", "level", "logger", "timestamp"} <= line.keys() for line in lines)
    requests = {line["request_id"]: line for line in lines if line["event"] == "request_answered"}
    added = requests[ids["http"]]
    assert added["route"] == "/api/v2/memory/add"
    assert (added["status"], added["code"]) == ("200", "OK")
    assert added["duration_ms"] > 0
    assert requests[ids["grpc"]]["route"] == "/remanence.v2.MemoryService/Add"
