"""Changes of Markdown on their way into the index: the queue, and what is taken up together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from remanence_server.markdown.daily_files import WrittenEntry
from remanence_server.runtime.clock import Clock
from remanence_server.runtime.tracing import Origin, Tracing

type Change = tuple[WrittenEntry, ...] | Path


@dataclass(slots=True)
class Batch:
    """Changes taken up together; what the catalogue has is taken out, so no repeat brings it back.

    A file that was read again may say something newer than our own entries did.
    """

    entries: list[WrittenEntry] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)

    @classmethod
    def of(cls, changes: Sequence[Change]) -> Batch:
        """The entries, and each file once. Entries come first: a file knows all that is in it."""
        entries = [entry for change in changes if isinstance(change, tuple) for entry in change]
        files = dict.fromkeys(change for change in changes if isinstance(change, Path))
        return cls(entries, list(files))


@dataclass(slots=True)
class ChangeQueue:
    """Changes in the order of their arrival, with who asked for them and how long they wait."""

    clock: Clock
    tracing: Tracing
    _changes: list[Change] = field(default_factory=list)
    _origins: list[Origin] = field(default_factory=list)
    _first_at_seconds: float = 0.0
    # When the first of what is being taken up arrived; None when nothing is.
    _taken_at_seconds: float | None = None

    def __bool__(self) -> bool:
        return bool(self._changes)

    def put(self, change: Change) -> None:
        """Appends a change."""
        if not self._changes:
            self._first_at_seconds = self.clock.monotonic_seconds()
        self._changes.append(change)
        origin = self.tracing.here()
        if origin is not None:
            self._origins.append(origin)

    def take(self) -> tuple[list[Change], list[Origin]]:
        """Takes out all there is; it counts as waiting until `done`."""
        taken = self._changes, self._origins
        self._changes, self._origins = [], []
        self._taken_at_seconds = self._first_at_seconds
        return taken

    def done(self) -> None:
        """Says that what was taken is in the index."""
        self._taken_at_seconds = None

    def lag_seconds(self) -> float:
        """How long the oldest change has been waiting; 0 when none is."""
        since_seconds = self._taken_at_seconds
        if since_seconds is None:
            if not self._changes:
                return 0.0
            since_seconds = self._first_at_seconds
        return max(0.0, self.clock.monotonic_seconds() - since_seconds)
