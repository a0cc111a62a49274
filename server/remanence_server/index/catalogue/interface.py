"""What the rest of the server asks of the catalogue. No word of any database in here."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from remanence_server.domain.filters import Filter
from remanence_server.domain.owners import Owner, Scope
from remanence_server.domain.records import AtomicFact, Kind, Record
from remanence_server.index.catalogue.changes import (
    ChangeSet,
    FileState,
    IndexedPassage,
    IndexedRecord,
    RemovedPassage,
)

Ids = npt.NDArray[np.int64]
Matrix = npt.NDArray[np.float32]


class SortBy(StrEnum):
    """Orders of a listing; equal instants are ordered by public id."""

    TIMESTAMP = "timestamp"
    UPDATED_AT = "updated_at"


class PassageHome(NamedTuple):
    """Where a passage belongs. A tuple, since each search makes hundreds of them.

    `episode_record_id` is the episode a fact or transcript belongs to (None when it is not there),
    and the record itself for every other kind: what a hit climbs to.
    """

    passage_id: int
    record_id: int
    kind: Kind
    entry_id: str
    parent_id: str | None
    channel: str
    ordinal: int
    episode_record_id: int | None


@dataclass(frozen=True, slots=True, eq=False)
class VectorBlock:
    """Vectors of one partition, row by row with the ids of their passages and records."""

    passage_ids: Ids
    record_ids: Ids
    vectors: Matrix


@dataclass(frozen=True, slots=True)
class PendingPassage:
    """A passage that waits for its vector."""

    passage_id: int
    record_id: int
    owner: Owner
    channel: str
    text: str


@dataclass(frozen=True, slots=True)
class StoredVector:
    """A passage whose vector has just been stored; `row` is the row of the matrix given."""

    row: int
    passage_id: int
    record_id: int
    owner: Owner
    channel: str


class Catalogue(Protocol):
    """The relational truth of the index: records, their passages, vectors and files.

    Derived: it may be deleted at any time and is filled again from Markdown. Reads see every write
    that was answered before. All raise IndexDamagedError when a file is not what was written.
    """

    @property
    def was_reset(self) -> bool:
        """Whether the catalogue began empty and has not been filled from Markdown since.

        The other indexes hold what this one no longer knows: they must be emptied with it.
        """
        ...

    async def mark_filled(self) -> None:
        """Says that Markdown has been read whole: `was_reset` is over, also for the next start."""
        ...

    # Changes.

    async def upsert(
        self, records: Sequence[IndexedRecord], now_ms: int, files: Sequence[FileState] = ()
    ) -> ChangeSet:
        """Writes records, and the states of files they come from, in one transaction.

        A record whose content hash is the stored one is left as it is, `updated_at` included.
        """
        ...

    async def replace_file(
        self, state: FileState, records: Sequence[IndexedRecord], now_ms: int
    ) -> ChangeSet:
        """Makes the records of a file exactly those given; what it had besides is deleted."""
        ...

    async def delete_records(self, owner: Owner, kind: Kind, entry_ids: Sequence[str]) -> ChangeSet:
        """Deletes records with their passages; unknown ids are passed over."""
        ...

    async def delete_file(self, path: str) -> ChangeSet:
        """Deletes the records of a file, and what is known of the file."""
        ...

    async def stamp(self) -> int:
        """The change counter: of two changes the later has the larger."""
        ...

    async def passages_since(self, stamp: int, limit: int) -> list[IndexedPassage]:
        """Passages written after a stamp, in the order of their stamps."""
        ...

    async def deletions_since(self, stamp: int, limit: int) -> list[RemovedPassage]:
        """Passages deleted after a stamp, in the order of their stamps."""
        ...

    async def forget_deletions(self, up_to_stamp: int) -> None:
        """Drops the notes of deletions that every index has durably seen."""
        ...

    # Records.

    async def get_records(
        self, owner: Owner, kind: Kind, entry_ids: Iterable[str]
    ) -> dict[str, Record]:
        """Records by entry id; unknown ids are missing from the answer."""
        ...

    async def records_by_ids(self, record_ids: Iterable[int]) -> list[Record]:
        """Records in the order of the ids; unknown ids are passed over."""
        ...

    async def find_public(self, scope: Scope, public_id: str) -> list[Record]:
        """Records a public id may mean: usually one; a user and an agent may share a name."""
        ...

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
        """How many records match, and one page of them; a page past the end is empty.

        Profiles and skills have no timestamp: they are always ordered by update.
        """
        ...

    async def matching_record_ids(self, owner: Owner, kind: Kind, where: Filter | None) -> Ids:
        """Ids of the records of a kind whose own fields match, ascending."""
        ...

    async def allowed_record_ids(self, owner: Owner, where: Filter) -> Ids:
        """Ids of all records that a search under this filter may hit, ascending.

        Facts and transcripts count when their episode matches; the rest by their own fields.
        """
        ...

    async def facts_citing(
        self, owner: Owner, message_ids: Mapping[str, Collection[str]]
    ) -> dict[str, list[AtomicFact]]:
        """The facts of episodes that cite one of the messages given for their episode.

        Both sides go by the entry id of the episode; facts are in the order of their ids.
        """
        ...

    async def turn_message_ids(
        self, turns: Iterable[tuple[int, int]]
    ) -> dict[tuple[int, int], str]:
        """The message ids of turns, given as record id of the transcript and index of the turn.

        Turns that are not there are missing from the answer.
        """
        ...

    async def descendants(
        self, owner: Owner, episode_ids: Collection[str]
    ) -> dict[Kind, list[str]]:
        """The entry ids, by kind, of what was made of episodes: their facts and transcripts."""
        ...

    async def owners_of_session(self, scope: Scope, session_id: str) -> list[Owner]:
        """The owners within a scope that have records of a session."""
        ...

    async def paths_of(self, owner: Owner) -> list[str]:
        """The files that an owner's records come from."""
        ...

    async def passage_homes(self, passage_ids: Iterable[int]) -> dict[int, PassageHome]:
        """Where passages belong; deleted ones are missing from the answer."""
        ...

    async def passage_texts(self, passage_ids: Iterable[int]) -> dict[int, str]:
        """The texts of passages; deleted ones are missing from the answer."""
        ...

    async def episodes_of(self, record_ids: Iterable[int]) -> dict[int, int]:
        """What records climb to: facts and transcripts to their episode, others to themselves.

        Records that are gone, or whose episode is, are missing from the answer.
        """
        ...

    async def timestamps_of(self, record_ids: Iterable[int]) -> dict[int, int]:
        """The instants of records in epoch milliseconds; unknown ids are missing."""
        ...

    async def frequent_speakers(self, owner: Owner, share: float) -> tuple[int, dict[str, int]]:
        """How many transcripts an owner has, and the speakers of at least `share` of them.

        The second value maps the speaker to the number of transcripts.
        """
        ...

    async def entry_paths(
        self, owner: Owner, kind: Kind, entry_ids: Iterable[str]
    ) -> dict[str, str]:
        """The file each entry comes from, by entry id; unknown ids are missing from the answer."""
        ...

    async def counts(self, owner: Owner | None = None) -> Mapping[Kind, int]:
        """How many records there are of each kind, of one owner or of all."""
        ...

    # Vectors.

    async def passages_without_vector(
        self, limit: int, after_passage_id: int = 0
    ) -> list[PendingPassage]:
        """Dense passages that wait for a vector, the oldest first."""
        ...

    async def count_without_vector(self) -> int:
        """How many dense passages wait for a vector."""
        ...

    async def save_vectors(self, passage_ids: Sequence[int], vectors: Matrix) -> list[StoredVector]:
        """Stores the vectors of passages, row by row.

        Answers with every passage that has a vector now through this: other passages with the same
        text are among them, passages deleted meanwhile are not.
        """
        ...

    async def vectors_of(self, passage_ids: Iterable[int]) -> VectorBlock:
        """The stored vectors of passages, ordered by id; those without one are left out."""
        ...

    async def load_partition(self, owner: Owner, channel: str) -> VectorBlock:
        """All vectors of an owner's channel, in the order of passage ids."""
        ...

    async def copy_vectors(self, target: Path) -> None:
        """Copies all stored vectors to a file that is not there yet, for another catalogue.

        Raises IndexDamagedError, or ServiceError when the disk does not take it.
        """
        ...

    async def prune_vectors(self) -> int:
        """Drops stored vectors whose text no passage has; says how many. For after a rebuild."""
        ...

    # Files.

    async def files(self) -> dict[str, FileState]:
        """Every file that has been projected, by path."""
        ...

    async def file_state(self, path: str) -> FileState | None:
        """A file as it was last projected."""
        ...

    async def problem_files(self) -> list[FileState]:
        """Files with entries that could not be read."""
        ...

    async def expunge(self) -> None:
        """Leaves nothing of what was deleted in any file.

        Raises ServiceError when a read that takes long, or the disk, does not allow it now.
        """
        ...

    async def check(self) -> list[str]:
        """What the database finds wrong with itself; empty when it is sound. Reads everything."""
        ...

    async def close(self) -> None:
        """Finishes what is being written and closes the files."""
        ...
