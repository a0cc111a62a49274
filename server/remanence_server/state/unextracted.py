"""The messages of one sender that are accepted and not yet part of a memory of theirs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence

import apsw

from remanence_server.domain.messages import Message, Role
from remanence_server.domain.owners import Owner, Track
from remanence_server.state.database import Database
from remanence_server.state.message_json import load_message, load_messages

_PAGE_ROWS = 200
# Cells hold hundreds of messages each, queued requests up to 500.
_PAGE_BATCHES = 4
_ROLE = {Track.USER: Role.USER, Track.AGENT: Role.ASSISTANT}

# Each query takes the scope, where to go on and how many rows; it returns where a row stands, its
# session and the JSON of its messages. In the order in which a message passes, so that one that
# moves on meanwhile is seen at least once.
_QUEUED = """
SELECT id, session_id, payload_json FROM memorize_inbox
WHERE app_id = :app_id AND project_id = :project_id AND id > :after AND is_final = 0
  AND status IN ('queued', 'processing')
ORDER BY id LIMIT :rows
"""
_BUFFERED = """
SELECT sequence, session_id, message_json FROM unprocessed_buffer
WHERE app_id = :app_id AND project_id = :project_id AND sequence > :after
  AND message_json ->> 'sender_id' = :owner_id AND message_json ->> 'role' = :role
ORDER BY sequence LIMIT :rows
"""
# Until their words are in Markdown: the stage that writes them there has not succeeded.
_CUT = """
SELECT job.job_id, job.session_id, messages_json FROM job JOIN memory_cell USING (cell_id)
WHERE job.app_id = :app_id AND job.project_id = :project_id AND job.track = :track
  AND job.owner_id = :owner_id AND job.stage = :stage AND job.job_id > :after
  AND job.status IN ('queued', 'running', 'dead_letter')
ORDER BY job.job_id LIMIT :rows
"""


class UnextractedMessages:
    """Reads system.db."""

    def __init__(self, database: Database, first_stage: Mapping[Track, str]) -> None:
        """`first_stage` names the stage that brings the words of a cell to Markdown."""
        self._database = database
        self._first_stage = first_stage

    async def of(self, owner: Owner) -> AsyncIterator[tuple[str, Message]]:
        """What the owner said, with the session: in queued requests, buffers and unfinished cells.

        Each once, also when it moves on meanwhile.
        """
        seen: set[tuple[str, str]] = set()
        for query, rows in (
            (_QUEUED, _PAGE_BATCHES),
            (_BUFFERED, _PAGE_ROWS),
            (_CUT, _PAGE_BATCHES),
        ):
            after = 0
            while page := await self._page(query, owner, after, rows):
                for position, session_id, text in page:
                    after = position
                    for message in _messages(query, text):
                        key = (session_id, message.message_id)
                        if _is_of(message, owner) and key not in seen:
                            seen.add(key)
                            yield session_id, message

    async def _page(
        self, query: str, owner: Owner, after: int, rows: int
    ) -> list[tuple[int, str, str]]:
        values = {
            "app_id": owner.scope.app_id,
            "project_id": owner.scope.project_id,
            "track": owner.track.value,
            "owner_id": owner.owner_id,
            "role": _ROLE[owner.track].value,
            "stage": self._first_stage[owner.track],
            "after": after,
            "rows": rows,
        }

        def run(connection: apsw.Connection) -> list[tuple[int, str, str]]:
            return [
                (position, session_id, text)
                for position, session_id, text in connection.execute(query, values)
            ]

        return await self._database.read(run)


def _messages(query: str, text: str) -> Sequence[Message]:
    return (load_message(text),) if query is _BUFFERED else load_messages(text)


def _is_of(message: Message, owner: Owner) -> bool:
    return message.sender_id == owner.owner_id and message.role is _ROLE[owner.track]
