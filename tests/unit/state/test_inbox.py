from __future__ import annotations

import itertools

import apsw
import pytest

from remanence_server.domain.owners import Scope
from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.state.database import Database
from remanence_server.state.inbox import InboxStore
from remanence_server.state.inbox_model import (
    REPLAYS_EXHAUSTED,
    STATUS_WRITE_LOST,
    InboxCaps,
    InboxEntry,
    InboxStatus,
    NewEntry,
    Recovered,
    TaskFilter,
)

_CAPS = InboxCaps(per_session=50, total=200)
_numbers = itertools.count()


@pytest.fixture
def inbox(database: Database) -> InboxStore:
    return InboxStore(database)


def _new(session_id: str = "s", scope: Scope | None = None, **changes: object) -> NewEntry:
    values: dict[str, object] = {
        "request_id": f"r{next(_numbers):04d}",
        "scope": scope or Scope(),
        "session_id": session_id,
        "is_flush": False,
        "defer_extraction": False,
        "payload_json": "[]",
        "message_count": 1,
        **changes,
    }
    return NewEntry(**values)  # type: ignore[arg-type]


async def _queue(
    inbox: InboxStore, entry: NewEntry, caps: InboxCaps = _CAPS, now_ms: int = 1_000
) -> int | None:
    return await inbox.enqueue(entry, caps, now_ms, only_behind_others=False)


async def _claim_one(inbox: InboxStore) -> InboxEntry:
    (entry,) = await inbox.claim(1, 2_000)
    return entry


async def _status(inbox: InboxStore, request_id: str) -> InboxStatus:
    task = await inbox.task(request_id)
    assert task is not None
    return task.status


async def _payload(database: Database, request_id: str) -> object:
    def run(connection: apsw.Connection) -> object:
        return connection.execute(
            "SELECT payload_json FROM memorize_inbox WHERE request_id = ?", (request_id,)
        ).fetchall()[0][0]

    return await database.read(run)


async def test_pending_counts_the_unfinished_of_the_session_alone(inbox: InboxStore) -> None:
    assert await _queue(inbox, _new("s")) == 1
    assert await _queue(inbox, _new("s")) == 2
    assert await _queue(inbox, _new("other")) == 1
    assert await _queue(inbox, _new("s", Scope("app", "default"))) == 1
    claimed = await _claim_one(inbox)
    assert await _queue(inbox, _new("s")) == 3
    await inbox.succeed(claimed.entry_id, 3_000)
    assert await _queue(inbox, _new("s")) == 3


async def test_the_two_caps_refuse_with_texts_of_their_own(inbox: InboxStore) -> None:
    caps = InboxCaps(per_session=2, total=3)
    await _queue(inbox, _new("a"), caps)
    await _queue(inbox, _new("a"), caps)
    refused = []
    for session_id in ("a", "b", "b"):
        entry = _new(session_id)
        try:
            await _queue(inbox, entry, caps)
        except ServiceError as error:
            assert error.code is ErrorCode.QUEUE_SATURATED
            assert await inbox.task(entry.request_id) is None
            refused.append(error.message)
    assert refused == [
        "this session has 2 unfinished batches, the most it may have;"
        " this one was not accepted, send it again later",
        "the server has 3 unfinished batches, the most it may have;"
        " this one was not accepted, send it again later",
    ]


async def test_what_may_only_stand_behind_others_is_left_alone_without_them(
    inbox: InboxStore,
) -> None:
    entry = _new("s")
    await _queue(inbox, _new("other"))
    assert await inbox.enqueue(entry, _CAPS, 0, only_behind_others=True) is None
    assert await inbox.task(entry.request_id) is None
    await _queue(inbox, _new("s"))
    assert await inbox.enqueue(entry, _CAPS, 0, only_behind_others=True) == 2


async def test_claims_follow_the_order_of_acceptance_one_of_each_session(
    inbox: InboxStore,
) -> None:
    entries = [_new(session_id) for session_id in ("a", "a", "b", "a", "c")]
    for entry in entries:
        await _queue(inbox, entry)
    first = await inbox.claim(2, 0)
    assert [e.request_id for e in first] == [entries[0].request_id, entries[2].request_id]
    assert [e.request_id for e in await inbox.claim(9, 0)] == [entries[4].request_id]
    assert await inbox.claim(9, 0) == []
    await inbox.succeed(first[0].entry_id, 0)
    assert [e.request_id for e in await inbox.claim(9, 0)] == [entries[1].request_id]


async def test_a_claimed_row_is_what_was_queued(inbox: InboxStore) -> None:
    scope = Scope("app", "project")
    entry = _new("s", scope, is_flush=True, defer_extraction=True, payload_json='{"a": 1}')
    await _queue(inbox, entry)
    claimed = await _claim_one(inbox)
    assert (claimed.request_id, claimed.scope, claimed.session_id) == (
        entry.request_id,
        scope,
        "s",
    )
    assert (claimed.is_flush, claimed.defer_extraction, claimed.payload_json) == (
        True,
        True,
        '{"a": 1}',
    )


async def test_a_delivered_row_drops_what_it_carried(inbox: InboxStore, database: Database) -> None:
    entry = _new()
    await _queue(inbox, entry)
    await inbox.succeed((await _claim_one(inbox)).entry_id, 5_000)
    assert await _payload(database, entry.request_id) == ""
    task = await inbox.task(entry.request_id)
    assert task is not None
    assert (task.status, task.error_code, task.error) == (InboxStatus.SUCCESS, None, None)
    assert (task.created_at_ms, task.finished_at_ms) == (1_000, 5_000)


async def test_a_failed_row_keeps_what_it_carried_and_lets_the_next_go_on(
    inbox: InboxStore, database: Database
) -> None:
    entry, following = _new(), _new()
    await _queue(inbox, entry)
    await _queue(inbox, following)
    await inbox.fail((await _claim_one(inbox)).entry_id, "SOME_CODE", "x" * 900, 5_000)
    assert await _payload(database, entry.request_id) == "[]"
    task = await inbox.task(entry.request_id)
    assert task is not None
    assert (task.status, task.error_code) == (InboxStatus.FAILED, "SOME_CODE")
    assert task.error == "x" * 500
    assert task.finished_at_ms == 5_000
    assert (await _claim_one(inbox)).request_id == following.request_id


async def test_an_unfinished_row_has_no_end(inbox: InboxStore) -> None:
    entry = _new()
    await _queue(inbox, entry)
    await _claim_one(inbox)
    task = await inbox.task(entry.request_id)
    assert task is not None
    assert (task.status, task.finished_at_ms) == (InboxStatus.PROCESSING, None)


async def test_what_was_in_flight_is_given_back_until_it_has_been_too_often(
    inbox: InboxStore,
) -> None:
    entry, waiting = _new(), _new()
    await _queue(inbox, entry)
    await _queue(inbox, waiting)
    for _ in range(2):
        assert (await _claim_one(inbox)).request_id == entry.request_id
        assert await inbox.recover(2, 0) == Recovered(requeued=1, given_up=0)
        assert await _status(inbox, entry.request_id) is InboxStatus.QUEUED
    await _claim_one(inbox)
    assert await inbox.recover(2, 0) == Recovered(requeued=0, given_up=1)
    task = await inbox.task(entry.request_id)
    assert task is not None
    assert (task.status, task.error_code) == (InboxStatus.FAILED, REPLAYS_EXHAUSTED)
    assert await _status(inbox, waiting.request_id) is InboxStatus.QUEUED


async def test_the_sweep_fails_only_what_nobody_delivers(inbox: InboxStore) -> None:
    lost, running, waiting = _new("a"), _new("b"), _new("a")
    for entry in (lost, running, waiting):
        await _queue(inbox, entry)
    claimed = await inbox.claim(2, 0)
    assert await inbox.sweep({claimed[1].entry_id}, 0) == 1
    task = await inbox.task(lost.request_id)
    assert task is not None
    assert (task.status, task.error_code) == (InboxStatus.FAILED, STATUS_WRITE_LOST)
    assert task.error == "status write lost; outcome unknown"
    assert await _status(inbox, running.request_id) is InboxStatus.PROCESSING
    assert await _status(inbox, waiting.request_id) is InboxStatus.QUEUED
    assert await inbox.sweep({claimed[1].entry_id}, 0) == 0


async def test_old_rows_go_unless_they_are_in_flight(inbox: InboxStore) -> None:
    done, running, undelivered, young = _new("a"), _new("b"), _new("b"), _new("c")
    await _queue(inbox, done)
    await inbox.succeed((await _claim_one(inbox)).entry_id, 9_000)
    await _queue(inbox, running)
    await _claim_one(inbox)
    await _queue(inbox, undelivered)
    await _queue(inbox, young, now_ms=8_000)
    assert await inbox.purge(8_000) == (2, 1)
    kept = [await inbox.task(e.request_id) for e in (done, running, undelivered, young)]
    assert [task is not None for task in kept] == [False, True, False, True]
    assert await inbox.purge(8_000) == (0, 0)


async def test_counts_tell_what_waits_since_when_and_what_failed(inbox: InboxStore) -> None:
    counts = await inbox.counts()
    assert (counts.pending, counts.oldest_created_at_ms, counts.failed) == (0, None, 0)
    await _queue(inbox, _new("a"), now_ms=1_000)
    await _queue(inbox, _new("b"), now_ms=2_000)
    await inbox.fail((await _claim_one(inbox)).entry_id, "X", "x", 3_000)
    await _claim_one(inbox)
    counts = await inbox.counts()
    assert (counts.pending, counts.oldest_created_at_ms, counts.failed) == (1, 2_000, 1)


async def test_tasks_are_listed_newest_first_by_page_session_and_status(inbox: InboxStore) -> None:
    entries = [_new(session_id) for session_id in ("a", "a", "b", "a")]
    for entry in entries:
        await _queue(inbox, entry)
    await inbox.succeed((await _claim_one(inbox)).entry_id, 0)
    ids = [entry.request_id for entry in entries]

    async def listed(wanted: TaskFilter, limit: int = 10, offset: int = 0) -> tuple[int, list[str]]:
        total, tasks = await inbox.tasks(wanted, limit=limit, offset=offset)
        return total, [task.request_id for task in tasks]

    assert await listed(TaskFilter(Scope())) == (4, ids[::-1])
    assert await listed(TaskFilter(Scope()), limit=2, offset=1) == (4, [ids[2], ids[1]])
    assert await listed(TaskFilter(Scope(), "a")) == (3, [ids[3], ids[1], ids[0]])
    assert await listed(TaskFilter(Scope(), "a", InboxStatus.SUCCESS)) == (1, [ids[0]])
    assert await listed(TaskFilter(Scope(), None, InboxStatus.QUEUED)) == (
        3,
        [ids[3], ids[2], ids[1]],
    )
    assert await listed(TaskFilter(Scope("other", "default"))) == (0, [])


async def test_a_request_is_accepted_once(inbox: InboxStore) -> None:
    await _queue(inbox, _new(request_id="same"))
    with pytest.raises(apsw.ConstraintError):
        await _queue(inbox, _new(request_id="same"))
