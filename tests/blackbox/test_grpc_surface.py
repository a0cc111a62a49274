"""What only gRPC has: reflection, health, channelz, status details."""

from __future__ import annotations

from typing import Any

import grpc
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.rpc import error_details_pb2, status_pb2
from grpc_channelz.v1 import channelz_pb2, channelz_pb2_grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)

from remanence.v2 import memory_pb2
from tests.blackbox.conftest import tell_story
from tests.blackbox.surfaces import GrpcSurface

SERVICES = ("MemoryService", "TaskService", "OmeService", "KnowledgeService", "OpsService")


def _services(channel: grpc.Channel) -> set[str]:
    stub: Any = reflection_pb2_grpc.ServerReflectionStub(channel)
    request = reflection_pb2.ServerReflectionRequest(list_services="")
    (response,) = stub.ServerReflectionInfo(iter((request,)))
    return {service.name for service in response.list_services_response.service}


def test_a_tool_that_knows_nothing_can_list_describe_and_call(
    grpc_surface: GrpcSurface, tag: str
) -> None:
    tell_story(grpc_surface, f"alice{tag}", f"story-{tag}")
    listed = _services(grpc_surface.channel)
    assert {f"remanence.v2.{name}" for name in SERVICES} <= listed
    assert {"grpc.health.v1.Health", "grpc.channelz.v1.Channelz"} <= listed
    # As grpcurl does: descriptors from the server alone, a message built from them, a raw call.
    pool = descriptor_pool.DescriptorPool(ProtoReflectionDescriptorDatabase(grpc_surface.channel))
    service = pool.FindServiceByName("remanence.v2.MemoryService")
    method = service.FindMethodByName("Search")
    request: Any = message_factory.GetMessageClass(method.input_type)()
    request.user_id, request.query, request.top_k = f"alice{tag}", "climbing", 3
    call: Any = grpc_surface.channel.unary_unary(
        f"/{service.full_name}/{method.name}",
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=message_factory.GetMessageClass(method.output_type).FromString,
    )
    response = call(request, timeout=30)
    assert "Yosemite" in response.episodes[0].episode


def test_reflection_knows_the_files_of_the_contract(grpc_surface: GrpcSurface) -> None:
    database = ProtoReflectionDescriptorDatabase(grpc_surface.channel)
    file = database.FindFileContainingSymbol("remanence.v2.MemoryService")
    assert isinstance(file, descriptor_pb2.FileDescriptorProto)
    assert file.name == "remanence/v2/memory.proto"


@pytest.mark.parametrize("service", ["", *(f"remanence.v2.{name}" for name in SERVICES)])
def test_health_checks_say_serving(grpc_surface: GrpcSurface, service: str) -> None:
    stub: Any = health_pb2_grpc.HealthStub(grpc_surface.channel)
    answer = stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=10)
    assert answer.status == health_pb2.HealthCheckResponse.SERVING


def test_channelz_knows_the_server(grpc_surface: GrpcSurface) -> None:
    stub: Any = channelz_pb2_grpc.ChannelzStub(grpc_surface.channel)
    assert stub.GetServers(channelz_pb2.GetServersRequest(), timeout=10).server


def test_an_error_carries_reason_field_and_request_id(grpc_surface: GrpcSurface) -> None:
    request = memory_pb2.SearchRequest(user_id="u", query="x", top_k=0)
    with pytest.raises(grpc.RpcError) as raised:
        grpc_surface.memory.Search(request, timeout=10)
    error: Any = raised.value
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    trailing: dict[str, Any] = dict(error.trailing_metadata())
    assert len(trailing["x-request-id"]) == 32
    status = status_pb2.Status.FromString(trailing["grpc-status-details-bin"])
    info, bad_request = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
    assert status.details[0].Unpack(info)
    assert status.details[1].Unpack(bad_request)
    assert info.reason == "INVALID_INPUT"
    assert bad_request.field_violations[0].field == "top_k"


def test_a_typed_client_may_leave_out_what_has_a_default(grpc_surface: GrpcSurface) -> None:
    response = grpc_surface.memory.Search(
        memory_pb2.SearchRequest(user_id="nobody", query="x"), timeout=30
    )
    assert not response.episodes


def test_a_required_field_at_its_zero_value_is_missing(grpc_surface: GrpcSurface) -> None:
    with pytest.raises(grpc.RpcError) as raised:
        grpc_surface.memory.Flush(memory_pb2.FlushRequest(), timeout=10)
    assert raised.value.details() == "Field required: session_id"
