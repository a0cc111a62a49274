"""Builds the gRPC server."""

from __future__ import annotations

from dataclasses import dataclass

import grpc
from grpc_channelz.v1 import channelz
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from remanence.v2 import (
    jobs_pb2,
    jobs_pb2_grpc,
    knowledge_pb2,
    knowledge_pb2_grpc,
    memory_pb2,
    memory_pb2_grpc,
    ome_pb2,
    ome_pb2_grpc,
    ops_pb2,
    ops_pb2_grpc,
    tasks_pb2,
    tasks_pb2_grpc,
    transfer_pb2,
    transfer_pb2_grpc,
)
from remanence_server.api.grpc_server.health import HealthServicer
from remanence_server.api.grpc_server.interceptor import BorderInterceptor
from remanence_server.api.grpc_server.options import connection_options
from remanence_server.api.observation import CallObserver
from remanence_server.api.servicers.jobs import JobServicer
from remanence_server.api.servicers.knowledge import KnowledgeServicer
from remanence_server.api.servicers.memory import MemoryServicer
from remanence_server.api.servicers.ome import OmeServicer
from remanence_server.api.servicers.ops import OpsServicer
from remanence_server.api.servicers.tasks import TaskServicer
from remanence_server.api.servicers.transfer import TransferServicer
from remanence_server.runtime.settings import ServerSettings

_CHANNELZ_NAME = "grpc.channelz.v1.Channelz"

SERVICE_NAMES = tuple(
    file.DESCRIPTOR.services_by_name[name].full_name
    for file, name in (
        (memory_pb2, "MemoryService"),
        (tasks_pb2, "TaskService"),
        (jobs_pb2, "JobService"),
        (transfer_pb2, "TransferService"),
        (ome_pb2, "OmeService"),
        (knowledge_pb2, "KnowledgeService"),
        (ops_pb2, "OpsService"),
    )
)


@dataclass(frozen=True, slots=True)
class Servicers:
    """One servicer for each service of the contract."""

    memory: MemoryServicer
    tasks: TaskServicer
    jobs: JobServicer
    transfer: TransferServicer
    ome: OmeServicer
    knowledge: KnowledgeServicer
    ops: OpsServicer


@dataclass(frozen=True, slots=True)
class GrpcSurface:
    """The server and its health switch."""

    server: grpc.aio.Server
    health: HealthServicer

    async def stop(self, grace_seconds: float) -> None:
        """Takes no new calls and lets the running ones end; watches of the health end at once."""
        self.health.end_watches()
        await self.server.stop(grace_seconds)

    async def set_serving(self, serving: bool) -> None:
        """Tells health checks whether calls are welcome, for every service and overall."""
        status = (
            health_pb2.HealthCheckResponse.SERVING
            if serving
            else health_pb2.HealthCheckResponse.NOT_SERVING
        )
        for name in ("", *SERVICE_NAMES):
            await self.health.set(name, status)


def build_grpc_surface(
    servicers: Servicers, settings: ServerSettings, observer: CallObserver
) -> GrpcSurface:
    """Registers the servicers beside reflection, health and channelz; binds no port yet."""
    server = grpc.aio.server(
        interceptors=(BorderInterceptor(observer),), options=connection_options(settings)
    )
    memory_pb2_grpc.add_MemoryServiceServicer_to_server(servicers.memory, server)
    tasks_pb2_grpc.add_TaskServiceServicer_to_server(servicers.tasks, server)
    jobs_pb2_grpc.add_JobServiceServicer_to_server(servicers.jobs, server)
    transfer_pb2_grpc.add_TransferServiceServicer_to_server(servicers.transfer, server)
    ome_pb2_grpc.add_OmeServiceServicer_to_server(servicers.ome, server)
    knowledge_pb2_grpc.add_KnowledgeServiceServicer_to_server(servicers.knowledge, server)
    ops_pb2_grpc.add_OpsServiceServicer_to_server(servicers.ops, server)
    health_servicer = HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(health_servicer, server)
    channelz.add_channelz_servicer(server)
    names = (*SERVICE_NAMES, health.SERVICE_NAME, _CHANNELZ_NAME, reflection.SERVICE_NAME)
    reflection.enable_server_reflection(names, server)
    return GrpcSurface(server, health_servicer)
