"""TransferService: memory in and out as files."""

from __future__ import annotations

from collections.abc import AsyncIterator

from remanence.v2 import transfer_pb2 as pb
from remanence.v2 import transfer_pb2_grpc
from remanence_server.api.servicers.unavailable import unavailable


class TransferServicer(transfer_pb2_grpc.TransferServiceServicer):
    """Exports, imports and backups."""

    async def ExportOwner(
        self, request: pb.ExportOwnerRequest, context: object
    ) -> AsyncIterator[pb.ExportOwnerResponse]:
        """All that one owner has, as files."""
        raise unavailable("export")
        yield

    async def ImportOwner(
        self, request_iterator: AsyncIterator[pb.ImportOwnerRequest], context: object
    ) -> pb.ImportOwnerResponse:
        """Takes the records of an export into an owner."""
        raise unavailable("import")

    async def Backup(
        self, request: pb.BackupRequest, context: object
    ) -> AsyncIterator[pb.BackupResponse]:
        """The whole root as files."""
        raise unavailable("backup")
        yield
