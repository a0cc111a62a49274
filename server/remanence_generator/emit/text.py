"""Small helpers for writing Python source."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable

from remanence_generator.emit.layout import LINE_LENGTH
from remanence_generator.emit.values import whole

HEADER = "# Generated from {source} by remanence_generator. Do not edit."


def quoted(value: str) -> str:
    """A Python literal of a text, in double quotes."""
    return json.dumps(value, ensure_ascii=False)


def literal(default_json: str) -> str:
    """A JSON literal as a Python one."""
    value = json.loads(default_json)
    return quoted(value) if isinstance(value, str) else repr(value)


def number(value: float) -> str:
    """A bound as it would be written by hand: without a fraction where there is none."""
    return repr(whole(value))


def docstring(comment: str, indent: str, fallback: str) -> list[str]:
    """The lines of a docstring: the proto comment, reflowed as it is."""
    lines = (comment or fallback).replace("\\", "\\\\").split("\n")
    if len(lines) == 1:
        return textwrap.wrap(
            f'"""{lines[0]}"""', LINE_LENGTH, initial_indent=indent, subsequent_indent=indent
        )
    body = [f'{indent}"""{lines[0]}', *(f"{indent}{line}".rstrip() for line in lines[1:])]
    return [*body, f'{indent}"""']


def comment_lines(comment: str, indent: str) -> list[str]:
    """The lines of a comment above a field."""
    return [f"{indent}# {line}".rstrip() for line in comment.split("\n")] if comment else []


def block(lines: Iterable[str], indent: str) -> list[str]:
    """The lines, indented."""
    return [f"{indent}{line}" if line else "" for line in lines]
