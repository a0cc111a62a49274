"""What the generated routes call: requests in, envelopes out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import UTC, tzinfo

import orjson
from fastapi import APIRouter, Request, Response

from remanence_server.api.transcoding import bodies, uploads
from remanence_server.api.transcoding.connection import while_connected
from remanence_server.api.transcoding.context import HttpCallContext
from remanence_server.api.transcoding.errors import ROUTE_TEMPLATE
from remanence_server.api.transcoding.texts import TextReaders

_NO_CONTENT = 204


@dataclass(frozen=True, slots=True)
class HttpBinding:
    """The settings of the HTTP surface."""

    # The display zone of instants in responses.
    zone: tzinfo = UTC
    # The largest request body, uploads included.
    max_body_bytes: int = bodies.DEFAULT_MAX_BODY_BYTES

    async def read_object(self, request: Request) -> dict[str, object]:
        """The JSON object in the body. Fails with ServiceError, see `bodies.read_object`."""
        return await bodies.read_object(request, self.max_body_bytes)

    def read_upload(
        self, request: Request, readers: TextReaders
    ) -> AbstractAsyncContextManager[uploads.Upload]:
        """Receives a form. Fails with ServiceError, see `uploads.read_upload`."""
        return uploads.read_upload(request, readers, self.max_body_bytes)

    async def while_connected[T](self, request: Request, call: Awaitable[T]) -> T:
        """The result of a call that only its client needs, see `connection.while_connected`."""
        return await while_connected(request.receive, call)

    def context(self, request: Request) -> HttpCallContext:
        """The context that a servicer gets."""
        return HttpCallContext(request.scope, request.headers.items())

    def enveloped(
        self, context: HttpCallContext, data: dict[str, object], *, status: int
    ) -> Response:
        """The success envelope."""
        if status == _NO_CONTENT:
            return Response(status_code=status)
        return _json({"request_id": context.request_id, "data": data}, status)

    def bare(self, context: HttpCallContext, data: dict[str, object], *, status: int) -> Response:
        """The response message itself as the body."""
        return _json(data, status)


def add_routes(
    router: APIRouter,
    verb: str,
    endpoint: Callable[[Request], Awaitable[Response]],
    *paths: str,
) -> None:
    """Routes one verb of these paths to an endpoint, without FastAPI's own parsing."""
    for path in paths:
        router.add_route(path, _of_template(endpoint, path), methods=[verb])


def _of_template(
    endpoint: Callable[[Request], Awaitable[Response]], path: str
) -> Callable[[Request], Awaitable[Response]]:
    """The endpoint as a function of its own that tells the observer its template."""

    async def of_template(request: Request) -> Response:
        return await endpoint(request)

    setattr(of_template, ROUTE_TEMPLATE, path)
    return of_template


def _json(content: dict[str, object], status: int) -> Response:
    return Response(orjson.dumps(content), status, media_type="application/json")
