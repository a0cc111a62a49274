"""What every call passes: a request id, validation, error translation."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

import grpc

from remanence_server.api.grpc_server.errors import error_metadata, status_code
from remanence_server.api.request_ids import answering
from remanence_server.api.transcoding import validate_message
from remanence_server.runtime.errors import INTERNAL_ERROR_MESSAGE, ErrorCode, ServiceError
from remanence_server.runtime.faults import describe_fault
from remanence_server.runtime.ids import new_request_id
from remanence_server.runtime.logging import get_logger

_OURS = "/remanence.v2."
_REQUEST_ID_KEY = "x-request-id"

_log = get_logger(__name__)

type Context = grpc.aio.ServicerContext[Any, Any]
type Handler = grpc.RpcMethodHandler[Any, Any]
type _Streaming = Callable[..., AsyncIterator[Any]]


class BorderInterceptor(grpc.aio.ServerInterceptor):
    """Wraps the methods of the contract; reflection, health and channelz pass as they are."""

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler | None:
        """Returns the method's handler, guarded."""
        handler = await continuation(handler_call_details)
        method = handler_call_details.method
        if handler is None or not method.startswith(_OURS):
            return handler
        if handler.unary_unary is not None:
            return grpc.unary_unary_rpc_method_handler(
                _guard_unary(method, handler.unary_unary),
                handler.request_deserializer,
                handler.response_serializer,
            )
        if handler.unary_stream is not None:
            return grpc.unary_stream_rpc_method_handler(
                _guard_response_stream(method, cast("_Streaming", handler.unary_stream)),
                handler.request_deserializer,
                handler.response_serializer,
            )
        if handler.stream_unary is not None:
            return grpc.stream_unary_rpc_method_handler(
                _guard_request_stream(method, handler.stream_unary),
                handler.request_deserializer,
                handler.response_serializer,
            )
        return handler


def _guard_unary(method: str, call: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def guarded(request: Any, context: Context) -> Any:
        async with _translated(method, context):
            return await call(validate_message(request), context)

    return guarded


def _guard_request_stream(
    method: str, call: Callable[..., Awaitable[Any]]
) -> Callable[..., Awaitable[Any]]:
    async def guarded(requests: AsyncIterator[Any], context: Context) -> Any:
        async def validated() -> AsyncIterator[Any]:
            async for request in requests:
                yield validate_message(request)

        async with _translated(method, context):
            return await call(validated(), context)

    return guarded


def _guard_response_stream(method: str, call: _Streaming) -> _Streaming:
    async def guarded(request: Any, context: Context) -> AsyncIterator[Any]:
        async with _translated(method, context):
            async for response in call(validate_message(request), context):
                yield response

    return guarded


@asynccontextmanager
async def _translated(method: str, context: Context) -> AsyncIterator[None]:
    """Gives the call its request id; what it fails with becomes a status with details."""
    request_id = new_request_id()
    metadata = ((_REQUEST_ID_KEY, request_id),)
    context.set_trailing_metadata(metadata)
    with answering(request_id):
        try:
            yield
            return
        except ServiceError as error:
            failure = error
        except Exception as error:
            _log.error("call_failed", method=method, **describe_fault(error))
            failure = ServiceError(ErrorCode.INTERNAL_ERROR, INTERNAL_ERROR_MESSAGE)
        await context.abort(
            status_code(failure), failure.message, (*metadata, *error_metadata(failure))
        )
