"""The front matter of a file: YAML between two `---` lines.

What we write ourselves is a list of plain `key: value` lines, read without a YAML parser (which
takes milliseconds a file); anything a person made of it goes through the parser. Rewriting keeps
their keys and comments.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

SCHEMA_VERSION = 1

_FENCE = re.compile(r"\ufeff?---[ \t]*\r?\n")
_CLOSING_FENCE = re.compile(r"^---[ \t]*\r?$\n?", re.MULTILINE)
_BARE_SCALAR = re.compile(r"[A-Za-z][\w@.-]*", re.ASCII)
_SIMPLE_LINE = re.compile(
    r'([a-z_]+):[ ](?:([A-Za-z][\w@.-]*)|"([^"\\\x00-\x1f]*)"|(\d{1,15})|(\d{4}-\d\d-\d\d))',
    re.ASCII,
)
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
# Words that some YAML reader takes for something other than text.
_YAML_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


class FrontMatterError(Exception):
    """The front matter cannot be read; `line` is where, from 1. The reason quotes nothing."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The parsed keys, and where the body begins in the text of the file."""

    values: Mapping[str, Any]
    body_start: int
    # The YAML itself, to be changed and written again.
    yaml: str = ""


def read_front_matter(text: str) -> FrontMatter:
    """The front matter at the beginning of a file, which may be missing.

    Raises FrontMatterError if there is one and it cannot be read.
    """
    opening = _FENCE.match(text)
    if opening is None:
        return FrontMatter({}, 1 if text.startswith("\ufeff") else 0)
    closing = _CLOSING_FENCE.search(text, opening.end())
    if closing is None:
        raise FrontMatterError(1, "the front matter is not closed by a line of ---")
    yaml = text[opening.end() : closing.start()].replace("\r\n", "\n")
    values = _read_simple(yaml)
    if values is None:
        values = _load(yaml)
    return FrontMatter(values, closing.end(), yaml)


def _read_simple(yaml: str) -> dict[str, Any] | None:
    values: dict[str, Any] = {}
    for line in yaml.rstrip("\n").split("\n"):
        match = _SIMPLE_LINE.fullmatch(line)
        if match is None:
            return None
        key, bare, quoted, number, day = match.groups()
        if key in values or (bare and bare.lower() in _YAML_WORDS):
            return None
        values[key] = int(number) if number else (bare or day or quoted)
    return values


def _round_trip() -> YAML:
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 1 << 30
    return yaml


def _load(yaml: str) -> CommentedMap:
    try:
        loaded = _round_trip().load(yaml)
    except YAMLError as error:
        mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
        # The opening fence is line 1. The parser's own words quote the file, so they stay here.
        line = mark.line + 2 if mark is not None else 1
        raise FrontMatterError(line, "the front matter is not valid YAML") from None
    except Exception:
        # The parser has more ways to fail on a damaged file than it has errors for.
        raise FrontMatterError(1, "the front matter is not valid YAML") from None
    if loaded is None:
        return CommentedMap()
    if not isinstance(loaded, CommentedMap):
        raise FrontMatterError(1, "the front matter is not a list of keys")
    return loaded


def render_front_matter(values: Mapping[str, str | int]) -> str:
    """Front matter of plain keys, fences included."""
    lines = [f"{key}: {_scalar(value)}" for key, value in values.items()]
    return "\n".join(("---", *lines, "---", ""))


def _scalar(value: str | int) -> str:
    if isinstance(value, int):
        return str(value)
    if _BARE_SCALAR.fullmatch(value) and value.lower() not in _YAML_WORDS:
        return value
    # JSON text is a YAML double-quoted scalar. Only what YAML calls unprintable is escaped: it
    # reads a pair of surrogate escapes as two characters, so nothing else may be.
    return _UNPRINTABLE.sub(
        lambda match: f"\\u{ord(match[0]):04x}", json.dumps(value, ensure_ascii=False)
    )


def merge_front_matter(yaml: str, values: Mapping[str, Any]) -> str:
    """Front matter with `values` set in it, the other keys, the order and the comments kept.

    A value of None removes its key. Raises FrontMatterError if `yaml` cannot be read.
    """
    keys = _load(yaml)
    for key, value in values.items():
        if value is None:
            keys.pop(key, None)
        else:
            keys[key] = _node(value, keys.get(key))
    buffer = io.StringIO()
    _round_trip().dump(keys, buffer)
    return f"---\n{buffer.getvalue()}---\n"


def _node(value: Any, present: Any) -> Any:
    if isinstance(value, Mapping):
        node = present if isinstance(present, CommentedMap) else CommentedMap()
        for key, item in value.items():
            if item is None:
                node.pop(key, None)
            else:
                node[key] = _node(item, node.get(key))
        return node
    if isinstance(value, str):
        if value == present and isinstance(present, str):
            return present
        bare = _BARE_SCALAR.fullmatch(value) and value.lower() not in _YAML_WORDS
        return value if bare else DoubleQuotedScalarString(value)
    if isinstance(value, tuple | list):
        return [_node(item, None) for item in value]
    return value
