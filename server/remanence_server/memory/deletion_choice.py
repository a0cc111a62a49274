"""What a deletion means, in entries: chosen by the catalogue, so that a filter means one thing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import batched
from pathlib import Path

from remanence_server.domain.filters import Comparison, Filter, FilterField, FilterOperator
from remanence_server.domain.owners import Owner, Track
from remanence_server.domain.records import (
    ID_PREFIX,
    AgentCase,
    Episode,
    Kind,
    Profile,
    Record,
    Transcript,
    kind_of,
    record_key,
)
from remanence_server.index.catalogue.interface import Catalogue
from remanence_server.markdown.store import MarkdownStore
from remanence_server.state.deletions import Selection

# Kinds that are entries of daily files.
DAILY_KINDS = tuple(ID_PREFIX)
_KINDS_OF: Mapping[Track, tuple[Kind, ...]] = {
    Track.USER: (Kind.EPISODE, Kind.ATOMIC_FACT, Kind.TRANSCRIPT),
    Track.AGENT: (Kind.AGENT_CASE,),
}
# Kinds that have public ids of their own.
_BY_ID = frozenset({Kind.EPISODE, Kind.ATOMIC_FACT, Kind.AGENT_CASE, Kind.AGENT_SKILL})
# Records that are looked at in one go; searches get their turn in between.
_A_TURN = 500


@dataclass(slots=True)
class Choice:
    """What of one owner goes. `known` are the ids that there are, by kind, for the answer."""

    selection: Selection
    known: Mapping[Kind, frozenset[str]]
    # Sessions that the episodes and cases came from.
    session_ids: frozenset[str] = frozenset()

    def count(self, kind: Kind) -> int:
        """How many of a kind go."""
        return len(self.known.get(kind, ()))


@dataclass(slots=True)
class _Gathering:
    owner: Owner
    ids: dict[Kind, set[str]] = field(default_factory=dict)
    cell_ids: set[str] = field(default_factory=set)
    session_ids: set[str] = field(default_factory=set)

    def add(self, records: Iterable[Record]) -> None:
        for record in records:
            if isinstance(record, Profile):
                continue
            self.ids.setdefault(kind_of(record), set()).add(record_key(record))
            if isinstance(record, Episode | AgentCase):
                self.session_ids.add(record.session_id)
                if record.parent_type == "memcell":
                    self.cell_ids.add(record.parent_id)

    async def finish(
        self, catalogue: Catalogue, markdown: MarkdownStore, *, everything: bool = False
    ) -> Choice:
        known = {kind: frozenset(ids) for kind, ids in self.ids.items()}
        episode_ids = self.ids.get(Kind.EPISODE, set())
        if episode_ids:
            # Also one that a person left unreadable: it has the number of its episode.
            prefixes = ID_PREFIX[Kind.TRANSCRIPT], ID_PREFIX[Kind.EPISODE]
            self.ids.setdefault(Kind.TRANSCRIPT, set()).update(
                prefixes[0] + episode_id.removeprefix(prefixes[1]) for episode_id in episode_ids
            )
        # What is removed with its folder need not be named.
        named = {} if everything else {kind: tuple(sorted(ids)) for kind, ids in self.ids.items()}
        selection = Selection(
            owner=self.owner,
            entry_ids=named,
            cell_ids=frozenset(self.cell_ids),
            everything=everything,
            everywhere=await _has_moved_entries(catalogue, markdown, self.owner, named),
        )
        return Choice(selection, known, frozenset(self.session_ids))


async def choose_by_ids(
    catalogue: Catalogue, markdown: MarkdownStore, owner: Owner, ids: Iterable[str]
) -> Choice:
    """Records by their public ids; an episode with what was made of it, anything else alone."""
    gathering = _Gathering(owner)
    for public_id in dict.fromkeys(ids):
        gathering.add(
            record
            for record in await catalogue.find_public(owner.scope, public_id)
            if record.owner == owner and kind_of(record) in _BY_ID
        )
    await _add_descendants(catalogue, gathering)
    return await gathering.finish(catalogue, markdown)


async def choose_session(
    catalogue: Catalogue, markdown: MarkdownStore, owner: Owner, session_id: str
) -> Choice:
    """All that an owner has from a session."""
    where = Comparison(FilterField.SESSION_ID, FilterOperator.EQ, session_id)
    gathering = _Gathering(owner)
    for kind in _KINDS_OF[owner.track]:
        await _add_matching(catalogue, gathering, kind, where)
    await _add_descendants(catalogue, gathering)
    return await gathering.finish(catalogue, markdown)


async def choose_matching(
    catalogue: Catalogue, markdown: MarkdownStore, owner: Owner, where: Filter | None
) -> Choice:
    """Episodes of a user, or cases of an agent, that a filter matches."""
    gathering = _Gathering(owner)
    kind = Kind.EPISODE if owner.track is Track.USER else Kind.AGENT_CASE
    await _add_matching(catalogue, gathering, kind, where)
    await _add_descendants(catalogue, gathering)
    return await gathering.finish(catalogue, markdown)


async def choose_everything(catalogue: Catalogue, markdown: MarkdownStore, owner: Owner) -> Choice:
    """All that an owner has."""
    gathering = _Gathering(owner)
    for kind in (*_KINDS_OF[owner.track], Kind.AGENT_SKILL):
        await _add_matching(catalogue, gathering, kind, None)
    return await gathering.finish(catalogue, markdown, everything=True)


async def freed_message_ids(
    catalogue: Catalogue, choices: Sequence[Choice], session_ids: Collection[str]
) -> dict[str, frozenset[str] | None]:
    """Ids of messages that are known no more, by session; None: all of a session's.

    Of a session that other users remember too, these are the messages that the owner has sent.
    """
    freed: dict[str, frozenset[str] | None] = {}
    owners = {choice.selection.owner for choice in choices}
    scope = next(iter(owners)).scope
    for session_id in session_ids:
        others = set(await catalogue.owners_of_session(scope, session_id)) - owners
        if not any(other.track is Track.USER for other in others):
            freed[session_id] = None
            continue
        sent: set[str] = set()
        for choice in choices:
            owner = choice.selection.owner
            transcript_ids = choice.known.get(Kind.TRANSCRIPT, frozenset())
            for part in batched(sorted(transcript_ids), _A_TURN):
                found = await catalogue.get_records(owner, Kind.TRANSCRIPT, part)
                sent |= {
                    turn.message_id
                    for record in found.values()
                    if isinstance(record, Transcript) and record.session_id == session_id
                    for turn in record.turns
                    if turn.sender_id == owner.owner_id
                }
        freed[session_id] = frozenset(sent)
    return freed


async def _add_matching(
    catalogue: Catalogue, gathering: _Gathering, kind: Kind, where: Filter | None
) -> None:
    record_ids = await catalogue.matching_record_ids(gathering.owner, kind, where)
    for part in batched(record_ids.tolist(), _A_TURN):
        gathering.add(await catalogue.records_by_ids(part))


async def _add_descendants(catalogue: Catalogue, gathering: _Gathering) -> None:
    episode_ids = gathering.ids.get(Kind.EPISODE, set())
    found = await catalogue.descendants(gathering.owner, episode_ids)
    for kind, ids in found.items():
        gathering.ids.setdefault(kind, set()).update(ids)


async def _has_moved_entries(
    catalogue: Catalogue,
    markdown: MarkdownStore,
    owner: Owner,
    entry_ids: Mapping[Kind, Sequence[str]],
) -> bool:
    """Whether a person has moved some of the entries to a file of another day."""
    for kind in DAILY_KINDS:
        paths = await catalogue.entry_paths(owner, kind, entry_ids.get(kind, ()))
        for entry_id, path in paths.items():
            file = markdown.identify(markdown.root / Path(path))
            if file is not None and file.day != _day_of_id(entry_id):
                return True
    return False


def _day_of_id(entry_id: str) -> date | None:
    try:
        return date.fromisoformat(entry_id.split("_")[1])
    except (IndexError, ValueError):
        return None
