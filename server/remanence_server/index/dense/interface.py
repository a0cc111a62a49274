"""What the rest of the server asks of a vector index. No word of any engine in here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from remanence_server.domain.owners import Owner
from remanence_server.index.catalogue.interface import Ids, StoredVector, VectorBlock

Vector = npt.NDArray[np.float32]
Matrix = npt.NDArray[np.float32]
# Reads all stored vectors of an owner's channel: `Catalogue.load_partition`.
PartitionLoader = Callable[[Owner, str], Awaitable[VectorBlock]]


class DenseHit(NamedTuple):
    """A passage found by its vector. `cosine` is in [-1, 1], and comparable across searches."""

    passage_id: int
    record_id: int
    cosine: float


class DenseIndex(Protocol):
    """Passages by their vectors, a partition for each owner and channel.

    Held in memory only, as what the catalogue has stored: partitions come on first use and leave
    when memory is short. All vectors are of unit length.
    """

    async def search(
        self,
        owner: Owner,
        channels: Sequence[str],
        vector: Vector,
        limit: int,
        *,
        allowed_record_ids: Ids | None = None,
        radius: float | None = None,
    ) -> Mapping[str, list[DenseHit]]:
        """The nearest passages of an owner, for each channel apart.

        Args:
            owner: Whose passages.
            channels: Where to look; each is a key of the answer.
            vector: The query, shape (dimensions,).
            limit: The most hits for a channel.
            allowed_record_ids: When given, only passages of these records can be hits.
            radius: When given, hits have at least this cosine.

        Returns:
            Hits for each channel, best first, equal ones by passage id.
        """
        ...

    async def apply(
        self,
        owner: Owner,
        channel: str,
        added: VectorBlock | None = None,
        removed: Sequence[int] = (),
    ) -> None:
        """Follows a change that the catalogue has committed; searches see it afterwards.

        Args:
            owner: Whose passages.
            channel: Of which channel.
            added: Passages with their vectors; one that is known is replaced.
            removed: Ids of passages that are gone; unknown ones are no error.
        """
        ...

    async def clear(self) -> None:
        """Forgets every partition: the catalogue has begun anew."""
        ...

    async def close(self) -> None:
        """Ends the threads and frees the memory."""
        ...


def group_by_partition(
    stored: Sequence[StoredVector], vectors: Matrix
) -> dict[tuple[Owner, str], VectorBlock]:
    """What `Catalogue.save_vectors` stored, as `DenseIndex.apply` takes it."""
    groups: dict[tuple[Owner, str], list[StoredVector]] = {}
    for item in stored:
        groups.setdefault((item.owner, item.channel), []).append(item)
    return {
        key: VectorBlock(
            np.array([item.passage_id for item in items], dtype=np.int64),
            np.array([item.record_id for item in items], dtype=np.int64),
            vectors[[item.row for item in items]],
        )
        for key, items in groups.items()
    }
