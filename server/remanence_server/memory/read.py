"""Search and get: what is remembered, ranked or listed, within one owner."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from remanence_server.domain.filters import Filter
from remanence_server.domain.messages import Message
from remanence_server.domain.owners import Owner, Track
from remanence_server.domain.records import Kind, Profile, Record
from remanence_server.index.catalogue.interface import SortBy
from remanence_server.index.live import LiveIndex
from remanence_server.memory.stages import EXTRACTING_STAGES
from remanence_server.retrieval.results import CaseHit, EpisodeHit, Query, SkillHit
from remanence_server.state.sessions import SessionStore


class Retriever(Protocol):
    """Ranks the memories of one owner."""

    async def episodes(self, query: Query) -> tuple[EpisodeHit, ...]:
        """Episodes of a user, best first."""
        ...

    async def cases(self, query: Query) -> tuple[CaseHit, ...]:
        """Cases of an agent, best first."""
        ...

    async def skills(self, query: Query) -> tuple[SkillHit, ...]:
        """Skills of an agent, best first."""
        ...


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of records of one kind. `page` counts from 1."""

    owner: Owner
    kind: Kind
    page: int
    page_size: int
    sort_by: SortBy
    descending: bool
    where: Filter | None


@dataclass(frozen=True, slots=True)
class Page:
    """The records of a page, and how many match on all pages."""

    total_count: int
    records: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """All that a search returns."""

    episodes: tuple[EpisodeHit, ...] = ()
    cases: tuple[CaseHit, ...] = ()
    skills: tuple[SkillHit, ...] = ()
    profiles: tuple[Profile, ...] = ()
    unprocessed: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadPath:
    """What search and get need."""

    index: LiveIndex
    retriever: Retriever
    sessions: SessionStore


async def search_memories(
    path: ReadPath, query: Query, *, include_profile: bool, unprocessed_session: str | None
) -> Found:
    """Ranks the memories of the query's owner; adds the profile and open messages if asked for."""
    return await path.index.reading(
        partial(
            _search,
            path,
            query,
            include_profile=include_profile,
            unprocessed_session=unprocessed_session,
        )
    )


async def list_memories(path: ReadPath, listing: Listing) -> Page:
    """Lists records of one kind, unranked, in a total order."""
    return await path.index.reading(partial(_list, path, listing))


async def _search(
    path: ReadPath, query: Query, *, include_profile: bool, unprocessed_session: str | None
) -> Found:
    unprocessed = _unprocessed(path, query.owner, unprocessed_session)
    if query.owner.track is Track.USER:
        episodes, messages, profiles = await asyncio.gather(
            path.retriever.episodes(query),
            unprocessed,
            _profiles(path, query.owner) if include_profile else _nothing(),
        )
        return Found(episodes=episodes, profiles=profiles, unprocessed=messages)
    cases, skills, messages = await asyncio.gather(
        path.retriever.cases(query), path.retriever.skills(query), unprocessed
    )
    return Found(cases=cases, skills=skills, unprocessed=messages)


async def _list(path: ReadPath, listing: Listing) -> Page:
    if listing.kind is Kind.PROFILE:
        # At most one, whatever page or filter was asked for.
        profiles = await _profiles(path, listing.owner)
        return Page(len(profiles), profiles)
    total, records = await path.index.catalogue.list_records(
        listing.owner,
        listing.kind,
        where=listing.where,
        sort_by=listing.sort_by,
        descending=listing.descending,
        offset=(listing.page - 1) * listing.page_size,
        limit=listing.page_size,
    )
    return Page(total, tuple(records))


async def _unprocessed(path: ReadPath, owner: Owner, session_id: str | None) -> tuple[Message, ...]:
    if session_id is None:
        return ()
    return tuple(await path.sessions.unprocessed(owner.scope, session_id, EXTRACTING_STAGES))


async def _profiles(path: ReadPath, owner: Owner) -> tuple[Profile, ...]:
    records: Sequence[Record] = (
        await path.index.catalogue.list_records(
            owner,
            Kind.PROFILE,
            limit=1,
        )
    )[1]
    return tuple(record for record in records if isinstance(record, Profile))


async def _nothing() -> tuple[Profile, ...]:
    return ()
