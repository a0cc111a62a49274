"""The heuristic extractor: pure functions behind the `Extractor` interface."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, tzinfo

from remanence_server.domain.messages import MemoryCell
from remanence_server.domain.owners import Owner
from remanence_server.domain.records import Profile
from remanence_server.extraction.heuristic.case.draft import draft_case
from remanence_server.extraction.heuristic.conversation import conversation_of
from remanence_server.extraction.heuristic.episode import EpisodeLimits, episode_content
from remanence_server.extraction.heuristic.facts import extract_facts
from remanence_server.extraction.heuristic.profile.build import update_profile
from remanence_server.extraction.heuristic.subject import subject_of
from remanence_server.extraction.heuristic.summary import summarize
from remanence_server.extraction.interface import (
    CaseDraft,
    CaseSkipped,
    EpisodeDraft,
    FactDraft,
)

# Above this many characters a cell takes milliseconds that other requests should not wait for.
_OFF_LOOP_CHARACTERS = 4_000


class HeuristicExtractor:
    """Needs no model and no network; the same cell always gives the same drafts."""

    name = "heuristic"

    def __init__(self, zone: tzinfo = UTC, limits: EpisodeLimits | None = None) -> None:
        """`zone` is the display zone: dates are shown, and relative ones resolved, in it."""
        self._zone = zone
        self._limits = limits or EpisodeLimits()

    async def extract_episode(self, cell: MemoryCell, owner: Owner) -> EpisodeDraft:
        """See `Extractor`."""
        return await _run(cell, lambda: self._episode(cell, owner))

    async def extract_facts(self, cell: MemoryCell, owner: Owner) -> tuple[FactDraft, ...]:
        """See `Extractor`."""
        return await _run(cell, lambda: extract_facts(conversation_of(cell, owner), self._zone))

    async def update_profile(
        self, cell: MemoryCell, owner: Owner, current: Profile | None, source: str | None = None
    ) -> Profile | None:
        """See `Extractor`."""
        return await _run(
            cell, lambda: update_profile(conversation_of(cell, owner), owner, current, source)
        )

    async def extract_case(self, cell: MemoryCell, owner: Owner) -> CaseDraft | CaseSkipped:
        """See `Extractor`."""
        return await _run(cell, lambda: draft_case(cell, owner.owner_id))

    def _episode(self, cell: MemoryCell, owner: Owner) -> EpisodeDraft:
        conversation = conversation_of(cell, owner)
        content = episode_content(conversation, cell, owner, self._zone, self._limits)
        return EpisodeDraft(
            subject=subject_of(conversation),
            # A cell in which nobody said a word is summed up by its header.
            summary=summarize(conversation, self._zone) or content,
            content=content,
        )


async def _run[T](cell: MemoryCell, work: Callable[[], T]) -> T:
    size = sum(len(message.text) for message in cell.messages)
    return await asyncio.to_thread(work) if size > _OFF_LOOP_CHARACTERS else work()
