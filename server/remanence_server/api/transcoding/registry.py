"""The validation of gRPC requests, by the models that the HTTP routes use."""

from __future__ import annotations

from functools import cache

from google.protobuf.message import Message

from remanence_server.api.transcoding.validation import Registry, validate_with


def validate_message[MessageT: Message](message: MessageT) -> MessageT:
    """The request with defaults filled in and instants in milliseconds.

    Fails with ServiceError INVALID_INPUT, with the text that HTTP would answer. A message that is
    not a request of the contract is returned as it is.
    """
    return validate_with(_registry(), message)


@cache
def _registry() -> Registry:
    # The generated package imports this one, so it can only be reached once this one is complete.
    from remanence_http import REGISTRY

    return REGISTRY
