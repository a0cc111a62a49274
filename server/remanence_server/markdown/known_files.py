"""What the writer knows of daily files, so that it reads them only after somebody else's change."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from remanence_server.markdown.disk import FileStamp, stamp_of
from remanence_server.markdown.paths import MemoryFile
from remanence_server.markdown.reader import DailyText, load_daily
from remanence_server.runtime.ids import entry_sequence

_MAXIMUM_FILES = 256


@dataclass(slots=True)
class KnownFile:
    """A daily file as it was at `stamp`."""

    stamp: FileStamp
    # Entries that are whole, ids that were removed, entries that were begun and not closed.
    ids: set[str]
    removed: set[str]
    fragments: set[str]
    # Whether the file as a whole can be read.
    usable: bool
    # Bytes up to an unfinished line at the end, and whether a line break ends them.
    end: int
    ends_line: bool
    # Whether this process has seen to it that the name outlives a power loss.
    is_named: bool = False
    # The highest number among all of these ids; 0 when none has one.
    last_sequence: int = 0

    def __post_init__(self) -> None:
        """Looks at the numbers once: a day may hold thousands."""
        self._count({*self.ids, *self.removed, *self.fragments})

    @classmethod
    def new(cls) -> KnownFile:
        """A file that is about to be made."""
        return cls(FileStamp(0, 0, 0), set(), set(), set(), True, 0, True)

    @classmethod
    def of(cls, daily: DailyText) -> KnownFile:
        """What the text of a file says."""
        skeleton = daily.skeleton
        whole = daily.text
        if skeleton.torn_from is not None:
            whole = whole[: skeleton.torn_from]
        ids = {span.entry_id for span in skeleton.entries}
        return cls(
            stamp=daily.stamp,
            ids=ids,
            removed=set(skeleton.removed),
            fragments={span.entry_id for span in skeleton.fragments} - ids,
            usable=skeleton.file_flaw is None,
            end=len(whole.encode("utf-8", "surrogateescape")),
            ends_line=whole.endswith("\n"),
        )

    def wrote(self, ids: set[str], stamp: FileStamp) -> None:
        """Entries of these ids were added at the end."""
        self.ids |= ids
        self._count(ids)
        self.stamp = stamp
        self.end = stamp.size
        self.ends_line = True

    def _count(self, ids: set[str]) -> None:
        numbers = (entry_sequence(entry_id) for entry_id in ids)
        given = (number for number in numbers if number is not None)
        self.last_sequence = max(self.last_sequence, *given, 0)


class KnownFiles:
    """A bounded cache. A file's own entry is only changed by who holds the lock of its day."""

    def __init__(self) -> None:
        self._files: OrderedDict[Path, KnownFile] = OrderedDict()
        self._lock = threading.Lock()

    def look(self, file: MemoryFile) -> KnownFile | None:
        """What is known of a file, read only if it is not as we left it. None: no such file."""
        with self._lock:
            known = self._files.get(file.path)
        stamp = stamp_of(file.path)
        if stamp is None:
            return None
        if known is not None and known.stamp == stamp:
            return known
        try:
            known = KnownFile.of(load_daily(file))
        except FileNotFoundError:
            return None
        self.remember(file.path, known)
        return known

    def remember(self, path: Path, known: KnownFile) -> None:
        """Keeps what is known of a file."""
        with self._lock:
            self._files[path] = known
            self._files.move_to_end(path)
            while len(self._files) > _MAXIMUM_FILES:
                self._files.popitem(last=False)

    def forget(self, path: Path) -> None:
        """The next look reads the file."""
        with self._lock:
            self._files.pop(path, None)
