"""The way of a record out of a stage: to Markdown, which keeps it, then to the index."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from remanence_server.domain.owners import Owner
from remanence_server.domain.records import Profile, Record
from remanence_server.markdown.daily_files import DailyRecord
from remanence_server.markdown.store import MarkdownStore
from remanence_server.projection.projector import Projector


@dataclass(frozen=True, slots=True)
class Publisher:
    """Writes records to Markdown and tells the projection: our own writes need no polling."""

    markdown: MarkdownStore
    projector: Projector

    async def publish(self, records: Sequence[Record]) -> None:
        """Writes entries of daily files; they are on disk when this returns, the index follows.

        Doing it twice writes nothing new. Raises ServiceError when the disk refuses.
        """
        if not records:
            return
        entries = cast("Sequence[DailyRecord]", records)
        with self.projector.own_write():
            written = await asyncio.to_thread(self.markdown.append, entries)
            self.projector.submit_entries(written)

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
            written = await asyncio.to_thread(self.markdown.write_profile, profile, based_on_hash)
            self.projector.submit_entries((written,))
