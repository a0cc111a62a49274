"""Entries of one id in two files: the earlier file counts, the other's entry is reported."""

from __future__ import annotations

from dataclasses import replace

from remanence_server.domain.owners import Owner
from remanence_server.domain.records import Kind, record_key
from remanence_server.markdown.paths import MemoryFile
from remanence_server.markdown.reader import ParsedFile, Problem

TWIN = "another file has an entry of this id; that one counts"


def file_order(file: MemoryFile) -> tuple[str, int, str]:
    """Which of two files comes first: by day, by number, by name. The same after every rebuild."""
    return str(file.day or ""), file.number, file.path.as_posix()


def without_entries(parsed: ParsedFile, entry_ids: set[str]) -> ParsedFile:
    """A file as it counts when other files have some of its entries: these are problems of it."""
    if not entry_ids:
        return parsed
    twins = [item for item in parsed.records if record_key(item.record) in entry_ids]
    problems = [
        *parsed.problems,
        *(Problem(parsed.file.path, item.line, record_key(item.record), TWIN) for item in twins),
    ]
    return replace(
        parsed,
        records=tuple(item for item in parsed.records if item not in twins),
        problems=tuple(sorted(problems, key=lambda problem: problem.line)),
    )


class TwinFinder:
    """Finds twins among files that are shown to it, whatever their order."""

    def __init__(self) -> None:
        self._first: dict[tuple[Owner, Kind, str], Problem] = {}
        self._order: dict[tuple[Owner, Kind, str], tuple[str, int, str]] = {}
        self.problems: list[Problem] = []

    def look(self, parsed: ParsedFile) -> None:
        """Takes note of the entries of a file."""
        order = file_order(parsed.file)
        for item in parsed.records:
            key = (parsed.file.owner, parsed.file.kind, record_key(item.record))
            place = Problem(parsed.file.path, item.line, key[2], TWIN)
            if key not in self._first:
                self._first[key], self._order[key] = place, order
            elif order < self._order[key]:
                self.problems.append(self._first[key])
                self._first[key], self._order[key] = place, order
            else:
                self.problems.append(place)
