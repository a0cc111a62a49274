from __future__ import annotations

from importlib import import_module
from pathlib import Path

from remanence_server.api.grpc_server.options import connection_options
from remanence_server.runtime.settings import ServerSettings

_ALL = ServerSettings(
    max_body_bytes=2048,
    shutdown_grace_seconds=7,
    grpc_keepalive_seconds=2,
    grpc_keepalive_timeout_seconds=3,
    grpc_max_connection_age_seconds=4,
    grpc_max_concurrent_calls=5,
)


def test_every_option_is_one_that_the_library_knows() -> None:
    library = Path(str(import_module("grpc._cython.cygrpc").__file__)).read_bytes()
    unknown = [name for name, _ in connection_options(_ALL) if name.encode() + b"\0" not in library]
    assert unknown == []


def test_the_settings_reach_the_library() -> None:
    options = dict(connection_options(_ALL))
    assert options["grpc.max_receive_message_length"] == 2048
    assert options["grpc.keepalive_time_ms"] == 2000
    assert options["grpc.keepalive_timeout_ms"] == 3000
    assert options["grpc.max_connection_age_ms"] == 4000
    assert options["grpc.max_connection_age_grace_ms"] == 7000
    assert options["grpc.max_concurrent_streams"] == 5


def test_connections_may_grow_old_unless_told_otherwise() -> None:
    assert "grpc.max_connection_age_ms" not in dict(connection_options(ServerSettings()))
