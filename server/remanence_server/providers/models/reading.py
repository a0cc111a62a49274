"""Reads the JSON object out of a model's output, however it is wrapped."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

# More openings than this in one output are no decoration but nonsense.
_MAXIMUM_OPENINGS = 64

_decoder = json.JSONDecoder(strict=False)


def objects_in(text: str) -> tuple[Mapping[str, Any], ...]:
    """The outermost JSON objects of a text, in order; prose and fences around them are passed over.

    Line breaks within strings are borne with. An array is searched for objects too.
    """
    return tuple(_objects(text))


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    position = 0
    for _ in range(_MAXIMUM_OPENINGS):
        position = text.find("{", position)
        if position < 0:
            return
        try:
            value, position = _decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            position += 1
            continue
        if isinstance(value, Mapping):
            yield value
