"""The way of a record out of a stage: to Markdown, which keeps it, then to the index."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from remanence_server.domain.owners import Owner
from remanence_server.domain.records import AgentSkill, Profile, Record
from remanence_server.markdown.daily_files import DailyRecord, WrittenEntry
from remanence_server.markdown.store import MarkdownStore
from remanence_server.projection.projector import Projector
from remanence_server.runtime.fault_points import FaultPoint, reach
from remanence_server.runtime.tracing import span


@dataclass(frozen=True, slots=True)
class Publisher:
    """Writes records to Markdown and tells the projection: our own writes need no polling."""

    markdown: MarkdownStore
    projector: Projector

    async def publish(self, records: Sequence[Record]) -> tuple[WrittenEntry, ...]:
        """Writes entries of daily files; they are on disk when this returns, the index follows.

        Returns those that are on disk now, new or not. Doing it twice writes nothing new. Raises
        ServiceError when the disk refuses.
        """
        if not records:
            return ()
        entries = cast("Sequence[DailyRecord]", records)
        with self.projector.own_write():
            with span("markdown write", {"remanence.records": len(records)}):
                written = await asyncio.to_thread(self.markdown.append, entries)
            reach(FaultPoint.MARKDOWN_WRITTEN)
            self.projector.submit_entries(written)
        return written

    async def read_profile(self, owner: Owner) -> tuple[Profile | None, str]:
        """An owner's profile as it stands on disk, and the hash of the page it was read from."""

        def run() -> tuple[Profile | None, str]:
            # The hash first: an edit between the two reads then ends in a conflict, not in a loss.
            page_hash = self.markdown.profile_hash(owner)
            return self.markdown.read_profile(owner), page_hash

        return await asyncio.to_thread(run)

    async def publish_profile(self, profile: Profile, based_on_hash: str) -> None:
        """Writes a profile, unless its page was changed since `based_on_hash`.

        Raises ServiceError: CONFLICT when it was, EXTERNAL_SERVICE_UNAVAILABLE for the disk.
        """
        with self.projector.own_write():
            with span("markdown write", {"remanence.records": 1}):
                written = await asyncio.to_thread(
                    self.markdown.write_profile, profile, based_on_hash
                )
            reach(FaultPoint.MARKDOWN_WRITTEN)
            self.projector.submit_entries((written,))

    async def sync_profile(self, owner: Owner) -> None:
        """Makes durable what an earlier attempt wrote of a profile, had it no time to do so."""
        await asyncio.to_thread(self.markdown.sync_profile, owner)

    async def publish_skill(self, skill: AgentSkill, based_on_hash: str | None = None) -> None:
        """Writes a skill, over the page of that hash if one is given ("" for none).

        Raises ServiceError: CONFLICT when there is another page, EXTERNAL_SERVICE_UNAVAILABLE for
        the disk.
        """
        with self.projector.own_write():
            with span("markdown write", {"remanence.records": 1}):
                written = await asyncio.to_thread(self.markdown.write_skill, skill, based_on_hash)
            reach(FaultPoint.MARKDOWN_WRITTEN)
            self.projector.submit_entries((written,))
