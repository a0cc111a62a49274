# Generated from remanence/v2/transfer.proto by remanence_generator. Do not edit.
"""Requests, responses and routes of remanence/v2/transfer.proto."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any, Protocol, Self

from fastapi import Request
from pydantic import ConfigDict, Field, model_validator
from remanence.v2 import transfer_pb2
from remanence_server.api.transcoding.context import CallContext
from remanence_server.api.transcoding.fields import RequestModel, count_set, refused
from remanence_server.api.transcoding.validation import MessageBinding, Registry, UploadBinding

class ExportOwnerRequest(RequestModel):
    """Request message remanence.v2.ExportOwnerRequest."""

    model_config = ConfigDict(extra="forbid")

    user_id: Annotated[str, Field(strict=True, min_length=1)] | None = None
    agent_id: Annotated[str, Field(strict=True, min_length=1)] | None = None
    app_id: Annotated[str, Field(strict=True)] = "default"
    project_id: Annotated[str, Field(strict=True)] = "default"

    @model_validator(mode="after")
    def _check_rules(self) -> Self:
        if count_set(self.user_id, self.agent_id) != 1:
            raise ValueError("exactly one of user_id / agent_id must be provided")
        return self


def export_owner_request_to_proto(model: ExportOwnerRequest) -> transfer_pb2.ExportOwnerRequest:
    return transfer_pb2.ExportOwnerRequest(
        user_id=model.user_id,
        agent_id=model.agent_id,
        app_id=model.app_id,
        project_id=model.project_id,
    )


def export_owner_request_input(pb: transfer_pb2.ExportOwnerRequest) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if pb.HasField("user_id"):
        data["user_id"] = pb.user_id
    if pb.HasField("agent_id"):
        data["agent_id"] = pb.agent_id
    if pb.HasField("app_id"):
        data["app_id"] = pb.app_id
    if pb.HasField("project_id"):
        data["project_id"] = pb.project_id
    return data


class ImportTarget(RequestModel):
    """Request message remanence.v2.ImportTarget."""

    user_id: Annotated[
        str,
        Field(strict=True, min_length=1, max_length=128, pattern="^[a-zA-Z0-9_.@+-]+$"),
        refused(".", ".."),
    ] | None = None
    agent_id: Annotated[
        str,
        Field(strict=True, min_length=1, max_length=128, pattern="^[a-zA-Z0-9_.@+-]+$"),
        refused(".", ".."),
    ] | None = None
    app_id: Annotated[
        str,
        Field(strict=True, min_length=1, max_length=128, pattern="^[a-zA-Z0-9_.@+-]+$"),
        refused(".", "..", "default_app"),
    ] = "default"
    project_id: Annotated[
        str,
        Field(strict=True, min_length=1, max_length=128, pattern="^[a-zA-Z0-9_.@+-]+$"),
        refused(".", "..", "default_project"),
    ] = "default"

    @model_validator(mode="after")
    def _check_rules(self) -> Self:
        if count_set(self.user_id, self.agent_id) != 1:
            raise ValueError("exactly one of user_id / agent_id must be provided")
        return self


def import_target_to_proto(model: ImportTarget) -> transfer_pb2.ImportTarget:
    return transfer_pb2.ImportTarget(
        user_id=model.user_id,
        agent_id=model.agent_id,
        app_id=model.app_id,
        project_id=model.project_id,
    )


def import_target_input(pb: transfer_pb2.ImportTarget) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if pb.HasField("user_id"):
        data["user_id"] = pb.user_id
    if pb.HasField("agent_id"):
        data["agent_id"] = pb.agent_id
    if pb.HasField("app_id"):
        data["app_id"] = pb.app_id
    if pb.HasField("project_id"):
        data["project_id"] = pb.project_id
    return data


class BackupRequest(RequestModel):
    """Request message remanence.v2.BackupRequest."""


def backup_request_to_proto(model: BackupRequest) -> transfer_pb2.BackupRequest:
    return transfer_pb2.BackupRequest(
    )


def backup_request_input(pb: transfer_pb2.BackupRequest) -> dict[str, Any]:
    data: dict[str, Any] = {}
    return data


class TransferServiceProtocol(Protocol):
    """Memory in and out as files: an owner's for a person to have, the whole root as a backup. Over gRPC
    only. An extension.
    """

    def ExportOwner(
        self, request: transfer_pb2.ExportOwnerRequest, context: CallContext
    ) -> AsyncIterator[transfer_pb2.ExportOwnerResponse]:
        """All that one owner has, as files: `manifest.json`, `memories.jsonl` (a line for each record) and
        the Markdown under `markdown/`. Messages that are not yet part of a memory are in
        `messages.jsonl`.

        An owner who has nothing is an export without records.
        """
        ...

    async def ImportOwner(
        self, request_iterator: AsyncIterator[transfer_pb2.ImportOwnerRequest], context: CallContext
    ) -> transfer_pb2.ImportOwnerResponse:
        """Takes the records of an export into an owner, who may have another name and scope than the one
        exported. Records whose id is there already are left as they are, so a repeat is safe.

        Fails with INVALID_ARGUMENT (INVALID_INPUT) naming the file and line that cannot be read;
        records of earlier lines stay.
        """
        ...

    def Backup(
        self, request: transfer_pb2.BackupRequest, context: CallContext
    ) -> AsyncIterator[transfer_pb2.BackupResponse]:
        """The whole root as files, consistent at one instant: Markdown, `system.db` and the settings; the
        index comes back by itself. Work on memories pauses while the instant is copied, messages are
        accepted all the time.

        Fails with UNAVAILABLE (EXTERNAL_SERVICE_UNAVAILABLE) when the disk has no room for the copy.
        """
        ...


MESSAGES: Registry = {
    "remanence.v2.ExportOwnerRequest": MessageBinding(
        ExportOwnerRequest, export_owner_request_to_proto, export_owner_request_input
    ),
    "remanence.v2.ImportTarget": MessageBinding(
        ImportTarget, import_target_to_proto, import_target_input
    ),
    "remanence.v2.BackupRequest": MessageBinding(
        BackupRequest, backup_request_to_proto, backup_request_input
    ),
    "remanence.v2.ImportOwnerRequest": UploadBinding(
        "target",
        MessageBinding(ImportTarget, import_target_to_proto, import_target_input),
    ),
}
