"""The buffer of accepted messages, and the cut that turns a part of it into a memory cell."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import apsw

from remanence_server.domain.messages import MemoryCell, Message
from remanence_server.domain.owners import Scope
from remanence_server.state.database import Database
from remanence_server.state.jobs.model import NewJob
from remanence_server.state.jobs.rows import insert_jobs, want_stages
from remanence_server.state.message_json import (
    dump_message,
    dump_messages,
    load_message,
    load_messages,
)
from remanence_server.state.receipts import PendingReceipt, insert_receipt


@dataclass(frozen=True, slots=True)
class BufferedMessage:
    """A message of the buffer and its place in it."""

    sequence: int
    message: Message


@dataclass(frozen=True, slots=True)
class PlannedCell:
    """A cell to be cut: the buffer rows that become it, and the jobs that extract it."""

    cell: MemoryCell
    sequences: tuple[int, ...]
    jobs: tuple[NewJob, ...]


class SessionStore:
    """Buffers and cells in system.db. A message is always in exactly one of the two."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def append(
        self,
        scope: Scope,
        session_id: str,
        messages: Sequence[Message],
        now_ms: int,
        receipt: PendingReceipt | None = None,
        queued_as: int | None = None,
    ) -> int:
        """Adds messages behind those already buffered; all or none, on disk when it returns.

        A message with an empty id gets one from its place in the buffer. A message whose id the
        session has seen before is the same message, whatever it says now: it is not stored again.

        Returns the number of messages that were new. The receipt is written of that number, in the
        same transaction; raises ReceiptExistsError, and nothing is stored, when its key is taken.

        `queued_as` is the row of the queue that the messages were taken from: those that have been
        deleted from it since are not stored.
        """

        def run(connection: apsw.Connection) -> int:
            wanted = messages
            if queued_as is not None:
                wanted = _still_queued(connection, queued_as, messages)
            sequence = _last_sequence(connection)
            rows = []
            taken: set[str] = set()
            # Ids that clients chose come first: none of ours may take one from a later message.
            chosen = {message.message_id for message in wanted if message.message_id}
            for message in wanted:
                own_id = message.message_id
                if own_id and (own_id in taken or _is_known(connection, scope, session_id, own_id)):
                    continue
                taken.add(own_id)
                sequence += 1
                if not own_id:
                    given = f"m_{session_id}_{sequence:08d}"
                    while given in chosen or _is_known(connection, scope, session_id, given):
                        given += "+"  # a client chose an id of just this form
                    message = replace(message, message_id=given)  # noqa: PLW2901
                rows.append(
                    (
                        sequence,
                        scope.app_id,
                        scope.project_id,
                        session_id,
                        message.message_id,
                        dump_message(message),
                        now_ms,
                    )
                )
            connection.executemany(
                "INSERT INTO unprocessed_buffer (sequence, app_id, project_id, session_id,"
                " message_id, message_json, created_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?)",
                rows,
            )
            if receipt is not None:
                insert_receipt(connection, receipt, len(rows), now_ms)
            return len(rows)

        return await self._database.write(run)

    async def buffered(self, scope: Scope, session_id: str) -> list[BufferedMessage]:
        """The open segment of a session, in the order given."""

        def run(connection: apsw.Connection) -> list[BufferedMessage]:
            rows = connection.execute(
                "SELECT sequence, message_json FROM unprocessed_buffer"
                " WHERE app_id = ? AND project_id = ? AND session_id = ? ORDER BY sequence",
                (scope.app_id, scope.project_id, session_id),
            )
            return [BufferedMessage(sequence, load_message(text)) for sequence, text in rows]

        return await self._database.read(run)

    async def unprocessed(
        self, scope: Scope, session_id: str, extracting_stages: Collection[str]
    ) -> list[Message]:
        """What a session has that is no memory yet, in the order given.

        First the cells that one of `extracting_stages` has not finished (it may have given up),
        then the open segment.
        """
        marks = ", ".join("?" for _ in extracting_stages)

        def run(connection: apsw.Connection) -> list[Message]:
            session = (scope.app_id, scope.project_id, session_id)
            cells = connection.execute(
                "SELECT messages_json FROM memory_cell WHERE cell_id IN ("
                " SELECT cell_id FROM job WHERE app_id = ? AND project_id = ? AND session_id = ?"
                f" AND status IN ('queued', 'running', 'dead_letter') AND stage IN ({marks}))"
                " ORDER BY rowid",
                (*session, *extracting_stages),
            )
            messages = [message for (text,) in cells for message in load_messages(text)]
            rows = connection.execute(
                "SELECT message_json FROM unprocessed_buffer"
                " WHERE app_id = ? AND project_id = ? AND session_id = ? ORDER BY sequence",
                session,
            )
            return [*messages, *(load_message(text) for (text,) in rows)]

        return await self._database.read(run)

    async def cut(
        self, planned: Sequence[PlannedCell], now_ms: int, awaited: Collection[str] = ()
    ) -> list[int] | None:
        """Moves buffer rows to cells and queues their jobs, in one transaction.

        `awaited` are the stages that somebody waits for: the jobs of the session go before others.
        Returns the job ids, or None when some row has already been cut by somebody else; nothing
        was changed then.
        """

        def run(connection: apsw.Connection) -> list[int] | None:
            for plan in planned:
                if not _delete_rows(connection, plan.sequences):
                    raise _CutTwiceError
            job_ids: list[int] = []
            for plan in planned:
                cell = plan.cell
                connection.execute(
                    "INSERT INTO memory_cell (cell_id, app_id, project_id, session_id,"
                    " messages_json, created_at_ms) VALUES (?, ?, ?, ?, ?, ?)",
                    (
                        cell.cell_id,
                        cell.scope.app_id,
                        cell.scope.project_id,
                        cell.session_id,
                        dump_messages(cell.messages),
                        now_ms,
                    ),
                )
                connection.executemany(
                    "INSERT INTO accepted_message (app_id, project_id, session_id, message_id,"
                    " accepted_at_ms) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                    [
                        (
                            cell.scope.app_id,
                            cell.scope.project_id,
                            cell.session_id,
                            message.message_id,
                            now_ms,
                        )
                        for message in cell.messages
                    ],
                )
                job_ids += insert_jobs(connection, plan.jobs, now_ms)
                if not plan.jobs:
                    connection.execute("DELETE FROM memory_cell WHERE cell_id = ?", (cell.cell_id,))
            if awaited and planned:
                first = planned[0].cell
                want_stages(connection, first.scope, first.session_id, awaited)
            return job_ids

        try:
            return await self._database.write(run)
        except _CutTwiceError:
            return None

    async def cell(self, cell_id: str) -> MemoryCell | None:
        """A cell whose jobs are not all finished."""

        def run(connection: apsw.Connection) -> MemoryCell | None:
            row = connection.execute(
                "SELECT app_id, project_id, session_id, messages_json FROM memory_cell"
                " WHERE cell_id = ?",
                (cell_id,),
            ).fetchone()
            if row is None:
                return None
            app_id, project_id, session_id, messages_json = row
            return MemoryCell(
                cell_id, Scope(app_id, project_id), session_id, load_messages(messages_json)
            )

        return await self._database.read(run)

    async def forget_message_ids(self, accepted_before_ms: int) -> int:
        """Drops the memory of message ids accepted before an instant; returns how many."""

        def run(connection: apsw.Connection) -> int:
            connection.execute(
                "DELETE FROM accepted_message WHERE accepted_at_ms < ?", (accepted_before_ms,)
            )
            return connection.changes()

        return await self._database.write(run)


class _CutTwiceError(Exception):
    """Some buffer row of a cut is gone: the transaction must not happen."""


def _last_sequence(connection: apsw.Connection) -> int:
    # AUTOINCREMENT never reuses a number, so ids stay unique after the rows have been cut.
    row = connection.execute(
        "SELECT seq FROM sqlite_sequence WHERE name = 'unprocessed_buffer'"
    ).fetchone()
    return int(row[0]) if row else 0


def _still_queued(
    connection: apsw.Connection, inbox_id: int, messages: Sequence[Message]
) -> Sequence[Message]:
    row = connection.execute(
        "SELECT status, payload_json FROM memorize_inbox WHERE id = ?", (inbox_id,)
    ).fetchone()
    if row is None:
        return messages
    status, payload_json = row
    if status != "processing" or not payload_json:
        return ()
    left = {message.message_id for message in load_messages(payload_json)}
    return [message for message in messages if message.message_id in left]


def _is_known(connection: apsw.Connection, scope: Scope, session_id: str, message_id: str) -> bool:
    key = (scope.app_id, scope.project_id, session_id, message_id)
    where = "app_id = ? AND project_id = ? AND session_id = ? AND message_id = ?"
    return any(
        connection.execute(f"SELECT 1 FROM {table} WHERE {where}", key).fetchone()
        for table in ("unprocessed_buffer", "accepted_message")
    )


def _delete_rows(connection: apsw.Connection, sequences: tuple[int, ...]) -> bool:
    deleted = 0
    for sequence in sequences:
        connection.execute("DELETE FROM unprocessed_buffer WHERE sequence = ?", (sequence,))
        deleted += connection.changes()
    return deleted == len(sequences)
