"""The export of an owner, taken in again: its records, then its messages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from remanence_server.cli.output import CommandError, UsageError

if TYPE_CHECKING:
    from remanence_client import Client

_MANIFEST = "manifest.json"
_RECORDS = "memories.jsonl"
_MESSAGES = "messages.jsonl"
_FORMAT = "remanence-owner"
_FORMAT_VERSION = 1
# The most that one request may carry.
_BATCH_SIZE = 500


@dataclass(frozen=True, slots=True)
class OwnerTarget:
    """Who takes the export; whatever is None is as it was exported."""

    user: str | None = None
    agent: str | None = None
    app: str | None = None
    project: str | None = None


@dataclass(slots=True)
class OwnerImport:
    """What became of an export: records and messages that were new, and those that were there."""

    records: int = 0
    records_present: int = 0
    messages: int = 0
    messages_present: int = 0


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """The manifest of an exported owner; None when the folder is no export.

    Raises:
        CommandError: it is one that this version cannot read.
    """
    try:
        manifest = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(manifest, dict) or manifest.get("format") != _FORMAT:
        return None
    if manifest.get("format_version") != _FORMAT_VERSION:
        raise CommandError(f"{folder} was exported by a later version; use that one, or later")
    return manifest


def import_owner(
    client: Client,
    folder: Path,
    manifest: Mapping[str, Any],
    target: OwnerTarget,
) -> OwnerImport:
    """Sends the records, then what was not part of a memory yet. Doing it twice changes nothing.

    Raises:
        RemanenceError: the server refuses; what went before is kept.
        CommandError: `messages.jsonl` cannot be read.
    """
    is_user = manifest["user_id"] is not None
    if (target.agent if is_user else target.user) is not None:
        raise UsageError(f"{folder} holds the memory of {'a user' if is_user else 'an agent'}")
    exported: str = manifest["user_id"] if is_user else manifest["agent_id"]
    owner = (target.user if is_user else target.agent) or exported
    app_id, project_id = target.app or manifest["app_id"], target.project or manifest["project_id"]
    result = client.import_owner(
        folder / _RECORDS,
        user_id=owner if is_user else None,
        agent_id=None if is_user else owner,
        app_id=app_id,
        project_id=project_id,
    )
    done = OwnerImport(records=result.imported, records_present=result.present)
    for session_id, messages in _batches(folder / _MESSAGES):
        added = client.add(
            session_id,
            [{**message, "sender_id": owner} for message in messages],
            app_id=app_id,
            project_id=project_id,
            defer_extraction=True,
        )
        known = added.known_count or 0
        done.messages += len(messages) - known
        done.messages_present += known
    return done


def _batches(path: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Messages that stand together, by session, in their order."""
    session_id = ""
    batch: list[dict[str, Any]] = []
    for message in _messages(path):
        named = str(message.pop("session_id"))
        if batch and (named != session_id or len(batch) == _BATCH_SIZE):
            yield session_id, batch
            batch = []
        session_id = named
        batch.append(message)
    if batch:
        yield session_id, batch


def _messages(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8", newline="\n") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                message = json.loads(line)
            except ValueError:
                raise CommandError(f"{path}:{number}: not JSON") from None
            if not isinstance(message, dict) or not isinstance(message.get("session_id"), str):
                raise CommandError(f"{path}:{number}: should be a message with its session_id")
            yield message
