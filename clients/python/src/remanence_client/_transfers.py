"""Calls that carry files: what to send, and where."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from google.protobuf.message import Message as ProtobufMessage

from remanence.v2 import transfer_pb2
from remanence_client.errors import invalid_input

# A transfer may take this long unless the caller says otherwise.
_TRANSFER_SECONDS = 3600.0
IMPORT_METHOD = "/remanence.v2.TransferService/ImportOwner"

_RECORDS = "memories.jsonl"
_CHUNK_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Download:
    """A call that answers with files."""

    method: str
    request: ProtobufMessage
    response_type: type[ProtobufMessage]


def export_owner(
    *, user_id: str | None, agent_id: str | None, app_id: str | None, project_id: str | None
) -> Download:
    """All that one owner has."""
    return Download(
        "/remanence.v2.TransferService/ExportOwner",
        transfer_pb2.ExportOwnerRequest(
            user_id=user_id, agent_id=agent_id, app_id=app_id, project_id=project_id
        ),
        transfer_pb2.ExportOwnerResponse,
    )


def backup() -> Download:
    """The whole root."""
    return Download(
        "/remanence.v2.TransferService/Backup",
        transfer_pb2.BackupRequest(),
        transfer_pb2.BackupResponse,
    )


def import_target(
    *, user_id: str | None, agent_id: str | None, app_id: str | None, project_id: str | None
) -> transfer_pb2.ImportOwnerRequest:
    """The first message of an import: who takes the records."""
    return transfer_pb2.ImportOwnerRequest(
        target=transfer_pb2.ImportTarget(
            user_id=user_id, agent_id=agent_id, app_id=app_id, project_id=project_id
        )
    )


def allowed(timeout_seconds: float | None) -> float:
    """How long a transfer may take."""
    return _TRANSFER_SECONDS if timeout_seconds is None else timeout_seconds


def records_file(source: str | os.PathLike[str]) -> Path:
    """The file of records: the one named, or that in the folder of an export.

    Raises:
        InvalidInputError: there is none.
    """
    path = Path(source).expanduser()
    path = path / _RECORDS if path.is_dir() else path
    if not path.is_file():
        raise invalid_input(f"{path} is no file; name {_RECORDS} or the folder it is in", "source")
    return path


def import_messages(
    target: transfer_pb2.ImportOwnerRequest, records: Path
) -> Iterator[transfer_pb2.ImportOwnerRequest]:
    """The messages of an import."""
    yield target
    with records.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            yield transfer_pb2.ImportOwnerRequest(chunk=chunk)
