from __future__ import annotations

from dataclasses import replace

from remanence_server.domain.messages import ContentItem, MemoryCell, Message, Role, ToolCall
from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.state.database import Database
from remanence_server.state.jobs.model import NewJob
from remanence_server.state.jobs.store import JobStore
from remanence_server.state.sessions import PlannedCell, SessionStore

from .conftest import message

_SCOPE = Scope()
_NOW = 1_000


def _plan(buffered, jobs: int = 1, cell_id: str = "mc_1") -> PlannedCell:
    cell = MemoryCell(cell_id, _SCOPE, "s", tuple(entry.message for entry in buffered))
    job = NewJob("episode", "key", cell_id, Owner(_SCOPE, Track.USER, "alice"), "s", 3)
    return PlannedCell(cell, tuple(entry.sequence for entry in buffered), (job,) * jobs)


async def test_messages_come_back_in_the_order_given_with_distinct_ids(database: Database) -> None:
    store = SessionStore(database)
    later, earlier = message("first", timestamp_ms=2), message("second", timestamp_ms=1)
    assert await store.append(_SCOPE, "s", [later, earlier], _NOW) == 2
    assert await store.append(_SCOPE, "s", [later], _NOW) == 1
    buffered = [entry.message for entry in await store.buffered(_SCOPE, "s")]
    assert [m.content for m in buffered] == ["first", "second", "first"]
    assert len({m.message_id for m in buffered}) == 3


async def test_a_message_survives_the_buffer_whole(database: Database) -> None:
    store = SessionStore(database)
    full = Message(
        message_id="m-1",
        sender_id="bot",
        sender_name="Bot",
        role=Role.TOOL,
        timestamp_ms=7,
        content=(
            ContentItem("text", text="a"),
            ContentItem("pdf", uri="u", extras={"p": 1}),
        ),
        tool_calls=(ToolCall("c", "grep", '{"q": 1}'),),
        tool_call_id="c",
    )
    await store.append(_SCOPE, "s", [full], _NOW)
    assert [entry.message for entry in await store.buffered(_SCOPE, "s")] == [full]


async def test_a_message_id_is_accepted_once_in_its_session(database: Database) -> None:
    store = SessionStore(database)
    given = message("hazelnuts", "m-1")
    assert await store.append(_SCOPE, "s", [given, given], _NOW) == 1
    assert len(await store.buffered(_SCOPE, "s")) == 1
    assert await store.append(_SCOPE, "s", [given], _NOW) == 0
    assert await store.append(_SCOPE, "other", [given], _NOW) == 1
    assert await store.append(Scope("a", "b"), "s", [given], _NOW) == 1


async def test_a_message_id_stays_known_after_the_cut(database: Database) -> None:
    store = SessionStore(database)
    given = message("hazelnuts", "m-1")
    await store.append(_SCOPE, "s", [given], _NOW)
    await store.cut([_plan(await store.buffered(_SCOPE, "s"))], _NOW)
    assert await store.append(_SCOPE, "s", [given], _NOW) == 0
    assert await store.buffered(_SCOPE, "s") == []


async def test_sessions_and_scopes_do_not_share_a_buffer(database: Database) -> None:
    store = SessionStore(database)
    await store.append(_SCOPE, "s", [message("here")], _NOW)
    assert await store.buffered(_SCOPE, "t") == []
    assert await store.buffered(Scope("default", "p"), "s") == []


async def test_a_cut_moves_rows_to_a_cell_and_queues_its_jobs(database: Database) -> None:
    store = SessionStore(database)
    await store.append(_SCOPE, "s", [message("a"), message("b"), message("c")], _NOW)
    buffered = await store.buffered(_SCOPE, "s")
    job_ids = await store.cut([_plan(buffered[:2])], _NOW)
    assert job_ids is not None and len(job_ids) == 1
    assert [entry.message.content for entry in await store.buffered(_SCOPE, "s")] == ["c"]
    cell = await store.cell("mc_1")
    assert cell is not None
    assert [m.content for m in cell.messages] == ["a", "b"]


async def test_a_second_cut_of_the_same_rows_changes_nothing(database: Database) -> None:
    store = SessionStore(database)
    await store.append(_SCOPE, "s", [message("a"), message("b")], _NOW)
    buffered = await store.buffered(_SCOPE, "s")
    await store.cut([_plan(buffered[:1])], _NOW)
    assert await store.cut([_plan(buffered, cell_id="mc_2")], _NOW) is None
    assert await store.cell("mc_2") is None
    assert [entry.message.content for entry in await store.buffered(_SCOPE, "s")] == ["b"]
    counts = await JobStore(database).counts()
    assert counts.queued == 1


async def test_a_cell_without_jobs_keeps_no_row(database: Database) -> None:
    store = SessionStore(database)
    await store.append(_SCOPE, "s", [message("a")], _NOW)
    await store.cut([_plan(await store.buffered(_SCOPE, "s"), jobs=0)], _NOW)
    assert await store.cell("mc_1") is None


async def test_ids_are_not_reused_after_a_cut(database: Database) -> None:
    store = SessionStore(database)
    await store.append(_SCOPE, "s", [message("a")], _NOW)
    first = (await store.buffered(_SCOPE, "s"))[0].message.message_id
    await store.cut([_plan(await store.buffered(_SCOPE, "s"))], _NOW)
    await store.append(_SCOPE, "s", [message("b")], _NOW)
    second = (await store.buffered(_SCOPE, "s"))[0].message.message_id
    assert first != second


async def test_a_client_id_that_looks_like_ours_takes_nothing_from_a_later_message(
    database: Database,
) -> None:
    store = SessionStore(database)
    await store.append(_SCOPE, "s", [message("a")], _NOW)
    own = (await store.buffered(_SCOPE, "s"))[0].message.message_id
    ahead = own[:-1] + str(int(own[-1]) + 2)
    await store.append(_SCOPE, "s", [replace(message("b"), message_id=ahead)], _NOW)
    await store.append(_SCOPE, "s", [message("c")], _NOW)
    contents = [entry.message.content for entry in await store.buffered(_SCOPE, "s")]
    assert contents == ["a", "b", "c"]


async def test_an_id_chosen_earlier_in_the_batch_takes_nothing_from_a_later_message(
    database: Database,
) -> None:
    store = SessionStore(database)
    chosen = message("first", "m_s_00000002")
    assert await store.append(_SCOPE, "s", [chosen, message("second")], _NOW) == 2
    contents = [entry.message.content for entry in await store.buffered(_SCOPE, "s")]
    assert contents == ["first", "second"]


async def test_what_is_not_extracted_yet_is_still_unprocessed(database: Database) -> None:
    store, jobs = SessionStore(database), JobStore(database)
    await store.append(_SCOPE, "s", [message("a"), message("b"), message("c")], _NOW)
    buffered = await store.buffered(_SCOPE, "s")
    await store.cut([_plan(buffered[:1]), _plan(buffered[1:2], cell_id="mc_2")], _NOW)

    async def unprocessed(*stages: str) -> list[object]:
        return [m.content for m in await store.unprocessed(_SCOPE, "s", stages)]

    assert await unprocessed("episode") == ["a", "b", "c"]
    assert await unprocessed("another") == ["c"]
    first = await jobs.claim(_NOW, 1_000)
    assert first is not None
    assert await unprocessed("episode") == ["a", "b", "c"]
    await jobs.succeed(first, (), _NOW)
    assert await unprocessed("episode") == ["b", "c"]
    second = await jobs.claim(_NOW, 1_000)
    assert second is not None
    await jobs.fail(second, "REFUSED", "no", None, _NOW)
    assert await unprocessed("episode") == ["b", "c"]
    assert await store.unprocessed(Scope("other", "other"), "s", ("episode",)) == []
