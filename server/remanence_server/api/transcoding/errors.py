"""Errors over HTTP: the envelope, and the handlers that put every failure into it."""

from __future__ import annotations

import math
from datetime import UTC, tzinfo
from http import HTTPStatus
from typing import cast

import orjson
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from remanence_server.api.observation import (
    CANCELLED_CODE,
    HTTP,
    OK_CODE,
    TRACE_HEADERS,
    UNMATCHED,
    CallObserver,
    ObservedCall,
    trace_headers,
)
from remanence_server.runtime.clock import Clock, SystemClock
from remanence_server.runtime.errors import INTERNAL_ERROR_MESSAGE, ErrorCode, ServiceError
from remanence_server.runtime.faults import describe_fault
from remanence_server.runtime.ids import new_request_id
from remanence_server.runtime.instants import to_datetime
from remanence_server.runtime.logging import get_logger

REQUEST_ID_HEADER = "X-Request-Id"
# Where the middleware leaves the id of a request, and what is told of it, in its ASGI scope.
_SCOPE_KEY = "remanence.request_id"
_CALL_KEY = "remanence.call"
# The attribute of an endpoint that holds the template of its path.
ROUTE_TEMPLATE = "remanence_route_template"
_TRACE_HEADERS = tuple(header.encode() for header in TRACE_HEADERS)
# What Nginx writes for a client that left before its answer.
_CLIENT_LEFT = "499"

# As RetryInfo says over gRPC.
_DEFAULT_RETRY_AFTER_SECONDS = 1.0
_METHODS = ("DELETE", "GET", "HEAD", "PATCH", "POST", "PUT")
_HTTP_CODES = {
    401: ErrorCode.UNAUTHENTICATED,
    403: ErrorCode.PERMISSION_DENIED,
    404: ErrorCode.NOT_FOUND,
    405: ErrorCode.METHOD_NOT_ALLOWED,
    413: ErrorCode.PAYLOAD_TOO_LARGE,
}

_log = get_logger(__name__)


def request_id_of(scope: Scope) -> str:
    """The id of the request that this ASGI scope is of."""
    request_id: str = scope[_SCOPE_KEY]
    return request_id


def show_request_id(scope: Scope, request_id: str) -> None:
    """Answers the request under another id: that of an earlier request whose answer it gets."""
    scope[_SCOPE_KEY] = request_id


def observed_call(scope: Scope) -> ObservedCall:
    """What is told of the request that this ASGI scope is of."""
    call: ObservedCall = scope[_CALL_KEY]
    return call


class ErrorResponses:
    """Makes error responses; `zone` is the display zone of their time."""

    def __init__(self, zone: tzinfo = UTC, clock: Clock | None = None) -> None:
        self._zone = zone
        self._clock = clock or SystemClock()

    def error_body(self, code: ErrorCode, message: str, request_id: str, path: str) -> bytes:
        """The error envelope."""
        moment = to_datetime(self._clock.now_ms(), self._zone)
        error = {
            "code": code.value,
            "message": message,
            "timestamp": moment.isoformat(timespec="seconds"),
            "path": path,
        }
        return orjson.dumps({"request_id": request_id, "error": error})

    def of(self, scope: Scope, error: ServiceError) -> Response:
        """The response that a ServiceError is."""
        observed_call(scope).code = error.code.value
        body = self.error_body(error.code, error.message, request_id_of(scope), scope["path"])
        response = Response(body, error.spec.http_status, media_type="application/json")
        if error.spec.retryable:
            seconds = error.retry_after_seconds or _DEFAULT_RETRY_AFTER_SECONDS
            response.headers["Retry-After"] = str(max(1, math.ceil(seconds)))
        return response

    def internal(self, scope: Scope) -> Response:
        """The response to what must not have happened: a fixed text."""
        return self.of(scope, ServiceError(ErrorCode.INTERNAL_ERROR, INTERNAL_ERROR_MESSAGE))

    def of_http(self, scope: Scope, error: HTTPException) -> Response:
        """The response to a refusal by the framework: no such route, method or form."""
        status = error.status_code
        code = _HTTP_CODES.get(status, ErrorCode.BAD_REQUEST)
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return self.internal(scope)
        observed_call(scope).code = code.value
        body = self.error_body(code, HTTPStatus(status).phrase, request_id_of(scope), scope["path"])
        headers = dict(error.headers or {})
        if status == HTTPStatus.METHOD_NOT_ALLOWED:
            headers["Allow"] = ", ".join(allowed_methods(scope))
        return Response(body, status, headers=headers, media_type="application/json")


def allowed_methods(scope: Scope) -> list[str]:
    """Every method that some route has for the path of the scope."""
    routes = scope["app"].routes
    return [
        method
        for method in _METHODS
        if any(route.matches({**scope, "method": method})[0] is Match.FULL for route in routes)
    ]


class RequestIdMiddleware:
    """Gives every request an id, says it in a header, and answers what nobody caught.

    Pure ASGI: it adds no task and no buffering to a request. It stands inside the framework's own
    last resort, which would answer and then raise again, so that the server would drop the
    connection.
    """

    def __init__(
        self, app: ASGIApp, responses: ErrorResponses, observer: CallObserver | None = None
    ) -> None:
        self._app = app
        self._responses = responses
        self._observer = observer or CallObserver()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes one request through."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = new_request_id()
        scope[_SCOPE_KEY] = request_id
        call = scope[_CALL_KEY] = ObservedCall(HTTP, _method_label(scope), status=_CLIENT_LEFT)
        started = False

        async def send_with_id(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                _tell(call, scope, message["status"])
                header = (b"x-request-id", request_id_of(scope).encode())
                message = {**message, "headers": [*message.get("headers", ()), header]}
            await send(message)

        headers = trace_headers(
            (key.decode(), value.decode("latin-1"))
            for key, value in scope["headers"]
            if key in _TRACE_HEADERS
        )
        with self._observer.call(call, request_id, headers):
            try:
                await self._app(scope, receive, send_with_id)
            except ClientDisconnect:
                # Nobody is left to answer.
                return
            except Exception as error:
                # The answer first.
                half_answered = started
                if not half_answered:
                    await self._responses.internal(scope)(scope, receive, send_with_id)
                _log.error("request_failed", **describe_fault(error))
                if half_answered:
                    # The server must drop the connection, or the client would wait for the rest.
                    raise


def _method_label(scope: Scope) -> str:
    method: str = scope["method"]
    return method if method in _METHODS or method == "OPTIONS" else "other"


def _tell(call: ObservedCall, scope: Scope, status: int) -> None:
    """Takes down what the answer is. Only the template of a route is told, never a path."""
    # The router leaves the endpoint in the scope, also when only the method did not fit.
    call.route = getattr(scope.get("endpoint"), ROUTE_TEMPLATE, UNMATCHED)
    call.status = str(status)
    call.is_fault = status >= HTTPStatus.INTERNAL_SERVER_ERROR
    if call.code == CANCELLED_CODE:
        call.code = OK_CODE
    call.attributes = {
        "http.request.method": call.method,
        "http.route": call.route,
        "http.response.status_code": status,
    }


def install_error_handling(
    app: FastAPI,
    zone: tzinfo = UTC,
    clock: Clock | None = None,
    observer: CallObserver | None = None,
) -> None:
    """Makes every answer of the app carry its request id, and every failure the error envelope.

    `observer` is told of every call.

    Middleware added after this call stands outside of it and sees no request id.
    """
    responses = ErrorResponses(zone, clock)

    async def service_error(request: Request, error: Exception) -> Response:
        return responses.of(request.scope, cast("ServiceError", error))

    async def http_error(request: Request, error: Exception) -> Response:
        return responses.of_http(request.scope, cast("HTTPException", error))

    async def framework_validation(request: Request, error: Exception) -> Response:
        refused = ServiceError(ErrorCode.INVALID_INPUT, "The request is not valid")
        return responses.of(request.scope, refused)

    app.add_exception_handler(ServiceError, service_error)
    app.add_exception_handler(HTTPException, http_error)
    app.add_exception_handler(RequestValidationError, framework_validation)
    app.router.redirect_slashes = False
    app.add_middleware(RequestIdMiddleware, responses=responses, observer=observer)
