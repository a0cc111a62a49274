"""Both surfaces over one service, on one event loop, from start to drained stop."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import Coroutine, Iterator
from datetime import UTC
from typing import Any

import uvicorn

from remanence_server import __version__
from remanence_server.api.composition import open_service
from remanence_server.api.engines import Engines
from remanence_server.api.grpc_server.server import GrpcSurface, build_grpc_surface
from remanence_server.api.http_app import build_http_app
from remanence_server.api.http_protocol import http_protocol
from remanence_server.api.transcoding import ErrorResponses
from remanence_server.runtime.addresses import Address
from remanence_server.runtime.clock import SystemClock
from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.runtime.instants import to_datetime
from remanence_server.runtime.logging import get_logger, log_unhandled_faults
from remanence_server.runtime.root import MemoryRoot, ServerNote
from remanence_server.runtime.settings import Settings

_LISTEN_BACKLOG = 2048

_log = get_logger(__name__)


async def serve_surfaces(settings: Settings, root: MemoryRoot, engines: Engines) -> None:
    """Serves until SIGTERM or SIGINT, then lets running calls end.

    Raises ServiceError when a port is taken or something indispensable is missing.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    log_unhandled_faults(loop)
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    # A port that is taken is found out before any file is opened.
    listener = _listen(settings.server.http_address)
    service = await open_service(settings, engines)
    try:
        surface = build_grpc_surface(service.servicers, settings.server, service.observer)
        await surface.set_serving(False)
        grpc_address = _bind_grpc(surface, settings.server.grpc_address)
        http_address = Address(settings.server.http_address.host, listener.getsockname()[1])
        http = _HttpServer(
            uvicorn.Config(
                build_http_app(
                    service.servicers, settings, os.environ, service.metrics, service.observer
                ),
                log_config=None,
                access_log=False,
                lifespan="off",
                timeout_graceful_shutdown=int(settings.server.shutdown_grace_seconds),
                timeout_keep_alive=int(settings.server.http_keepalive_seconds),
                server_header=False,
                http=http_protocol(ErrorResponses(settings.memory.zone)),
            )
        )
        await surface.server.start()
        http_task = asyncio.create_task(http.serve(sockets=[listener]))
        await _first_of(http.ready.wait(), http_task)
        service.serving.ready = True
        await surface.set_serving(True)
        service.watch_health(surface.set_serving)
        root.publish(
            ServerNote(
                pid=os.getpid(),
                http=str(http_address),
                grpc=str(grpc_address),
                version=__version__,
                started_at=to_datetime(SystemClock().now_ms(), UTC).isoformat(timespec="seconds"),
            )
        )
        _say(f"ready: http://{http_address} and grpc://{grpc_address}, memory in {settings.root}")
        await stop.wait()
        service.serving.draining = True
        await _drain(surface, http, http_task, settings)
    finally:
        listener.close()
        await service.close(settings.server.shutdown_grace_seconds)


async def _drain(
    surface: GrpcSurface, http: _HttpServer, http_task: asyncio.Task[None], settings: Settings
) -> None:
    """Takes no new calls, lets the running ones end."""
    _log.info("draining")
    await surface.set_serving(False)
    # Whoever sends calls here has this long to see it and to send them elsewhere.
    await asyncio.sleep(settings.server.shutdown_delay_seconds)
    http.should_exit = True
    await asyncio.gather(surface.stop(settings.server.shutdown_grace_seconds), http_task)


class _HttpServer(uvicorn.Server):
    """Uvicorn without signal handlers of its own: one place decides when the process stops."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Starts serving, and says so."""
        await super().startup(sockets)
        self.ready.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Captures none."""
        yield


async def _first_of(event: Coroutine[Any, Any, Any], task: asyncio.Task[None]) -> None:
    """Waits for an event, or for the task that should bring it about to fail."""
    waiting = asyncio.ensure_future(event)
    await asyncio.wait({waiting, task}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if task.done():
        await task


def _listen(address: Address) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
    except OSError as error:
        listener.close()
        raise _cannot_listen("HTTP", address) from error
    listener.listen(_LISTEN_BACKLOG)
    listener.setblocking(False)
    return listener


def _bind_grpc(surface: GrpcSurface, address: Address) -> Address:
    try:
        port = surface.server.add_insecure_port(str(address))
    except RuntimeError as error:
        raise _cannot_listen("gRPC", address) from error
    if port == 0:
        raise _cannot_listen("gRPC", address)
    return Address(address.host, port)


def _cannot_listen(surface: str, address: Address) -> ServiceError:
    return ServiceError(
        ErrorCode.CONFIGURATION_ERROR,
        f"cannot listen for {surface} on {address}: is the port taken? (port 0 takes a free one)",
    )


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
