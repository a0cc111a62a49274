"""Takes messages that are not yet part of a memory out of the state, in a caller's transaction.

They wait in three places: requests of the queue, the buffer of a session, and cells whose jobs are
not done. What one owner takes back are the messages they sent; what is left of a session when no
user speaks in it any more goes too, for nobody would remember it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import apsw

from remanence_server.domain.messages import Message, Role
from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.state.jobs.rows import cancel_jobs
from remanence_server.state.message_json import dump_messages, load_message, load_messages

# The error code of a queued request whose messages were deleted before they were delivered.
CANCELLED = "CANCELLED"

_CANCELLED_TEXT = "what this request brought was deleted"
_UNFINISHED = "status IN ('queued', 'running', 'dead_letter')"
_OF_SESSION = "app_id = ? AND project_id = ? AND session_id = ?"
_ROLES: Mapping[Track, frozenset[Role]] = {
    Track.USER: frozenset({Role.USER}),
    Track.AGENT: frozenset({Role.ASSISTANT, Role.TOOL}),
}


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """Whose messages go: of a session or of all, of one owner or of everybody.

    `own_sessions` are sessions that the owner has memories of, and no other user. `message_ids` are
    ids of messages that are part of what is deleted, by session; None stands for all that the
    session has known, but for what still waits. They can be used again.
    """

    scope: Scope
    session_id: str | None
    owner: Owner | None
    own_sessions: frozenset[str] = frozenset()
    message_ids: Mapping[str, Collection[str] | None] = field(default_factory=dict)


@dataclass(slots=True)
class Withdrawn:
    """Messages, by session and id, that no memory has been made of; cells with cancelled jobs."""

    messages: set[tuple[str, str]] = field(default_factory=set)
    cell_ids: set[str] = field(default_factory=set)


def withdraw(
    connection: apsw.Connection,
    withdrawal: Withdrawal,
    first_stage: Mapping[Track, str],
    now_ms: int,
) -> Withdrawn:
    """Withdraws messages, and cancels the owner's jobs that would make memories of them."""
    done = Withdrawn()
    scope, owner = withdrawal.scope, withdrawal.owner
    if withdrawal.session_id is not None:
        session_ids = frozenset({withdrawal.session_id})
    else:
        assert owner is not None  # noqa: S101 - nobody deletes a whole scope
        session_ids = withdrawal.own_sessions | _sessions_of(connection, owner)
    for session_id in session_ids:
        is_own = session_id in withdrawal.own_sessions
        _Session(connection, scope, session_id, owner, is_own, first_stage, now_ms, done).withdraw()
    for session_id, message_ids in withdrawal.message_ids.items():
        _forget_ids(connection, scope, session_id, message_ids)
    return done


def jobs_of(
    connection: apsw.Connection, owner: Owner, cell_ids: Collection[str]
) -> list[tuple[int, str]]:
    """Unfinished jobs of an owner on some cells, each with its cell."""
    found: list[tuple[int, str]] = []
    for cell_id in cell_ids:
        rows = connection.execute(
            "SELECT job_id FROM job WHERE cell_id = ? AND app_id = ? AND project_id = ?"
            f" AND track = ? AND owner_id = ? AND {_UNFINISHED}",
            (cell_id, owner.scope.app_id, owner.scope.project_id, owner.track, owner.owner_id),
        )
        found += [(int(job_id), cell_id) for (job_id,) in rows]
    return found


@dataclass(slots=True)
class _Session:
    connection: apsw.Connection
    scope: Scope
    session_id: str
    # None: everybody.
    owner: Owner | None
    # Whether nobody else remembers anything of it.
    is_own: bool
    first_stage: Mapping[Track, str]
    now_ms: int
    done: Withdrawn

    @property
    def _key(self) -> tuple[str, str, str]:
        return self.scope.app_id, self.scope.project_id, self.session_id

    def withdraw(self) -> None:
        taken_back: set[str] = set()
        buffered = self._buffered()
        queued = self._queued()
        waiting = [message for _, message in buffered]
        waiting += [message for _, _, messages in queued for message in messages]
        all_of_it = self._is_nobodys(waiting)
        for sequence, message in buffered:
            if all_of_it or not self._stays(message):
                taken_back.add(message.message_id)
                self.connection.execute(
                    "DELETE FROM unprocessed_buffer WHERE sequence = ?", (sequence,)
                )
        for inbox_id, is_failed, messages in queued:
            staying = [each for each in messages if not all_of_it and self._stays(each)]
            if len(staying) < len(messages):
                taken_back |= {m.message_id for m in messages} - {m.message_id for m in staying}
                self._rewrite_request(inbox_id, staying, is_failed=is_failed)
        self.done.messages |= {(self.session_id, message_id) for message_id in taken_back}
        if all_of_it:
            self._cancel_flushes()
        taken_back |= self._withdraw_cells()
        self._cancel(self._jobs())
        _forget_ids(self.connection, self.scope, self.session_id, taken_back)
        if self.owner is None:
            _forget_ids(self.connection, self.scope, self.session_id, None)

    def _is_nobodys(self, messages: Sequence[Message]) -> bool:
        """Whether no user is left who would remember anything of these."""
        if any(self._stays(each) and each.role is Role.USER for each in messages):
            return False
        return self.is_own or not all(map(self._stays, messages))

    def _stays(self, message: Message) -> bool:
        return self.owner is not None and not is_of(message, self.owner)

    def _buffered(self) -> list[tuple[int, Message]]:
        rows = self.connection.execute(
            f"SELECT sequence, message_json FROM unprocessed_buffer WHERE {_OF_SESSION}", self._key
        )
        return [(int(sequence), load_message(text)) for sequence, text in rows]

    def _queued(self) -> list[tuple[int, bool, Sequence[Message]]]:
        """Requests that still carry messages: queued, on their way, or failed."""
        rows = self.connection.execute(
            "SELECT id, status = 'failed', payload_json FROM memorize_inbox"
            f" WHERE {_OF_SESSION} AND is_final = 0 AND payload_json <> ''",
            self._key,
        )
        return [(int(row), bool(failed), load_messages(text)) for row, failed, text in rows]

    def _rewrite_request(
        self, inbox_id: int, staying: Sequence[Message], *, is_failed: bool
    ) -> None:
        payload = dump_messages(staying) if staying else ""
        self.connection.execute(
            "UPDATE memorize_inbox SET payload_json = ? WHERE id = ?", (payload, inbox_id)
        )
        if not staying and not is_failed:
            self._cancel_request(inbox_id)

    def _cancel_flushes(self) -> None:
        rows = self.connection.execute(
            f"SELECT id FROM memorize_inbox WHERE {_OF_SESSION} AND is_final = 1"
            " AND status = 'queued'",
            self._key,
        ).fetchall()
        for (inbox_id,) in rows:
            self._cancel_request(int(str(inbox_id)))

    def _cancel_request(self, inbox_id: int) -> None:
        self.connection.execute(
            "UPDATE memorize_inbox SET status = 'failed', error_code = ?, last_error = ?,"
            " payload_json = '', updated_at_ms = ? WHERE id = ?",
            (CANCELLED, _CANCELLED_TEXT, self.now_ms, inbox_id),
        )

    def _withdraw_cells(self) -> set[str]:
        """Takes messages out of cells; returns the ids of all of them."""
        taken_back: set[str] = set()
        rows = self.connection.execute(
            f"SELECT cell_id, messages_json FROM memory_cell WHERE {_OF_SESSION}", self._key
        ).fetchall()
        for cell_id, text in rows:
            messages = load_messages(str(text))
            staying = [each for each in messages if self._stays(each)]
            if self._is_nobodys(messages):
                staying = []
            gone = {m.message_id for m in messages} - {m.message_id for m in staying}
            if not gone:
                continue
            taken_back |= gone
            if self._waits_to_be_memory(str(cell_id)):
                self.done.messages |= {(self.session_id, message_id) for message_id in gone}
            if staying:
                # Others of the session still remember it, as it would be without these.
                self.connection.execute(
                    "UPDATE memory_cell SET messages_json = ? WHERE cell_id = ?",
                    (dump_messages(staying), cell_id),
                )
            else:
                self._cancel(self._jobs_of_cell(str(cell_id)))
        return taken_back

    def _waits_to_be_memory(self, cell_id: str) -> bool:
        stages = {self.first_stage[self.owner.track]} if self.owner else self.first_stage.values()
        rows = self.connection.execute(
            f"SELECT stage, track, owner_id FROM job WHERE cell_id = ? AND {_UNFINISHED}",
            (cell_id,),
        )
        return any(
            stage in stages
            and (self.owner is None or (track, owner_id) == (self.owner.track, self.owner.owner_id))
            for stage, track, owner_id in rows.fetchall()
        )

    def _jobs(self) -> list[tuple[int, str]]:
        """The jobs of the session that work for whom it is deleted."""
        where = f"{_OF_SESSION} AND {_UNFINISHED}"
        values: tuple[str, ...] = self._key
        if self.owner is not None:
            where += " AND track = ? AND owner_id = ?"
            values = (*values, self.owner.track.value, self.owner.owner_id)
        rows = self.connection.execute(f"SELECT job_id, cell_id FROM job WHERE {where}", values)
        return [(int(job_id), str(cell_id)) for job_id, cell_id in rows]

    def _jobs_of_cell(self, cell_id: str) -> list[tuple[int, str]]:
        rows = self.connection.execute(
            f"SELECT job_id FROM job WHERE cell_id = ? AND {_UNFINISHED}", (cell_id,)
        )
        return [(int(job_id), cell_id) for (job_id,) in rows]

    def _cancel(self, jobs: Sequence[tuple[int, str]]) -> None:
        self.done.cell_ids.update(cell_id for _, cell_id in jobs)
        cancel_jobs(self.connection, [job_id for job_id, _ in jobs], self.now_ms)


def is_of(message: Message, owner: Owner) -> bool:
    """Whether an owner has sent a message, and owns what is remembered of it."""
    return message.sender_id == owner.owner_id and message.role in _ROLES[owner.track]


def _sessions_of(connection: apsw.Connection, owner: Owner) -> frozenset[str]:
    """Sessions in which messages of an owner wait."""
    found: set[str] = set()
    for query in (
        "SELECT session_id, '[' || message_json || ']' FROM unprocessed_buffer"
        " WHERE app_id = ?1 AND project_id = ?2 AND message_json ->> 'sender_id' = ?3",
        "SELECT session_id, payload_json FROM memorize_inbox WHERE app_id = ?1 AND project_id = ?2"
        " AND is_final = 0 AND instr(payload_json, ?3) > 0",
        "SELECT session_id, messages_json FROM memory_cell WHERE app_id = ?1 AND project_id = ?2"
        " AND instr(messages_json, ?3) > 0",
    ):
        rows = connection.execute(
            query, (owner.scope.app_id, owner.scope.project_id, owner.owner_id)
        )
        found |= {
            str(session_id)
            for session_id, text in rows
            if any(is_of(message, owner) for message in load_messages(str(text)))
        }
    jobs = connection.execute(
        "SELECT DISTINCT session_id FROM job WHERE app_id = ? AND project_id = ? AND track = ?"
        f" AND owner_id = ? AND {_UNFINISHED}",
        (owner.scope.app_id, owner.scope.project_id, owner.track.value, owner.owner_id),
    )
    return frozenset(found | {str(session_id) for (session_id,) in jobs})


def _forget_ids(
    connection: apsw.Connection, scope: Scope, session_id: str, ids: Collection[str] | None
) -> None:
    key = (scope.app_id, scope.project_id, session_id)
    if ids is None:
        # A message that another's job has yet to make a memory of would be stored a second time.
        connection.execute(
            f"DELETE FROM accepted_message WHERE {_OF_SESSION} AND message_id NOT IN ("
            " SELECT message.value ->> 'message_id' FROM memory_cell,"
            " json_each(messages_json) AS message"
            " WHERE app_id = ?1 AND project_id = ?2 AND session_id = ?3)",
            key,
        )
        return
    connection.executemany(
        f"DELETE FROM accepted_message WHERE {_OF_SESSION} AND message_id = ?",
        [(*key, message_id) for message_id in ids],
    )
