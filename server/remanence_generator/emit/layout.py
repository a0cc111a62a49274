"""Breaks generated lines that are too long, the way a formatter would."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

LINE_LENGTH = 100
_INDENT = "    "
_PAIRS = {"(": ")", "[": "]", "{": "}"}


def laid_out(lines: Iterable[str]) -> list[str]:
    """The lines, with code that is too long broken at its brackets; prose stays as it is."""
    result: list[str] = []
    in_docstring = False
    for line in lines:
        if in_docstring or '"""' in line or line.lstrip().startswith("#"):
            in_docstring ^= line.count('"""') % 2 == 1
            result.append(line)
        else:
            result += _fit(line)
    return result


def _fit(line: str) -> list[str]:
    if len(line) <= LINE_LENGTH:
        return [line]
    indent = line[: len(line) - len(line.lstrip())]
    pairs, _ = _scan(line)
    pairs = [(start, end) for start, end in pairs if end > start + 1]
    if not pairs:
        return [line]
    is_definition = line.lstrip().startswith(("def ", "async def "))
    start, end = pairs[0] if is_definition else pairs[-1]
    head, body, tail = line[: start + 1], line[start + 1 : end], line[end:]
    inner = indent + _INDENT
    if len(inner + body) <= LINE_LENGTH:
        return [head, f"{inner}{body}", f"{indent}{tail}"]
    _, commas = _scan(body)
    bounds = [-1, *commas, len(body)]
    items = [body[a + 1 : b].strip() for a, b in itertools.pairwise(bounds)]
    comma = "," if len(items) > 1 else ""
    broken = [part for item in items if item for part in _fit(f"{inner}{item}{comma}")]
    return [head, *broken, f"{indent}{tail}"]


def _scan(code: str) -> tuple[list[tuple[int, int]], list[int]]:
    """The outermost bracket pairs of a line of code, and the commas outside of them."""
    pairs: list[tuple[int, int]] = []
    commas: list[int] = []
    expected: list[str] = []
    start = 0
    in_text = False
    skip = False
    for position, character in enumerate(code):
        if skip:
            skip = False
        elif in_text:
            skip = character == "\\"
            in_text = character != '"'
        elif character == '"':
            in_text = True
        elif character in _PAIRS:
            if not expected:
                start = position
            expected.append(_PAIRS[character])
        elif expected and character == expected[-1]:
            expected.pop()
            if not expected:
                pairs.append((start, position))
        elif character == "," and not expected:
            commas.append(position)
    return pairs, commas
