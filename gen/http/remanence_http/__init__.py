# Generated from the protos by remanence_generator. Do not edit.
"""The HTTP surface of the contract, and the validation that both surfaces share."""

from __future__ import annotations

from remanence_http import jobs, knowledge, memory, ome, ops, tasks, transfer
from remanence_server.api.transcoding.validation import Registry

# Every request message by its full name.
REGISTRY: Registry = {
    **jobs.MESSAGES,
    **knowledge.MESSAGES,
    **memory.MESSAGES,
    **ome.MESSAGES,
    **ops.MESSAGES,
    **tasks.MESSAGES,
    **transfer.MESSAGES,
}

__all__ = ["REGISTRY", "jobs", "knowledge", "memory", "ome", "ops", "tasks", "transfer"]
