"""Long work in the background, as health shows it."""

from __future__ import annotations

from dataclasses import dataclass

REBUILD = "rebuild"
EMBED = "embed"


@dataclass(slots=True)
class Activity:
    """What is done of what is known to be to do. Both counts only go up."""

    name: str
    started_at_ms: int
    done: int = 0
    total: int = 0

    def expect(self, more: int) -> None:
        """So much is left to do."""
        self.total = max(self.total, self.done + more)

    def advance(self, count: int) -> None:
        """So much more is done."""
        self.done += count
        self.total = max(self.total, self.done)
