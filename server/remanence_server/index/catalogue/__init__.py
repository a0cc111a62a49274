"""Which records there are, what file each comes from, by which passages it is found."""

from remanence_server.index.catalogue.changes import (
    ChangeSet,
    EntryProblem,
    FileState,
    FilterValues,
    IndexedPassage,
    IndexedRecord,
    PassageDraft,
    RemovedPassage,
)
from remanence_server.index.catalogue.interface import (
    Catalogue,
    PassageHome,
    PendingPassage,
    SortBy,
    StoredVector,
    VectorBlock,
)
from remanence_server.index.catalogue.sqlite import SqliteCatalogue

__all__ = [
    "Catalogue",
    "ChangeSet",
    "EntryProblem",
    "FileState",
    "FilterValues",
    "IndexedPassage",
    "IndexedRecord",
    "PassageDraft",
    "PassageHome",
    "PendingPassage",
    "RemovedPassage",
    "SortBy",
    "SqliteCatalogue",
    "StoredVector",
    "VectorBlock",
]
