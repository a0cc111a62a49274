"""Short values: ids, names and lists of them, on inline keys and inside comments.

An ordinary value is written bare, anything else as JSON. The JSON never holds what would end a
line or a comment, so an id may be any text at all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

_PLAIN_WORD = re.compile(r"(?!.*--)[\w.@+:/#%~-]+")
_PLAIN_KEY_VALUE = re.compile(r"\w(?:[\w .@+:/#%~,-]*[\w.@+:/#%~-])?")
_LIST_SEPARATOR = re.compile(r"\s*,\s*")
_ATTRIBUTE = re.compile(r"\s*([a-z_]+)=")
_WORD = re.compile(r"[^\s\"\[\]<>]*")
_DECODER = json.JSONDecoder()

Value = str | tuple[str, ...]


def dump_json(value: object) -> str:
    """JSON on one line of ASCII that cannot end a comment."""
    text = json.dumps(value, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("--", "-\\u002d")


def load_json(text: str) -> Any:
    """Undoes `dump_json`. Raises ValueError on anything that is not JSON."""
    return json.loads(text)


def encode_value(text: str) -> str:
    """The text after an inline key."""
    return text if _PLAIN_KEY_VALUE.fullmatch(text) else dump_json(text)


def decode_value(text: str) -> str:
    """Undoes `encode_value`; text that is not valid JSON is taken as it stands."""
    if text.startswith('"'):
        try:
            value = load_json(text)
        except ValueError:
            return text
        return value if isinstance(value, str) else text
    return text


def encode_values(texts: Sequence[str]) -> str:
    """A list of texts after an inline key: `alice, helper`."""
    if texts and all(_PLAIN_WORD.fullmatch(text) for text in texts):
        return ", ".join(texts)
    return dump_json(list(texts))


def decode_values(text: str) -> tuple[str, ...]:
    """Undoes `encode_values`."""
    if text.startswith("["):
        try:
            return tuple(str(value) for value in load_json(text))
        except ValueError:
            text = text.strip("[] ")
    return tuple(value for value in _LIST_SEPARATOR.split(text) if value)


def encode_attributes(attributes: Mapping[str, Value]) -> str:
    """`key=value` pairs for a comment; empty lists are left out."""
    return " ".join(
        f"{key}={_encode_attribute(value)}" for key, value in attributes.items() if value != ()
    )


def _encode_attribute(value: Value) -> str:
    if isinstance(value, str):
        return value if _PLAIN_WORD.fullmatch(value) else dump_json(value)
    if all(_PLAIN_WORD.fullmatch(item) for item in value):
        return ",".join(value)
    return dump_json(list(value))


def decode_attributes(text: str) -> dict[str, Value]:
    """Undoes `encode_attributes`, except that a list written bare comes back as one text.

    `as_list` makes it a list again. Raises ValueError when the text is not such pairs.
    """
    if '"' not in text and "[" not in text:
        # As we write them nearly always, and quicker.
        pairs = [pair.partition("=") for pair in text.split()]
        if not all(separator for _, separator, _ in pairs):
            raise ValueError("not key=value pairs")
        return {key: value for key, _, value in pairs}
    attributes: dict[str, Value] = {}
    position = 0
    end = len(text)
    while position < end:
        match = _ATTRIBUTE.match(text, position)
        if match is None:
            if text[position:].strip():
                raise ValueError("not key=value pairs")
            break
        position = match.end()
        if text[position : position + 1] in ('"', "["):
            value, position = _DECODER.raw_decode(text, position)
            attributes[match[1]] = value if isinstance(value, str) else tuple(map(str, value))
        else:
            word = _WORD.match(text, position)
            assert word is not None  # noqa: S101 - the pattern matches the empty text
            attributes[match[1]] = word[0]
            position = word.end()
    return attributes


def as_text(value: Value | None) -> str:
    """The value of a key that holds one text."""
    return value if isinstance(value, str) else ",".join(value or ())


def as_list(value: Value | None) -> tuple[str, ...]:
    """The value of a key that holds a list."""
    if isinstance(value, str):
        return tuple(item for item in value.split(",") if item)
    return value or ()
