"""A profile as a page: a summary, then bullets under a heading for each category.

The bullets are the profile: what a person changes there is changed, what they delete is gone.
The front matter holds only whose page it is and how old. Lines that are neither bullets nor the
summary are a person's own: they are not part of the profile, and stay where they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Any, TypeGuard

from remanence_server.domain.records import Profile
from remanence_server.markdown.block_entries import EntryError, read_timestamp
from remanence_server.markdown.escape import (
    decode_block,
    decode_line,
    encode_block,
    encode_line,
)
from remanence_server.markdown.front_matter import (
    SCHEMA_VERSION,
    FrontMatterError,
    merge_front_matter,
    read_front_matter,
)
from remanence_server.markdown.headers import header_conflict, owner_keys
from remanence_server.markdown.paths import MemoryFile
from remanence_server.markdown.profile_items import (
    Bullet,
    parse_bullet,
    read_item,
    read_trait,
    render_item,
    render_trait,
)
from remanence_server.markdown.values import dump_json, load_json
from remanence_server.runtime.instants import render_iso

_GUIDE = (
    "<!-- This page is the profile: change, add or delete its lines and the memory follows. "
    "The lines below a bullet say since when and why; struck ones were true before. -->"
)
_HEADING = re.compile(
    r"(#{1,2})[ \t]+(.*?)(?:[ \t]*(?<!\\)<!--[ \t]*(traits|none)[ \t]*-->)?[ \t]*"
)
_DATA = re.compile(r"<!--[ \t]*data:[ \t]*(\{[^<>]*\})[ \t]*-->[ \t]*")
_PLACES = frozenset({"summary", "explicit_info", "implicit_traits"})
_TRAITS = "traits"
_UNCATEGORISED = "none"


@dataclass(slots=True)
class Section:
    """The part of a page under one heading."""

    title: str
    # "traits", "none" (items without a category), or None for a category.
    sign: str | None = None
    bullets: list[Bullet] = field(default_factory=list)
    # Lines of a person that are not items.
    notes: list[str] = field(default_factory=list)
    in_note: bool = False


@dataclass(slots=True)
class Page:
    """A page taken apart."""

    summary: str
    sections: list[Section]
    data: dict[str, Any]


def render_profile(
    profile: Profile, file: MemoryFile, zone: tzinfo, present: str | None = None
) -> str:
    """The page of a profile; of the page that is `present`, a person's own keys and lines stay.

    `explicit_info` comes back grouped by category. Raises FrontMatterError or EntryError when the
    present page cannot be read.
    """
    yaml, notes = "", {}
    if present is not None:
        front_matter = read_front_matter(present)
        yaml = front_matter.yaml
        page = _take_apart(present[front_matter.body_start :])
        notes = {(s.title, s.sign): s.notes for s in page.sections if s.notes}
    values: dict[str, Any] = {
        "id": profile.owner.owner_id,
        "type": "user_profile",
        "schema_version": SCHEMA_VERSION,
        **owner_keys(profile.owner),
        "updated_at": render_iso(profile.timestamp_ms, zone),
        "profile_timestamp_ms": None,
    }
    data = _grouped(dict(profile.data))
    if _is_integer(data.get("profile_timestamp_ms")):
        values["profile_timestamp_ms"] = data.pop("profile_timestamp_ms")
    # What the page cannot show exactly goes into a comment as it is.
    odd = {key: value for key, value in data.items() if not _shows(key, value, file, zone)}
    shown = {key: value for key, value in data.items() if key not in odd}
    return merge_front_matter(yaml, values) + _body(file, shown, odd, notes, zone)


def decode_profile(file: MemoryFile, text: str, zone: tzinfo) -> Profile:
    """Undoes `render_profile`. Raises FrontMatterError or EntryError."""
    front_matter = read_front_matter(text)
    values = front_matter.values
    conflict = header_conflict(values, file)
    if conflict is not None:
        raise FrontMatterError(1, conflict)
    data = _data(_take_apart(text[front_matter.body_start :]), zone)
    stamp = values.get("profile_timestamp_ms")
    if _is_integer(stamp):
        data["profile_timestamp_ms"] = int(stamp)
    updated_at = values.get("updated_at")
    if updated_at is not None:
        timestamp_ms = read_timestamp(updated_at, zone)
    else:
        timestamp_ms = int(stamp) if _is_integer(stamp) else 0
    return Profile(owner=file.owner, data=data, timestamp_ms=timestamp_ms)


def has_notes(text: str) -> bool:
    """Whether a page has lines of a person. Raises FrontMatterError or EntryError."""
    front_matter = read_front_matter(text)
    return any(section.notes for section in _take_apart(text[front_matter.body_start :]).sections)


def _body(
    file: MemoryFile,
    shown: Mapping[str, Any],
    odd: Mapping[str, Any],
    notes: Mapping[tuple[str, str | None], Sequence[str]],
    zone: tzinfo,
) -> str:
    blocks = [_GUIDE, f"# {encode_line(f'Profile of {file.owner.owner_id}')}"]
    if "summary" in shown:
        blocks.append(encode_block(shown["summary"], all_headings=True))
    sections: dict[tuple[str, str | None], list[str]] = {}
    for item in shown.get("explicit_info", ()):
        category = item.get("category")
        if isinstance(category, str) and category:
            lines = render_item(item, zone, leave_out="category")
            sections.setdefault((category, None), []).extend(lines)
        else:
            sections.setdefault(("Other", _UNCATEGORISED), []).extend(render_item(item, zone))
    for trait in shown.get("implicit_traits", ()):
        sections.setdefault(("Traits", _TRAITS), []).extend(render_trait(trait, zone))
    for key, own_lines in notes.items():
        section = sections.setdefault(key, [])
        section.extend(("", *own_lines) if section else own_lines)
    for (title, sign), lines in sections.items():
        comment = f" <!-- {sign} -->" if sign else ""
        blocks.append("\n".join((f"## {encode_line(title)}{comment}", "", *lines)))
    if odd:
        blocks.append(f"<!-- data: {dump_json(odd)} -->")
    return "\n" + "\n\n".join(blocks) + "\n"


def _data(page: Page, zone: tzinfo) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if page.summary:
        data["summary"] = page.summary
    for section in page.sections:
        for bullet in section.bullets:
            if section.sign == _TRAITS:
                data.setdefault("implicit_traits", []).append(read_trait(bullet, zone))
                continue
            item = read_item(bullet, zone)
            if section.sign is None:
                item["category"] = section.title
            data.setdefault("explicit_info", []).append(item)
    return {**data, **page.data}


def _take_apart(body: str) -> Page:
    page = Page("", [], {})
    summary: list[str] = []
    body = body.replace(_GUIDE, "", 1)
    for line in body.split("\n"):
        heading = _HEADING.fullmatch(line)
        data = _DATA.fullmatch(line)
        if data is not None:
            try:
                page.data = load_json(data[1])
            except ValueError:
                raise EntryError("the data comment is not JSON") from None
        elif heading is not None:
            if len(heading[1]) == 2:
                page.sections.append(Section(decode_line(heading[2]), heading[3]))
        elif page.sections:
            _add_line(page.sections[-1], line)
        else:
            summary.append(line)
    page.summary = decode_block("\n".join(summary), all_headings=True)
    for section in page.sections:
        while section.notes and not section.notes[-1].strip():
            section.notes.pop()
    return page


def _add_line(section: Section, line: str) -> None:
    bullet = parse_bullet(line)
    if bullet is not None and not bullet.depth:
        # A bullet that a person struck out is no longer so; what is below it goes with it.
        section.in_note = bullet.is_struck
    if bullet is None or section.in_note:
        if line.strip() or section.notes:
            section.notes.append(line)
        return
    siblings = section.bullets
    while bullet.depth and siblings and siblings[-1].depth < bullet.depth:
        siblings = siblings[-1].children
    siblings.append(bullet)


def _shows(key: str, value: Any, file: MemoryFile, zone: tzinfo) -> bool:
    """Whether the page gives this key back exactly as it is."""
    if key not in _PLACES:
        return False
    try:
        text = _body(file, {key: value}, {}, {}, zone)
        return _data(_take_apart(text), zone) == {key: value}
    except (TypeError, AttributeError, KeyError, ValueError, OverflowError, EntryError):
        return False


def _grouped(data: dict[str, Any]) -> dict[str, Any]:
    items = data.get("explicit_info")
    if isinstance(items, list | tuple) and all(isinstance(item, Mapping) for item in items):
        order: dict[str, list[Any]] = {}
        for item in items:
            order.setdefault(repr(item.get("category")), []).append(item)
        data["explicit_info"] = [item for group in order.values() for item in group]
    return data


def _is_integer(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
