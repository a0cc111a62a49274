"""The vector index without FAISS: the whole of its meaning in a few lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from remanence_server.domain.owners import Owner
from remanence_server.index.catalogue.interface import Ids, VectorBlock
from remanence_server.index.dense.interface import DenseHit, PartitionLoader, Vector


class MemoryDenseIndex:
    """Implements `DenseIndex` for tests: passages in dictionaries, loaded on first use."""

    def __init__(self, load: PartitionLoader) -> None:
        self._load = load
        self._partitions: dict[tuple[Owner, str], dict[int, tuple[int, Vector]]] = {}

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
        """The nearest passages of an owner, for each channel apart."""
        allowed = None if allowed_record_ids is None else set(allowed_record_ids.tolist())
        answer = {}
        for channel in channels:
            if (owner, channel) not in self._partitions:
                block = await self._load(owner, channel)
                self._partitions[owner, channel] = {}
                self._add(owner, channel, block)
            hits = [
                DenseHit(passage_id, record_id, float(np.dot(stored, vector)))
                for passage_id, (record_id, stored) in self._partitions[owner, channel].items()
                if allowed is None or record_id in allowed
            ]
            near = [hit for hit in hits if radius is None or hit.cosine >= radius]
            answer[channel] = sorted(near, key=lambda hit: (-hit.cosine, hit.passage_id))[:limit]
        return answer

    async def apply(
        self,
        owner: Owner,
        channel: str,
        added: VectorBlock | None = None,
        removed: Sequence[int] = (),
    ) -> None:
        """Follows a change that the catalogue has committed."""
        if (owner, channel) not in self._partitions:
            return
        for passage_id in removed:
            self._partitions[owner, channel].pop(passage_id, None)
        if added is not None:
            self._add(owner, channel, added)

    async def clear(self) -> None:
        """Forgets every partition."""
        self._partitions.clear()

    async def close(self) -> None:
        """Nothing to end."""

    def _add(self, owner: Owner, channel: str, block: VectorBlock) -> None:
        for passage_id, record_id, vector in zip(
            block.passage_ids.tolist(), block.record_ids.tolist(), block.vectors, strict=True
        ):
            self._partitions[owner, channel][passage_id] = (record_id, vector)
