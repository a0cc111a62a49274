"""What a client is told when the disk refuses: the same words whichever store met it."""

from __future__ import annotations

import errno
import shutil
from enum import StrEnum
from pathlib import Path

from remanence_server.runtime.errors import ErrorCode, ServiceError

_RETRY_AFTER_SECONDS = 5.0
_RESERVE_BYTES = 16 << 20
# The key of `ServiceError.details`, and so of `ErrorInfo.metadata`.
REASON = "reason"


class StorageReason(StrEnum):
    """Why a store cannot do its work; for programs, in the details of the error."""

    FULL = "STORAGE_FULL"
    READ_ONLY = "STORAGE_READ_ONLY"
    MISSING = "STORAGE_MISSING"
    FAILED = "STORAGE_FAILED"


_MESSAGES = {
    StorageReason.FULL: "storage is full",
    StorageReason.READ_ONLY: "storage cannot be written",
    StorageReason.MISSING: "storage is missing",
    StorageReason.FAILED: "storage has failed",
}
_REASONS = {
    errno.ENOSPC: StorageReason.FULL,
    errno.EDQUOT: StorageReason.FULL,
    errno.EFBIG: StorageReason.FULL,
    errno.EROFS: StorageReason.READ_ONLY,
    errno.EACCES: StorageReason.READ_ONLY,
    errno.EPERM: StorageReason.READ_ONLY,
}


def storage_trouble(reason: StorageReason) -> ServiceError:
    """The error for a reason: EXTERNAL_SERVICE_UNAVAILABLE, to be tried again."""
    return ServiceError(
        ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE,
        _MESSAGES[reason],
        retry_after_seconds=_RETRY_AFTER_SECONDS,
        details={REASON: reason.value},
    )


def refuse_without_room(folder: Path, needed_bytes: int) -> None:
    """Refuses a work that would leave the disk of a folder full; messages go on coming in.

    Raises ServiceError (EXTERNAL_SERVICE_UNAVAILABLE), or OSError.
    """
    if shutil.disk_usage(folder).free < needed_bytes + _RESERVE_BYTES:
        raise storage_trouble(StorageReason.FULL)


def reason_of(error: OSError) -> StorageReason:
    """What an error of the file system says about the disk."""
    return _REASONS.get(error.errno or 0, StorageReason.FAILED)


def details_of(message: str | None) -> dict[str, str]:
    """The details of the storage error with this message; none for any other message."""
    for reason, text in _MESSAGES.items():
        if text == message:
            return {REASON: reason.value}
    return {}


def is_storage_trouble(error: BaseException) -> bool:
    """Whether an error says that the disk refuses, now, whatever it is asked to keep."""
    return isinstance(error, ServiceError) and error.details.get(REASON) in set(StorageReason)
