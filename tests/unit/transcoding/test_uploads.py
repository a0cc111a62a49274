"""Uploads over HTTP: a form, and the messages a servicer reads of it."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from tests.unit.transcoding.recording import MAX_BODY_BYTES, RecordingServicer

from remanence.v2 import knowledge_pb2
from remanence_server.api.transcoding.uploads import CHUNK_BYTES

DOCUMENTS = "/api/v2/knowledge/documents"
FILE = {"file": ("guide.md", b"# Guide", "text/markdown")}


def error_of(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["message"]


async def test_a_form_becomes_a_description_and_chunks(
    client: httpx.AsyncClient, servicer: RecordingServicer
) -> None:
    content = bytes(range(256)) * 700
    file = {"file": ("guide.md", content, "text/markdown")}
    form = {"title": "Guide", "project_id": "p", "category_id": "", "zzz": "1"}
    response = await client.post(DOCUMENTS, data=form, files=file)
    assert response.status_code == 201, response.text
    assert response.json()["data"]["topic_count"] == 2
    first, *chunks = servicer.requests
    assert first == knowledge_pb2.CreateDocumentRequest(
        metadata=knowledge_pb2.DocumentMetadata(
            title="Guide",
            app_id="default",
            project_id="p",
            file_name="guide.md",
            media_type="text/markdown",
        )
    )
    pieces: list[Any] = chunks
    assert max(len(piece.chunk) for piece in pieces) <= CHUNK_BYTES
    assert b"".join(piece.chunk for piece in pieces) == content


async def test_a_file_may_stand_before_its_description(
    client: httpx.AsyncClient, servicer: RecordingServicer
) -> None:
    boundary = "b"
    body = (
        b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhello\r\n'
        b'--b\r\nContent-Disposition: form-data; name="title"\r\n\r\nT\r\n--b--\r\n'
    )
    headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    response = await client.post(DOCUMENTS, content=body, headers=headers)
    assert response.status_code == 201
    first: Any = servicer.requests[0]
    assert (first.metadata.title, first.metadata.file_name) == ("T", "a.txt")


async def test_the_id_of_a_replaced_document_comes_from_the_path(
    client: httpx.AsyncClient, servicer: RecordingServicer
) -> None:
    form = {"title": "Guide", "doc_id": "d_ffffffffffff", "file_name": "other.md"}
    response = await client.put(f"{DOCUMENTS}/d_0123456789ab", data=form, files=FILE)
    assert response.status_code == 200
    first: Any = servicer.requests[0]
    assert first.metadata.doc_id == "d_0123456789ab"
    assert first.metadata.file_name == "guide.md"
    refused = await client.put(f"{DOCUMENTS}/abc", data=form, files=FILE)
    expected = "String should match pattern '^d_[a-f0-9]{12,32}$': path.doc_id"
    assert error_of(refused) == (422, expected)


async def test_a_new_document_cannot_choose_its_id(
    client: httpx.AsyncClient, servicer: RecordingServicer
) -> None:
    form = {"title": "Guide", "doc_id": "d_0123456789ab"}
    assert (await client.post(DOCUMENTS, data=form, files=FILE)).status_code == 201
    first: Any = servicer.requests[0]
    assert not first.metadata.HasField("doc_id")


@pytest.mark.parametrize(
    ("form", "files", "expected"),
    [
        ({"title": "x", "file": "text"}, {"zzz": ("a", b"a")}, "Input should be a file: file"),
        ({"title": "x"}, {"zzz": ("a", b"a")}, "Field required: file"),
        ({}, FILE, "Field required: title"),
        ({"title": " "}, FILE, "String should match pattern '\\w': title"),
        (
            {"title": "x", "app_id": "../x"},
            FILE,
            "String should match pattern '^[a-zA-Z0-9_.@+-]+$': app_id",
        ),
        (
            {"title": "x"},
            {"file": ("n" * 256, b"a")},
            "String should have at most 255 characters: file_name",
        ),
    ],
)
async def test_a_form_that_lacks_something_is_refused(
    client: httpx.AsyncClient,
    servicer: RecordingServicer,
    form: dict[str, str],
    files: dict[str, Any],
    expected: str,
) -> None:
    response = await client.post(DOCUMENTS, data=form, files=files)
    assert error_of(response) == (422, expected)
    assert servicer.requests == []


async def test_a_body_that_is_no_form_is_refused_with_what_to_send(
    client: httpx.AsyncClient,
) -> None:
    expected = (422, "Input should be a form; send Content-Type: multipart/form-data")
    assert error_of(await client.post(DOCUMENTS, json={"title": "x"})) == expected
    assert error_of(await client.post(DOCUMENTS)) == expected


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("multipart/form-data", b"--b--"),
        ("multipart/form-data; boundary=b", b"no boundary at all"),
        ("multipart/form-data; boundary=b", b"--b\r\nContent-Disposition: form-data\r\n\r\nx"),
    ],
)
async def test_a_broken_form_is_a_bad_request(
    client: httpx.AsyncClient, content_type: str, body: bytes
) -> None:
    headers = {"Content-Type": content_type}
    response = await client.post(DOCUMENTS, content=body, headers=headers)
    assert error_of(response) == (400, "The multipart body cannot be read")
    assert response.json()["error"]["code"] == "BAD_REQUEST"


async def test_an_upload_over_the_limit_is_413(
    client: httpx.AsyncClient, servicer: RecordingServicer
) -> None:
    files = {"file": ("big.bin", b"x" * (MAX_BODY_BYTES + 1), "application/octet-stream")}
    response = await client.post(DOCUMENTS, data={"title": "x"}, files=files)
    assert response.status_code == 413
    assert response.json()["error"]["code"] == "PAYLOAD_TOO_LARGE"
    assert servicer.requests == []
