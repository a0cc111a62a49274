"""The limits and the keepalive of gRPC connections."""

from __future__ import annotations

from remanence_server.runtime.settings import ServerSettings

# Clients may ask for a sign of life this often, also while they have no call under way. The
# library's own limit is five minutes, after which it hangs up on a client that is only careful.
_LEAST_PING_INTERVAL_MS = 10_000


def connection_options(settings: ServerSettings) -> tuple[tuple[str, int], ...]:
    """What the gRPC library is told of every connection; it ignores names that it does not know."""
    options = (
        ("grpc.max_receive_message_length", settings.max_body_bytes),
        # Answers keep to what their client receives, see answer_budget; this is no second limit.
        ("grpc.max_send_message_length", -1),
        ("grpc.max_concurrent_streams", settings.grpc_max_concurrent_calls),
        ("grpc.keepalive_time_ms", _milliseconds(settings.grpc_keepalive_seconds)),
        ("grpc.keepalive_timeout_ms", _milliseconds(settings.grpc_keepalive_timeout_seconds)),
        # A channel that idles behind a NAT or a proxy is kept open, too.
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.http2.min_ping_interval_without_data_ms", _LEAST_PING_INTERVAL_MS),
        # Two servers on one port would share its calls at random.
        ("grpc.so_reuseport", 0),
    )
    if not settings.grpc_max_connection_age_seconds:
        return options
    return (
        *options,
        ("grpc.max_connection_age_ms", _milliseconds(settings.grpc_max_connection_age_seconds)),
        # Calls under way go on as they do when the server stops.
        ("grpc.max_connection_age_grace_ms", _milliseconds(settings.shutdown_grace_seconds)),
    )


def _milliseconds(seconds: float) -> int:
    return int(seconds * 1000)
