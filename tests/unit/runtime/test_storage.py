"""Trouble with the disk: one wording, and a reason for programs."""

from __future__ import annotations

import errno

import pytest

from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.runtime.storage import (
    StorageReason,
    details_of,
    is_storage_trouble,
    reason_of,
    storage_trouble,
)


@pytest.mark.parametrize("reason", list(StorageReason))
def test_every_reason_has_a_text_that_leads_back_to_it(reason: StorageReason) -> None:
    error = storage_trouble(reason)
    assert error.code is ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE
    assert error.message.startswith("storage ")
    assert error.retry_after_seconds
    assert error.details == {"reason": reason.value} == details_of(error.message)
    assert is_storage_trouble(error)


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.ENOSPC, StorageReason.FULL),
        (errno.EDQUOT, StorageReason.FULL),
        (errno.EROFS, StorageReason.READ_ONLY),
        (errno.EACCES, StorageReason.READ_ONLY),
        (errno.EIO, StorageReason.FAILED),
    ],
)
def test_an_error_of_the_file_system_has_a_reason(number: int, reason: StorageReason) -> None:
    assert reason_of(OSError(number, "refused")) is reason


def test_other_trouble_is_not_the_disk_s() -> None:
    assert details_of("the provider does not answer") == details_of(None) == {}
    other = ServiceError(ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE, "no", details={"reason": "OTHER"})
    assert not is_storage_trouble(other)
    assert not is_storage_trouble(OSError(errno.ENOSPC, "full"))
