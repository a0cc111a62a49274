"""Answers that a stock gRPC client can receive: cut at a budget of bytes, the rest by page token.

A gRPC client refuses a message over its limit, 4 MiB unless it was raised, and gets nothing then.
HTTP has no such limit: there an answer is never cut, and a token only says where it begins.
"""

from __future__ import annotations

import base64
import hashlib
import re
import struct
from typing import Any, NamedTuple

from google.protobuf.message import Message

from remanence.v2 import memory_pb2 as pb
from remanence_server.api.transcoding import CallContext, HttpCallContext
from remanence_server.runtime.errors import ErrorCode, ServiceError, invalid_input

# Metadata in which a client that has raised its limit says so.
_LIMIT_KEY = "x-max-response-bytes"
_DEFAULT_LIMIT_BYTES = 4 * 1024 * 1024
_LEAST_LIMIT_BYTES = 64 * 1024
_LARGEST_LIMIT_BYTES = 2**31 - 1
# An eighth is left for what a record may not fill: 3.5 of 4 MiB.
_BUDGET_EIGHTHS = 7
# What a record takes beside its own bytes, and an answer beside its records.
_RECORD_OVERHEAD_BYTES = 6
_ANSWER_OVERHEAD_BYTES = 256

# The lists of an answer, in the order in which they are delivered.
_SEARCH_LISTS = ("episodes", "profiles", "agent_cases", "agent_skills", "unprocessed_messages")
_GET_LISTS = ("episodes", "profiles", "agent_cases", "agent_skills")

# A token: a digest over the request and the place, how many records have been delivered, and a
# digest of the last one.
_PLACE = struct.Struct(">I8s")
_DIGEST_BYTES = 12


class _Record(NamedTuple):
    list_name: str
    record: Any

    @property
    def mark(self) -> bytes:
        """Tells this record from all others of the answer."""
        return hashlib.sha256(f"{self.list_name}:{self.record.id}".encode()).digest()[:8]


def fit_search(
    request: pb.SearchRequest, response: pb.SearchResponse, context: CallContext
) -> pb.SearchResponse:
    """The part of a search's answer that this call brings. Raises what `fit_get` raises."""
    _fit(request, response, _SEARCH_LISTS, context)
    return response


def fit_get(
    request: pb.GetRequest, response: pb.GetResponse, context: CallContext
) -> pb.GetResponse:
    """The part of a listing that this call brings: what follows its page token, within the budget.

    Raises ServiceError: INVALID_INPUT for a token that is not of this request; PAYLOAD_TOO_LARGE,
    with the token of what follows in its details, when the first record alone is over the client's
    limit.
    """
    _fit(request, response, _GET_LISTS, context)
    response.count = sum(len(getattr(response, name)) for name in _GET_LISTS)
    return response


def _fit(
    request: pb.SearchRequest | pb.GetRequest,
    response: pb.SearchResponse | pb.GetResponse,
    names: tuple[str, ...],
    context: CallContext,
) -> None:
    limit_bytes = _limit_bytes(context)
    budget_bytes = None if limit_bytes is None else limit_bytes * _BUDGET_EIGHTHS // 8
    has_token = request.HasField("page_token")
    if not has_token and (budget_bytes is None or response.ByteSize() <= budget_bytes):
        return
    records = [_Record(name, record) for name in names for record in getattr(response, name)]
    start = _start(request, records) if has_token else 0
    end = len(records)
    if limit_bytes is not None and budget_bytes is not None and start < end:
        end = start + _count_within(records[start:], budget_bytes)
        if end == start:
            end = _alone(request, records, start, limit_bytes)
    token = _token(request, end, records[end - 1]) if start < end < len(records) else None
    _keep(response, names, start, end)
    if token is not None:
        response.truncated = True
        response.next_page_token = token


def _limit_bytes(context: CallContext) -> int | None:
    """The largest message that the client receives; None when there is no limit."""
    if isinstance(context, HttpCallContext):
        return None
    for key, value in context.invocation_metadata() or ():
        if key == _LIMIT_KEY:
            limit = int(value) if re.fullmatch("[0-9]{1,10}", str(value)) else 0
            if not _LEAST_LIMIT_BYTES <= limit <= _LARGEST_LIMIT_BYTES:
                raise invalid_input(
                    f"the limit is a number from {_LEAST_LIMIT_BYTES} to {_LARGEST_LIMIT_BYTES}",
                    _LIMIT_KEY,
                )
            return limit
    return _DEFAULT_LIMIT_BYTES


def _count_within(records: list[_Record], budget_bytes: int) -> int:
    """How many of the first records fit."""
    size = 0
    for count, entry in enumerate(records):
        size += entry.record.ByteSize() + _RECORD_OVERHEAD_BYTES
        if size > budget_bytes:
            return count
    return len(records)


def _alone(request: Message, records: list[_Record], start: int, limit_bytes: int) -> int:
    """The end of an answer with one record, which is over the budget.

    Raises ServiceError when it is over the limit too: then this record is the failure, and the
    token in its details goes on behind it.
    """
    size = records[start].record.ByteSize() + _ANSWER_OVERHEAD_BYTES
    end = start + 1
    if size <= limit_bytes:
        return end
    details = {"record_id": records[start].record.id}
    if end < len(records):
        details["next_page_token"] = _token(request, end, records[start])
    raise ServiceError(
        ErrorCode.PAYLOAD_TOO_LARGE,
        f"the next record has {size} bytes, and the client receives {limit_bytes}: raise its limit"
        f" and send it as metadata {_LIMIT_KEY}, or read the record over HTTP;"
        " the error's details have the next_page_token of what follows",
        details=details,
    )


def _keep(response: Message, names: tuple[str, ...], start: int, end: int) -> None:
    """Removes the records outside of a range that counts through all lists."""
    first = 0
    for name in names:
        records = getattr(response, name)
        size = len(records)
        del records[max(0, end - first) :]
        del records[: max(0, start - first)]
        first += size


def _start(request: pb.SearchRequest | pb.GetRequest, records: list[_Record]) -> int:
    """Where an answer goes on: behind the last record delivered, wherever that is by now."""
    try:
        raw = base64.b64decode(request.page_token, altchars=b"-_", validate=True)
        delivered, mark = _PLACE.unpack(raw[_DIGEST_BYTES:])
    except (ValueError, struct.error):
        raise _foreign_token() from None
    if raw[:_DIGEST_BYTES] != _digest(request, raw[_DIGEST_BYTES:]):
        raise _foreign_token()
    for index, entry in enumerate(records):
        if entry.mark == mark:
            return index + 1
    # It has been deleted since: those before it are as many as before, or fewer by it.
    return min(max(int(delivered) - 1, 0), len(records))


def _token(request: Message, delivered: int, last: _Record) -> str:
    place = _PLACE.pack(delivered, last.mark)
    return base64.urlsafe_b64encode(_digest(request, place) + place).decode()


def _digest(request: Message, place: bytes) -> bytes:
    asked = type(request)()
    asked.CopyFrom(request)
    asked.ClearField("page_token")
    content = asked.SerializeToString(deterministic=True)
    parts = (request.DESCRIPTOR.full_name.encode(), content, place)
    return hashlib.sha256(b"\0".join(parts)).digest()[:_DIGEST_BYTES]


def _foreign_token() -> ServiceError:
    return invalid_input(
        "this is no token of this request; send the request as it was, with its next_page_token",
        "page_token",
    )
