"""Bytes to disk and back: durable appends, atomic replacement, and what a full disk means."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from remanence_server.markdown.durable_names import make_folders, sync_names
from remanence_server.markdown.paths import WORK_FOLDER
from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.runtime.fault_points import FaultPoint, is_armed, reach
from remanence_server.runtime.storage import StorageReason, reason_of, storage_trouble

# Inside the work folder: out of sight of scans, on the same disk, and quickly emptied.
_TEMPORARY_FOLDER = "markdown"
_TEMPORARY_SUFFIX = ".tmp"


@contextlib.contextmanager
def storage_errors(*, missing_passes: bool = False) -> Iterator[None]:
    """Turns errors of the file system into EXTERNAL_SERVICE_UNAVAILABLE, without their paths.

    With `missing_passes`, FileNotFoundError is left to the caller: a file may just be gone.
    """
    try:
        yield
    except OSError as error:
        if missing_passes and isinstance(error, FileNotFoundError):
            raise
        raise storage_trouble(reason_of(error)) from error


@dataclass(frozen=True, slots=True)
class FileStamp:
    """What changes when a file is written or replaced."""

    inode: int
    size: int
    modified_ns: int

    @classmethod
    def of(cls, status: os.stat_result) -> Self:
        """The stamp in a stat result."""
        return cls(status.st_ino, status.st_size, status.st_mtime_ns)


def stamp_of(path: Path | str) -> FileStamp | None:
    """The stamp of a file; None when there is no such file."""
    try:
        return FileStamp.of(os.lstat(path))
    except (FileNotFoundError, NotADirectoryError):
        return None


def read_file(path: Path, maximum_bytes: int | None = None) -> tuple[bytes, FileStamp]:
    """A file's bytes (at most `maximum_bytes`) with the stamp they belong to.

    Raises FileNotFoundError for what is no regular file: links, folders and pipes are not ours.
    """
    try:
        # Without O_NONBLOCK a pipe would be waited for.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise FileNotFoundError from None
        raise
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise FileNotFoundError
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            content = file.read(-1 if maximum_bytes is None else maximum_bytes)
        return content, FileStamp.of(status)
    finally:
        os.close(descriptor)


def sync_descriptor(descriptor: int) -> None:
    """Waits until the bytes of an open file are on the medium."""
    full_sync = getattr(fcntl, "F_FULLFSYNC", None)  # macOS: fsync stops at the drive's cache
    if full_sync is not None:
        fcntl.fcntl(descriptor, full_sync)
    else:
        os.fsync(descriptor)


def make_folder(root: Path, folder: Path) -> None:
    """Makes a folder and its parents below the root, for `sync_names` to make durable.

    Raises ServiceError when a link on the way leads out of the root, and when the root is missing:
    its disk may not be mounted, and what is written in its place would be hidden later.
    """
    if not root.is_dir():
        raise storage_trouble(StorageReason.MISSING)
    missing: list[Path] = []
    present = folder
    while not present.is_dir():
        missing.append(present)
        present = present.parent
    actual_root = os.path.realpath(root)
    if os.path.commonpath((os.path.realpath(present), actual_root)) != actual_root:
        raise ServiceError(
            ErrorCode.CONFIGURATION_ERROR, "a folder of the memory leads outside the memory root"
        )
    make_folders(missing[::-1])


def write_all(descriptor: int, data: bytes) -> None:
    """Writes every byte; a short write goes on until the system says why it was short."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def append_durably(path: Path, data: bytes, expected: FileStamp) -> FileStamp | None:
    """Appends to an existing file and syncs it. On an error the file is as it was before.

    Returns the new stamp; None when a person has saved the file meanwhile. It may have been written
    to then, and a look at it says what is there.
    """
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        if FileStamp.of(os.fstat(descriptor)) != expected:
            return None
        size = expected.size + len(data)
        try:
            if is_armed(FaultPoint.MARKDOWN_HALF_APPENDED):
                write_all(descriptor, data[: len(data) // 2])
                reach(FaultPoint.MARKDOWN_HALF_APPENDED)
                data = data[len(data) // 2 :]
            write_all(descriptor, data)
            reach(FaultPoint.MARKDOWN_APPENDED)
            sync_descriptor(descriptor)
        except OSError:
            # After a failed sync the pages count as clean: only taking the bytes back makes sure
            # that a repeat does not find them and believe them.
            with contextlib.suppress(OSError):
                os.ftruncate(descriptor, expected.size)
            raise
        stamp = FileStamp.of(os.fstat(descriptor))
        named = stamp_of(path)
        # An editor that renamed its copy over ours has taken the name; what we wrote has none. One
        # that writes into the file shows by its size: the stamp would pass its words off as known.
        is_ours = named is not None and named.inode == stamp.inode and stamp.size == size
        return stamp if is_ours else None
    finally:
        os.close(descriptor)


def truncate_durably(path: Path, size: int) -> None:
    """Cuts a file's end off."""
    descriptor = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.ftruncate(descriptor, size)
        sync_descriptor(descriptor)
    finally:
        os.close(descriptor)


def sync_file(path: Path) -> None:
    """Syncs what is in a file already."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        sync_descriptor(descriptor)
    finally:
        os.close(descriptor)


def replace_durably(
    root: Path,
    path: Path,
    data: bytes,
    expected: FileStamp | None,
    before_rename: FaultPoint = FaultPoint.MARKDOWN_TEMPORARY_WRITTEN,
) -> FileStamp | None:
    """Puts a whole new file in the place of `expected` (None: there is none yet), atomically.

    Returns the new stamp, or None, with nothing changed, when the file at `path` is not `expected`.
    When it raises, the file may be there, with a name that is not durable: see `sync_names`.
    """
    make_folder(root, path.parent)
    work_folder = root / WORK_FOLDER / _TEMPORARY_FOLDER
    make_folder(root, work_folder)
    temporary = work_folder / f"{secrets.token_hex(8)}{_TEMPORARY_SUFFIX}"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        try:
            write_all(descriptor, data)
            sync_descriptor(descriptor)
            # Not read under the new name: somebody may have changed the file there already.
            stamp = FileStamp.of(os.fstat(descriptor))
        finally:
            os.close(descriptor)
        reach(before_rename)
        if stamp_of(path) != expected:
            temporary.unlink()
            return None
        temporary.rename(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    reach(FaultPoint.MARKDOWN_RENAMED)
    sync_names(root, path)
    return stamp


def remove_temporary_files(root: Path) -> int:
    """Removes what a killed process left half-written. Only for the process that owns the root."""
    count = 0
    for path in (root / WORK_FOLDER / _TEMPORARY_FOLDER).glob(f"*{_TEMPORARY_SUFFIX}"):
        path.unlink(missing_ok=True)
        count += 1
    return count
