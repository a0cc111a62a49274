"""One message of a file as a message of the API: what exports leave out is filled in."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from remanence_server.runtime.instants import from_datetime, to_milliseconds

# Roles of exports that are instructions, not conversation.
_SKIPPED_ROLES = frozenset({"system", "developer"})
_NUMBER = re.compile(r"\d+(\.\d+)?")


@dataclass(frozen=True, slots=True)
class Senders:
    """Who spoke, where a message does not say."""

    user: str | None = None
    assistant: str = "assistant"
    tool: str = "tool"


def as_message(item: object, senders: Senders) -> dict[str, Any] | None:
    """A message in the JSON of the API; None for one that is no part of the conversation.

    Raises:
        ValueError: what is missing or wrong, and what to do.
    """
    if not isinstance(item, Mapping):
        raise ValueError("a message should be an object")
    role = item.get("role", "user")
    if role in _SKIPPED_ROLES:
        return None
    sender = item.get("sender_id")
    if sender is None:
        sender = getattr(senders, role, None) if isinstance(role, str) else None
    if sender is None:
        raise ValueError("sender_id is missing; say whose messages these are with --user")
    if item.get("timestamp") is None:
        raise ValueError("timestamp is missing")
    content = item.get("content")
    return {
        **item,
        "role": role,
        "sender_id": sender,
        "timestamp": instant_ms(item["timestamp"]),
        # An assistant that only called tools said nothing.
        "content": "" if content is None else content,
    }


def with_message_id(message: Mapping[str, Any], session_id: str, index: int) -> dict[str, Any]:
    """The message with an id that is the same each time the file is read: sent twice, kept once."""
    if message.get("message_id"):
        return dict(message)
    identity = json.dumps([session_id, index, message], sort_keys=True, ensure_ascii=False)
    digest = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()
    return {**message, "message_id": f"import-{digest[:32]}"}


def instant_ms(value: object) -> int:
    """Epoch milliseconds of an epoch (in seconds or milliseconds) or of ISO-8601 text.

    A text without an offset is read as UTC.

    Raises:
        ValueError: the value is no instant.
    """
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        value = float(value) if "." in value else int(value)
    if isinstance(value, float) and abs(value) < 1e15:
        # Exports that count in fractions count in seconds.
        return round(value * 1000) if abs(value) < 1e11 else round(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return to_milliseconds(value)
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value.strip())
        except ValueError:
            pass
        else:
            return from_datetime(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    raise ValueError("a timestamp is ISO-8601 text or an epoch in seconds or milliseconds")
