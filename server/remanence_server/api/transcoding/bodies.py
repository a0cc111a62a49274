"""Request bodies: read within a limit, parsed with errors that say what to change."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message as Headers
from typing import Any, NoReturn

import orjson
from fastapi import Request
from starlette.types import Message, Receive

from remanence_server.runtime.errors import ErrorCode, ServiceError, invalid_input

DEFAULT_MAX_BODY_BYTES = 64 * 1024 * 1024

# What orjson reads; the JSON module of Python would go on until its stack ends.
_MAXIMUM_DEPTH = 1024
_LONGEST_SHOWN_KEY = 100
_PLAIN = ("", "identity")
# Names of UTF-8, and of what is part of it.
_UTF8_CHARSETS = ("utf-8", "utf8", "us-ascii", "ascii")
_NOT_AN_OBJECT = "Input should be a valid dictionary or object to extract fields from"
_LONE_SURROGATE = "Input should be a valid string without lone surrogates"


async def read_body(request: Request, max_body_bytes: int) -> bytes:
    """The body. Fails with ServiceError PAYLOAD_TOO_LARGE as soon as it exceeds the limit."""
    check_announcement(request, max_body_bytes)
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > max_body_bytes:
            raise _too_large(max_body_bytes)
        chunks.append(chunk)
    return b"".join(chunks)


def check_announcement(request: Request, max_body_bytes: int) -> None:
    """Refuses by its headers what is not worth reading.

    Fails with ServiceError: UNSUPPORTED_FORMAT for a compressed body, which could be of any size,
    PAYLOAD_TOO_LARGE for a Content-Length over the limit.
    """
    if request.headers.get("content-encoding", "identity").strip().lower() not in _PLAIN:
        raise ServiceError(
            ErrorCode.UNSUPPORTED_FORMAT, "Send the body as it is, without Content-Encoding"
        )
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced[:20]) > max_body_bytes:
        raise _too_large(max_body_bytes)


def limited(receive: Receive, max_body_bytes: int) -> Receive:
    """`receive`, which fails with PAYLOAD_TOO_LARGE when the body exceeds the limit."""
    size = 0

    async def receive_within_limit() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > max_body_bytes:
            raise _too_large(max_body_bytes)
        return message

    return receive_within_limit


async def read_object(request: Request, max_body_bytes: int) -> dict[str, object]:
    """The JSON object in the body.

    Fails with ServiceError: INVALID_INPUT for what is not a JSON object, BAD_REQUEST for what is
    not UTF-8, and like `check_announcement`.
    """
    body = await read_body(request, max_body_bytes)
    if not body:
        raise invalid_input("Field required")
    content_type = request.headers.get("content-type", "")
    if not _says_json(content_type):
        raise invalid_input(f"{_NOT_AN_OBJECT}; send Content-Type: application/json")
    if not _says_utf8(content_type):
        raise invalid_input("The body must be UTF-8; send Content-Type: application/json")
    data = parse_json(body)
    if not isinstance(data, dict):
        raise invalid_input(_NOT_AN_OBJECT)
    return data


def parse_json(body: bytes) -> object:
    """The JSON value in the body. Fails like `read_object`."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        position = error.pos
    _explain(body)
    raise invalid_input(f"JSON decode error: {position}")


def _says_json(content_type: str) -> bool:
    media_type = content_type.partition(";")[0].strip().lower()
    return media_type == "application/json" or (
        media_type.startswith("application/") and media_type.endswith("+json")
    )


def _says_utf8(content_type: str) -> bool:
    if ";" not in content_type:
        return True
    headers = Headers()
    headers["Content-Type"] = content_type
    charset = headers.get_param("charset", "utf-8")
    return isinstance(charset, str) and charset.strip().lower() in _UTF8_CHARSETS


def _explain(body: bytes) -> None:
    """Says what orjson does not: its errors tell a position, and too little of the reason."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        raise ServiceError(ErrorCode.BAD_REQUEST, "The body is not valid UTF-8") from None
    try:
        data = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise invalid_input(f"JSON decode error: {error.pos}") from None
    except RecursionError:
        raise invalid_input("JSON is nested too deep") from None
    except ValueError:
        # An integer of more digits than Python converts; orjson's position says where.
        return
    for place, value in _walk(data):
        if place.depth >= _MAXIMUM_DEPTH:
            raise invalid_input("JSON is nested too deep")
        texts = value if isinstance(value, dict) else (value,) if isinstance(value, str) else ()
        if not all(map(_is_unicode, texts)):
            raise invalid_input(_LONE_SURROGATE, place.path() or None)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a value stands: its key, and the place of what holds it."""

    holder: _Place | None = None
    key: str = ""
    depth: int = 0

    def path(self) -> str:
        keys: list[str] = []
        place: _Place | None = self
        while place is not None and place.holder is not None:
            keys.append(place.key[:_LONGEST_SHOWN_KEY])
            place = place.holder
        return ".".join(reversed(keys))


def _walk(data: object) -> Iterator[tuple[_Place, object]]:
    """Every value with its place, a holder before what it holds, without recursion."""
    waiting: list[tuple[_Place, Any]] = [(_Place(), data)]
    while waiting:
        place, value = waiting.pop()
        yield place, value
        if isinstance(value, dict):
            children = list(value.items())
        elif isinstance(value, list):
            children = list(enumerate(value))
        else:
            continue
        waiting += [
            (_Place(place, str(key), place.depth + 1), child) for key, child in reversed(children)
        ]


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _refuse_constant(name: str) -> NoReturn:
    raise invalid_input(f"JSON decode error: {name} is not a JSON number")


def _too_large(max_body_bytes: int) -> ServiceError:
    return ServiceError(
        ErrorCode.PAYLOAD_TOO_LARGE, f"The request body is larger than {max_body_bytes} bytes"
    )
