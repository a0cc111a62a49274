"""What a request with an idempotency key was answered, so that sending it again changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import apsw

from remanence_server.domain.owners import Scope
from remanence_server.state.database import Database

_OF_KEY = "app_id = ? AND project_id = ? AND method = ? AND idempotency_key = ?"


@dataclass(frozen=True, slots=True)
class ReceiptKey:
    """One key counts for one method within one scope."""

    scope: Scope
    method: str
    key: str


@dataclass(frozen=True, slots=True)
class Receipt:
    """The answer to a request: the hash of what was asked, the response message as bytes."""

    key: ReceiptKey
    request_hash: bytes
    request_id: str
    response: bytes


@dataclass(frozen=True, slots=True)
class PendingReceipt:
    """The receipt of a request that is being answered.

    What accepts the request writes it in its own transaction. `response` makes the answer of the
    number that only this transaction knows: of messages that were new, or of unfinished batches.
    """

    key: ReceiptKey
    request_hash: bytes
    request_id: str
    response: Callable[[int], bytes]


class ReceiptExistsError(Exception):
    """Another request with this key has been accepted: the transaction must not happen."""


class ReceiptStore:
    """The table `receipt` of system.db. It holds no text of a request, only its hash."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, key: ReceiptKey) -> Receipt | None:
        """The receipt of a key, if a request with it has been accepted or answered."""

        def run(connection: apsw.Connection) -> Receipt | None:
            row = connection.execute(
                f"SELECT request_hash, request_id, response FROM receipt WHERE {_OF_KEY}",
                _values(key),
            ).fetchone()
            return None if row is None else Receipt(key, *row)

        return await self._database.read(run)

    async def put(self, receipt: Receipt, now_ms: int) -> None:
        """Writes what was answered, also over what was written when the request was accepted.

        Raises ReceiptExistsError when the key belongs to another request.
        """

        def run(connection: apsw.Connection) -> None:
            connection.execute(
                f"UPDATE receipt SET response = ? WHERE {_OF_KEY} AND request_id = ?",
                (receipt.response, *_values(receipt.key), receipt.request_id),
            )
            if not connection.changes():
                _insert(connection, receipt, now_ms)

        await self._database.write(run)

    async def purge(self, created_before_ms: int) -> int:
        """Forgets the receipts made before an instant; returns how many."""

        def run(connection: apsw.Connection) -> int:
            connection.execute("DELETE FROM receipt WHERE created_at_ms < ?", (created_before_ms,))
            return connection.changes()

        return await self._database.write(run)


def insert_receipt(
    connection: apsw.Connection, pending: PendingReceipt, number: int, now_ms: int
) -> None:
    """Writes the receipt of what this transaction accepts.

    Raises ReceiptExistsError, which undoes the work of the transaction.
    """
    receipt = Receipt(
        pending.key, pending.request_hash, pending.request_id, pending.response(number)
    )
    _insert(connection, receipt, now_ms)


def _insert(connection: apsw.Connection, receipt: Receipt, now_ms: int) -> None:
    connection.execute(
        "INSERT INTO receipt (app_id, project_id, method, idempotency_key, request_hash,"
        " request_id, response, created_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT DO NOTHING",
        (
            *_values(receipt.key),
            receipt.request_hash,
            receipt.request_id,
            receipt.response,
            now_ms,
        ),
    )
    if not connection.changes():
        raise ReceiptExistsError


def _values(key: ReceiptKey) -> tuple[str, str, str, str]:
    return key.scope.app_id, key.scope.project_id, key.method, key.key
