"""The catalogue on SQLite: one thread writes, reads go where they are quickest."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from remanence_server.domain.filters import Filter
from remanence_server.domain.owners import Owner, Scope
from remanence_server.domain.records import AtomicFact, Kind, Record
from remanence_server.index.catalogue import (
    families,
    file_states,
    reads,
    speakers,
    stored_vectors,
    writes,
)
from remanence_server.index.catalogue.changes import (
    ChangeSet,
    FileState,
    IndexedPassage,
    IndexedRecord,
    RemovedPassage,
)
from remanence_server.index.catalogue.connections import Connections, Reading
from remanence_server.index.catalogue.interface import (
    Ids,
    Matrix,
    PassageHome,
    PendingPassage,
    SortBy,
    StoredVector,
    VectorBlock,
)
from remanence_server.index.catalogue.queries import rows
from remanence_server.index.catalogue.rows import read_passages, read_removed
from remanence_server.index.catalogue.schema import put_away, put_meta
from remanence_server.index.damage import IndexDamagedError

# Pages further in are counted off on a thread.
_LARGEST_QUICK_OFFSET = 1000


class SqliteCatalogue:
    """Implements `Catalogue`; see there for what the methods promise. For one event loop.

    Reads that touch a bounded number of rows run on the event loop itself: they take 0.1 to 1 ms,
    and handing one to a thread and back costs as much. The others run on two reader threads.
    Nobody waits for the writer: readers see the last commit.
    """

    def __init__(
        self, index_directory: Path, *, fingerprint: str, dimensions: int, first_id: int = 1
    ) -> None:
        """Opens the files, beginning anew those that are missing, damaged or of another version.

        Args:
            index_directory: Holds `catalogue.db` and `embeddings.db`.
            fingerprint: The vector space of the embedder; vectors of another one are dropped.
            dimensions: Width of the vectors.
            first_id: Where a new catalogue begins to count records and passages, so that ids of
                one catalogue mean nothing in another.
        """
        self._dimensions = dimensions
        try:
            self._connections = Connections(index_directory, fingerprint, first_id)
        except IndexDamagedError:
            put_away(index_directory)
            self._connections = Connections(index_directory, fingerprint, first_id)
        self._inline = self._connections.inline
        self._read = self._connections.read
        self._write = self._connections.write
        self._was_reset = not self._connections.is_filled()

    @property
    def was_reset(self) -> bool:
        """Whether the catalogue began empty and has not been filled from Markdown since."""
        return self._was_reset

    async def mark_filled(self) -> None:
        """Ends `was_reset`."""
        await self._write(lambda change: put_meta(change.connection, "filled", 1))
        self._was_reset = False

    async def upsert(
        self, records: Sequence[IndexedRecord], now_ms: int, files: Sequence[FileState] = ()
    ) -> ChangeSet:
        """Writes records and file states in one transaction."""

        def work(change: writes.Change) -> ChangeSet:
            writes.upsert_records(change, records, now_ms)
            for state in files:
                writes.save_file_state(change, state)
            return change.finish()

        return await self._write(work)

    async def replace_file(
        self, state: FileState, records: Sequence[IndexedRecord], now_ms: int
    ) -> ChangeSet:
        """Makes the records of a file exactly those given."""

        def work(change: writes.Change) -> ChangeSet:
            writes.replace_file(change, state, records, now_ms)
            return change.finish()

        return await self._write(work)

    async def delete_records(self, owner: Owner, kind: Kind, entry_ids: Sequence[str]) -> ChangeSet:
        """Deletes records with their passages."""

        def work(change: writes.Change) -> ChangeSet:
            writes.delete_records(change, owner, kind, entry_ids)
            return change.finish()

        return await self._write(work)

    async def delete_file(self, path: str) -> ChangeSet:
        """Deletes the records of a file."""

        def work(change: writes.Change) -> ChangeSet:
            writes.delete_file(change, path)
            return change.finish()

        return await self._write(work)

    async def stamp(self) -> int:
        """The change counter."""
        return self._connections.stamp

    async def passages_since(self, stamp: int, limit: int) -> list[IndexedPassage]:
        """Passages written after a stamp."""
        return await self._read(
            lambda of: read_passages(
                of.connection, of.owners, "p.stamp > ? ORDER BY p.stamp LIMIT ?", (stamp, limit)
            )
        )

    async def deletions_since(self, stamp: int, limit: int) -> list[RemovedPassage]:
        """Passages deleted after a stamp."""
        return await self._read(lambda of: read_removed(of.connection, of.owners, stamp, limit))

    async def forget_deletions(self, up_to_stamp: int) -> None:
        """Drops the notes of deletions up to a stamp."""
        await self._write(
            lambda change: change.connection.execute(
                "DELETE FROM deleted_passage WHERE stamp <= ?", (up_to_stamp,)
            )
        )

    async def get_records(
        self, owner: Owner, kind: Kind, entry_ids: Iterable[str]
    ) -> dict[str, Record]:
        """Records by entry id."""
        of = self._inline
        return reads.get_records(of.connection, of.owners, owner, kind, entry_ids)

    async def records_by_ids(self, record_ids: Iterable[int]) -> list[Record]:
        """Records in the order of the ids."""
        return reads.records_by_ids(self._inline.connection, self._inline.owners, record_ids)

    async def find_public(self, scope: Scope, public_id: str) -> list[Record]:
        """Records a public id may mean."""
        return reads.find_public(self._inline.connection, self._inline.owners, scope, public_id)

    async def list_records(
        self,
        owner: Owner,
        kind: Kind,
        *,
        where: Filter | None = None,
        sort_by: SortBy = SortBy.TIMESTAMP,
        descending: bool = True,
        offset: int = 0,
        limit: int = 20,
    ) -> tuple[int, list[Record]]:
        """How many records match, and one page of them."""

        def work(of: Reading) -> tuple[int, list[Record]]:
            return reads.list_records(
                of.connection, of.owners, owner, kind, where, sort_by, descending, offset, limit
            )

        if where is None and offset <= _LARGEST_QUICK_OFFSET:
            return work(self._inline)
        return await self._read(work)

    async def matching_record_ids(self, owner: Owner, kind: Kind, where: Filter | None) -> Ids:
        """Ids of the records of a kind whose own fields match."""
        return await self._read(
            lambda of: reads.matching_record_ids(of.connection, of.owners, owner, kind, where)
        )

    async def allowed_record_ids(self, owner: Owner, where: Filter) -> Ids:
        """Ids of all records that a search under this filter may hit."""
        return await self._read(
            lambda of: reads.allowed_record_ids(of.connection, of.owners, owner, where)
        )

    async def facts_citing(
        self, owner: Owner, message_ids: Mapping[str, Collection[str]]
    ) -> dict[str, list[AtomicFact]]:
        """The facts of episodes that cite one of the messages."""
        of = self._inline
        return reads.facts_citing(of.connection, of.owners, owner, message_ids)

    async def turn_message_ids(
        self, turns: Iterable[tuple[int, int]]
    ) -> dict[tuple[int, int], str]:
        """The message ids of turns."""
        return reads.turn_message_ids(self._inline.connection, turns)

    async def descendants(
        self, owner: Owner, episode_ids: Collection[str]
    ) -> dict[Kind, list[str]]:
        """The entry ids of facts and transcripts of episodes."""
        return await self._read(
            lambda of: families.descendants(of.connection, of.owners, owner, episode_ids)
        )

    async def owners_of_session(self, scope: Scope, session_id: str) -> list[Owner]:
        """The owners that have records of a session."""
        return await self._read(
            lambda of: families.owners_of_session(of.connection, scope, session_id)
        )

    async def paths_of(self, owner: Owner) -> list[str]:
        """The files that an owner's records come from."""
        return await self._read(lambda of: families.paths_of(of.connection, of.owners, owner))

    async def passage_homes(self, passage_ids: Iterable[int]) -> dict[int, PassageHome]:
        """Where passages belong."""
        return reads.passage_homes(self._inline.connection, passage_ids)

    async def passage_texts(self, passage_ids: Iterable[int]) -> dict[int, str]:
        """The texts of passages."""
        return reads.passage_texts(self._inline.connection, passage_ids)

    async def episodes_of(self, record_ids: Iterable[int]) -> dict[int, int]:
        """What records climb to."""
        return reads.episodes_of(self._inline.connection, record_ids)

    async def timestamps_of(self, record_ids: Iterable[int]) -> dict[int, int]:
        """The instants of records."""
        return reads.timestamps_of(self._inline.connection, record_ids)

    async def frequent_speakers(self, owner: Owner, share: float) -> tuple[int, dict[str, int]]:
        """The transcripts of an owner, and who speaks in most of them."""
        return speakers.frequent_speakers(
            self._inline.connection, self._inline.owners, owner, share
        )

    async def entry_paths(
        self, owner: Owner, kind: Kind, entry_ids: Iterable[str]
    ) -> dict[str, str]:
        """The file each entry comes from."""
        of = self._inline
        return reads.entry_paths(of.connection, of.owners, owner, kind, entry_ids)

    async def counts(self, owner: Owner | None = None) -> Mapping[Kind, int]:
        """How many records there are of each kind."""
        return await self._read(lambda of: reads.counts(of.connection, of.owners, owner))

    async def passages_without_vector(
        self, limit: int, after_passage_id: int = 0
    ) -> list[PendingPassage]:
        """Dense passages that wait for a vector."""
        return await self._read(
            lambda of: stored_vectors.passages_without_vector(
                of.connection, of.owners, limit, after_passage_id
            )
        )

    async def count_without_vector(self) -> int:
        """How many dense passages wait for a vector."""
        return await self._read(lambda of: stored_vectors.count_without_vector(of.connection))

    async def save_vectors(self, passage_ids: Sequence[int], vectors: Matrix) -> list[StoredVector]:
        """Stores the vectors of passages."""
        return await self._write(
            lambda change: stored_vectors.save_vectors(
                change.connection, change.owners, passage_ids, vectors
            )
        )

    async def vectors_of(self, passage_ids: Iterable[int]) -> VectorBlock:
        """The stored vectors of passages."""
        return stored_vectors.vectors_of(self._inline.connection, passage_ids, self._dimensions)

    async def load_partition(self, owner: Owner, channel: str) -> VectorBlock:
        """All vectors of an owner's channel."""
        return await self._read(
            lambda of: stored_vectors.load_partition(
                of.connection, of.owners, owner, channel, self._dimensions
            )
        )

    async def prune_vectors(self) -> int:
        """Drops stored vectors whose text no passage has."""
        return await self._write(lambda change: stored_vectors.prune_vectors(change.connection))

    async def copy_vectors(self, target: Path) -> None:
        """Copies all stored vectors to a file that is not there yet."""
        await self._connections.copy_vectors(target)

    async def files(self) -> dict[str, FileState]:
        """Every file that has been projected."""
        return await self._read(lambda of: file_states.file_states(of.connection))

    async def file_state(self, path: str) -> FileState | None:
        """A file as it was last projected."""
        return file_states.file_state(self._inline.connection, path)

    async def problem_files(self) -> list[FileState]:
        """Files with entries that could not be read."""
        return await self._read(lambda of: file_states.problem_files(of.connection))

    async def expunge(self) -> None:
        """Leaves nothing of what was deleted in any file."""
        await self._connections.expunge()

    async def check(self) -> list[str]:
        """What the database finds wrong with itself."""
        found = await self._read(lambda of: rows(of.connection, "PRAGMA integrity_check(20)"))
        return [text for (text,) in found if text != "ok"]

    async def close(self) -> None:
        """Finishes what is being written and closes the files."""
        await self._connections.close()
