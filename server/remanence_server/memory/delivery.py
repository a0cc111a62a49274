"""Between a request and its row in the queue: what is kept of it, and how it is delivered."""

from __future__ import annotations

from dataclasses import replace

import orjson

from remanence_server.domain.owners import Scope
from remanence_server.memory.write import AddBatch, WritePath, add_messages, flush_session
from remanence_server.state.inbox_model import InboxEntry, NewEntry
from remanence_server.state.message_json import dump_messages, load_messages


def add_entry(batch: AddBatch, request_id: str) -> NewEntry:
    """The row of an add.

    Every message gets an id now: a batch that is delivered again, because the process died during
    the first delivery, is then known to the session and not stored a second time.
    """
    messages = [
        message
        if message.message_id
        else replace(message, message_id=f"m_{request_id}_{number:03d}")
        for number, message in enumerate(batch.messages)
    ]
    return NewEntry(
        request_id=request_id,
        scope=batch.scope,
        session_id=batch.session_id,
        is_flush=False,
        defer_extraction=batch.defer_extraction,
        payload_json=dump_messages(messages),
        message_count=len(messages),
    )


def flush_entry(
    scope: Scope, session_id: str, request_id: str, *, wait_until_visible: bool
) -> NewEntry:
    """The row of a flush."""
    return NewEntry(
        request_id=request_id,
        scope=scope,
        session_id=session_id,
        is_flush=True,
        defer_extraction=False,
        payload_json=orjson.dumps({"wait_until_visible": wait_until_visible}).decode(),
        message_count=0,
    )


async def deliver(path: WritePath, entry: InboxEntry) -> None:
    """Does what the request asked for, as the synchronous call does. Raises what that raises."""
    if entry.is_flush:
        wait_until_visible = bool(orjson.loads(entry.payload_json)["wait_until_visible"])
        await flush_session(
            path, entry.scope, entry.session_id, wait_until_visible=wait_until_visible
        )
        return
    batch = AddBatch(
        scope=entry.scope,
        session_id=entry.session_id,
        messages=load_messages(entry.payload_json),
        defer_extraction=entry.defer_extraction,
        queued_as=entry.entry_id,
    )
    await add_messages(path, batch)
