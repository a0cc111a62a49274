"""What goes into the catalogue, and what a change of it means for the other indexes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from remanence_server.domain.owners import Owner
from remanence_server.domain.records import Kind, Record


@dataclass(frozen=True, slots=True)
class PassageDraft:
    """A text by which a record is found.

    `channel` names its granularity (episode text, fact, turns…); `ordinal` tells apart the passages
    of a record within a channel. `dense` and `lexical` say which indexes hold it.
    """

    channel: str
    ordinal: int
    text: str
    dense: bool = True
    lexical: bool = True


@dataclass(frozen=True, slots=True)
class IndexedRecord:
    """A record as Markdown has it now, with its passages.

    `content_hash` covers everything the record and its passages are made of, the rules that make
    the passages included: where it is the stored one, the record is left alone.
    """

    record: Record
    path: str
    content_hash: str
    passages: tuple[PassageDraft, ...] = ()


@dataclass(frozen=True, slots=True)
class EntryProblem:
    """An entry that could not be read; `entry_id` is None when not even that could be."""

    entry_id: str | None
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class FileState:
    """A Markdown file as it was last projected; `path` is relative to the memory root."""

    path: str
    size: int
    mtime_ns: int
    content_hash: str
    problems: tuple[EntryProblem, ...] = ()


@dataclass(frozen=True, slots=True)
class FilterValues:
    """The fields that filters look at; None where the record has no such field.

    Facts and transcripts carry those of their episode: a filter is about the episode.
    """

    session_id: str | None
    parent_type: str | None
    parent_id: str | None
    timestamp_ms: int | None
    sender_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class IndexedPassage:
    """A passage as the lexical and dense indexes need it.

    `passage_id` is never used twice; one that is already known replaces what is known of it.
    `embedded` tells whether its vector is stored.
    """

    passage_id: int
    stamp: int
    record_id: int
    owner: Owner
    kind: Kind
    channel: str
    ordinal: int
    text: str
    dense: bool
    lexical: bool
    embedded: bool
    filter_values: FilterValues


@dataclass(frozen=True, slots=True)
class RemovedPassage:
    """A passage that is gone. `owner` and `channel` name the partition it was in."""

    passage_id: int
    stamp: int
    owner: Owner
    channel: str


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """What one write changed. `stamp` is the change counter after it.

    `written` and `deleted` count records, `unchanged` those that were as given.
    """

    stamp: int
    added: tuple[IndexedPassage, ...] = ()
    removed: tuple[RemovedPassage, ...] = ()
    written: int = 0
    deleted: int = 0
    unchanged: int = 0


def merged(changes: Sequence[ChangeSet]) -> ChangeSet:
    """Changes that followed one another, as one; there must be at least one."""
    added: dict[int, IndexedPassage] = {}
    removed: dict[int, RemovedPassage] = {}
    for change in changes:
        removed.update((passage.passage_id, passage) for passage in change.removed)
        for passage in change.removed:
            added.pop(passage.passage_id, None)
        added.update((passage.passage_id, passage) for passage in change.added)
    return ChangeSet(
        stamp=changes[-1].stamp,
        added=tuple(added.values()),
        removed=tuple(removed.values()),
        written=sum(change.written for change in changes),
        deleted=sum(change.deleted for change in changes),
        unchanged=sum(change.unchanged for change in changes),
    )
