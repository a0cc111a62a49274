"""Results as the JSON of the API: the same keys and values that the HTTP surface sends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any


def to_json(value: Any) -> Any:
    """A result as plain dicts, lists and scalars: what HTTP clients get as `data`.

    Instants become ISO-8601 text in UTC. `request_id` is part of the envelope, not of the data.
    """
    if isinstance(value, datetime):
        text = value.isoformat(timespec="milliseconds" if value.microsecond else "seconds")
        return text.removesuffix("+00:00") + "Z" if text.endswith("+00:00") else text
    if isinstance(value, Mapping):
        return {key: to_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    if not is_dataclass(value):
        return value
    data: dict[str, Any] = {}
    for each in fields(value):
        item = getattr(value, each.name)
        rule = each.metadata.get("json")
        if rule == "never" or (rule == "unless_none" and item is None):
            continue
        data[each.name] = None if rule == "null_when_empty" and not item else to_json(item)
    return data
