from __future__ import annotations

import pytest

from remanence_server.domain.messages import MemoryCell, Message, Role
from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.state.database import Database
from remanence_server.state.inbox import InboxStore
from remanence_server.state.inbox_model import InboxCaps, NewEntry
from remanence_server.state.jobs.model import NewJob
from remanence_server.state.jobs.store import JobStore
from remanence_server.state.message_json import dump_messages
from remanence_server.state.sessions import PlannedCell, SessionStore
from remanence_server.state.unextracted import UnextractedMessages

_SCOPE = Scope()
_ALICE = Owner(_SCOPE, Track.USER, "alice")
_STAGES = {Track.USER: "episode", Track.AGENT: "case"}


def _said(message_id: str, sender: str = "alice", role: Role = Role.USER) -> Message:
    return Message(message_id, sender, role, 1_779_967_836_000, f"text of {message_id}")


async def _of(database: Database, owner: Owner = _ALICE) -> list[tuple[str, str]]:
    found = UnextractedMessages(database, _STAGES).of(owner)
    return [(session_id, message.message_id) async for session_id, message in found]


async def _queue(database: Database, request_id: str, *messages: Message) -> None:
    entry = NewEntry(request_id, _SCOPE, "q", False, False, dump_messages(messages), len(messages))
    caps = InboxCaps(per_session=50, total=200)
    await InboxStore(database).enqueue(entry, caps, 1, only_behind_others=False)


async def _cut(database: Database, session: str, *jobs: NewJob) -> None:
    sessions = SessionStore(database)
    buffered = await sessions.buffered(_SCOPE, session)
    cell = MemoryCell(f"mc-{session}", _SCOPE, session, tuple(b.message for b in buffered))
    plan = PlannedCell(cell, tuple(b.sequence for b in buffered), jobs)
    assert await sessions.cut([plan], 1) is not None


async def test_only_what_the_owner_said_is_found_and_in_the_order_of_acceptance(
    database: Database,
) -> None:
    sessions = SessionStore(database)
    mine = [_said(f"m{n}") for n in range(450)]
    others = [
        _said("x1", "alice2"),
        _said("x2", "Alice"),
        _said("x3", "alice", Role.ASSISTANT),
        _said("x4", "bob"),
    ]
    await sessions.append(_SCOPE, "s", [*mine[:3], *others, *mine[3:]], 1)
    await sessions.append(Scope("other"), "s", [_said("x5")], 1)
    assert await _of(database) == [("s", message.message_id) for message in mine]
    assert await _of(database, Owner(_SCOPE, Track.AGENT, "alice")) == [("s", "x3")]


@pytest.mark.parametrize("outcome", ["queued", "running", "dead_letter", "succeeded"])
async def test_a_cut_segment_counts_until_its_words_are_markdown(
    database: Database, outcome: str
) -> None:
    await SessionStore(database).append(_SCOPE, "s", [_said("m1"), _said("x", "bob")], 1)
    jobs = [NewJob(stage, stage, "mc-s", _ALICE, "s", 3) for stage in ("episode", "profile")]
    await _cut(database, "s", *jobs)
    store = JobStore(database)
    if outcome != "queued":
        job = await store.claim(2, 60_000)
        assert job is not None
        assert job.stage == "episode"
        if outcome == "dead_letter":
            await store.fail(job, "NO", "no", None, 3)
        elif outcome == "succeeded":
            await store.succeed(job, (), 3)
    assert await _of(database) == ([] if outcome == "succeeded" else [("s", "m1")])


async def test_queued_requests_count_and_what_is_in_two_places_is_told_once(
    database: Database,
) -> None:
    for number in range(6):
        await _queue(database, f"r{number}", _said(f"m{number}"), _said(f"x{number}", "bob"))
    # The first is delivered, and its row does not say so yet.
    await SessionStore(database).append(_SCOPE, "q", [_said("m0")], 1)
    assert await _of(database) == [("q", f"m{number}") for number in range(6)]
