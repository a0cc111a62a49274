"""One owner's channel in memory. Another kind of FAISS index would be another `Partition`."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, Protocol

import faiss
import numpy as np

from remanence_server.index.catalogue.interface import Ids, VectorBlock
from remanence_server.index.dense.interface import DenseHit, Vector

# FAISS settles equal cosines its own way. That many more are fetched, so that equal ones at the
# end of the list are settled by id too.
_SPARE_HITS = 16
_OVERHEAD_BYTES = 2048

# Searches run beside each other; threads within one of 0.1 ms only get in the others' way.
faiss.omp_set_num_threads(1)


class Partition(Protocol):
    """A set of passages with vectors. Each call is atomic, from whatever thread."""

    @property
    def size(self) -> int:
        """How many passages there are."""
        ...

    @property
    def memory_bytes(self) -> int:
        """About how much memory it takes."""
        ...

    def apply(self, added: VectorBlock | None, removed: Sequence[int]) -> None:
        """Removes passages, then adds or replaces others."""
        ...

    def search(
        self, vector: Vector, limit: int, allowed_record_ids: Ids | None, radius: float | None
    ) -> list[DenseHit]:
        """The nearest passages, best first, equal ones by passage id."""
        ...


class FlatPartition:
    """Compares with every vector: exact, and the quickest up to some 50,000 passages.

    FAISS numbers the rows; which passage a row is, is ours to know. Rows are kept in the order of
    these arrays: removing closes the gaps, adding appends.
    """

    def __init__(self, block: VectorBlock) -> None:
        """Takes the passages of a block, which are distinct."""
        self._lock = threading.Lock()
        self._dimensions = int(block.vectors.shape[1])
        # FAISS's own annotations do not know the arrays that its Python methods take.
        self._index: Any = faiss.IndexFlatIP(self._dimensions)
        self._passage_ids = block.passage_ids
        self._record_ids = block.record_ids
        self._index.add(np.ascontiguousarray(block.vectors))

    @property
    def size(self) -> int:
        """How many passages there are."""
        return len(self._passage_ids)

    @property
    def memory_bytes(self) -> int:
        """About how much memory it takes."""
        return _OVERHEAD_BYTES + self.size * (4 * self._dimensions + 16)

    def apply(self, added: VectorBlock | None, removed: Sequence[int]) -> None:
        """Removes passages, then adds or replaces others."""
        gone = np.array(removed, dtype=np.int64)
        if added is not None:
            added = _last_of_each(added)
            gone = np.concatenate((gone, added.passage_ids))
        with self._lock:
            rows = np.flatnonzero(np.isin(self._passage_ids, gone))
            if len(rows):
                self._index.remove_ids(rows)
                self._passage_ids = np.delete(self._passage_ids, rows)
                self._record_ids = np.delete(self._record_ids, rows)
            if added is not None:
                self._index.add(np.ascontiguousarray(added.vectors))
                self._passage_ids = np.concatenate((self._passage_ids, added.passage_ids))
                self._record_ids = np.concatenate((self._record_ids, added.record_ids))

    def search(
        self, vector: Vector, limit: int, allowed_record_ids: Ids | None, radius: float | None
    ) -> list[DenseHit]:
        """The nearest passages, best first, equal ones by passage id."""
        with self._lock:
            count = self.size
            parameters = None
            if allowed_record_ids is not None:
                mask = np.isin(self._record_ids, allowed_record_ids)
                count = int(np.count_nonzero(mask))
                bits = np.packbits(mask, bitorder="little")
                selector = faiss.IDSelectorBitmap(len(bits), faiss.swig_ptr(bits))
                parameters = faiss.SearchParameters()
                parameters.sel = selector
            wanted = min(limit + _SPARE_HITS, count)
            if wanted <= 0 or limit <= 0:
                return []
            query = np.ascontiguousarray(vector, dtype=np.float32).reshape(1, -1)
            [cosines], [rows] = self._index.search(query, wanted, params=parameters)
            passage_ids, record_ids = self._passage_ids[rows], self._record_ids[rows]
        order = np.lexsort((passage_ids, -cosines))[:limit]
        return [
            DenseHit(passage_id, record_id, cosine)
            for passage_id, record_id, cosine in zip(
                passage_ids[order].tolist(),
                record_ids[order].tolist(),
                cosines[order].tolist(),
                strict=True,
            )
            if radius is None or cosine >= radius
        ]


def _last_of_each(block: VectorBlock) -> VectorBlock:
    """The block with the last row of each passage."""
    if len(np.unique(block.passage_ids)) == len(block.passage_ids):
        return block
    last = {passage_id: row for row, passage_id in enumerate(block.passage_ids.tolist())}
    rows = list(last.values())
    return VectorBlock(block.passage_ids[rows], block.record_ids[rows], block.vectors[rows])
