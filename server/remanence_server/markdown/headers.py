"""The front matter that says whose a file is, and how it must agree with the file's path."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from remanence_server.domain.owners import Owner, Track
from remanence_server.domain.records import Kind
from remanence_server.markdown.escape import encode_line
from remanence_server.markdown.front_matter import SCHEMA_VERSION, render_front_matter
from remanence_server.markdown.paths import MemoryFile

# A larger file is not read, unless it says `large: true`: what a person drops into the folder by
# mistake must not stop the rest, and a file of ours only grows so large for one huge entry.
MAXIMUM_FILE_BYTES = 8 << 20
MAXIMUM_LARGE_FILE_BYTES = 256 << 20
LARGE = "large"

TOO_LARGE = "the file is too large to be read (8 MiB, or `large: true` in its front matter)"

_TITLE: Mapping[Kind, str] = {
    Kind.EPISODE: "Episodes",
    Kind.ATOMIC_FACT: "Facts",
    Kind.TRANSCRIPT: "Transcripts",
    Kind.AGENT_CASE: "Cases",
}


def owner_keys(owner: Owner) -> dict[str, str]:
    """The keys that name an owner."""
    return {
        "user_id" if owner.track is Track.USER else "agent_id": owner.owner_id,
        "track": owner.track.value,
        "app_id": owner.scope.app_id,
        "project_id": owner.scope.project_id,
    }


def render_daily_header(file: MemoryFile, *, large: bool) -> str:
    """How a new daily file begins. Written once: appending never changes it."""
    values: dict[str, str | int] = {
        "id": daily_id(file),
        "type": "daily_log",
        "file_type": file.kind.value,
        "schema_version": SCHEMA_VERSION,
        **owner_keys(file.owner),
    }
    front_matter = render_front_matter(values).removesuffix("---\n")
    large_line = f"{LARGE}: true\n" if large else ""
    title = encode_line(f"{_TITLE[file.kind]} of {file.owner.owner_id}, {file.day}")
    return f"{front_matter}date: {file.day}\n{large_line}---\n\n# {title}\n\n"


def daily_id(file: MemoryFile) -> str:
    """The id of a daily file, unique within its scope and track."""
    suffix = f".{file.number}" if file.number > 1 else ""
    return f"{file.owner.owner_id}_{file.kind.value}_{file.day}{suffix}"


def header_conflict(values: Mapping[str, Any], file: MemoryFile) -> str | None:
    """Why the front matter does not belong to the file at this path; None when it does.

    Keys that are missing are fine: people write files by hand.
    """
    version = values.get("schema_version", SCHEMA_VERSION)
    if version != SCHEMA_VERSION:
        return "schema_version is not one that this version of the product reads"
    expected = owner_keys(file.owner)
    if file.day is not None:
        expected["date"] = str(file.day)
        expected["id"] = daily_id(file)
        expected["file_type"] = file.kind.value
    for key, value in expected.items():
        if key in values and _text(values[key]) != value:
            return f"{key} in the front matter does not agree with the path of the file"
    return None


def _text(value: object) -> str:
    # Anything else is no id: a list with references to itself, say, has no end as text.
    return str(value) if isinstance(value, str | int | date) else ""
