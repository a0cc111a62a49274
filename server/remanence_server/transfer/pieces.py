"""Files as streams of pieces, and the files of a folder."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

PIECE_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class FilePiece:
    """A piece of a file; the pieces of one file follow each other.

    `path` is relative, with `/`, and there on the first piece of a file only.
    """

    path: str | None
    data: bytes
    last: bool


async def cut(path: str, parts: AsyncIterator[bytes]) -> AsyncIterator[FilePiece]:
    """A file of these parts, in pieces of at most `PIECE_BYTES`; an empty file is one piece."""
    name: str | None = path
    buffer = bytearray()
    async for part in parts:
        buffer += part
        while len(buffer) > PIECE_BYTES:
            yield FilePiece(name, bytes(buffer[:PIECE_BYTES]), last=False)
            del buffer[:PIECE_BYTES]
            name = None
    yield FilePiece(name, bytes(buffer), last=True)


async def whole(data: bytes) -> AsyncIterator[bytes]:
    """Parts for `cut`: all at once."""
    yield data


def regular_files(folder: Path) -> Iterator[Path]:
    """The files of a folder and those below it, in order; links and the like are none.

    Raises OSError for a folder that cannot be listed.
    """
    return map(Path, regular_file_names(os.fspath(folder)))


def regular_file_names(folder: str, left_out: frozenset[str] = frozenset()) -> Iterator[str]:
    """The same as names, many times quicker. `left_out` are names at the top."""
    try:
        with os.scandir(folder) as listed:
            entries = sorted(listed, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return
    for entry in entries:
        if entry.name in left_out:
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from regular_file_names(entry.path)
        elif entry.is_file(follow_symlinks=False):
            yield entry.path


def portable_path(path: Path, folder: Path) -> str:
    r"""The path from a folder, as text for any machine; bytes that are no UTF-8 become `\xff`."""
    return os.fsencode(path.relative_to(folder).as_posix()).decode("utf-8", "backslashreplace")
