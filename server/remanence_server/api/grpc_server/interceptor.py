"""What every call passes: a request id, observation, validation, error translation."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

import grpc
from google.protobuf.message import DecodeError

from remanence_server.api.grpc_server.errors import error_metadata, status_code
from remanence_server.api.observation import (
    GRPC,
    OK_CODE,
    UNMATCHED,
    CallObserver,
    ObservedCall,
    trace_headers,
)
from remanence_server.api.request_ids import REQUEST_ID_KEY
from remanence_server.api.transcoding import validate_message
from remanence_server.runtime.errors import INTERNAL_ERROR_MESSAGE, ErrorCode, ServiceError
from remanence_server.runtime.faults import describe_fault
from remanence_server.runtime.ids import new_request_id
from remanence_server.runtime.logging import get_logger

_OURS = "/remanence.v2."
# What a gRPC call is on the wire.
_METHOD_LABEL = "POST"
# The service, not the caller, is to blame for these.
_FAULTS = frozenset(
    (grpc.StatusCode.INTERNAL, grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.UNKNOWN)
)

_log = get_logger(__name__)

type Context = grpc.aio.ServicerContext[Any, Any]
type Handler = grpc.RpcMethodHandler[Any, Any]
type _Streaming = Callable[..., AsyncIterator[Any]]


class BorderInterceptor(grpc.aio.ServerInterceptor):
    """Wraps the methods of the contract; reflection, health and channelz pass as they are."""

    def __init__(self, observer: CallObserver) -> None:
        self._observer = observer

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler | None:
        """Returns the method's handler, guarded; for a method that is none, one that says so."""
        handler = await continuation(handler_call_details)
        method = handler_call_details.method
        if handler is None:
            border = _Border(UNMATCHED, self._observer)
            return grpc.stream_stream_rpc_method_handler(border.refusing)
        if not method.startswith(_OURS):
            return handler
        border = _Border(method, self._observer)
        if handler.unary_unary is not None:
            return grpc.unary_unary_rpc_method_handler(
                border.unary(handler.unary_unary),
                _tolerant(handler.request_deserializer),
                handler.response_serializer,
            )
        if handler.unary_stream is not None:
            return grpc.unary_stream_rpc_method_handler(
                border.response_stream(cast("_Streaming", handler.unary_stream)),
                _tolerant(handler.request_deserializer),
                handler.response_serializer,
            )
        if handler.stream_unary is not None:
            return grpc.stream_unary_rpc_method_handler(
                border.request_stream(handler.stream_unary),
                _tolerant(handler.request_deserializer),
                handler.response_serializer,
            )
        return handler


class _Undecodable:
    """A request whose bytes are not the message of its method."""


def _tolerant(deserialize: Callable[[bytes], Any] | None) -> Callable[[bytes], Any] | None:
    """Lets the border answer for bytes that cannot be read; the library would say INTERNAL."""
    if deserialize is None:
        return None

    def tolerant(data: bytes) -> Any:
        try:
            return deserialize(data)
        except DecodeError:
            return _Undecodable()

    return tolerant


def _validated(request: Any) -> Any:
    if isinstance(request, _Undecodable):
        raise ServiceError(
            ErrorCode.BAD_REQUEST,
            "the request is not a message of this method; generate the client from its proto",
        )
    return validate_message(request)


@dataclass(frozen=True, slots=True)
class _Border:
    """The border of one method. Its metrics know it as `route`."""

    route: str
    observer: CallObserver

    def unary(self, call: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def guarded(request: Any, context: Context) -> Any:
            async with self._translated(context):
                return await call(_validated(request), context)

        return guarded

    def request_stream(self, call: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def guarded(requests: AsyncIterator[Any], context: Context) -> Any:
            async def validated() -> AsyncIterator[Any]:
                async for request in requests:
                    yield _validated(request)

            async with self._translated(context):
                return await call(validated(), context)

        return guarded

    def response_stream(self, call: _Streaming) -> _Streaming:
        async def guarded(request: Any, context: Context) -> AsyncIterator[Any]:
            async with self._translated(context):
                async for response in call(_validated(request), context):
                    yield response

        return guarded

    async def refusing(self, requests: AsyncIterator[Any], context: Context) -> AsyncIterator[Any]:
        """Answers for a method that is none, as soon as it is called."""
        async with self._translated(context):
            raise ServiceError(
                ErrorCode.METHOD_NOT_ALLOWED,
                "there is no such method; reflection lists those that there are",
            )
        yield

    @asynccontextmanager
    async def _translated(self, context: Context) -> AsyncIterator[None]:
        """Gives the call its request id; what it fails with becomes a status with details."""
        request_id = new_request_id()
        metadata = ((REQUEST_ID_KEY, request_id),)
        context.set_trailing_metadata(metadata)
        observed = ObservedCall(
            GRPC, _METHOD_LABEL, self.route, status=grpc.StatusCode.CANCELLED.name
        )
        headers = trace_headers(context.invocation_metadata() or ())
        failure: ServiceError | None = None
        with self.observer.call(observed, request_id, headers):
            try:
                yield
            except ServiceError as error:
                failure = error
            except Exception as error:
                _log.error("call_failed", method=self.route, **describe_fault(error))
                failure = ServiceError(ErrorCode.INTERNAL_ERROR, INTERNAL_ERROR_MESSAGE)
            _tell(observed, failure)
        if failure is not None:
            await context.abort(
                status_code(failure), failure.message, (*metadata, *error_metadata(failure))
            )


def _tell(call: ObservedCall, failure: ServiceError | None) -> None:
    """Takes down what the answer is."""
    status = grpc.StatusCode.OK if failure is None else status_code(failure)
    call.status = status.name
    call.code = OK_CODE if failure is None else failure.code.value
    call.is_fault = status in _FAULTS
    service, _, method = call.route.lstrip("/").rpartition("/")
    call.attributes = {
        "rpc.system": "grpc",
        "rpc.service": service,
        "rpc.method": method,
        "rpc.grpc.status_code": status.value[0],
    }
