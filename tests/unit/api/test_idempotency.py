from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from remanence.v2 import memory_pb2 as pb
from remanence_server.api.idempotency import Idempotency, MakeReceipt
from remanence_server.api.request_ids import answering
from remanence_server.domain.messages import Message, Role
from remanence_server.domain.owners import Scope
from remanence_server.runtime.clock import ManualClock
from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.state.database import Database
from remanence_server.state.receipts import Receipt, ReceiptStore
from remanence_server.state.schema import SCHEMA, SCHEMA_VERSION
from remanence_server.state.sessions import SessionStore

Act = Callable[[MakeReceipt], Awaitable[pb.AddResponse]]


class Context:
    """A call with metadata, which remembers the id it was answered under."""

    def __init__(self, *metadata: tuple[str, str]) -> None:
        self._metadata = metadata
        self.trailing: dict[str, str] = {}

    def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
        return self._metadata

    def set_trailing_metadata(self, trailing_metadata: tuple[tuple[str, str], ...], /) -> None:
        self.trailing = dict(trailing_metadata)

    def time_remaining(self) -> None:
        return None


class Desk:
    """Takes requests in as the servicer does."""

    def __init__(self, database: Database) -> None:
        self.receipts = ReceiptStore(database)
        self.idempotency = Idempotency(self.receipts, ManualClock(0))
        self.sessions = SessionStore(database)
        self.calls = 0

    def add(self, text: str, *, extracts: bool = False) -> Act:
        """An add that stores one message with its receipt."""

        async def act(make_receipt: MakeReceipt) -> pb.AddResponse:
            self.calls += 1
            receipt = make_receipt(lambda new: _response(pb.ADD_STATUS_ACCUMULATED, new))
            stored = Message("", "alice", Role.USER, 1_779_967_836_000, text)
            new = await self.sessions.append(Scope(), "s", [stored], 0, receipt)
            status = pb.ADD_STATUS_EXTRACTED if extracts else pb.ADD_STATUS_ACCUMULATED
            return _response(status, new)

        return act

    async def ask(
        self, act: Act, key: str | None = "k", *, session: str = "s", request_id: str = "r1"
    ) -> tuple[pb.AddResponse, str]:
        """The answer, and the id it was given under."""
        context = Context(*([("idempotency-key", key)] if key is not None else []))
        request = pb.AddRequest(session_id=session, app_id="default", project_id="default")
        with answering(request_id):
            response = await self.idempotency.answer(request, context, pb.AddResponse, act)
        return response, context.trailing.get("x-request-id", request_id)

    async def stored(self) -> list[object]:
        """The contents of the messages stored."""
        return [entry.message.content for entry in await self.sessions.buffered(Scope(), "s")]


def _response(status: pb.AddStatus, count: int) -> pb.AddResponse:
    return pb.AddResponse(message_count=count, status=status)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "system.db", SCHEMA, SCHEMA_VERSION)
    yield opened
    opened.close()


@pytest.fixture
def desk(database: Database) -> Desk:
    return Desk(database)


async def test_a_repeat_gets_the_first_answer_under_its_id_and_is_not_done(desk: Desk) -> None:
    first = await desk.ask(desk.add("a"), request_id="r1")
    again = await desk.ask(desk.add("a"), request_id="r2")
    assert again == first
    assert first[1] == "r1"
    assert (desk.calls, await desk.stored()) == (1, ["a"])


async def test_without_a_key_every_request_is_another_one(desk: Desk) -> None:
    ids = [(await desk.ask(desk.add("a"), None, request_id=f"r{n}"))[1] for n in range(2)]
    assert ids == ["r0", "r1"]
    assert await desk.stored() == ["a", "a"]


async def test_the_answer_that_was_given_is_the_one_that_is_repeated(desk: Desk) -> None:
    first, _ = await desk.ask(desk.add("a", extracts=True))
    assert first.status == pb.ADD_STATUS_EXTRACTED
    assert (await desk.ask(desk.add("a"), request_id="r2"))[0] == first


async def test_a_key_with_another_request_is_a_conflict(desk: Desk) -> None:
    await desk.ask(desk.add("a"))
    with pytest.raises(ServiceError) as raised:
        await desk.ask(desk.add("b"), session="other")
    assert raised.value.code is ErrorCode.CONFLICT
    assert raised.value.field == "Idempotency-Key"
    assert await desk.stored() == ["a"]


async def test_a_request_that_failed_is_tried_again(desk: Desk) -> None:
    async def fail(_: MakeReceipt) -> pb.AddResponse:
        raise ServiceError(ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE, "storage is full")

    with pytest.raises(ServiceError):
        await desk.ask(fail)
    assert (await desk.ask(desk.add("a"), request_id="r2"))[1] == "r2"
    assert await desk.stored() == ["a"]


async def test_what_was_accepted_before_a_failure_is_not_accepted_again(desk: Desk) -> None:
    add = desk.add("a")

    async def accept_and_fail(make_receipt: MakeReceipt) -> pb.AddResponse:
        await add(make_receipt)
        raise ServiceError(ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE, "the answer got lost")

    with pytest.raises(ServiceError):
        await desk.ask(accept_and_fail, request_id="r1")
    response, request_id = await desk.ask(add, request_id="r2")
    assert (response.status, request_id) == (pb.ADD_STATUS_ACCUMULATED, "r1")
    assert await desk.stored() == ["a"]


async def test_a_receipt_that_cannot_be_completed_stays_as_it_was_accepted(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(self: ReceiptStore, receipt: Receipt, now_ms: int) -> None:
        raise ServiceError(ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE, "storage is full")

    monkeypatch.setattr(ReceiptStore, "put", full)
    first, _ = await desk.ask(desk.add("a", extracts=True))
    assert first.status == pb.ADD_STATUS_ACCUMULATED
    assert (await desk.ask(desk.add("a"), request_id="r2"))[0] == first


async def test_requests_at_once_with_one_key_get_one_answer(desk: Desk) -> None:
    answers = await asyncio.gather(
        *(desk.ask(desk.add("a"), request_id=f"r{number}") for number in range(20))
    )
    assert len({(response.SerializeToString(), shown) for response, shown in answers}) == 1
    assert (desk.calls, await desk.stored()) == (1, ["a"])


async def test_a_repeat_finds_what_a_caller_that_left_had_handed_in(desk: Desk) -> None:
    add, handed_in = desk.add("a"), asyncio.Event()

    async def accept_and_hang(make_receipt: MakeReceipt) -> pb.AddResponse:
        await add(make_receipt)
        handed_in.set()
        await asyncio.Event().wait()
        raise AssertionError

    leaving = asyncio.create_task(desk.ask(accept_and_hang, request_id="r1"))
    await handed_in.wait()
    waiting = asyncio.create_task(desk.ask(add, request_id="r2"))
    await asyncio.sleep(0.02)
    assert not waiting.done()
    leaving.cancel()
    assert (await waiting)[1] == "r1"
    assert await desk.stored() == ["a"]


async def test_a_repeat_that_comes_before_the_first_is_on_disk_is_stored_once(desk: Desk) -> None:
    async def accepted_meanwhile(make_receipt: MakeReceipt) -> pb.AddResponse:
        # Another task of a caller that has left commits between the look-up and the append.
        await desk.add("a")(make_receipt)
        return await desk.add("a")(make_receipt)

    assert (await desk.ask(accepted_meanwhile))[1] == "r1"
    assert await desk.stored() == ["a"]


@pytest.mark.parametrize("key", ["", " ", "a b", "é", "a\tb", "k" * 257, "\x7f"])
async def test_a_key_of_another_form_is_refused_and_named(desk: Desk, key: str) -> None:
    with pytest.raises(ServiceError) as raised:
        await desk.ask(desk.add("a"), key)
    assert raised.value.code is ErrorCode.INVALID_INPUT
    assert raised.value.message.endswith(": Idempotency-Key")
    assert await desk.stored() == []


@pytest.mark.parametrize("key", ["~", '"quoted"', "k" * 256])
async def test_any_visible_text_is_a_key(desk: Desk, key: str) -> None:
    await desk.ask(desk.add("a"), key)
    await desk.ask(desk.add("a"), key)
    assert await desk.stored() == ["a"]


async def test_several_keys_are_refused(desk: Desk) -> None:
    context = Context(("idempotency-key", "a"), ("idempotency-key", "b"))
    request = pb.AddRequest(session_id="s", app_id="default", project_id="default")
    with pytest.raises(ServiceError, match="one key"):
        await desk.idempotency.answer(request, context, pb.AddResponse, desk.add("a"))
