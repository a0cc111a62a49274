"""What the rest of the server asks of a keyword index. No word of any engine in here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from remanence_server.domain.filters import Filter

# Passages that every partition is taken to hold beside its own, none with a word of the question.
# How rare a word is cannot be read off five passages: without these, scores in a small memory
# collapse (in 3 episodes, the right one scored 0.1 or more for 74% of the questions, now for 83%).
# In a memory of a thousand passages or more they change nothing.
PRIOR_PASSAGES = 500
# The length, in terms, that BM25 takes for ordinary: about that of a window of four short turns. A
# constant, not the average of the index: what others remember must not show in a score.
ORDINARY_TERMS = 70.0


@dataclass(frozen=True, slots=True)
class LexicalDocument:
    """One passage to find by its words, with the fields of its record that filters see."""

    # Unique in the index, greater than 0; the catalogue gives it.
    passage_id: int
    # Whose it is. Opaque; no search sees more than one partition.
    partition: str
    # The recall channel: "episode", "fact", "turn", "case", "skill".
    channel: str
    text: str
    session_id: str | None = None
    timestamp_ms: int | None = None
    parent_type: str | None = None
    parent_id: str | None = None
    sender_ids: tuple[str, ...] = ()


class LexicalHit(NamedTuple):
    """A passage found. The score is greater than 0 and comparable within one search only.

    A tuple, for a search makes hundreds: a frozen dataclass takes four times as long to make.
    """

    passage_id: int
    score: float


@dataclass(frozen=True, slots=True)
class LexicalMatches:
    """What a search found in each channel, best first, ties by passage id.

    `ceiling` is what no score of this search can exceed: the weighted idf of every term of the
    text, those that no passage holds included. It tells a good match of a long question from a
    good match of a short one.
    """

    hits: Mapping[str, list[LexicalHit]]
    ceiling: float


class LexicalIndex(Protocol):
    """Passages by their words. Derived data: it can be emptied and fed again at any time.

    Every method raises `ServiceError`: CAPABILITY_UNAVAILABLE when the engine cannot run on this
    machine, EXTERNAL_SERVICE_UNAVAILABLE when the disk fails. After an error from `apply` or
    `commit`, `committed_stamp` says from where the index must be fed again.
    """

    async def apply(
        self, stamp: int, upserts: Sequence[LexicalDocument], deletes: Sequence[int]
    ) -> None:
        """Delete and replace passages; searches see all of it when this returns.

        Deletes come first; an unknown id is no error; of two upserts of one id the last counts.

        Args:
            stamp: The catalogue's change counter after these changes; the next `commit` keeps it.
            upserts: Passages to write, each in place of the one with its id.
            deletes: Ids of passages to remove.
        """

    async def search(
        self,
        partition: str,
        channels: Sequence[str],
        text: str,
        limit: int,
        where: Filter | None = None,
        passage_ids: Sequence[int] | None = None,
    ) -> LexicalMatches:
        """The passages of a partition that share words with `text`, for each channel apart.

        A text without a single word finds nothing. One of stop words only ("to be or not to be")
        is searched by its stop words.

        Args:
            partition: Whose passages.
            channels: Where to look; each is a key of the answer.
            text: Any text at all; it has no syntax.
            limit: The most hits for a channel.
            where: What the record of a hit must satisfy.
            passage_ids: When given, only these passages can be hits.

        Returns:
            Hits for each channel, and what their scores are measured against.
        """

    async def committed_stamp(self) -> int:
        """The stamp of the last durable commit; 0 when the index is new or was lost."""

    async def commit(self) -> None:
        """Make everything applied so far durable, with its stamp."""

    async def expunge(self) -> None:
        """Leave nothing of what was deleted in any file, durably; searches go on meanwhile."""

    async def count(self) -> int:
        """How many passages the index holds."""

    async def is_whole(self) -> bool:
        """Whether the files of the last commit are there, as long as they were. A quick look."""

    async def check(self) -> None:
        """Read everything and compare checksums. Raises IndexDamagedError when they differ."""

    async def clear(self) -> None:
        """Remove everything, durably; the stamp is 0 again."""

    async def close(self) -> None:
        """Commit and release the files. The index cannot be used afterwards."""
