"""A folder that arrives as a stream of pieces: whole in its place, or not at all."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Any, BinaryIO, Self

from remanence_client.errors import RemanenceError, invalid_input

_PARTIAL_SUFFIX = ".partial"
_FOLDER_MODE = 0o700
_FILE_MODE = 0o600


class ArrivingFolder:
    """Collects files in `DIR.partial`, for its owner's eyes only; `finish` gives it its name.

    To be used as a context: whatever ends it before that leaves nothing behind.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        """Makes the partial folder.

        Raises:
            InvalidInputError: the folder is there and not empty, or a partial one is.
            OSError: it cannot be made.
        """
        self.path = Path(directory).expanduser().absolute()
        if self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
            raise invalid_input(f"{self.path} is there and not empty; name another", "directory")
        self.partial = self.path.with_name(self.path.name + _PARTIAL_SUFFIX)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self.partial.mkdir(mode=_FOLDER_MODE)
        except FileExistsError:
            raise invalid_input(
                f"{self.partial} is left from a transfer that was cut off; remove it", "directory"
            ) from None
        self.files = 0
        self.size_bytes = 0
        self._file: BinaryIO | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._file.close()
        if self.partial.exists():
            shutil.rmtree(self.partial, ignore_errors=True)

    def take(self, response: Any) -> None:
        """Writes the piece that a response carries as its `chunk`.

        Raises:
            RemanenceError: the pieces do not make up files inside the folder.
            OSError: the disk refuses.
        """
        chunk = response.chunk
        if chunk.HasField("path"):
            if self._file is not None:
                raise _broken_stream()
            self._file = self._create(chunk.path)
            self.files += 1
        if self._file is None:
            raise _broken_stream()
        self._file.write(chunk.data)
        self.size_bytes += len(chunk.data)
        if chunk.last:
            _sync(self._file)
            self._file.close()
            self._file = None

    def finish(self) -> None:
        """Makes all of it durable and puts it in its place.

        Raises:
            RemanenceError: the last file is not whole.
            OSError: the disk refuses.
        """
        if self._file is not None:
            raise _broken_stream()
        settle(self.partial, self.path)

    def _create(self, name: str) -> BinaryIO:
        parts = PurePosixPath(name).parts
        inside = parts and not name.startswith("/") and ".." not in parts and "\0" not in name
        if not inside:
            raise _broken_stream()
        target = self.partial.joinpath(*parts)
        target.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _FILE_MODE)
        return os.fdopen(descriptor, "wb")


def settle(partial: Path, path: Path) -> None:
    """Syncs the folders of a finished copy, whose files are synced, and gives it its name."""
    for folder, _, _ in os.walk(partial, topdown=False):
        _sync_folder(Path(folder))
    # An empty folder may be in its place.
    with suppress(FileNotFoundError):
        path.rmdir()
    partial.rename(path)
    _sync_folder(path.parent)


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    # Where a folder cannot be opened, as on Windows, its names are synced with the files.
    with suppress(PermissionError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _broken_stream() -> RemanenceError:
    return RemanenceError(
        "The server sent pieces that do not make up files; is it of another version?",
        code="INTERNAL_ERROR",
    )
