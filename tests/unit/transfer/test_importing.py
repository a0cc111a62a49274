from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import date

import apsw
import pytest
from tests.support.workshop import ALICE, CODER, T0, Workshop, episode, transcript

from remanence_server.domain.owners import Owner
from remanence_server.domain.records import AgentSkill, Episode, Kind, Record
from remanence_server.memory.stages import FIRST_STAGES
from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.state.deletions import DeletionState, DeletionStore, Selection
from remanence_server.state.entry_ids import EntryIds
from remanence_server.state.jobs.model import NewJob
from remanence_server.state.jobs.rows import insert_jobs
from remanence_server.state.record_json import dump_records
from remanence_server.transfer import importing
from remanence_server.transfer.importing import Imported, ImportPath, import_records
from remanence_server.transfer.record_lines import encode_line

_DAY = date(2026, 5, 28)


def _path(workshop: Workshop) -> ImportPath:
    return ImportPath(
        workshop.publisher,
        EntryIds(workshop.state),
        DeletionStore(workshop.state, FIRST_STAGES),
        workshop.pipeline.locks.of,
        5.0,
    )


async def _chunks(data: bytes, size: int) -> AsyncIterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


async def _take(
    workshop: Workshop, records: Sequence[Record], owner: Owner = ALICE, size: int = 1 << 18
) -> Imported:
    data = b"".join(map(encode_line, records))
    return await import_records(_path(workshop), owner, _chunks(data, size))


def _contents(workshop: Workshop, owner: Owner = ALICE) -> dict[str, str]:
    return {
        parsed.record.entry_id: parsed.record.content
        for file in workshop.markdown.owner_files(owner)
        for parsed in workshop.markdown.read(file).records
        if isinstance(parsed.record, Episode)
    }


@pytest.mark.parametrize("size", [1, 7, 1 << 18])
async def test_lines_are_whole_however_they_are_cut(workshop: Workshop, size: int) -> None:
    given = [episode(n, f"Alice saw {n} blue whales.") for n in range(1, 6)]
    assert await _take(workshop, given, size=size) == Imported(5, 0)
    assert await workshop.words(ALICE, "whales")
    assert await _take(workshop, given, size=size) == Imported(0, 5)
    assert len(_contents(workshop)) == 5


async def test_the_last_line_needs_no_line_break_and_others_may_have_carriage_returns(
    workshop: Workshop,
) -> None:
    lines = [encode_line(episode(n)).rstrip() for n in (1, 2)]
    data = b"\xef\xbb\xbf" + b"\r\n\r\n".join(lines)
    assert await import_records(_path(workshop), ALICE, _chunks(data, 100)) == Imported(2, 0)


async def test_of_two_lines_with_one_id_the_first_counts(workshop: Workshop) -> None:
    assert await _take(workshop, [episode(1, "first"), episode(1, "second")]) == Imported(1, 1)
    assert list(_contents(workshop).values()) == ["first"]


async def test_what_is_there_is_left_as_it_is_and_what_was_deleted_stays_deleted(
    workshop: Workshop,
) -> None:
    await workshop.publisher.publish((episode(1, "mine"), episode(2, "mine")))
    workshop.markdown.remove_entries(ALICE, Kind.EPISODE, ["ep_20260528_00000002"])
    given = [episode(1, "theirs"), episode(2, "theirs"), episode(3, "theirs")]
    assert await _take(workshop, given) == Imported(1, 2)
    assert set(_contents(workshop).values()) == {"mine", "theirs"}
    assert sorted(_contents(workshop)) == ["ep_20260528_00000001", "ep_20260528_00000003"]


async def test_numbers_given_later_lie_above_those_that_came_in(workshop: Workshop) -> None:
    ids = EntryIds(workshop.state)
    await _take(workshop, [transcript("hi", number=7), episode(5)])
    # Though the files are gone: a late answer may still name those ids.
    for kind, number in ((Kind.EPISODE, 5), (Kind.TRANSCRIPT, 7)):
        (file,) = [f for f in workshop.markdown.owner_files(ALICE) if f.kind is kind]
        assert f"{number:08d}" in file.path.read_text()
    await workshop.runner.stop(5)
    await workshop.state.write(
        lambda c: insert_jobs(c, [NewJob("episode", "k", "mc", ALICE, "s", 3)], 0)
    )
    job = await workshop.jobs.claim(0, 60_000)
    assert job is not None
    given: dict[tuple[Kind, date], int] = {}

    def build(first: dict[tuple[Kind, date], int]) -> str:
        given.update(first)
        return "[]"

    await ids.reserve_and_save(job, {(Kind.EPISODE, _DAY): (1, 0)}, build)
    assert given == {(Kind.EPISODE, _DAY): 8}


async def test_an_id_that_a_job_is_about_to_write_is_not_taken_from_it(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "_TRIES", 3)
    monkeypatch.setattr(importing, "_PAUSE_SECONDS", 0.01)
    await workshop.runner.stop(5)
    held = dump_records([episode(1, "the job's own")])

    def reserve(connection: object) -> None:
        insert_jobs(connection, [NewJob("episode", "k", "mc", ALICE, "s", 3)], 0)  # type: ignore[arg-type]
        connection.execute("UPDATE job SET output_json = ?", (held,))  # type: ignore[attr-defined]

    await workshop.state.write(reserve)
    for given in (episode(1, "imported"), transcript("hi", number=1)):
        with pytest.raises(ServiceError) as refused:
            await _take(workshop, [given])
        assert refused.value.code is ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE
    assert _contents(workshop) == {}
    # Another id, and another owner's, are nobody's business.
    assert await _take(workshop, [episode(2)]) == Imported(1, 0)
    bob = replace(ALICE, owner_id="bob")
    assert await _take(workshop, [episode(1)], bob) == Imported(1, 0)
    # Once it is written, the id is there.
    await workshop.publisher.publish((episode(1, "the job's own"),))
    await workshop.state.write(lambda c: c.execute("UPDATE job SET output_json = NULL"))
    assert await _take(workshop, [episode(1, "imported")]) == Imported(0, 1)


async def test_an_import_waits_for_the_lock_of_its_owner_and_for_a_job_without_holding_it(
    workshop: Workshop,
) -> None:
    lock = workshop.pipeline.locks.of(ALICE)
    async with lock:
        taking = asyncio.create_task(_take(workshop, [episode(1), transcript("hi")]))
        bob = replace(ALICE, owner_id="bob")
        assert await _take(workshop, [episode(1)], bob) == Imported(1, 0)
        await asyncio.sleep(0.05)
        assert not taking.done()
        assert _contents(workshop) == {}
    assert await taking == Imported(2, 0)

    await workshop.runner.stop(5)
    held = dump_records([episode(2, "the job's own")])

    def reserve(connection: apsw.Connection) -> None:
        insert_jobs(connection, [NewJob("episode", "k", "mc", ALICE, "s", 3)], 0)
        connection.execute("UPDATE job SET output_json = ?", (held,))

    await workshop.state.write(reserve)
    taking = asyncio.create_task(_take(workshop, [episode(2, "imported")]))
    await asyncio.sleep(0.05)
    # The job gets the lock that it needs to write.
    async with asyncio.timeout(2), lock:
        await workshop.publisher.publish((episode(2, "the job's own"),))
        await workshop.state.write(lambda c: c.execute("UPDATE job SET output_json = NULL"))
    assert await taking == Imported(0, 1)


async def test_nothing_comes_in_while_a_deletion_of_the_owner_is_not_through(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "_PAUSE_SECONDS", 0.01)
    deletions = DeletionStore(workshop.state, FIRST_STAGES)
    recorded = await deletions.record([Selection(ALICE, everything=True)], None, 0)
    taking = asyncio.create_task(_take(workshop, [episode(1)]))
    await asyncio.sleep(0.1)
    assert _contents(workshop) == {}
    await deletions.advance(recorded.deletion_ids[0], DeletionState.REMOVED)
    assert await taking == Imported(1, 0)

    await deletions.record([Selection(ALICE, everything=True)], None, 0)
    monkeypatch.setattr(importing, "_TRIES", 2)
    with pytest.raises(ServiceError, match="a deletion of this owner is not finished yet"):
        await _take(workshop, [episode(2)])
    assert list(_contents(workshop)) == ["ep_20260528_00000001"]


async def test_a_skill_is_written_unless_there_is_one_of_its_name(workshop: Workshop) -> None:
    skill = AgentSkill(CODER, "fix imports", "d", "theirs", 0.5, 0.5, (), T0)
    await workshop.publisher.publish_skill(replace(skill, content="mine"))
    other = replace(skill, name="run tests")
    assert await _take(workshop, [skill, other], CODER) == Imported(1, 1)
    contents = {each.name: each.content for each in workshop.markdown.read_skills(CODER)}
    assert contents == {"fix imports": "mine", "run tests": "theirs"}


async def test_an_import_of_many_lets_others_work(workshop: Workshop) -> None:
    given = [episode(n, f"Number {n}.") for n in range(1, 1501)]
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0)
            ticks += 1

    ticking = asyncio.create_task(tick())
    assert await _take(workshop, given) == Imported(1500, 0)
    ticking.cancel()
    assert ticks > 1500


async def test_a_line_without_end_is_refused(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "MAXIMUM_LINE_BYTES", 1000)

    async def endless() -> AsyncIterator[bytes]:
        yield encode_line(episode(1))
        while True:
            yield b"x" * 100

    with pytest.raises(ServiceError, match=r"memories\.jsonl line 2: is longer than 1000 bytes"):
        await import_records(_path(workshop), ALICE, endless())
    assert len(_contents(workshop)) == 1
