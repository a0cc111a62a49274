from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from remanence_server.domain.messages import ContentItem, Message, Role
from remanence_server.domain.owners import Scope
from remanence_server.memory.delivery import add_entry, deliver, flush_entry
from remanence_server.memory.write import AddBatch, WritePath
from remanence_server.runtime.clock import ManualClock
from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.state.database import Database
from remanence_server.state.inbox_model import InboxEntry, NewEntry
from remanence_server.state.schema import SCHEMA, SCHEMA_VERSION
from remanence_server.state.sessions import SessionStore

_SCOPE = Scope("app", "project")


def _message(content: str | tuple[ContentItem, ...], message_id: str = "") -> Message:
    return Message(
        message_id=message_id,
        sender_id="alice",
        role=Role.USER,
        timestamp_ms=1_779_967_836_000,
        content=content,
    )


def _batch(*messages: Message) -> AddBatch:
    return AddBatch(_SCOPE, "s", messages, defer_extraction=True)


def _claimed(entry: NewEntry) -> InboxEntry:
    return InboxEntry(
        1,
        entry.request_id,
        entry.scope,
        entry.session_id,
        entry.is_flush,
        entry.defer_extraction,
        entry.payload_json,
    )


def _path(sessions: SessionStore) -> WritePath:
    # A deferred add needs the buffer and the clock, and nothing of the rest.
    rest = cast("Any", None)
    return WritePath(sessions, rest, rest, rest, rest, rest, ManualClock(), 0)


async def test_a_batch_that_is_delivered_twice_is_stored_once(tmp_path: Path) -> None:
    database = Database(tmp_path / "system.db", SCHEMA, SCHEMA_VERSION)
    sessions = SessionStore(database)
    given = (_message("one"), _message("two", "my-id"), _message("one"))
    entry = add_entry(_batch(*given), "r1")
    for _ in range(2):
        await deliver(_path(sessions), _claimed(entry))
    buffered = [found.message for found in await sessions.buffered(_SCOPE, "s")]
    assert [message.content for message in buffered] == ["one", "two", "one"]
    assert buffered[1].message_id == "my-id"
    assert len({message.message_id for message in buffered}) == 3
    # The same words in another request are other messages.
    await deliver(_path(sessions), _claimed(add_entry(_batch(*given), "r2")))
    assert len(await sessions.buffered(_SCOPE, "s")) == 5
    database.close()


async def test_content_that_cannot_be_read_fails_the_delivery_not_the_acceptance(
    tmp_path: Path,
) -> None:
    database = Database(tmp_path / "system.db", SCHEMA, SCHEMA_VERSION)
    picture = ContentItem(type="image", base64="%%%", ext="png")
    entry = add_entry(_batch(_message((picture,))), "r1")
    with pytest.raises(ServiceError) as raised:
        await deliver(_path(SessionStore(database)), _claimed(entry))
    assert raised.value.code is ErrorCode.UNSUPPORTED_FORMAT
    database.close()


def test_a_row_says_what_kind_of_request_it_is() -> None:
    added = add_entry(_batch(_message("one"), _message("two")), "r1")
    assert (added.is_flush, added.defer_extraction, added.message_count) == (False, True, 2)
    flushed = flush_entry(_SCOPE, "s", "r2", wait_until_visible=False)
    assert (flushed.is_flush, flushed.message_count) == (True, 0)
    assert flushed.payload_json == '{"wait_until_visible":false}'
    assert (flushed.request_id, flushed.scope, flushed.session_id) == ("r2", _SCOPE, "s")
