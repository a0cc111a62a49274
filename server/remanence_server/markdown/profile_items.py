"""One item of a profile as a bullet, with its evidence and what it replaced below it.

    - Lives in Berlin
      - 2026-05-28T11:30:36.123Z: I moved to Berlin last month
      - ~~Lives in Rome~~
        - 2025-01-02T09:00:00Z: I live in Rome

Each piece of data is there once, so an edit has one meaning. Keys that have no place in this form
stay behind their line in a comment, as JSON.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Any

from remanence_server.markdown.block_entries import EntryError, read_timestamp
from remanence_server.markdown.escape import decode_line, encode_line
from remanence_server.markdown.values import dump_json, load_json
from remanence_server.runtime.instants import render_iso

_BULLET = re.compile(r"( *)[-*+][ \t]+(.*?)(?:[ \t]*(?<!\\)<!--[ \t]*(\{[^<>]*\})[ \t]*-->)?[ \t]*")
_STRUCK = re.compile(r"~~(.*)~~")
_EVIDENCE = re.compile(r"(\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-][\d:]+)?)?)(?::[ \t]+(.*))?")
_UNDATED_EVIDENCE = "evidence: "
_TRAIT = re.compile(r"\*\*(.+?)\*\*: (.*)")
_IN_PLACE = frozenset({"description", "evidence", "timestamp_ms", "superseded"})


@dataclass(slots=True)
class Bullet:
    """A bullet with those below it, as written."""

    text: str
    details: Mapping[str, Any] | None
    depth: int
    children: list[Bullet] = field(default_factory=list)

    @property
    def is_struck(self) -> bool:
        """Whether the text is struck through: no longer true."""
        return _STRUCK.fullmatch(self.text) is not None


def parse_bullet(line: str) -> Bullet | None:
    """The bullet on a line; None when the line is something else. Raises EntryError."""
    match = _BULLET.fullmatch(line)
    if match is None:
        return None
    details: Mapping[str, Any] | None = None
    if match[3] is not None:
        try:
            details = load_json(match[3])
        except ValueError:
            raise EntryError("the comment behind a bullet is not JSON") from None
    return Bullet(match[2], details, len(match[1]))


def render_item(item: Mapping[str, Any], zone: tzinfo, *, leave_out: str = "") -> list[str]:
    """The lines of an item of `explicit_info`; the key `leave_out` is written elsewhere."""
    details = {
        key: value for key, value in item.items() if key != leave_out and not _has_place(key, value)
    }
    text = "" if "description" in details else encode_line(item.get("description", ""))
    lines = [_line(text, details)]
    lines.extend(f"  {line}" for line in _evidence_lines(item, details, zone))
    if "superseded" in item and "superseded" not in details:
        for earlier in item["superseded"]:
            first, *others = render_item(earlier, zone)
            words, comment = _split_comment(first.removeprefix("- "))
            lines.append(f"  - ~~{words}~~{comment}")
            lines.extend(f"  {line}" for line in others)
    return lines


def read_item(bullet: Bullet, zone: tzinfo) -> dict[str, Any]:
    """Undoes `render_item`. Raises EntryError."""
    item: dict[str, Any] = dict(bullet.details or {})
    struck = _STRUCK.fullmatch(bullet.text)
    text = decode_line(struck[1] if struck else bullet.text)
    if text or "description" not in item:
        item["description"] = text
    for child in bullet.children:
        evidence = _EVIDENCE.fullmatch(child.text)
        if child.is_struck:
            item.setdefault("superseded", []).append(read_item(child, zone))
        elif evidence is not None:
            item["timestamp_ms"] = read_timestamp(evidence[1], zone)
            if evidence[2] is not None:
                item["evidence"] = decode_line(evidence[2])
        elif child.text.startswith(_UNDATED_EVIDENCE):
            item["evidence"] = decode_line(child.text.removeprefix(_UNDATED_EVIDENCE))
    return item


def render_trait(trait: Any, zone: tzinfo) -> list[str]:
    """The lines of an item of `implicit_traits`: a text, or keys like those of an item."""
    if isinstance(trait, str):
        return [_line(encode_line(trait), {})]
    first, *others = render_item(trait, zone, leave_out="trait")
    name = trait.get("trait")
    if not isinstance(name, str) or not name:
        # Without a name, braces tell it from a trait that is a text only.
        return [first if others or first.endswith("-->") else f"{first} <!-- {{}} -->", *others]
    return [f"- **{encode_line(name)}**: {first.removeprefix('- ')}", *others]


def read_trait(bullet: Bullet, zone: tzinfo) -> Any:
    """Undoes `render_trait`. Raises EntryError."""
    named = _TRAIT.fullmatch(bullet.text)
    if named is None and bullet.details is None and not bullet.children:
        return decode_line(bullet.text)
    item = read_item(bullet, zone)
    if named is not None:
        item["trait"] = decode_line(named[1])
        item["description"] = decode_line(named[2])
    return item


def _has_place(key: str, value: Any) -> bool:
    if key not in _IN_PLACE:
        return False
    if key == "superseded":
        return (
            isinstance(value, list)
            and bool(value)
            and all(isinstance(e, Mapping) and e.get("description") for e in value)
        )
    if key == "timestamp_ms":
        return isinstance(value, int) and not isinstance(value, bool)
    # A text that looks struck would be read as one that is.
    return isinstance(value, str) and bool(value) and not _STRUCK.fullmatch(value)


def _evidence_lines(item: Mapping[str, Any], details: Mapping[str, Any], zone: tzinfo) -> list[str]:
    words = item["evidence"] if "evidence" in item and "evidence" not in details else None
    if "timestamp_ms" in item and "timestamp_ms" not in details:
        moment = render_iso(item["timestamp_ms"], zone)
        return [f"- {moment}" if words is None else f"- {moment}: {encode_line(words)}"]
    return [] if words is None else [f"- {_UNDATED_EVIDENCE}{encode_line(words)}"]


def _line(text: str, details: Mapping[str, Any]) -> str:
    return f"- {text} <!-- {dump_json(details)} -->" if details else f"- {text}"


def _split_comment(text: str) -> tuple[str, str]:
    start = text.rfind(" <!-- {")
    return (text, "") if start < 0 else (text[:start], text[start:])
