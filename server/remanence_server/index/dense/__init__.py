"""The dense index: passages by their vectors."""

from remanence_server.index.dense.faiss_index import FaissDenseIndex
from remanence_server.index.dense.interface import DenseHit, DenseIndex, group_by_partition

__all__ = ["DenseHit", "DenseIndex", "FaissDenseIndex", "group_by_partition"]
