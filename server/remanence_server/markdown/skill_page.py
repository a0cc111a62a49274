"""A skill in the open agent-skill format: name and description in front matter, then the procedure.

Our own data is under `metadata`, where that format puts what a tool adds.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import tzinfo
from typing import Any

from remanence_server.domain.records import AgentSkill
from remanence_server.markdown.block_entries import EntryError, read_timestamp
from remanence_server.markdown.escape import escape_characters, unescape_characters
from remanence_server.markdown.front_matter import (
    SCHEMA_VERSION,
    FrontMatterError,
    merge_front_matter,
    read_front_matter,
)
from remanence_server.markdown.headers import header_conflict, owner_keys
from remanence_server.markdown.paths import MemoryFile
from remanence_server.runtime.instants import render_iso


def render_skill(skill: AgentSkill, zone: tzinfo, present: str | None = None) -> str:
    """The page of a skill; a person's own keys and comments in the present page stay.

    Raises FrontMatterError when the present page cannot be read.
    """
    front_matter = read_front_matter(present or "")
    owner_id = skill.owner.owner_id
    moment = render_iso(skill.timestamp_ms, zone)
    metadata: dict[str, Any] = {
        "id": f"{owner_id}_{skill.name}",
        "type": "agent_skill",
        "schema_version": SCHEMA_VERSION,
        **owner_keys(skill.owner),
        "confidence": float(skill.confidence),
        "maturity_score": float(skill.maturity_score),
        "source_case_ids": list(skill.source_case_ids),
        "updated_at": moment,
    }
    if not isinstance(_metadata(front_matter.values).get("created_at"), str):
        metadata["created_at"] = moment
    values = {"name": skill.name, "description": skill.description, "metadata": metadata}
    return f"{merge_front_matter(front_matter.yaml, values)}\n{escape_characters(skill.content)}\n"


def decode_skill(file: MemoryFile, text: str, zone: tzinfo) -> AgentSkill:
    """Undoes `render_skill`; skills written elsewhere need only a name and a description.

    Raises FrontMatterError or EntryError.
    """
    front_matter = read_front_matter(text)
    values = front_matter.values
    metadata = {**values, **_metadata(values)}
    conflict = header_conflict(metadata, file)
    if conflict is not None:
        raise FrontMatterError(1, conflict)
    name, description = values.get("name"), values.get("description")
    if not isinstance(name, str) or not name or not isinstance(description, str):
        raise EntryError("a skill needs a name and a description in its front matter")
    body = text[front_matter.body_start :].removeprefix("\n").removesuffix("\n")
    updated_at = metadata.get("updated_at")
    sources = metadata.get("source_case_ids")
    return AgentSkill(
        owner=file.owner,
        name=str(name),
        description=str(description),
        content=unescape_characters(body),
        confidence=_number(metadata.get("confidence"), "confidence"),
        maturity_score=_number(metadata.get("maturity_score"), "maturity_score"),
        source_case_ids=tuple(str(source) for source in sources if isinstance(source, str | int))
        if isinstance(sources, list)
        else (),
        timestamp_ms=read_timestamp(updated_at, zone) if updated_at else 0,
    )


def _metadata(values: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata = values.get("metadata")
    return metadata if isinstance(metadata, Mapping) else {}


def _number(value: object, key: str) -> float:
    # A skill that a person wrote carries no scores: it is trusted.
    if value is None:
        return 1.0
    if not isinstance(value, int | float):
        raise EntryError(f"{key} is not a number")
    return float(value)
