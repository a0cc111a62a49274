"""What Schemathesis loads beside the contract: a check of ours, and what no schema can say."""

from __future__ import annotations

from typing import Any

import schemathesis

_SERVER_FAULT = 500


@schemathesis.check
def no_fault_of_the_server(ctx: Any, response: Any, case: Any) -> bool | None:
    """A 5xx says that this build lacks a capability, or that the service is not ready: no more."""
    if response.status_code < _SERVER_FAULT:
        return None
    body = response.json()
    refused = body.get("error", {}).get("code") == "CAPABILITY_UNAVAILABLE"
    not_ready = case.path == "/health/ready" and body.get("status") == "unavailable"
    assert response.status_code == 503 and (refused or not_ready), (
        f"a fault of the server: {response.status_code}"
    )
    return None


@schemathesis.hook
def before_call(ctx: Any, case: Any, kwargs: dict[str, Any]) -> None:
    """Makes requests that fit the schema valid where no schema can say what is."""
    if not case.meta.generation.mode.is_positive:
        return
    # With a key that was used before, all that is tried is the conflict.
    if "Idempotency-Key" in (case.headers or {}):
        case.headers["Idempotency-Key"] = case.id
    if not isinstance(case.body, dict):
        return
    if case.path == "/api/v2/memory/delete":
        _say_what_to_delete(case.body)
    # Only a token that an answer brought goes on.
    case.body.pop("page_token", None)
    for message in case.body.get("messages") or ():
        content = message["content"] if isinstance(message["content"], list) else ()
        for item in content:
            if item["type"] == "text":
                item["text"] = item.get("text") or ""
                item["uri"] = item["base64"] = None


def _say_what_to_delete(body: dict[str, Any]) -> None:
    """One way of saying it, and whose it is: rules among fields that the contract has in words."""
    names = ("ids", "filters", "everything", "session_id")
    ways = [name for name in names if body.get(name)]
    for name in names:
        if name not in ways[:1]:
            body.pop(name, None)
    if not ways:
        body["session_id"] = "0"
    elif ways[0] != "session_id" and not (body.get("user_id") or body.get("agent_id")):
        body["user_id"] = "0"
