"""The dense index: passages by their vectors."""

from remanence_server.index.dense.faiss_index import FaissDenseIndex
from remanence_server.index.dense.interface import DenseHit, DenseIndex, group_by_partition
from remanence_server.index.dense.memory_index import MemoryDenseIndex

__all__ = ["DenseHit", "DenseIndex", "FaissDenseIndex", "MemoryDenseIndex", "group_by_partition"]
