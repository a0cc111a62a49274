"""Identifiers that the server gives."""

from __future__ import annotations

import re
import uuid
from datetime import date

# A longer number would not fit the counters; an id that has one is somebody's own.
_ENTRY_ID = re.compile(r"(?P<prefix>[a-z]{2})_(?P<day>\d{8})_(?P<sequence>\d{8,15})", re.ASCII)


def new_request_id() -> str:
    """32 lower-case hex characters."""
    return uuid.uuid4().hex


def entry_id(prefix: str, day: date, sequence: int) -> str:
    """The id of a Markdown entry within its owner, for example `ep_20260528_00000001`."""
    return f"{prefix}_{day:%Y%m%d}_{sequence:08d}"


def entry_sequence(entry: str) -> int | None:
    """The sequence number in an entry id, or None when it is not one of ours."""
    match = _ENTRY_ID.fullmatch(entry)
    return int(match["sequence"]) if match else None
