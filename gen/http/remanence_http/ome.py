# Generated from remanence/v2/ome.proto by remanence_generator. Do not edit.
"""Requests, responses and routes of remanence/v2/ome.proto."""

from __future__ import annotations

from datetime import tzinfo
from typing import Annotated, Any, Protocol

from fastapi import APIRouter, Request, Response
from pydantic import Field
from remanence.v2 import ome_pb2
from remanence_server.api.transcoding.bindings import HttpBinding, add_routes
from remanence_server.api.transcoding.context import CallContext
from remanence_server.api.transcoding.fields import RequestModel
from remanence_server.api.transcoding.validation import MessageBinding, Registry, validate

_TRIGGER_STATUS_NUMBERS = {
    "ok": ome_pb2.TRIGGER_STATUS_OK,
    "timeout": ome_pb2.TRIGGER_STATUS_TIMEOUT,
    "not_dispatched": ome_pb2.TRIGGER_STATUS_NOT_DISPATCHED,
}
_TRIGGER_STATUS_NAMES = {number: name for name, number in _TRIGGER_STATUS_NUMBERS.items()}


_RUN_STATUS_NUMBERS = {
    "running": ome_pb2.RUN_STATUS_RUNNING,
    "success": ome_pb2.RUN_STATUS_SUCCESS,
    "failed": ome_pb2.RUN_STATUS_FAILED,
    "dead_letter": ome_pb2.RUN_STATUS_DEAD_LETTER,
    "crashed": ome_pb2.RUN_STATUS_CRASHED,
}
_RUN_STATUS_NAMES = {number: name for name, number in _RUN_STATUS_NUMBERS.items()}


class TriggerRequest(RequestModel):
    """Request message remanence.v2.TriggerRequest."""

    name: Annotated[str, Field(strict=True)]
    # Seconds to wait for completion.
    timeout: Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0, le=3600)] = 120.0
    force: Annotated[bool, Field(strict=True)] = False


def trigger_request_to_proto(model: TriggerRequest) -> ome_pb2.TriggerRequest:
    return ome_pb2.TriggerRequest(
        name=model.name,
        timeout=model.timeout,
        force=model.force,
    )


def trigger_request_input(pb: ome_pb2.TriggerRequest) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if pb.name:
        data["name"] = pb.name
    if pb.HasField("timeout"):
        data["timeout"] = pb.timeout
    data["force"] = pb.force
    return data


def run_summary_json(pb: ome_pb2.RunSummary, zone: tzinfo) -> dict[str, Any]:
    return {
        "run_id": pb.run_id,
        "status": _RUN_STATUS_NAMES.get(pb.status, ""),
        "error": pb.error if pb.HasField("error") else None,
    }


def trigger_response_json(pb: ome_pb2.TriggerResponse, zone: tzinfo) -> dict[str, Any]:
    return {
        "status": _TRIGGER_STATUS_NAMES.get(pb.status, ""),
        "name": pb.name,
        "dispatched": pb.dispatched,
        "runs": [run_summary_json(item, zone) for item in pb.runs],
    }


class OmeServiceProtocol(Protocol):
    """The offline memory engine: strategies that refine memory after the call that brought it."""

    async def Trigger(
        self, request: ome_pb2.TriggerRequest, context: CallContext
    ) -> ome_pb2.TriggerResponse:
        """Runs one strategy now and waits for the runs that this call dispatched.

        A strategy whose gates turn the call down answers "not_dispatched", a success; `force` skips
        the `enabled` gate.

        Fails with NOT_FOUND when no strategy has that name.
        """
        ...


def ome_service_router(servicer: OmeServiceProtocol, binding: HttpBinding) -> APIRouter:
    """HTTP routes of remanence.v2.OmeService, which call its servicer in process."""
    router = APIRouter()

    async def trigger(request: Request) -> Response:
        data = await binding.read_object(request)
        model = validate(TriggerRequest, data)
        context = binding.context(request)
        reply = await servicer.Trigger(trigger_request_to_proto(model), context)
        body = trigger_response_json(reply, binding.zone)
        return binding.bare(context, body, status=200)

    add_routes(router, "POST", trigger, "/api/v2/ome/trigger", "/api/v1/ome/trigger")

    return router


MESSAGES: Registry = {
    "remanence.v2.TriggerRequest": MessageBinding(
        TriggerRequest, trigger_request_to_proto, trigger_request_input
    ),
}
