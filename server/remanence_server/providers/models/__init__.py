"""Language models that answer in a given shape."""

from remanence_server.providers.models.interface import (
    FailureReason,
    Model,
    ModelAnswer,
    ModelError,
    ModelRequest,
    TokenUsage,
)

__all__ = [
    "FailureReason",
    "Model",
    "ModelAnswer",
    "ModelError",
    "ModelRequest",
    "TokenUsage",
]
