"""Clients that write until the server is gone, over both surfaces."""

from __future__ import annotations

import itertools
import subprocess
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import grpc
import httpx

from tests.blackbox.surfaces import GrpcSurface, HttpSurface, Surface
from tests.crash.ledger import Ledger
from tests.support.server_process import ServerProcess

# What a call raises when its server dies: a gRPC status of a broken connection has no details.
GONE = (httpx.TransportError, grpc.RpcError, KeyError)

_SATURATED_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Client:
    """A user who talks in one session at a time, strictly one call after the other."""

    name: str
    surface: str
    asynchronous: bool = False

    def connect(self, server: ServerProcess) -> Surface:
        """The surface of this client."""
        return HttpSurface(server.http) if self.surface == "http" else GrpcSurface(server.grpc)


CLIENTS = (
    Client("una", "http"),
    Client("bea", "grpc"),
    Client("cid", "http", asynchronous=True),
    Client("dan", "grpc", asynchronous=True),
)


def write_until_gone(
    client: Client,
    server: ServerProcess,
    ledger: Ledger,
    round_number: int,
    stop: threading.Event,
    pause_seconds: float = 0.0,
) -> None:
    """Sends what is in doubt again, then goes on with new messages, until `stop` or the end."""
    surface = client.connect(server)
    try:
        for count in itertools.count():
            batch = ledger.in_doubt.get(client.name)
            if batch is None:
                batch = ledger.next_batch(client.name, round_number, 1 + count % 3)
            more = {"async_mode": True} if client.asynchronous else {}
            answer = surface.call("add", batch.body(defer_extraction=count % 3 == 0, **more))
            if answer.code == "QUEUE_SATURATED":
                # Rightly refused, behind a step that hangs: to be sent again later.
                if stop.wait(_SATURATED_SECONDS):
                    return
                continue
            if answer.data is None:
                ledger.fail(f"add: {answer.status} {answer.code} {answer.error}")
                return
            ledger.answered(client.name, batch)
            if count % 2:
                flushed = surface.call("flush", {"session_id": batch.session_id})
                if flushed.data is None and flushed.code != "QUEUE_SATURATED":
                    ledger.fail(f"flush: {flushed.status} {flushed.code} {flushed.error}")
                    return
            if stop.wait(pause_seconds):
                return
    except GONE:
        return
    finally:
        close(surface)


def write_all_until_gone(
    server: ServerProcess,
    ledger: Ledger,
    round_number: int,
    patience_seconds: float,
    clients: Sequence[Client] = CLIENTS,
) -> bool:
    """All clients at once, until the server is dead; False when it outlives the patience."""
    stop = threading.Event()
    with ThreadPoolExecutor(len(clients)) as pool:
        running = [
            pool.submit(write_until_gone, client, server, ledger, round_number, stop, 0.02)
            for client in clients
        ]
        try:
            server.process.wait(patience_seconds)
            died = True
        except subprocess.TimeoutExpired:
            server.process.kill()
            died = False
        stop.set()
        for each in running:
            each.result()
    return died


def close(surface: Surface) -> None:
    """Gives the connection back."""
    if isinstance(surface, HttpSurface):
        surface.client.close()
    elif isinstance(surface, GrpcSurface):
        surface.channel.close()
