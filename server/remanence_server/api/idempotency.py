"""Requests with an idempotency key: done once, and answered with the first answer ever after.

Both surfaces pass through here, and share the keys. What accepts something (an add, a queued
flush) writes the receipt in the transaction that stores it. So after a crash, or when the answer
got lost, the same request finds itself accepted and is not accepted again.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol
from weakref import WeakValueDictionary

from google.protobuf.message import Message

from remanence_server.api.request_ids import REQUEST_ID_KEY, current_request_id
from remanence_server.api.transcoding import CallContext
from remanence_server.domain.owners import Scope
from remanence_server.runtime.clock import Clock
from remanence_server.runtime.errors import ErrorCode, ServiceError, invalid_input
from remanence_server.runtime.logging import get_logger
from remanence_server.state.receipts import (
    PendingReceipt,
    Receipt,
    ReceiptExistsError,
    ReceiptKey,
    ReceiptStore,
)

_HEADER = "Idempotency-Key"
_METADATA_KEY = _HEADER.lower()
_VISIBLE_ASCII = re.compile("[!-~]{1,256}")

# The receipt to write with what is accepted, given the answer for the number that the transaction
# will know; None when the request came without a key.
MakeReceipt = Callable[[Callable[[int], Message]], PendingReceipt | None]

_log = get_logger(__name__)


class ScopedRequest(Protocol):
    """A validated request message with a scope."""

    app_id: str
    project_id: str

    def SerializeToString(self, *, deterministic: bool = ...) -> bytes:
        """The message as bytes."""
        ...


@dataclass(slots=True)
class _Claim:
    """A request that is being answered for the first time."""

    key: ReceiptKey
    request_hash: bytes
    request_id: str
    # The answer that was written when the request was accepted.
    accepted: bytes | None = None

    def make_receipt(self, respond: Callable[[int], Message]) -> PendingReceipt:
        def response(number: int) -> bytes:
            self.accepted = respond(number).SerializeToString()
            return self.accepted

        return PendingReceipt(self.key, self.request_hash, self.request_id, response)


class Idempotency:
    """One instance per process, under the lock of the memory root."""

    def __init__(self, receipts: ReceiptStore, clock: Clock) -> None:
        self._receipts = receipts
        self._clock = clock
        # Alive while somebody holds or awaits them.
        self._locks: WeakValueDictionary[ReceiptKey, asyncio.Lock] = WeakValueDictionary()

    async def answer[Response: Message](
        self,
        request: ScopedRequest,
        context: CallContext,
        response_type: type[Response],
        act: Callable[[MakeReceipt], Awaitable[Response]],
    ) -> Response:
        """Lets `act` answer a request, unless one with the same key has been accepted.

        Then the answer is the first one, its request id included. A request that failed leaves no
        receipt: sent again, it is tried again. Two at once with one key take turns.

        Raises ServiceError: INVALID_INPUT for a key of another form, CONFLICT when the key was sent
        with another request; and whatever `act` raises.
        """
        text = _read_key(context)
        if text is None:
            return await act(lambda _: None)
        # The type of the response stands for the method.
        method = response_type.DESCRIPTOR.name.removesuffix("Response")
        key = ReceiptKey(Scope(request.app_id, request.project_id), method, text)
        request_hash = hashlib.sha256(request.SerializeToString(deterministic=True)).digest()
        lock = self._locks.setdefault(key, asyncio.Lock())
        async with lock:
            receipt = await self._receipts.find(key)
            if receipt is None:
                claim = _Claim(key, request_hash, current_request_id())
                try:
                    return await self._first_answer(claim, response_type, act)
                except ReceiptExistsError:
                    # Its caller had left while it was accepted, so nobody held the lock.
                    receipt = await self._receipts.find(key)
            if receipt is None or receipt.request_hash != request_hash:
                raise ServiceError(
                    ErrorCode.CONFLICT,
                    f"this key was sent with another request; use a new one: {_HEADER}",
                    field=_HEADER,
                )
        _log.info("answered_again", method=method, first_request_id=receipt.request_id)
        context.set_trailing_metadata(((REQUEST_ID_KEY, receipt.request_id),))
        return response_type.FromString(receipt.response)

    async def _first_answer[Response: Message](
        self,
        claim: _Claim,
        response_type: type[Response],
        act: Callable[[MakeReceipt], Awaitable[Response]],
    ) -> Response:
        response = await act(claim.make_receipt)
        answer = response.SerializeToString()
        if answer == claim.accepted:
            return response
        receipt = Receipt(claim.key, claim.request_hash, claim.request_id, answer)
        try:
            await self._receipts.put(receipt, self._clock.now_ms())
        except ServiceError:
            if claim.accepted is None:
                raise
            # It is accepted, and this is what it would be answered the next time.
            return response_type.FromString(claim.accepted)
        return response


def _read_key(context: CallContext) -> str | None:
    """The key that came with a call. Raises ServiceError INVALID_INPUT."""
    values = [value for key, value in context.invocation_metadata() or () if key == _METADATA_KEY]
    if not values:
        return None
    if len(values) > 1:
        raise invalid_input("there must be one key, not several", _HEADER)
    text = str(values[0])
    if _VISIBLE_ASCII.fullmatch(text) is None:
        raise invalid_input("the key needs 1 to 256 visible ASCII characters", _HEADER)
    return text
