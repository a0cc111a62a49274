"""The exact-match terms of a passage: whose it is, its channel, and what filters ask for.

All of them are terms of one field, `<kind>=<value>`, so that a passage is written with few calls.
A term never holds a white space.
"""

from __future__ import annotations

import hashlib
from enum import StrEnum
from functools import lru_cache
from urllib.parse import quote

from remanence_server.index.lexical.interface import LexicalDocument

# Far below the engine's limit of 32,766 bytes a term, far above any honest id.
_MAX_VALUE_CHARACTERS = 256


class Key(StrEnum):
    """Kinds of exact-match terms; short because every passage carries them."""

    PARTITION = "o"
    CHANNEL = "c"
    SESSION_ID = "s"
    TIMESTAMP = "t"
    PARENT_TYPE = "pt"
    PARENT_ID = "pi"
    SENDER_ID = "u"


# Passages come in runs of one owner, session and parent.
@lru_cache(maxsize=4_096)
def key_term(key: Key, value: str) -> str:
    """The term that says that a field has this value."""
    if len(value) > _MAX_VALUE_CHARACTERS:
        value = hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
        return f"{key}#{value}"
    return f"{key}={quote(value, safe='', errors='surrogatepass')}"


def presence_term(key: Key) -> str:
    """The term that says that a field has some value."""
    return str(key)


def channel_term(partition: str, channel: str) -> str:
    """The term of a channel of a partition."""
    return key_term(Key.CHANNEL, f"{partition}\x1f{channel}")


def document_keys(document: LexicalDocument) -> list[str]:
    """All exact-match terms of a passage."""
    keys = [
        key_term(Key.PARTITION, document.partition),
        channel_term(document.partition, document.channel),
    ]
    for key, values in (
        (Key.SESSION_ID, (document.session_id,)),
        (Key.PARENT_TYPE, (document.parent_type,)),
        (Key.PARENT_ID, (document.parent_id,)),
        (Key.SENDER_ID, document.sender_ids),
    ):
        present = [key_term(key, value) for value in values if value is not None]
        if present:
            keys.append(presence_term(key))
            keys += present
    if document.timestamp_ms is not None:
        keys.append(presence_term(Key.TIMESTAMP))
    return keys
