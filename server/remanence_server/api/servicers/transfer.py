"""TransferService: memory in and out as files."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing

from remanence.v2 import transfer_pb2 as pb
from remanence.v2 import transfer_pb2_grpc
from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.runtime.errors import invalid_input
from remanence_server.transfer.backup import BackupSource, backup
from remanence_server.transfer.export import ExportSource, export_owner
from remanence_server.transfer.importing import ImportPath, import_records
from remanence_server.transfer.pieces import FilePiece


class TransferServicer(transfer_pb2_grpc.TransferServiceServicer):
    """Exports, imports and backups."""

    def __init__(
        self, export_source: ExportSource, import_path: ImportPath, backup_source: BackupSource
    ) -> None:
        self._export_source = export_source
        self._import_path = import_path
        self._backup_source = backup_source

    async def ExportOwner(
        self, request: pb.ExportOwnerRequest, context: object
    ) -> AsyncIterator[pb.ExportOwnerResponse]:
        """All that one owner has, as files."""
        async with aclosing(export_owner(self._export_source, _owner(request))) as pieces:
            async for piece in pieces:
                yield pb.ExportOwnerResponse(chunk=_chunk(piece))

    async def ImportOwner(
        self, request_iterator: AsyncIterator[pb.ImportOwnerRequest], context: object
    ) -> pb.ImportOwnerResponse:
        """Takes the records of an export into an owner."""
        first = await anext(request_iterator, None)
        if first is None or not first.HasField("target"):
            raise invalid_input("Field required", "target")
        result = await import_records(
            self._import_path, _owner(first.target), _chunks(request_iterator)
        )
        return pb.ImportOwnerResponse(imported=result.imported, present=result.present)

    async def Backup(
        self, request: pb.BackupRequest, context: object
    ) -> AsyncIterator[pb.BackupResponse]:
        """The whole root as files, consistent at one instant."""
        async with aclosing(backup(self._backup_source)) as pieces:
            async for piece in pieces:
                yield pb.BackupResponse(chunk=_chunk(piece))


def _owner(request: pb.ExportOwnerRequest | pb.ImportTarget) -> Owner:
    scope = Scope(request.app_id, request.project_id)
    if request.HasField("user_id"):
        return Owner(scope, Track.USER, request.user_id)
    return Owner(scope, Track.AGENT, request.agent_id)


def _chunk(piece: FilePiece) -> pb.FileChunk:
    return pb.FileChunk(path=piece.path, data=piece.data, last=piece.last)


async def _chunks(requests: AsyncIterator[pb.ImportOwnerRequest]) -> AsyncIterator[bytes]:
    async for request in requests:
        if request.HasField("target"):
            raise invalid_input("Input should be on the first message only", "target")
        yield request.chunk
