"""The two surfaces with as little client as possible, so that it is the server that is timed."""

from __future__ import annotations

from collections.abc import Mapping
from http.client import HTTPConnection
from typing import Any, Protocol

import grpc
import orjson
from google.protobuf.message import Message as ProtobufMessage

from remanence.v2 import memory_pb2, memory_pb2_grpc
from tests.blackbox.surfaces import build

_TIMEOUT_SECONDS = 120


class Surface(Protocol):
    """A connection to the server. What `prepare` makes is made outside the time measured."""

    name: str

    def prepare(self, method: str, body: Mapping[str, Any]) -> Any:
        """A request of `add`, `flush`, `search` or `get`, ready to be sent."""
        ...

    def send(self, method: str, request: Any) -> Any:
        """The decoded answer. Raises when the call fails."""
        ...

    def close(self) -> None:
        """Ends the connection."""
        ...


class HttpSurface:
    """JSON over one kept connection; answers are the `data` of the envelope."""

    name = "http"

    def __init__(self, address: str) -> None:
        self._connection = HTTPConnection(address, timeout=_TIMEOUT_SECONDS)

    def prepare(self, method: str, body: Mapping[str, Any]) -> bytes:
        """The body as bytes."""
        return orjson.dumps(body)

    def send(self, method: str, request: bytes) -> Any:
        """Posts and reads the answer."""
        headers = {"Content-Type": "application/json"}
        self._connection.request("POST", f"/api/v2/memory/{method}", request, headers)
        response = self._connection.getresponse()
        payload = orjson.loads(response.read())
        if response.status >= 400:
            raise RuntimeError(f"{method} answered {response.status}")
        return payload["data"]

    def close(self) -> None:
        """Ends the connection."""
        self._connection.close()


class GrpcSurface:
    """Protobuf over one channel; answers are messages."""

    name = "grpc"

    def __init__(self, address: str) -> None:
        self._channel = grpc.insecure_channel(address)
        self._memory = memory_pb2_grpc.MemoryServiceStub(self._channel)

    def prepare(self, method: str, body: Mapping[str, Any]) -> ProtobufMessage:
        """The typed request."""
        return grpc_request(method, body)

    def send(self, method: str, request: ProtobufMessage) -> Any:
        """Calls and waits."""
        return getattr(self._memory, method.capitalize())(request, timeout=_TIMEOUT_SECONDS)

    def close(self) -> None:
        """Ends the channel."""
        self._channel.close()


def grpc_request(method: str, body: Mapping[str, Any]) -> ProtobufMessage:
    """A JSON body as the typed request of a method."""
    return build(getattr(memory_pb2, f"{method.capitalize()}Request"), body)
