"""A gRPC server on loopback that answers what a test tells it to."""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.rpc import status_pb2

from remanence.v2 import jobs_pb2, memory_pb2, ome_pb2, ops_pb2, tasks_pb2

REQUEST_ID = "0123456789abcdef0123456789abcdef"


@dataclass(frozen=True)
class Failure:
    """An error answer; `details` are packed as `google.rpc.Status` carries them."""

    code: grpc.StatusCode
    message: str
    details: Sequence[Message] = ()


@dataclass
class Received:
    """A request as it arrived."""

    method: str
    request: Any
    metadata: dict[str, str | bytes]
    seconds_allowed: float


@dataclass
class ScriptedServer:
    """Answers each call with the next reply for its method; a method without one gets a default."""

    address: str = ""
    received: list[Received] = field(default_factory=list)
    replies: dict[str, deque[Message | Failure]] = field(default_factory=lambda: defaultdict(deque))
    # While unset, calls hang until their deadline.
    answering: threading.Event = field(default_factory=threading.Event)

    def reply(self, method: str, *replies: Message) -> None:
        self.replies[method].extend(replies)

    def fail(self, method: str, code: grpc.StatusCode, message: str, *details: Message) -> None:
        self.replies[method].append(Failure(code, message, details))

    def answer(self, method: MethodDescriptor, request: Any, context: grpc.ServicerContext) -> Any:
        self.received.append(
            Received(
                method.name,
                request,
                dict(context.invocation_metadata()),
                context.time_remaining(),
            )
        )
        self.answering.wait(timeout=5)
        trailing: list[tuple[str, str | bytes]] = [("x-request-id", REQUEST_ID)]
        queue = self.replies[method.name]
        reply = queue.popleft() if queue else GetMessageClass(method.output_type)()
        if isinstance(reply, Failure):
            if reply.details:
                status = status_pb2.Status(code=reply.code.value[0], message=reply.message)
                for detail in reply.details:
                    status.details.add().Pack(detail)
                trailing.append(("grpc-status-details-bin", status.SerializeToString()))
            context.set_trailing_metadata(tuple(trailing))
            context.abort(reply.code, reply.message)
        context.set_trailing_metadata(tuple(trailing))
        return reply


def _handlers(script: ScriptedServer) -> list[grpc.GenericRpcHandler]:
    def behaviour(method: MethodDescriptor) -> Callable[[Any, grpc.ServicerContext], Any]:
        return lambda request, context: script.answer(method, request, context)

    return [
        grpc.method_handlers_generic_handler(
            service.full_name,
            {
                method.name: grpc.unary_unary_rpc_method_handler(
                    behaviour(method),
                    request_deserializer=GetMessageClass(method.input_type).FromString,
                    response_serializer=GetMessageClass(method.output_type).SerializeToString,
                )
                for method in service.methods
            },
        )
        for module in (memory_pb2, tasks_pb2, jobs_pb2, ome_pb2, ops_pb2)
        for service in module.DESCRIPTOR.services_by_name.values()
    ]


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    script = ScriptedServer()
    script.answering.set()
    grpc_server = grpc.server(
        ThreadPoolExecutor(max_workers=4),
        handlers=_handlers(script),
        options=[("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)],
    )
    port = grpc_server.add_insecure_port("127.0.0.1:0")
    grpc_server.start()
    script.address = f"127.0.0.1:{port}"
    yield script
    script.answering.set()
    grpc_server.stop(grace=None).wait()
