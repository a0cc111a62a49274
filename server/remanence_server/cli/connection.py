"""Which server a command talks to."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from remanence_server.cli.output import UsageError
from remanence_server.runtime.addresses import Address, parse_address
from remanence_server.runtime.root import ServerNote, read_server_note

if TYPE_CHECKING:
    from remanence_client import Client

DEFAULT_ADDRESS = "127.0.0.1:50051"


def connect(server: str | None, root: Path, *, timeout_seconds: float = 60.0) -> Client:
    """A client of the server that `find_server` names.

    Writes are sent again after a lost connection: every message of ours carries an id.
    """
    from remanence_client import Client

    address = find_server(server, root)
    return Client(address, timeout_seconds=timeout_seconds, retry_writes=True)


def find_server(server: str | None, root: Path) -> str:
    """The address given, else that of the server running on the root, else the default one."""
    if server:
        try:
            return str(parse_address(server))
        except ValueError as error:
            raise UsageError(f"--server {server}: {error}") from None
    note = running_server(root)
    return DEFAULT_ADDRESS if note is None else reachable(note.grpc)


def running_server(root: Path) -> ServerNote | None:
    """The note of the server on a root, unless its process is gone."""
    note = read_server_note(root.expanduser())
    return note if note is not None and _alive(note.pid) else None


def reachable(address: str) -> str:
    """An address to call, for one to listen on: `0.0.0.0` is no place to call."""
    host, port = parse_address(address)
    everywhere = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - nothing is bound here
    return str(Address(everywhere.get(host, host), port))


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
