# Generated from remanence/v2/ops.proto by remanence_generator. Do not edit.
"""Requests, responses and routes of remanence/v2/ops.proto."""

from __future__ import annotations

from datetime import tzinfo
from typing import Any, Protocol

from fastapi import APIRouter, Request, Response
from remanence.v2 import ops_pb2
from remanence_server.api.transcoding.bindings import HttpBinding, add_routes
from remanence_server.api.transcoding.context import CallContext
from remanence_server.api.transcoding.fields import RequestModel
from remanence_server.api.transcoding.validation import MessageBinding, Registry, validate
from remanence_server.api.transcoding.values import timestamp_text

class GetHealthRequest(RequestModel):
    """Request message remanence.v2.GetHealthRequest."""


def get_health_request_to_proto(model: GetHealthRequest) -> ops_pb2.GetHealthRequest:
    return ops_pb2.GetHealthRequest(
    )


def get_health_request_input(pb: ops_pb2.GetHealthRequest) -> dict[str, Any]:
    data: dict[str, Any] = {}
    return data


class GetLivenessRequest(RequestModel):
    """Request message remanence.v2.GetLivenessRequest."""


def get_liveness_request_to_proto(model: GetLivenessRequest) -> ops_pb2.GetLivenessRequest:
    return ops_pb2.GetLivenessRequest(
    )


def get_liveness_request_input(pb: ops_pb2.GetLivenessRequest) -> dict[str, Any]:
    data: dict[str, Any] = {}
    return data


class GetReadinessRequest(RequestModel):
    """Request message remanence.v2.GetReadinessRequest."""


def get_readiness_request_to_proto(model: GetReadinessRequest) -> ops_pb2.GetReadinessRequest:
    return ops_pb2.GetReadinessRequest(
    )


def get_readiness_request_input(pb: ops_pb2.GetReadinessRequest) -> dict[str, Any]:
    data: dict[str, Any] = {}
    return data


class QuiesceRequest(RequestModel):
    """Request message remanence.v2.QuiesceRequest."""


def quiesce_request_to_proto(model: QuiesceRequest) -> ops_pb2.QuiesceRequest:
    return ops_pb2.QuiesceRequest(
    )


def quiesce_request_input(pb: ops_pb2.QuiesceRequest) -> dict[str, Any]:
    data: dict[str, Any] = {}
    return data


class RebuildRequest(RequestModel):
    """Request message remanence.v2.RebuildRequest."""


def rebuild_request_to_proto(model: RebuildRequest) -> ops_pb2.RebuildRequest:
    return ops_pb2.RebuildRequest(
    )


def rebuild_request_input(pb: ops_pb2.RebuildRequest) -> dict[str, Any]:
    data: dict[str, Any] = {}
    return data


def health_capabilities_json(pb: ops_pb2.HealthCapabilities, zone: tzinfo) -> dict[str, Any]:
    return {
        "llm": pb.llm,
        "embed": pb.embed,
        "rerank": pb.rerank,
        "multimodal_llm": pb.multimodal_llm,
        "parser": pb.parser,
    }


def markdown_problem_json(pb: ops_pb2.MarkdownProblem, zone: tzinfo) -> dict[str, Any]:
    return {
        "path": pb.path,
        "line": pb.line,
        "reason": pb.reason,
    }


def cascade_health_json(pb: ops_pb2.CascadeHealth, zone: tzinfo) -> dict[str, Any]:
    return {
        "healthy": pb.healthy,
        "reasons": list(pb.reasons),
        "pending": pb.pending,
        "failed_permanent": pb.failed_permanent,
        "failed_retryable": pb.failed_retryable,
        "drain_consecutive_failures": pb.drain_consecutive_failures,
        "unrecoverable_total": pb.unrecoverable_total,
        "optimize_failure_streak": pb.optimize_failure_streak,
        "prune_stale_seconds": pb.prune_stale_seconds,
        "index_rows": dict(pb.index_rows),
        "index_emptied": pb.index_emptied,
        "problems": [markdown_problem_json(item, zone) for item in pb.problems],
    }


def memorize_queue_health_json(pb: ops_pb2.MemorizeQueueHealth, zone: tzinfo) -> dict[str, Any]:
    return {
        "healthy": pb.healthy,
        "reasons": list(pb.reasons),
        "loop_alive": pb.loop_alive,
        "accepting": pb.accepting,
        "pending": pb.pending,
        "oldest_pending_age_s": pb.oldest_pending_age_s if pb.HasField(
            "oldest_pending_age_s"
        ) else None,
        "failed": pb.failed,
        "loop_restarts": pb.loop_restarts,
        "last_loop_error_at": timestamp_text(pb.last_loop_error_at, zone) if pb.HasField(
            "last_loop_error_at"
        ) else None,
    }


def jobs_health_json(pb: ops_pb2.JobsHealth, zone: tzinfo) -> dict[str, Any]:
    return {
        "healthy": pb.healthy,
        "pending": pb.pending,
        "running": pb.running,
        "dead_letters": pb.dead_letters,
    }


def activity_json(pb: ops_pb2.Activity, zone: tzinfo) -> dict[str, Any]:
    return {
        "name": pb.name,
        "done": pb.done,
        "total": pb.total,
        "started_at": timestamp_text(pb.started_at, zone) if pb.HasField("started_at") else None,
    }


def get_health_response_json(pb: ops_pb2.GetHealthResponse, zone: tzinfo) -> dict[str, Any]:
    return {
        "status": pb.status,
        "version": pb.version,
        "capabilities": health_capabilities_json(pb.capabilities, zone) if pb.HasField(
            "capabilities"
        ) else None,
        "disabled_features": list(pb.disabled_features),
        "cascade": cascade_health_json(pb.cascade, zone) if pb.HasField("cascade") else None,
        "memorize_queue": memorize_queue_health_json(pb.memorize_queue, zone) if pb.HasField(
            "memorize_queue"
        ) else None,
        "reasons": list(pb.reasons),
        "jobs": jobs_health_json(pb.jobs, zone) if pb.HasField("jobs") else None,
        "activities": [activity_json(item, zone) for item in pb.activities],
    }


def get_liveness_response_json(pb: ops_pb2.GetLivenessResponse, zone: tzinfo) -> dict[str, Any]:
    return {
        "status": pb.status,
    }


def get_readiness_response_json(pb: ops_pb2.GetReadinessResponse, zone: tzinfo) -> dict[str, Any]:
    return {
        "status": pb.status,
        "reasons": list(pb.reasons),
    }


def quiesce_response_json(pb: ops_pb2.QuiesceResponse, zone: tzinfo) -> dict[str, Any]:
    return {
        "quiesced": pb.quiesced,
        "drained": pb.drained,
        "pending_before": pb.pending_before,
        "pending_after": pb.pending_after,
        "failed_permanent": pb.failed_permanent,
    }


def rebuild_response_json(pb: ops_pb2.RebuildResponse, zone: tzinfo) -> dict[str, Any]:
    return {
        "started": pb.started,
    }


class OpsServiceProtocol(Protocol):
    """Probes and switches for whoever runs the service."""

    async def GetHealth(
        self, request: ops_pb2.GetHealthRequest, context: CallContext
    ) -> ops_pb2.GetHealthResponse:
        """Reports what works, what does not, and how much is waiting. Never fails while the process
        lives."""
        ...

    async def GetLiveness(
        self, request: ops_pb2.GetLivenessRequest, context: CallContext
    ) -> ops_pb2.GetLivenessResponse:
        """Says that the process runs and answers: an orchestrator restarts it when this fails. An
        extension.
        """
        ...

    async def GetReadiness(
        self, request: ops_pb2.GetReadinessRequest, context: CallContext
    ) -> ops_pb2.GetReadinessResponse:
        """Says whether calls are welcome: not while it stops, nor while messages cannot be accepted. Over
        HTTP the status is 503 then. An extension.
        """
        ...

    async def Quiesce(
        self, request: ops_pb2.QuiesceRequest, context: CallContext
    ) -> ops_pb2.QuiesceResponse:
        """Drains the Markdown → index queue and stops following Markdown, for a backup or a shutdown.

        Calling it twice is safe. A restart undoes it.
        """
        ...

    async def Rebuild(
        self, request: ops_pb2.RebuildRequest, context: CallContext
    ) -> ops_pb2.RebuildResponse:
        """Empties the index and makes it anew from the Markdown, in the background. An extension.

        Searches answer meanwhile from what there is. Progress shows in the activities of GetHealth.
        Calling it while it runs begins no second one.
        """
        ...


def ops_service_router(servicer: OpsServiceProtocol, binding: HttpBinding) -> APIRouter:
    """HTTP routes of remanence.v2.OpsService, which call its servicer in process."""
    router = APIRouter()

    async def get_health(request: Request) -> Response:
        data: dict[str, object] = {}
        model = validate(GetHealthRequest, data)
        context = binding.context(request)
        reply = await servicer.GetHealth(get_health_request_to_proto(model), context)
        body = get_health_response_json(reply, binding.zone)
        return binding.bare(context, body, status=200)

    add_routes(router, "GET", get_health, "/health")

    async def get_liveness(request: Request) -> Response:
        data: dict[str, object] = {}
        model = validate(GetLivenessRequest, data)
        context = binding.context(request)
        reply = await servicer.GetLiveness(get_liveness_request_to_proto(model), context)
        body = get_liveness_response_json(reply, binding.zone)
        return binding.bare(context, body, status=200)

    add_routes(router, "GET", get_liveness, "/health/live")

    async def get_readiness(request: Request) -> Response:
        data: dict[str, object] = {}
        model = validate(GetReadinessRequest, data)
        context = binding.context(request)
        reply = await servicer.GetReadiness(get_readiness_request_to_proto(model), context)
        body = get_readiness_response_json(reply, binding.zone)
        return binding.bare(context, body, status=503 if body["status"] == "unavailable" else 200)

    add_routes(router, "GET", get_readiness, "/health/ready")

    async def quiesce(request: Request) -> Response:
        data: dict[str, object] = {}
        model = validate(QuiesceRequest, data)
        context = binding.context(request)
        reply = await servicer.Quiesce(quiesce_request_to_proto(model), context)
        body = quiesce_response_json(reply, binding.zone)
        return binding.bare(context, body, status=200)

    add_routes(router, "POST", quiesce, "/api/v2/cascade/quiesce", "/api/v1/cascade/quiesce")

    async def rebuild(request: Request) -> Response:
        data: dict[str, object] = {}
        model = validate(RebuildRequest, data)
        context = binding.context(request)
        reply = await servicer.Rebuild(rebuild_request_to_proto(model), context)
        body = rebuild_response_json(reply, binding.zone)
        return binding.bare(context, body, status=202)

    add_routes(router, "POST", rebuild, "/api/v2/cascade/rebuild")

    return router


MESSAGES: Registry = {
    "remanence.v2.GetHealthRequest": MessageBinding(
        GetHealthRequest, get_health_request_to_proto, get_health_request_input
    ),
    "remanence.v2.GetLivenessRequest": MessageBinding(
        GetLivenessRequest, get_liveness_request_to_proto, get_liveness_request_input
    ),
    "remanence.v2.GetReadinessRequest": MessageBinding(
        GetReadinessRequest, get_readiness_request_to_proto, get_readiness_request_input
    ),
    "remanence.v2.QuiesceRequest": MessageBinding(
        QuiesceRequest, quiesce_request_to_proto, quiesce_request_input
    ),
    "remanence.v2.RebuildRequest": MessageBinding(
        RebuildRequest, rebuild_request_to_proto, rebuild_request_input
    ),
}
