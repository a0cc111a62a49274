"""Generations of the index: each a folder with a catalogue, its vectors and a keyword index.

A generation is never repaired. One that is damaged, or is to be made anew, is followed by the next
in a folder beside it, and deleted. Ids of records and passages begin elsewhere in each, so one that
was read in a generation means nothing in another: it can never name another owner's record.
"""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from remanence_server.index.catalogue.interface import Catalogue
from remanence_server.index.catalogue.schema import CATALOGUE_FILE, EMBEDDINGS_FILE, is_filled
from remanence_server.index.catalogue.sqlite import SqliteCatalogue
from remanence_server.index.dense import FaissDenseIndex
from remanence_server.index.lexical.interface import LexicalIndex
from remanence_server.runtime.errors import ServiceError
from remanence_server.runtime.faults import describe_fault
from remanence_server.runtime.logging import get_logger

_LEXICAL_FOLDER = "lexical"
# Of an SQLite file.
_HEADER_BYTES = 100
_FOLDER_NAME = re.compile(r"[1-9]\d{0,8}", re.ASCII)
# More records and passages than one generation will ever count.
_IDS_PER_GENERATION = 1 << 32

_log = get_logger(__name__)


@dataclass(slots=True)
class _DatabaseFile:
    """A database as it lay on disk when it was looked at; it shrinks only where it is packed."""

    path: Path
    inode: int
    size: int

    @classmethod
    def of(cls, path: Path) -> _DatabaseFile:
        status = path.stat()
        return cls(path, status.st_ino, status.st_size)

    def is_whole(self) -> bool:
        try:
            status = self.path.stat()
        except OSError:
            return False
        if status.st_ino != self.inode:
            return False
        if status.st_size < self.size and not self._says_so(status.st_size):
            return False
        self.size = status.st_size
        return True

    def _says_so(self, size: int) -> bool:
        """Whether the header agrees that the file has no more pages than these bytes hold."""
        try:
            with self.path.open("rb") as file:
                header = file.read(_HEADER_BYTES)
        except OSError:
            return False
        if len(header) < _HEADER_BYTES:
            return False
        # 1 stands for 65,536.
        page_bytes = int.from_bytes(header[16:18]) or 1
        pages = int.from_bytes(header[28:32])
        return 0 < pages * (65_536 if page_bytes == 1 else page_bytes) <= size


@dataclass(frozen=True, slots=True)
class IndexGeneration:
    """One catalogue and the indexes that follow it."""

    number: int
    folder: Path
    catalogue: Catalogue
    lexical: LexicalIndex
    dense: FaissDenseIndex
    files: tuple[_DatabaseFile, ...] = ()

    async def is_whole(self) -> bool:
        """Whether all files are where they were, as long as they were. A quick look."""
        if not all(file.is_whole() for file in self.files):
            return False
        return await self.lexical.is_whole()

    async def close(self) -> None:
        """Closes the files, making durable what the keyword index has."""
        await self.dense.close()
        try:
            await self.lexical.close()
        except ServiceError as error:
            _log.warning("index_not_closed", generation=self.number, error_code=error.code.value)
        await self.catalogue.close()


@dataclass(frozen=True, slots=True)
class IndexFolder:
    """Where the generations are, and how one is opened. For the process that owns the root."""

    folder: Path
    fingerprint: str
    dimensions: int
    open_lexical: Callable[[Path], Awaitable[LexicalIndex]]
    dense_memory_bytes: int

    async def open_latest(self) -> IndexGeneration:
        """The generation that was in use, or an empty one; everything else in the folder goes.

        Raises ServiceError when the disk refuses, or Lucene cannot run.
        """
        number = await asyncio.to_thread(self._latest)
        await asyncio.to_thread(self._tidy, number)
        return await self._open(number)

    async def open_next(self, last: IndexGeneration) -> IndexGeneration:
        """An empty generation to follow `last`, with its vectors as far as they can be read.

        Raises what the disk or Lucene raises; nothing is left of the generation then.
        """
        number = max([last.number, *self._numbers()]) + 1
        folder = self.folder / str(number)
        try:
            await asyncio.to_thread(folder.mkdir, parents=True)
            try:
                await last.catalogue.copy_vectors(folder / EMBEDDINGS_FILE)
            except Exception as error:
                # They are made anew, which takes a while and loses nothing.
                _log.warning("vectors_not_copied", **describe_fault(error))
                for path in folder.iterdir():
                    path.unlink()
            return await self._open(number)
        except BaseException:
            # Tried again and again on a full disk, the copies would fill it up.
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
            raise

    async def delete(self, generation: IndexGeneration) -> None:
        """Closes a generation and deletes its folder."""
        try:
            await generation.close()
        except Exception as error:
            _log.warning("index_not_closed", generation=generation.number, **describe_fault(error))
        await asyncio.to_thread(shutil.rmtree, generation.folder, ignore_errors=True)

    async def _open(self, number: int) -> IndexGeneration:
        folder = self.folder / str(number)
        lexical = await self.open_lexical(folder / _LEXICAL_FOLDER)
        try:
            # Lucene writes no file before the first commit, and files are what is looked at.
            await lexical.commit()
            catalogue = SqliteCatalogue(
                folder,
                fingerprint=self.fingerprint,
                dimensions=self.dimensions,
                first_id=number * _IDS_PER_GENERATION + 1,
            )
        except BaseException:
            await lexical.close()
            raise
        dense = FaissDenseIndex(
            catalogue.load_partition, memory_budget_bytes=self.dense_memory_bytes
        )
        files = tuple(_DatabaseFile.of(folder / name) for name in (CATALOGUE_FILE, EMBEDDINGS_FILE))
        return IndexGeneration(number, folder, catalogue, lexical, dense, files)

    def _latest(self) -> int:
        """The last generation that was ever complete, else the last one, else the first."""
        numbers = sorted(self._numbers(), reverse=True)
        for number in numbers:
            if is_filled(self.folder / str(number) / CATALOGUE_FILE):
                return number
        return numbers[0] if numbers else 1

    def _numbers(self) -> list[int]:
        try:
            return [
                int(path.name)
                for path in self.folder.iterdir()
                if _FOLDER_NAME.fullmatch(path.name)
            ]
        except OSError:
            return []

    def _tidy(self, number: int) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        for path in self.folder.iterdir():
            if path.name == str(number) and path.is_dir():
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
