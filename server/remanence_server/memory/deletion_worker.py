"""Does what a deletion has decided: Markdown, then the index, then what is left in their files.

A call works on its own rows; a loop takes up what a crash or a full disk has left, and clears away
the last traces behind both. Every step can be done again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.domain.records import Kind, Profile, Transcript
from remanence_server.extraction.heuristic.profile.forget import without_episodes
from remanence_server.index.catalogue.interface import Catalogue
from remanence_server.markdown.disk import stamp_of
from remanence_server.markdown.store import MarkdownStore
from remanence_server.memory.deletion_choice import DAILY_KINDS
from remanence_server.memory.owner_locks import OwnerLocks
from remanence_server.projection.projector import Projector
from remanence_server.projection.records import is_unchanged, relative_path
from remanence_server.runtime.clock import Clock
from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.runtime.fault_points import FaultPoint, reach
from remanence_server.runtime.logging import get_logger
from remanence_server.state.deletions import Deletion, DeletionState, DeletionStore, Selection
from remanence_server.state.jobs.board import JobBoard

# How long a call waits for the index to follow the Markdown before it deletes anything.
_CATCH_UP_SECONDS = 30.0
# A person may save the profile at the same moment, but not this often in a row.
_ATTEMPTS = 5
# Between clearings, in the time that the last one took.
_PAUSE_SHARE = 10
_LONGEST_PAUSE_SECONDS = 60.0
# A page that became empty so short a time ago may be in the middle of a save.
_SAVING_MS = 10_000
# Between looks at a profile page that cannot be read.
_PROFILE_PAUSE_SECONDS = 30.0

_REMOVED = DeletionState.REMOVED

_log = get_logger(__name__)


@dataclass(slots=True)
class DeletionWorker:
    """One instance per process, under the lock of the memory root."""

    store: DeletionStore
    board: JobBoard
    markdown: MarkdownStore
    catalogue: Catalogue
    projector: Projector
    clock: Clock
    # The ones that stages hold while they publish.
    locks: OwnerLocks
    _wanted: asyncio.Event = field(default_factory=asyncio.Event)
    # Unfinished deletions, as far as the memory itself goes, at the last look.
    _held_up: int = 0
    _waiting_profiles: int = 0

    def reasons(self) -> list[str]:
        """What health says of deletions that cannot be finished."""
        reasons = []
        if self._held_up:
            reasons.append(f"{self._held_up} deletions are not finished; they go on by themselves")
        if self._waiting_profiles:
            reasons.append(
                f"{self._waiting_profiles} deletions wait for a profile page that cannot be read;"
                " `remanence doctor` names it"
            )
        return reasons

    def wake(self) -> None:
        """Says that there is something to finish, or to clear away."""
        self._wanted.set()

    async def run(self) -> None:
        """Finishes deletions until cancelled."""
        clear_at_seconds = self.clock.monotonic_seconds()
        while True:
            self._wanted.clear()
            await self._finish_open()
            pauses = [_PROFILE_PAUSE_SECONDS] if self._waiting_profiles else []
            now_seconds = self.clock.monotonic_seconds()
            if now_seconds < clear_at_seconds:
                pauses.append(clear_at_seconds - now_seconds)
            else:
                await self._clear_away()
                # What takes long in a large store is done for many deletions at once.
                done_seconds = self.clock.monotonic_seconds()
                rest_seconds = (done_seconds - now_seconds) * _PAUSE_SHARE
                clear_at_seconds = done_seconds + min(rest_seconds, _LONGEST_PAUSE_SECONDS)
            with suppress(TimeoutError):
                async with asyncio.timeout(min(pauses, default=None)):
                    await self._wanted.wait()

    async def _finish_open(self) -> None:
        """Takes up what calls, a crash or a full disk have left."""
        rows = [row for row in await self.store.unfinished() if row.state is not _REMOVED]
        self._held_up = sum(row.state is DeletionState.RECORDED for row in rows)
        if rows:
            _log.warning("deletions_taken_up", count=len(rows))
        waiting = 0
        for row in rows:
            async with self.locks.of(row.selection.owner):
                try:
                    await self.finish([row.deletion_id])
                except _ProfileWaitsError:
                    # It is looked at again later.
                    waiting += 1
        self._held_up = 0
        self._waiting_profiles = waiting

    async def finish(self, deletion_ids: Sequence[int]) -> int:
        """Removes from Markdown and index what rows say; returns how many profile items went.

        Call it with the locks of the owners. Raises ServiceError when storage refuses; the rows
        stay then.
        """
        rows = [row for each in deletion_ids if (row := await self.store.find(each)) is not None]
        profile_items = 0
        waits = False
        for row in rows:
            if row.state is not _REMOVED:
                removed = await self._remove_from_markdown(row)
                profile_items += removed or 0
                waits = waits or removed is None
        reach(FaultPoint.DELETE_MARKDOWN_REMOVED)
        for owner in {row.selection.owner for row in rows}:
            await self.bring_up_to_date(owner)
        reach(FaultPoint.DELETE_INDEX_REMOVED)
        if waits:
            raise _ProfileWaitsError
        return profile_items

    async def bring_up_to_date(self, owner: Owner) -> None:
        """Makes the index agree with the Markdown of an owner.

        Call it with the owner's lock. Raises ServiceError when that takes too long.
        """
        try:
            async with asyncio.timeout(_CATCH_UP_SECONDS):
                await self.projector.wait_until_visible()
                paths = await self._differing_files(owner)
                if paths:
                    await self.projector.read_now(paths)
        except TimeoutError:
            raise ServiceError(
                ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE,
                "the index is too far behind the memory; try again later",
                retry_after_seconds=5.0,
            ) from None

    async def owners_of_session(self, scope: Scope, session_id: str) -> list[Owner]:
        """Everybody who has, or is about to have, memories of a session."""
        if self.catalogue.was_reset:
            # It knows only what has been read so far.
            files = await asyncio.to_thread(lambda: list(self.markdown.files()))
            for owner in {file.owner for file in files if file.owner.scope == scope}:
                async with self.locks.of(owner):
                    await self.bring_up_to_date(owner)
        await self.projector.wait_until_visible()
        known = await self.catalogue.owners_of_session(scope, session_id)
        working = await self.board.owners_of_session(scope, session_id)
        return list(dict.fromkeys((*known, *working)))

    async def _remove_from_markdown(self, deletion: Deletion) -> int | None:
        """Returns how many profile items went; None when the page cannot be read."""
        selection = deletion.selection
        owner = selection.owner
        profile_items: int | None = 0
        if selection.everything:
            profile_items = await self._count_profile(owner)
            if deletion.state is DeletionState.RECORDED:
                await asyncio.to_thread(self.markdown.remove_owner, owner)
        else:
            # Before the transcripts go: they tell which lines of old pages came from them.
            profile_items = await self._remove_from_profile(selection)
            if deletion.state is DeletionState.RECORDED:
                # Only then: what came in later under the same ids is something else.
                await asyncio.to_thread(self._remove_entries, selection)
        waits = profile_items is None
        state = DeletionState.PROFILE_WAITS if waits else DeletionState.REMOVED
        await self.store.advance(deletion.deletion_id, state)
        return profile_items

    def _remove_entries(self, selection: Selection) -> None:
        for kind in DAILY_KINDS:
            ids = selection.ids(kind)
            if ids:
                self.markdown.remove_entries(
                    selection.owner, kind, ids, everywhere=selection.everywhere
                )
        for name in selection.ids(Kind.AGENT_SKILL):
            self.markdown.remove_skill(selection.owner, name)

    async def _remove_from_profile(self, selection: Selection) -> int | None:
        episode_ids = selection.ids(Kind.EPISODE)
        if selection.owner.track is not Track.USER or not episode_ids:
            return 0
        records = await self.catalogue.get_records(
            selection.owner, Kind.TRANSCRIPT, selection.ids(Kind.TRANSCRIPT)
        )
        transcripts = [record for record in records.values() if isinstance(record, Transcript)]

        def rewrite() -> int | None:
            for _ in range(_ATTEMPTS):
                try:
                    return self._rewrite_profile(selection.owner, episode_ids, transcripts)
                except ServiceError as error:
                    if error.code is not ErrorCode.CONFLICT:
                        raise
            return None

        return await asyncio.to_thread(rewrite)

    def _rewrite_profile(
        self, owner: Owner, episode_ids: Sequence[str], transcripts: Sequence[Transcript]
    ) -> int:
        page_hash = self.markdown.profile_hash(owner)
        profile = self.markdown.read_profile(owner)
        left = None
        if profile is not None:
            left = without_episodes(profile.data, episode_ids, transcripts)
        if profile is None or left is None:
            if self._is_being_saved(owner, page_hash):
                raise ServiceError(ErrorCode.CONFLICT, "the profile is being saved")
            return 0
        if left.is_empty and not self.markdown.has_profile_notes(owner):
            self.markdown.remove_profile(owner)
        else:
            changed = Profile(owner, left.data, self.clock.now_ms())
            self.markdown.write_profile(changed, page_hash)
        return left.removed

    def _is_being_saved(self, owner: Owner, page_hash: str) -> bool:
        """Whether the page is another than that of the hash, or has just become empty.

        An editor that saves empties the page first, and what comes is to be looked at.
        """
        emptied_ms = self.markdown.profile_emptied_ms(owner)
        if emptied_ms is not None and self.clock.now_ms() - emptied_ms < _SAVING_MS:
            return True
        return self.markdown.profile_hash(owner) != page_hash

    async def _count_profile(self, owner: Owner) -> int:
        if owner.track is not Track.USER:
            return 0
        try:
            profile = await asyncio.to_thread(self.markdown.read_profile, owner)
        except ServiceError:
            return 0  # it goes all the same
        data = {} if profile is None else profile.data
        lists = (data.get("explicit_info"), data.get("implicit_traits"))
        return sum(len(each) for each in lists if isinstance(each, list | tuple))

    async def _differing_files(self, owner: Owner) -> list[Path]:
        root = self.markdown.root
        files = await asyncio.to_thread(lambda: list(self.markdown.owner_files(owner)))
        paths = dict.fromkeys(file.path for file in files)
        known = [*await self.catalogue.paths_of(owner), *self.projector.problems.broken]
        for path in (root / each for each in known):
            file = self.markdown.identify(path)
            if file is not None and file.owner == owner:
                paths[path] = None
        differing = []
        for path in paths:
            state = await self.catalogue.file_state(relative_path(root, path))
            stamp = stamp_of(path)
            if state is None or stamp is None or not is_unchanged(state, stamp):
                differing.append(path)
        # What was moved is found in its new place before it is missed in its old one.
        return sorted(differing, key=lambda path: stamp_of(path) is None)

    async def _clear_away(self) -> None:
        """Leaves nothing in the files of index and state, then forgets the rows."""
        rows = [row for row in await self.store.unfinished() if row.state is _REMOVED]
        for owner in {row.selection.owner for row in rows}:
            async with self.locks.of(owner):
                await self.bring_up_to_date(owner)
        if rows:
            await self.projector.expunge()
        # Also without rows: messages may have been withdrawn that no memory had been made of.
        await self.store.close([row.deletion_id for row in rows])


class _ProfileWaitsError(ServiceError):
    def __init__(self) -> None:
        super().__init__(
            ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE,
            "the profile page of this owner cannot be read; repair it, or remove it: the rest is"
            " deleted, and that follows by itself",
        )
