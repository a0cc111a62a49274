"""How both clients talk: message sizes, reconnecting, and which calls are sent again by gRPC."""

from __future__ import annotations

import json

# With the stock limit of 4 MiB, a search with long episodes would take several calls.
MAXIMUM_RESPONSE_BYTES = 64 * 1024 * 1024

_READS: dict[str, tuple[str, ...]] = {
    "remanence.v2.MemoryService": ("Search", "Get"),
    "remanence.v2.TaskService": ("GetTask", "ListTasks"),
    "remanence.v2.JobService": ("GetJob", "ListJobs"),
    "remanence.v2.OpsService": ("GetHealth",),
}
_REPEATABLE_WRITES: dict[str, tuple[str, ...]] = {
    "remanence.v2.MemoryService": ("Add", "Flush", "Delete")
}


def channel_options(*, retry_writes: bool) -> list[tuple[str, str | int]]:
    """Options for a channel."""
    services = [_READS, _REPEATABLE_WRITES] if retry_writes else [_READS]
    names = [
        {"service": service, "method": method}
        for methods_of in services
        for service, methods in methods_of.items()
        for method in methods
    ]
    retries = {
        "maxAttempts": 4,
        "initialBackoff": "0.1s",
        "maxBackoff": "2s",
        "backoffMultiplier": 3,
        "retryableStatusCodes": ["UNAVAILABLE"],
    }
    service_config = {"methodConfig": [{"name": names, "retryPolicy": retries}]}
    return [
        ("grpc.service_config", json.dumps(service_config)),
        ("grpc.max_receive_message_length", MAXIMUM_RESPONSE_BYTES),
        # A server that starts is noticed soon; the stock pause between attempts is a second and
        # grows to two minutes.
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", 2000),
    ]
