from __future__ import annotations

from remanence_server.domain.messages import MemoryCell
from remanence_server.domain.owners import Scope
from remanence_server.runtime.clock import ManualClock
from remanence_server.state.database import Database
from remanence_server.state.housekeeping import Housekeeping, Retention
from remanence_server.state.jobs.store import JobStore
from remanence_server.state.receipts import Receipt, ReceiptKey, ReceiptStore
from remanence_server.state.sessions import PlannedCell, SessionStore

from .conftest import message

_SCOPE = Scope()
_KEY = ReceiptKey(_SCOPE, "Add", "k")
_T0 = 1_779_967_836_000


def _house(database: Database, now_ms: int, retention: Retention) -> Housekeeping:
    return Housekeeping(
        SessionStore(database),
        JobStore(database),
        ReceiptStore(database),
        ManualClock(now_ms),
        retention,
    )


async def _is_known(database: Database) -> bool:
    return not await SessionStore(database).append(_SCOPE, "s", [message("again", "m1")], _T0)


async def test_message_ids_and_receipts_are_kept_as_long_as_each_is_to_be(
    database: Database,
) -> None:
    sessions = SessionStore(database)
    await sessions.append(_SCOPE, "s", [message("once", "m1")], _T0)
    (buffered,) = await sessions.buffered(_SCOPE, "s")
    cell = MemoryCell("mc", _SCOPE, "s", (buffered.message,))
    await sessions.cut([PlannedCell(cell, (buffered.sequence,), ())], _T0)
    await ReceiptStore(database).put(Receipt(_KEY, b"", "r", b""), _T0)

    retention = Retention(message_id_ms=100, receipt_ms=50)
    await _house(database, _T0 + 50, retention).tidy()
    assert await ReceiptStore(database).find(_KEY) is not None
    await _house(database, _T0 + 51, retention).tidy()
    assert await ReceiptStore(database).find(_KEY) is None
    await _house(database, _T0 + 100, retention).tidy()
    assert await _is_known(database)
    await _house(database, _T0 + 101, retention).tidy()
    assert not await _is_known(database)
