"""The whole root at one instant, while the service goes on.

A message is a row of `system.db` until it is an entry of the Markdown, and a job takes it from one
to the other. A copy of the two from different moments would lose entries or, once the job ran
again, double them. So Markdown is closed to writers (`runtime/write_gate.py`) while the database is
copied, and then what of the Markdown has changed since a first copy, made with the gate open. What
the copied database has not seen is not in the copied Markdown; what it says is under way may be
there, and is done again under the same ids. Nothing else stands still: messages are accepted, jobs
are claimed and models asked.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import orjson

from remanence_server.markdown.disk import FileStamp, stamp_of, storage_errors
from remanence_server.runtime.clock import Clock
from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.runtime.instants import render_iso
from remanence_server.runtime.logging import get_logger
from remanence_server.runtime.root import INDEX_FOLDER, RUN_FOLDER, STATE_FILE
from remanence_server.runtime.settings_loader import FILE_NAME
from remanence_server.runtime.settings_secrets import without_secrets
from remanence_server.runtime.storage import StorageReason, storage_trouble
from remanence_server.runtime.tasks import see_through
from remanence_server.runtime.write_gate import WriteGate
from remanence_server.state.copying import copy_database
from remanence_server.transfer.pieces import (
    PIECE_BYTES,
    FilePiece,
    cut,
    portable_path,
    regular_file_names,
    regular_files,
)

FORMAT = "remanence-backup"
FORMAT_VERSION = 1
# What was copied and when; at the top of the copy, and of no use to a server.
NOTE = "backup.json"

_STAGING_PREFIX = "backup-"
_FOLDER_MODE = 0o700
# Not copied: what comes back by itself, what belongs to the process, what is copied by SQLite.
_LEFT_OUT = frozenset(
    {
        INDEX_FOLDER,
        RUN_FOLDER,
        NOTE,
        *(STATE_FILE + end for end in ("", "-wal", "-shm", "-journal")),
    }
)
# So much stays free for the messages that come in meanwhile.
_RESERVE_BYTES = 64 << 20
_QUIET_TIMEOUT_SECONDS = 30.0
_COPY_BYTES = 1 << 20

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class BackupSource:
    """What a backup is of."""

    root: Path
    # Of the store that writes the Markdown; of a root without a server any gate does.
    gate: WriteGate
    clock: Clock
    server_version: str
    free_bytes: Callable[[Path], int] = lambda folder: shutil.disk_usage(folder).free


@dataclass(frozen=True, slots=True)
class BackupSummary:
    """What was copied, and how long writers of Markdown had to wait."""

    files: int
    size_bytes: int
    pause_seconds: float


async def backup(source: BackupSource) -> AsyncGenerator[FilePiece]:
    """The files of a backup. A copy lies under the root until the last of them is sent.

    Raises ServiceError (EXTERNAL_SERVICE_UNAVAILABLE) when the disk refuses or has no room, with
    nothing left behind.
    """
    staging = source.root / RUN_FOLDER / f"{_STAGING_PREFIX}{uuid.uuid4().hex}"
    cancelled = threading.Event()
    copying = asyncio.create_task(asyncio.to_thread(copy_root, source, staging, cancelled))
    try:
        summary = await asyncio.shield(copying)
        _log.info(
            "backup_copied",
            files=summary.files,
            size_bytes=summary.size_bytes,
            pause_seconds=round(summary.pause_seconds, 3),
        )
        for path in await asyncio.to_thread(lambda: list(regular_files(staging))):
            async for piece in cut(portable_path(path, staging), _parts(path)):
                yield piece
    finally:
        cancelled.set()
        await see_through(_remove(copying, staging))


def copy_root(
    source: BackupSource, target: Path, cancelled: threading.Event | None = None
) -> BackupSummary:
    """Copies a root into an empty folder, made if need be; blocks. Raises like `backup`."""
    with storage_errors():
        _check_room(source, target)
        target.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        copied: dict[str, FileStamp] = {}
        _bring_up_to_date(source.root, target, copied, cancelled)
        with source.gate.closed(_QUIET_TIMEOUT_SECONDS):
            began_seconds = time.monotonic()
            taken_at_ms = source.clock.now_ms()
            # First the database: what it does not know yet cannot come into the Markdown now.
            if (source.root / STATE_FILE).exists():
                copy_database(source.root / STATE_FILE, target / STATE_FILE)
            _bring_up_to_date(source.root, target, copied, cancelled)
            pause_seconds = time.monotonic() - began_seconds
        secrets = _leave_out_secrets(target / FILE_NAME)
        files = list(regular_files(target))
        size_bytes = sum(path.stat().st_size for path in files)
        note = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "server_version": source.server_version,
            "taken_at": render_iso(taken_at_ms),
            "taken_at_ms": taken_at_ms,
            "files": len(files),
            "size_bytes": size_bytes,
            "left_out": list(secrets),
        }
        (target / NOTE).write_bytes(
            orjson.dumps(note, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        )
    return BackupSummary(len(files), size_bytes, pause_seconds)


def _leave_out_secrets(settings: Path) -> tuple[str, ...]:
    """Takes the secrets out of the copied settings; returns what is not in the copy.

    Whoever may call the server may take a backup, and must not get the key of a provider with it.
    """
    if not settings.exists():
        return ()
    data, keys = without_secrets(settings.read_bytes())
    if data is None:
        settings.unlink()
        return (FILE_NAME,)
    settings.write_bytes(data)
    return keys


def remove_leftovers(root: Path) -> int:
    """Removes the copies that a killed process left; only for the owner of the root."""
    count = 0
    for folder in (root / RUN_FOLDER).glob(f"{_STAGING_PREFIX}*"):
        shutil.rmtree(folder, ignore_errors=True)
        count += 1
    return count


def _check_room(source: BackupSource, target: Path) -> None:
    root = os.fspath(source.root)
    needed = sum(_size_of(name) for name in regular_file_names(root, _LEFT_OUT))
    needed += _size_of(f"{root}/{STATE_FILE}")
    if source.free_bytes(target.parent) < needed + _RESERVE_BYTES:
        raise storage_trouble(StorageReason.FULL)


def _size_of(name: str) -> int:
    stamp = stamp_of(name)
    return 0 if stamp is None else stamp.size


def _bring_up_to_date(
    root: Path, target: Path, copied: dict[str, FileStamp], cancelled: threading.Event | None
) -> None:
    """Copies what is not in the copy as it is in the root, and removes what is not there any more.

    `copied` says what the copy holds, by the names of the root. Names are text: with thousands of
    files, paths as objects would make up most of the pause.
    """
    present: set[str] = set()
    for name in regular_file_names(os.fspath(root), _LEFT_OUT):
        if cancelled is not None and cancelled.is_set():
            raise _given_up()
        stamp = stamp_of(name)
        if stamp is not None and copied.get(name) == stamp:
            present.add(name)
        elif stamp is not None and _copy(name, target / Path(name).relative_to(root), cancelled):
            copied[name] = stamp
            present.add(name)
    for name in copied.keys() - present:
        (target / Path(name).relative_to(root)).unlink(missing_ok=True)
        del copied[name]


def _copy(source: str, target: Path, cancelled: threading.Event | None) -> bool:
    """Copies a file; False when it is gone."""
    try:
        descriptor = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except PermissionError:
        raise ServiceError(
            ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE,
            "a file under the memory root cannot be read by the server; a backup would lack it",
        ) from None
    with os.fdopen(descriptor, "rb") as reading:
        target.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        with target.open("wb") as writing:
            while part := reading.read(_COPY_BYTES):
                if cancelled is not None and cancelled.is_set():
                    raise _given_up()
                writing.write(part)
    return True


async def _parts(path: Path) -> AsyncIterator[bytes]:
    with storage_errors():
        file = await asyncio.to_thread(path.open, "rb")
        try:
            while part := await asyncio.to_thread(file.read, PIECE_BYTES):
                yield part
        finally:
            file.close()


async def _remove(copying: asyncio.Task[BackupSummary], staging: Path) -> None:
    """Waits until nobody writes to the copy any more, then removes it."""
    await asyncio.wait([copying])
    copying.exception()  # else asyncio reports it as never read
    await asyncio.to_thread(shutil.rmtree, staging, ignore_errors=True)


def _given_up() -> ServiceError:
    return ServiceError(ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE, "the backup was given up")
