"""The keyword index on Lucene, for async callers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from itertools import batched
from pathlib import Path

from remanence_server.domain.filters import Filter
from remanence_server.index.jvm import JavaThread
from remanence_server.index.lexical.interface import LexicalDocument, LexicalMatches
from remanence_server.index.lexical.lucene_engine import LuceneEngine, translate_java_error
from remanence_server.index.lexical.lucene_search import LuceneSearch
from remanence_server.runtime.errors import ErrorCode, ServiceError

# BM25's usual values for short passages: term counts saturate early, length matters little.
DEFAULT_K1 = 0.9
DEFAULT_B = 0.4

# Written in one turn of the thread, some 20 ms: searches go in between when a store is fed anew.
_PASSAGES_A_TURN = 64

# Files without deleted passages are written beside; a gigabyte takes about a minute.
_LONGEST_EXPUNGE_SECONDS = 300.0
_EXPUNGE_PAUSE_SECONDS = 0.05


class LuceneIndex:
    """A `LexicalIndex` in a directory of its own.

    All calls of the process run one after the other on the Java thread.
    """

    def __init__(self, thread: JavaThread, engine: LuceneEngine, search: LuceneSearch) -> None:
        self._thread = thread
        self._engine = engine
        self._search = search
        # A commit must not take the stamp of one `apply` for another's half of the passages.
        self._writing = asyncio.Lock()

    @classmethod
    async def open(
        cls,
        directory: Path,
        thread: JavaThread,
        *,
        k1: float = DEFAULT_K1,
        b: float = DEFAULT_B,
    ) -> LuceneIndex:
        """Open the index in `directory`; where there is none, or a damaged one, start an empty one.

        Args:
            directory: Made when missing; files in it belong to the index.
            thread: The process's Java thread.
            k1: BM25's saturation of term counts.
            b: BM25's weight of the passage length, 0 to 1.

        Raises:
            ServiceError: CAPABILITY_UNAVAILABLE when Java cannot start, CONFIGURATION_ERROR when
                another process has the directory, EXTERNAL_SERVICE_UNAVAILABLE when the disk fails.
        """

        def start() -> LuceneIndex:
            engine = LuceneEngine(directory, k1, b)
            return cls(thread, engine, LuceneSearch(engine))

        return await thread.run(_translating_errors, start)

    async def apply(
        self, stamp: int, upserts: Sequence[LexicalDocument], deletes: Sequence[int]
    ) -> None:
        """See `LexicalIndex.apply`."""
        documents = {document.passage_id: document for document in upserts}
        async with self._writing:
            await self._run(self._engine.delete, {*deletes, *documents})
            for run in batched(documents.values(), _PASSAGES_A_TURN):
                await self._run(self._engine.add, run)
            await self._run(self._engine.publish, stamp)

    async def search(
        self,
        partition: str,
        channels: Sequence[str],
        text: str,
        limit: int,
        where: Filter | None = None,
        passage_ids: Sequence[int] | None = None,
    ) -> LexicalMatches:
        """See `LexicalIndex.search`."""
        return await self._run(
            self._search.search, partition, channels, text, limit, where, passage_ids
        )

    async def committed_stamp(self) -> int:
        """See `LexicalIndex.committed_stamp`."""
        return self._engine.committed_stamp

    async def commit(self) -> None:
        """See `LexicalIndex.commit`."""
        async with self._writing:
            await self._run(self._engine.commit)

    async def expunge(self) -> None:
        """See `LexicalIndex.expunge`."""
        async with asyncio.timeout(_LONGEST_EXPUNGE_SECONDS):
            while True:
                async with self._writing:
                    if not await self._run(self._engine.merge_deletes):
                        await self._run(self._engine.commit)
                        return
                await asyncio.sleep(_EXPUNGE_PAUSE_SECONDS)

    async def count(self) -> int:
        """See `LexicalIndex.count`."""
        return await self._run(self._engine.count)

    async def is_whole(self) -> bool:
        """See `LexicalIndex.is_whole`."""
        async with self._writing:
            return await self._run(self._engine.is_whole)

    async def check(self) -> None:
        """See `LexicalIndex.check`."""
        number = 0
        # Part by part: searches go in between.
        while await self._run(self._engine.check_part, number):
            number += 1

    async def clear(self) -> None:
        """See `LexicalIndex.clear`."""
        async with self._writing:
            await self._run(self._engine.clear)

    async def close(self) -> None:
        """See `LexicalIndex.close`."""
        async with self._writing:
            await self._run(self._engine.close)

    async def _run[**P, T](self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        def call() -> T:
            try:
                return _translating_errors(function, *args, **kwargs)
            except ServiceError:
                _translating_errors(self._engine.recover)
                raise

        return await self._thread.run(call)


def _translating_errors[**P, T](function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    import jnius

    try:
        return function(*args, **kwargs)
    except jnius.JavaException as error:
        class_name = error.classname or "unknown"
    except OSError:
        raise ServiceError(
            ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE,
            "The keyword index cannot be read or written",
            retry_after_seconds=5.0,
        ) from None
    # Outside the handler: the Java exception must not travel as context, it may quote a passage.
    raise translate_java_error(class_name)
