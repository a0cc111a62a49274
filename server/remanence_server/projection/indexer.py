"""Brings a change of the catalogue into the lexical and the dense index."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from remanence_server.domain.owners import Owner
from remanence_server.index.catalogue.changes import ChangeSet, IndexedPassage, RemovedPassage
from remanence_server.index.catalogue.interface import Catalogue
from remanence_server.index.damage import IndexDamagedError
from remanence_server.index.dense.interface import DenseIndex, group_by_partition
from remanence_server.index.lexical.interface import LexicalDocument, LexicalIndex
from remanence_server.index.partitions import partition_key
from remanence_server.providers.embeddings.interface import Embedder
from remanence_server.runtime.fault_points import FaultPoint, reach

# Passages fed or embedded in one step: large enough to be efficient, small enough that what waits
# behind is not kept waiting.
_BATCH = 512
_EMBEDDING_BATCH = 64
# So many batches refused in a row are no fault of their texts.
_FAILURES_OF_AN_OUTAGE = 3


@dataclass(frozen=True, slots=True)
class Indexer:
    """The indexes that follow the catalogue, and the model that embeds for them."""

    catalogue: Catalogue
    lexical: LexicalIndex
    dense: DenseIndex
    embedder: Embedder
    # From storing vectors to the dense index following: a removal that came between the two would
    # be undone by the second.
    _storing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def apply(self, change: ChangeSet) -> None:
        """Makes a change searchable by its words, and by its meaning as far as that is known.

        What needs the model is left to `embed`.
        """
        if not change.added and not change.removed:
            return
        await self._apply_lexical(change.stamp, change.added, change.removed)
        reach(FaultPoint.LEXICAL_APPLIED)
        await self._remove_dense(change.removed)
        await self._add_known_vectors([passage for passage in change.added if passage.dense])

    async def embed(self, change: ChangeSet) -> None:
        """Makes the new texts of a change searchable by their meaning."""
        new = [passage for passage in change.added if passage.dense and not passage.embedded]
        await self._embed(
            [passage.passage_id for passage in new], [passage.text for passage in new]
        )

    async def clear(self) -> None:
        """Empties the indexes: they hold passages of a catalogue that is gone."""
        await self.lexical.clear()
        await self.dense.clear()

    async def catch_up(self) -> None:
        """Feeds the lexical index what it has not durably seen; vectors are loaded anew."""
        # A change that failed half-way may have missed partitions that are in memory.
        await self.dense.clear()
        seen = await self.lexical.committed_stamp()
        removed_up_to = seen
        while removed := await self.catalogue.deletions_since(removed_up_to, _BATCH):
            removed_up_to = removed[-1].stamp
            await self._apply_lexical(seen, (), removed)
        while added := await self.catalogue.passages_since(seen, _BATCH):
            seen = added[-1].stamp
            await self._apply_lexical(seen, added, ())

    async def embed_waiting(self, on_done: Callable[[int], None] = lambda _: None) -> int:
        """Embeds passages that have no vector yet; returns how many were done.

        A batch that the model refuses does not keep the others waiting: it is tried again with the
        next call. Raises what the model raised last.
        """
        done = after = failures = 0
        failure: Exception | None = None
        while failures < _FAILURES_OF_AN_OUTAGE and (
            waiting := await self.catalogue.passages_without_vector(_EMBEDDING_BATCH, after)
        ):
            after = waiting[-1].passage_id
            try:
                await self._embed(
                    [passage.passage_id for passage in waiting],
                    [passage.text for passage in waiting],
                )
            except IndexDamagedError:
                raise
            except Exception as error:
                failure, failures = error, failures + 1
            else:
                done, failures = done + len(waiting), 0
                on_done(len(waiting))
        if failure is not None:
            raise failure
        return done

    async def commit(self) -> None:
        """Makes the lexical index durable, and drops what was only kept for it."""
        await self.lexical.commit()
        reach(FaultPoint.INDEX_COMMITTED)
        await self.catalogue.forget_deletions(await self.lexical.committed_stamp())

    async def expunge(self) -> None:
        """Leaves nothing of what was deleted in any file of the index, durably.

        Raises ServiceError when that cannot be done now.
        """
        await self.lexical.expunge()
        await self.catalogue.forget_deletions(await self.lexical.committed_stamp())
        if not self.catalogue.was_reset:
            # What a text means can be guessed from its vector. A catalogue that is being filled
            # does not know yet which ones it needs; the others are dropped when it is.
            await self.catalogue.prune_vectors()
        await self.catalogue.expunge()

    async def _apply_lexical(
        self, stamp: int, added: Iterable[IndexedPassage], removed: Iterable[RemovedPassage]
    ) -> None:
        await self.lexical.apply(
            stamp,
            [_document(passage) for passage in added if passage.lexical],
            [passage.passage_id for passage in removed],
        )

    async def _remove_dense(self, removed: Sequence[RemovedPassage]) -> None:
        for (owner, channel), group in _grouped(removed):
            ids = [passage.passage_id for passage in group]
            async with self._storing:
                await self.dense.apply(owner, channel, removed=ids)

    async def _add_known_vectors(self, passages: Sequence[IndexedPassage]) -> None:
        """Texts that were embedded before (the same words, or a rebuild) need no model."""
        known = [passage for passage in passages if passage.embedded]
        for (owner, channel), group in _grouped(known):
            block = await self.catalogue.vectors_of(passage.passage_id for passage in group)
            await self.dense.apply(owner, channel, block)

    async def _embed(self, passage_ids: Sequence[int], texts: Sequence[str]) -> None:
        for start in range(0, len(texts), _EMBEDDING_BATCH):
            batch = slice(start, start + _EMBEDDING_BATCH)
            vectors = await self.embedder.embed_passages(texts[batch])
            async with self._storing:
                stored = await self.catalogue.save_vectors(passage_ids[batch], vectors)
                reach(FaultPoint.VECTORS_STORED)
                for (owner, channel), block in group_by_partition(stored, vectors).items():
                    await self.dense.apply(owner, channel, block)


def _document(passage: IndexedPassage) -> LexicalDocument:
    values = passage.filter_values
    return LexicalDocument(
        passage_id=passage.passage_id,
        partition=partition_key(passage.owner),
        channel=passage.channel,
        text=passage.text,
        session_id=values.session_id,
        timestamp_ms=values.timestamp_ms,
        parent_type=values.parent_type,
        parent_id=values.parent_id,
        sender_ids=values.sender_ids,
    )


def _grouped[P: (IndexedPassage, RemovedPassage)](
    passages: Iterable[P],
) -> list[tuple[tuple[Owner, str], list[P]]]:
    ordered = sorted(passages, key=lambda passage: (passage.owner, passage.channel))
    return [
        (key, list(group))
        for key, group in itertools.groupby(ordered, key=lambda p: (p.owner, p.channel))
    ]
