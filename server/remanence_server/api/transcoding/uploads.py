"""Uploads: a multipart form as the stream of messages that a servicer reads."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from fastapi import Request
from google.protobuf.message import Message
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException

from remanence_server.api.transcoding.bodies import check_announcement, limited
from remanence_server.api.transcoding.texts import TextReaders
from remanence_server.runtime.errors import ErrorCode, ServiceError, invalid_input

CHUNK_BYTES = 64 * 1024
_FILE_PART = "file"
_MAXIMUM_PARTS = 32


@dataclass(frozen=True, slots=True)
class Upload:
    """An upload that was received: the described fields, and the file."""

    fields: dict[str, object]
    file: UploadFile

    async def messages[MessageT: Message](
        self, first: MessageT, wrap: Callable[[bytes], MessageT]
    ) -> AsyncIterator[MessageT]:
        """The description, then the bytes of the file in chunks."""
        yield first
        while chunk := await self.file.read(CHUNK_BYTES):
            yield wrap(chunk)


@asynccontextmanager
async def read_upload(
    request: Request, readers: TextReaders, max_body_bytes: int
) -> AsyncIterator[Upload]:
    """Receives a form; large files are kept on disk until the context ends.

    Fails with ServiceError: INVALID_INPUT for a body that is no form or lacks its file, BAD_REQUEST
    for a broken form, and like `check_announcement`.
    """
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type != "multipart/form-data":
        raise invalid_input("Input should be a form; send Content-Type: multipart/form-data")
    check_announcement(request, max_body_bytes)
    bounded = Request(request.scope, limited(request.receive, max_body_bytes))
    try:
        form = await bounded.form(
            max_files=_MAXIMUM_PARTS, max_fields=_MAXIMUM_PARTS, max_part_size=max_body_bytes
        )
    except HTTPException:
        message = "The multipart body cannot be read"
        raise ServiceError(ErrorCode.BAD_REQUEST, message) from None
    try:
        file = form.get(_FILE_PART)
        if file is None:
            raise invalid_input("Field required", _FILE_PART)
        if not isinstance(file, UploadFile):
            raise invalid_input("Input should be a file", _FILE_PART)
        fields: dict[str, object] = {}
        for name, read in readers.items():
            text = form.get(name)
            # A form sends an empty text for what its user left blank.
            if isinstance(text, str) and text:
                fields[name] = read(text)
        if file.filename:
            fields["file_name"] = file.filename
        if file.content_type:
            fields["media_type"] = file.content_type
        yield Upload(fields, file)
    finally:
        await form.close()
