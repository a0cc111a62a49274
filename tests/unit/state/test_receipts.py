from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from remanence_server.domain.owners import Scope
from remanence_server.state.database import Database
from remanence_server.state.inbox import InboxStore
from remanence_server.state.inbox_model import InboxCaps, NewEntry
from remanence_server.state.receipts import (
    PendingReceipt,
    Receipt,
    ReceiptExistsError,
    ReceiptKey,
    ReceiptStore,
)
from remanence_server.state.sessions import SessionStore

from .conftest import message

_SCOPE = Scope()
_KEY = ReceiptKey(_SCOPE, "Add", "k")


def _pending(request_id: str = "r1", key: ReceiptKey = _KEY) -> PendingReceipt:
    return PendingReceipt(key, b"hash", request_id, lambda number: f"{number} new".encode())


@pytest.fixture
def receipts(database: Database) -> ReceiptStore:
    return ReceiptStore(database)


async def test_a_batch_and_its_receipt_are_stored_together(
    database: Database, receipts: ReceiptStore
) -> None:
    sessions = SessionStore(database)
    await sessions.append(_SCOPE, "s", [message("known", "m1")], 0)
    batch = [message("known", "m1"), message("new", "m2")]
    assert await sessions.append(_SCOPE, "s", batch, 5, _pending()) == 1
    assert await receipts.find(_KEY) == Receipt(_KEY, b"hash", "r1", b"1 new")


async def test_a_batch_whose_key_is_taken_is_not_stored(
    database: Database, receipts: ReceiptStore
) -> None:
    sessions = SessionStore(database)
    await sessions.append(_SCOPE, "s", [message("first")], 0, _pending("r1"))
    with pytest.raises(ReceiptExistsError):
        await sessions.append(_SCOPE, "s", [message("second")], 0, _pending("r2"))
    buffered = await sessions.buffered(_SCOPE, "s")
    assert [entry.message.content for entry in buffered] == ["first"]
    found = await receipts.find(_KEY)
    assert found is not None
    assert found.request_id == "r1"


async def test_of_batches_at_once_with_one_key_one_is_stored(database: Database) -> None:
    sessions = SessionStore(database)
    outcomes = await asyncio.gather(
        *(sessions.append(_SCOPE, "s", [message(f"{n}")], 0, _pending(f"r{n}")) for n in range(20)),
        return_exceptions=True,
    )
    assert sum(outcome == 1 for outcome in outcomes) == 1
    assert sum(isinstance(outcome, ReceiptExistsError) for outcome in outcomes) == 19
    assert len(await sessions.buffered(_SCOPE, "s")) == 1


async def test_a_queued_request_and_its_receipt_are_stored_together(
    database: Database, receipts: ReceiptStore
) -> None:
    inbox = InboxStore(database)
    caps = InboxCaps(per_session=5, total=5)
    entry = NewEntry("r1", _SCOPE, "s", False, False, "[]", 1)
    other = replace(entry, request_id="r2")
    assert await inbox.enqueue(other, caps, 0, only_behind_others=False) == 1
    queued = await inbox.enqueue(entry, caps, 0, only_behind_others=False, receipt=_pending())
    assert queued == 2
    assert await receipts.find(_KEY) == Receipt(_KEY, b"hash", "r1", b"2 new")
    again = replace(entry, request_id="r3")
    with pytest.raises(ReceiptExistsError):
        await inbox.enqueue(again, caps, 0, only_behind_others=False, receipt=_pending("r3"))
    assert (await inbox.counts()).pending == 2


async def test_a_request_that_is_not_queued_leaves_no_receipt(
    database: Database, receipts: ReceiptStore
) -> None:
    inbox = InboxStore(database)
    entry = NewEntry("r1", _SCOPE, "s", True, False, "{}", 0)
    caps = InboxCaps(per_session=5, total=5)
    assert await inbox.enqueue(entry, caps, 0, only_behind_others=True, receipt=_pending()) is None
    assert await receipts.find(_KEY) is None


async def test_the_last_answer_of_one_request_counts(receipts: ReceiptStore) -> None:
    await receipts.put(Receipt(_KEY, b"hash", "r1", b"accepted"), 0)
    await receipts.put(Receipt(_KEY, b"hash", "r1", b"extracted"), 1)
    with pytest.raises(ReceiptExistsError):
        await receipts.put(Receipt(_KEY, b"hash", "r2", b"another"), 2)
    assert await receipts.find(_KEY) == Receipt(_KEY, b"hash", "r1", b"extracted")


@pytest.mark.parametrize(
    "other",
    [
        ReceiptKey(Scope("other"), "Add", "k"),
        ReceiptKey(Scope("default", "other"), "Add", "k"),
        ReceiptKey(_SCOPE, "Flush", "k"),
        ReceiptKey(_SCOPE, "Add", "K"),
    ],
)
async def test_a_key_counts_for_one_method_in_one_scope(
    receipts: ReceiptStore, other: ReceiptKey
) -> None:
    await receipts.put(Receipt(_KEY, b"hash", "r1", b""), 0)
    assert await receipts.find(other) is None


async def test_old_receipts_are_forgotten(receipts: ReceiptStore) -> None:
    young = replace(_KEY, key="young")
    await receipts.put(Receipt(_KEY, b"hash", "r1", b""), 9)
    await receipts.put(Receipt(young, b"hash", "r2", b""), 10)
    assert await receipts.purge(10) == 1
    assert await receipts.find(_KEY) is None
    assert await receipts.find(young) is not None
