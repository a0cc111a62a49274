"""The HTTP surface: the generated routes over the same servicers that gRPC serves."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import FastAPI, Request, Response
from fastapi.openapi.docs import get_redoc_html, get_swagger_ui_html

from remanence_http import jobs, knowledge, memory, ome, ops, tasks
from remanence_server.api.grpc_server.server import Servicers
from remanence_server.api.observation import CallObserver
from remanence_server.api.transcoding import HttpBinding, install_error_handling
from remanence_server.api.transcoding import openapi as openapi_document
from remanence_server.api.transcoding.bindings import add_routes
from remanence_server.runtime.metrics import Metrics, render
from remanence_server.runtime.settings import Settings

_TITLE = "Remanence"
_OPENAPI_PATH = "/openapi.json"


def build_http_app(
    servicers: Servicers,
    settings: Settings,
    environment: Mapping[str, str],
    metrics: Metrics,
    observer: CallObserver,
) -> FastAPI:
    """The ASGI application. With ENV=DEV in the environment it also serves its documentation."""
    app = FastAPI(title=_TITLE, openapi_url=None, docs_url=None, redoc_url=None)
    zone = settings.memory.zone
    binding = HttpBinding(zone=zone, max_body_bytes=settings.server.max_body_bytes)
    app.include_router(memory.memory_service_router(servicers.memory, binding))
    app.include_router(tasks.task_service_router(servicers.tasks, binding))
    app.include_router(jobs.job_service_router(servicers.jobs, binding))
    app.include_router(ome.ome_service_router(servicers.ome, binding))
    app.include_router(knowledge.knowledge_service_router(servicers.knowledge, binding))
    app.include_router(ops.ops_service_router(servicers.ops, binding))
    _add_metrics(app, metrics)
    if environment.get("ENV") == "DEV":
        _add_documentation(app)
    install_error_handling(app, zone, observer=observer)
    return app


def _add_metrics(app: FastAPI, metrics: Metrics) -> None:
    """Adds `/metrics`: not a call of the contract, but what Prometheus asks for."""

    async def page(request: Request) -> Response:
        await metrics.sampler.sample()
        rendered = render(metrics.registry, request.headers.get("accept", ""))
        return Response(rendered.body, headers={"content-type": rendered.content_type})

    add_routes(app.router, "GET", page, "/metrics")


def _add_documentation(app: FastAPI) -> None:
    async def document(request: Request) -> Response:
        return Response(openapi_document.load(), media_type="application/json")

    async def swagger(request: Request) -> Response:
        return get_swagger_ui_html(openapi_url=_OPENAPI_PATH, title=_TITLE)

    async def redoc(request: Request) -> Response:
        return get_redoc_html(openapi_url=_OPENAPI_PATH, title=_TITLE)

    add_routes(app.router, "GET", document, _OPENAPI_PATH)
    add_routes(app.router, "GET", swagger, "/docs")
    add_routes(app.router, "GET", redoc, "/redoc")
