"""What of the Markdown cannot be read, for health and for whoever repairs it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from remanence_server.index.catalogue.changes import EntryProblem, FileState
from remanence_server.markdown.twins import TWIN

# Problems that a health report lists; the rest is counted.
_LISTED = 20


@dataclass(frozen=True, slots=True)
class ListedProblem:
    """A place to repair; `path` is relative to the root, `line` counts from 1."""

    path: str
    line: int
    reason: str


@dataclass(slots=True)
class ProblemBook:
    """Problems by file, as they were when the file was last read."""

    broken: dict[str, tuple[EntryProblem, ...]] = field(default_factory=dict)
    # Files that the disk did not give; they are tried again.
    unreadable: set[str] = field(default_factory=set)
    # Whether part of the root could not be listed.
    unreadable_root: bool = False

    def begin(self, states: Iterable[FileState]) -> None:
        """Takes over what the catalogue remembers."""
        self.broken = {state.path: state.problems for state in states}

    def note(self, path: str, problems: tuple[EntryProblem, ...]) -> None:
        """A file was read."""
        self.unreadable.discard(path)
        if problems:
            self.broken[path] = problems
        else:
            self.broken.pop(path, None)

    def forget(self, path: str) -> None:
        """A file is gone."""
        self.note(path, ())

    def twins(self) -> list[str]:
        """Files with entries that do not count because another file has them."""
        return [
            path
            for path, problems in self.broken.items()
            if any(problem.reason == TWIN for problem in problems)
        ]

    @property
    def count(self) -> int:
        """How many entries, or whole files, cannot be read or do not count."""
        return sum(map(len, self.broken.values()))

    def listed(self) -> list[ListedProblem]:
        """The first of them, by path and line."""
        places = [
            ListedProblem(path, problem.line, problem.reason)
            for path, problems in self.broken.items()
            for problem in problems
        ]
        return sorted(places, key=lambda place: (place.path, place.line))[:_LISTED]

    def reasons(self) -> list[str]:
        """What health says of it."""
        reasons = []
        if self.count:
            first = self.listed()[0]
            reasons.append(
                f"{self.count} Markdown entries cannot be read, the first at "
                f"{first.path}:{first.line}; `remanence doctor` lists them"
            )
        if self.unreadable:
            reasons.append(
                f"{len(self.unreadable)} Markdown files cannot be read; they are tried again"
            )
        if self.unreadable_root:
            reasons.append("part of the memory root cannot be read; nothing is taken as deleted")
        return reasons
