"""The HTTP surface's runtime: validation, envelopes and errors around the generated routes."""

from __future__ import annotations

from remanence_server.api.transcoding.bindings import HttpBinding
from remanence_server.api.transcoding.context import CallContext, HttpCallContext
from remanence_server.api.transcoding.errors import (
    REQUEST_ID_HEADER,
    ErrorResponses,
    RequestIdMiddleware,
    install_error_handling,
    request_id_of,
)
from remanence_server.api.transcoding.filters import (
    FilterError,
    check_filter_node,
    filter_node_from_json,
    filter_node_json,
)
from remanence_server.api.transcoding.registry import validate_message

__all__ = [
    "REQUEST_ID_HEADER",
    "CallContext",
    "ErrorResponses",
    "FilterError",
    "HttpBinding",
    "HttpCallContext",
    "RequestIdMiddleware",
    "check_filter_node",
    "filter_node_from_json",
    "filter_node_json",
    "install_error_handling",
    "request_id_of",
    "validate_message",
]
