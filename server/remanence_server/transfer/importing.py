"""Records of an export into an owner: Markdown first, then the index, as the pipeline writes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import date

from remanence_server.domain.owners import Owner
from remanence_server.domain.records import (
    ID_PREFIX,
    AgentSkill,
    Kind,
    Profile,
    Record,
    kind_of,
    record_key,
)
from remanence_server.extraction.heuristic.profile.merge import merged_profile
from remanence_server.projection.publisher import Publisher
from remanence_server.runtime.errors import ErrorCode, ServiceError, invalid_input
from remanence_server.runtime.ids import entry_sequence
from remanence_server.runtime.tasks import see_through
from remanence_server.state.deletions import DeletionStore
from remanence_server.state.entry_ids import EntryIds
from remanence_server.transfer.export import RECORDS
from remanence_server.transfer.record_lines import LineError, decode_line

# A line is one record, whole: of the largest, a transcript, the words of one conversation.
MAXIMUM_LINE_BYTES = 64 << 20
# A longer one is decoded beside the event loop.
_LONG_LINE_BYTES = 64 << 10
# So much is written, and synced, at once.
_BATCH_RECORDS = 500
_BATCH_BYTES = 4 << 20
# A job that has been given ids writes its entries within milliseconds; deletions end by themselves.
_TRIES = 100
_PAUSE_SECONDS = 0.1
# A person, or a job, may change the profile at the same moment.
_PROFILE_TRIES = 5


@dataclass(frozen=True, slots=True)
class ImportPath:
    """What an import needs."""

    publisher: Publisher
    entry_ids: EntryIds
    deletions: DeletionStore
    # The lock that a deletion of the owner holds, and stages while they publish.
    lock_of: Callable[[Owner], AbstractAsyncContextManager[object]]
    # How long to wait, after everything is on disk, until it can be found.
    visibility_timeout_seconds: float


@dataclass(slots=True)
class Imported:
    """How many records were written, and how many were there (or had been deleted there)."""

    imported: int = 0
    present: int = 0


async def import_records(path: ImportPath, owner: Owner, chunks: AsyncIterator[bytes]) -> Imported:
    """Takes the lines of `memories.jsonl` into an owner; ids stay, so a repeat changes nothing.

    A profile is merged into the one that is there, a skill is written unless there is one of its
    name. Raises ServiceError: INVALID_INPUT naming the line that is no record of this owner, with
    the earlier ones written; CONFLICT when the page of the profile cannot be read;
    EXTERNAL_SERVICE_UNAVAILABLE when the disk refuses.
    """
    total = Imported()
    batch: list[Record] = []
    size_bytes = 0
    try:
        async for number, line in _lines(chunks):
            batch.append(await _decode(number, line, owner))
            size_bytes += len(line)
            if len(batch) >= _BATCH_RECORDS or size_bytes >= _BATCH_BYTES:
                ready, batch, size_bytes = batch, [], 0
                await _write(path, owner, ready, total)
    except ServiceError as error:
        if error.code is ErrorCode.INVALID_INPUT and batch:
            await _write(path, owner, batch, total)
        raise
    await _write(path, owner, batch, total)
    try:
        async with asyncio.timeout(path.visibility_timeout_seconds):
            await path.publisher.projector.wait_until_visible()
    except TimeoutError:
        pass  # all of it is on disk, and the index follows
    return total


async def _decode(number: int, line: bytes, owner: Owner) -> Record:
    """The record of a line; others get their turn meanwhile."""
    try:
        if len(line) > _LONG_LINE_BYTES:
            return await asyncio.to_thread(decode_line, line, owner)
        await asyncio.sleep(0)
        return decode_line(line, owner)
    except LineError as error:
        raise _bad_line(number, str(error)) from None


async def _lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[tuple[int, bytes]]:
    """The lines that hold something, with their numbers from 1."""
    rest = bytearray()
    number = 0
    async for chunk in chunks:
        rest += chunk
        if b"\n" not in chunk:
            _check_length(rest, number + 1)
            continue
        *lines, rest = rest.split(b"\n")
        for line in lines:
            number += 1
            _check_length(line, number)
            if line.strip():
                yield number, _plain(line, number)
    if rest.strip():
        yield number + 1, _plain(rest, number + 1)


def _plain(line: bytearray, number: int) -> bytes:
    """The line without the byte order mark that some editors begin a file with."""
    return bytes(line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line)


def _check_length(line: bytearray, number: int) -> None:
    if len(line) > MAXIMUM_LINE_BYTES:
        raise _bad_line(number, f"is longer than {MAXIMUM_LINE_BYTES} bytes")


async def _write(
    path: ImportPath, owner: Owner, records: Sequence[Record], total: Imported
) -> None:
    """Writes a batch while nobody else writes or deletes anything of the owner."""

    async def run() -> ServiceError | None:
        async with path.lock_of(owner):
            obstacle = await _obstacle(path, owner, records)
            if obstacle is None:
                await _publish(path.publisher, records, total)
            return obstacle

    tries = 0
    # Cancelled half-way, the write would go on in its thread, and nobody would hold the lock.
    while (obstacle := await see_through(run())) is not None:
        tries += 1
        if tries == _TRIES:
            raise obstacle
        # Without the lock: who is in the way needs it.
        await asyncio.sleep(_PAUSE_SECONDS)


async def _publish(publisher: Publisher, records: Sequence[Record], total: Imported) -> None:
    entries: dict[tuple[Kind, str], Record] = {}
    for record in records:
        match record:
            case Profile():
                written = await _write_profile(publisher, record)
            case AgentSkill():
                written = await _write_skill(publisher, record)
            case _:
                # One that comes twice in a file is written once; the first one counts.
                entries.setdefault((kind_of(record), record.entry_id), record)
                continue
        total.imported += written
        total.present += not written
    published = await publisher.publish(tuple(entries.values()))
    new = sum(entry.stamp != entry.stamp_before for entry in published)
    total.imported += new
    total.present += sum(not isinstance(r, Profile | AgentSkill) for r in records) - new


async def _obstacle(
    path: ImportPath, owner: Owner, records: Sequence[Record]
) -> ServiceError | None:
    """What is in the way of these records: what it raises when it does not go by itself.

    No id may mean one thing in the import and another in a job of this server, and what comes in
    must not be taken for what an unfinished deletion has yet to remove.
    """
    if await path.deletions.is_under_way(owner):
        return _in_the_way("a deletion of this owner is not finished yet; try again")
    highest: dict[tuple[Kind, date], int] = {}
    wanted = set()
    for record in records:
        kind, entry_id = kind_of(record), record_key(record)
        # A transcript has the number of its episode.
        counted = Kind.EPISODE if kind is Kind.TRANSCRIPT else kind
        sequence = entry_sequence(entry_id) if kind in ID_PREFIX else None
        if sequence is None:
            continue
        _, day, number = entry_id.split("_")
        key = (counted, date.fromisoformat(day))
        highest[key] = max(highest.get(key, 0), sequence)
        wanted.add(f"{ID_PREFIX[counted]}_{day}_{number}")
    if highest and wanted & await path.entry_ids.raise_and_find_reserved(owner, highest):
        return _in_the_way(
            "a job of this owner has yet to write entries under ids of the import; look at the"
            " jobs, then try again"
        )
    return None


def _in_the_way(reason: str) -> ServiceError:
    return ServiceError(ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE, reason, retry_after_seconds=5.0)


async def _write_profile(publisher: Publisher, profile: Profile) -> bool:
    """Writes a profile, or what it adds to the one there; False when that is nothing."""
    tries = 0
    while True:
        tries += 1
        current, page_hash = await publisher.read_profile(profile.owner)
        merged = profile if current is None else merged_profile(current, profile)
        if merged is None:
            return False
        try:
            await publisher.publish_profile(merged, page_hash)
        except ServiceError as error:
            if error.code is not ErrorCode.CONFLICT or tries == _PROFILE_TRIES:
                raise
        else:
            return True


async def _write_skill(publisher: Publisher, skill: AgentSkill) -> bool:
    """Writes a skill; False when there is one of that name, whatever it says."""
    try:
        await publisher.publish_skill(skill, based_on_hash="")
    except ServiceError as error:
        if error.code is ErrorCode.CONFLICT:
            return False
        raise
    return True


def _bad_line(number: int, reason: str) -> ServiceError:
    return invalid_input(f"{RECORDS} line {number}: {reason}")
