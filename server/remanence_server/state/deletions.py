"""Deletions: decided, and kept until they are finished, in system.db.

A row is written in the transaction that takes the same things out of the state. It names what is
left to remove from Markdown and index by id; no text of a memory is in it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import apsw
import orjson

from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.domain.records import Kind
from remanence_server.state.database import Database
from remanence_server.state.jobs.rows import cancel_jobs
from remanence_server.state.withdrawal import Withdrawal, Withdrawn, jobs_of, withdraw

_COLUMNS = "deletion_id, app_id, project_id, track, owner_id, selection_json, state"


class DeletionState(StrEnum):
    """How far a deletion is."""

    RECORDED = "recorded"
    # Entries are gone; the profile page cannot be read, so its lines wait until a person mends it.
    PROFILE_WAITS = "profile_waits"
    # Markdown has none of it any more; the index and old pages of databases may.
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Selection:
    """What of one owner is to be removed.

    `entry_ids` are by kind; of skills, the names. `cell_ids` are the cells that it came from: jobs
    that still work on these for this owner are cancelled. `everywhere` says that a person has moved
    entries to files of other days.
    """

    owner: Owner
    entry_ids: Mapping[Kind, tuple[str, ...]] = field(default_factory=dict)
    cell_ids: frozenset[str] = frozenset()
    everything: bool = False
    everywhere: bool = False

    def ids(self, kind: Kind) -> tuple[str, ...]:
        """The ids of a kind."""
        return tuple(self.entry_ids.get(kind, ()))

    @property
    def is_empty(self) -> bool:
        """Whether nothing would be removed from Markdown."""
        return not self.everything and not any(self.entry_ids.values())


@dataclass(frozen=True, slots=True)
class Deletion:
    """An unfinished deletion of one owner."""

    deletion_id: int
    selection: Selection
    state: DeletionState


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a deletion did to the state.

    `message_count` counts messages that were accepted and not yet part of a memory, `cell_ids` are
    those whose jobs were cancelled.
    """

    deletion_ids: Sequence[int]
    message_count: int
    cell_ids: Collection[str]


class DeletionStore:
    """The table `deletion` of system.db."""

    def __init__(self, database: Database, first_stage: Mapping[Track, str]) -> None:
        """`first_stage` names the stage that makes the messages of a cell a memory."""
        self._database = database
        self._first_stage = first_stage

    async def record(
        self, selections: Sequence[Selection], withdrawal: Withdrawal | None, now_ms: int
    ) -> Recorded:
        """Decides a deletion: from here on it will be done, whatever happens.

        In one transaction the rows are written, jobs that work on what goes are cancelled, and
        messages that wait are withdrawn. Raises ServiceError when the disk refuses; nothing is
        deleted then.
        """

        def run(connection: apsw.Connection) -> Recorded:
            withdrawn = Withdrawn()
            if withdrawal is not None:
                withdrawn = withdraw(connection, withdrawal, self._first_stage, now_ms)
            ids = []
            for selection in selections:
                jobs = jobs_of(connection, selection.owner, selection.cell_ids)
                withdrawn.cell_ids.update(cell_id for _, cell_id in jobs)
                cancel_jobs(connection, [job_id for job_id, _ in jobs], now_ms)
                if not selection.is_empty:
                    ids.append(_insert(connection, selection, now_ms))
            if ids or withdrawn.messages or withdrawn.cell_ids:
                connection.execute("INSERT INTO deletion_trace DEFAULT VALUES")
            return Recorded(ids, len(withdrawn.messages), withdrawn.cell_ids)

        return await self._database.write(run)

    async def unfinished(self) -> list[Deletion]:
        """All rows, oldest first."""

        def run(connection: apsw.Connection) -> list[Deletion]:
            rows = connection.execute(f"SELECT {_COLUMNS} FROM deletion ORDER BY deletion_id")
            return [_deletion(*row) for row in rows]

        return await self._database.read(run)

    async def find(self, deletion_id: int) -> Deletion | None:
        """One row."""

        def run(connection: apsw.Connection) -> Deletion | None:
            row = connection.execute(
                f"SELECT {_COLUMNS} FROM deletion WHERE deletion_id = ?", (deletion_id,)
            ).fetchone()
            return None if row is None else _deletion(*row)

        return await self._database.read(run)

    async def is_under_way(self, owner: Owner) -> bool:
        """Whether a deletion is not through with the Markdown of an owner.

        Nothing may be written there then.
        """

        def run(connection: apsw.Connection) -> bool:
            return is_under_way(connection, owner)

        return await self._database.read(run)

    async def advance(self, deletion_id: int, state: DeletionState) -> None:
        """Says how far a deletion is."""

        def run(connection: apsw.Connection) -> None:
            connection.execute(
                "UPDATE deletion SET state = ? WHERE deletion_id = ?", (state.value, deletion_id)
            )

        await self._database.write(run)

    async def close(self, deletion_ids: Collection[int]) -> None:
        """Forgets deletions that are finished, and leaves no old page of the database behind.

        What a crash or a disk has kept from being cleared away before is, too. Raises ServiceError
        when the disk does not allow it now.
        """

        def last_trace(connection: apsw.Connection) -> int | None:
            last: int | None = connection.execute("SELECT max(trace_id) FROM deletion_trace").get
            return last

        def forget(connection: apsw.Connection) -> None:
            connection.executemany(
                "DELETE FROM deletion WHERE deletion_id = ?", [(each,) for each in deletion_ids]
            )

        last = await self._database.read(last_trace)
        if deletion_ids:
            await self._database.write(forget)
        if last is None:
            return
        await self._database.empty_log()

        def cleared(connection: apsw.Connection) -> None:
            # Not what has been deleted meanwhile.
            connection.execute("DELETE FROM deletion_trace WHERE trace_id <= ?", (last,))

        await self._database.write(cleared)


def is_under_way(connection: apsw.Connection, owner: Owner) -> bool:
    """See `DeletionStore.is_under_way`."""
    row = connection.execute(
        "SELECT 1 FROM deletion WHERE app_id = ? AND project_id = ? AND track = ?"
        " AND owner_id = ? AND state = 'recorded' LIMIT 1",
        (owner.scope.app_id, owner.scope.project_id, owner.track.value, owner.owner_id),
    ).fetchone()
    return row is not None


def _insert(connection: apsw.Connection, selection: Selection, now_ms: int) -> int:
    owner = selection.owner
    connection.execute(
        "INSERT INTO deletion (app_id, project_id, track, owner_id, selection_json, state,"
        " created_at_ms) VALUES (?, ?, ?, ?, ?, 'recorded', ?)",
        (
            owner.scope.app_id,
            owner.scope.project_id,
            owner.track.value,
            owner.owner_id,
            orjson.dumps(
                {
                    "entry_ids": {kind.value: ids for kind, ids in selection.entry_ids.items()},
                    "everything": selection.everything,
                    "everywhere": selection.everywhere,
                }
            ).decode(),
            now_ms,
        ),
    )
    return connection.last_insert_rowid()


def _deletion(
    deletion_id: int,
    app_id: str,
    project_id: str,
    track: str,
    owner_id: str,
    selection_json: str,
    state: str,
) -> Deletion:
    fields = orjson.loads(selection_json)
    selection = Selection(
        owner=Owner(Scope(app_id, project_id), Track(track), owner_id),
        entry_ids={Kind(kind): tuple(ids) for kind, ids in fields["entry_ids"].items()},
        everything=fields["everything"],
        everywhere=fields["everywhere"],
    )
    return Deletion(deletion_id, selection, DeletionState(state))
