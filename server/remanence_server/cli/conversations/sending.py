"""Sends conversations to a server: batches without extraction, then one flush."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from remanence_client import Client, RemanenceError, ServerUnreachableError
from remanence_server.cli.conversations.files import Conversation, Problem
from remanence_server.cli.conversations.progress import ImportProgress

# The most that one request may carry.
_BATCH_SIZE = 500
_MESSAGE_INDEX = re.compile(r"messages[.\[](\d+)")


@dataclass(slots=True)
class ImportSummary:
    """What became of an import; of `known` conversations the server had every message."""

    imported: int = 0
    skipped: int = 0
    known: int = 0
    messages: int = 0
    problems: list[Problem] = field(default_factory=list)


def send_conversations(
    client: Client,
    conversations: Sequence[Conversation],
    progress: ImportProgress,
    *,
    app_id: str | None,
    project_id: str | None,
    on_done: Callable[[Conversation], None],
) -> ImportSummary:
    """Sends what `progress` does not have yet; `on_done` hears of each conversation.

    A conversation that the server refuses is a problem in the summary and the next one is sent.

    Raises:
        ServerUnreachableError: there is nobody to send to; what was done is kept.
    """
    summary = ImportSummary()
    for conversation in conversations:
        if progress.is_done(conversation):
            summary.skipped += 1
        else:
            try:
                new = _send(client, conversation, app_id=app_id, project_id=project_id)
            except ServerUnreachableError:
                raise
            except RemanenceError as error:
                summary.problems.append(_problem(conversation, error))
            else:
                summary.imported += bool(new)
                summary.known += not new
                summary.messages += new
                progress.mark_done(conversation)
        on_done(conversation)
    return summary


def _send(
    client: Client, conversation: Conversation, *, app_id: str | None, project_id: str | None
) -> int:
    """Sends a conversation; returns how many of its messages the server did not have."""
    app_id = conversation.app_id or app_id
    project_id = conversation.project_id or project_id
    new = 0
    for start in range(0, len(conversation.messages), _BATCH_SIZE):
        try:
            batch = conversation.messages[start : start + _BATCH_SIZE]
            added = client.add(
                conversation.session_id,
                batch,
                app_id=app_id,
                project_id=project_id,
                defer_extraction=True,
            )
        except RemanenceError as error:
            error.field = _absolute(error.field, start)
            raise
        new += len(batch) - (added.known_count or 0)
    client.flush(conversation.session_id, app_id=app_id, project_id=project_id)
    return new


def _absolute(field_name: str | None, start: int) -> str | None:
    """The field, with the index of the message in its conversation instead of its batch."""
    if field_name is None:
        return None
    return _MESSAGE_INDEX.sub(lambda match: f"messages[{int(match[1]) + start}", field_name)


def _problem(conversation: Conversation, error: RemanenceError) -> Problem:
    match = _MESSAGE_INDEX.search(error.field or "")
    source = conversation.source
    if match and int(match[1]) < len(conversation.sources):
        source = conversation.sources[int(match[1])]
    return Problem(source, error.message)
