"""One Lucene index on disk: opening, writing, refreshing, committing. For the Java thread only."""

from __future__ import annotations

import base64
import hashlib
import logging
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from remanence_server.index.damage import IndexDamagedError
from remanence_server.index.lexical.analysis import STOP_WORDS, passage_terms
from remanence_server.index.lexical.filter_query import KEYS_FIELD, TIMESTAMP_FIELD
from remanence_server.index.lexical.interface import ORDINARY_TERMS, LexicalDocument
from remanence_server.index.lexical.keys import document_keys
from remanence_server.index.lexical.lucene_types import LuceneTypes, lucene_types
from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.runtime.fault_points import FaultPoint, reach

# Written in every commit; an index of another format is fed again. Raise it when fields or the
# analysis of passages change.
FORMAT = "1"
TERMS_FIELD = "terms"
ID_FIELD = "id"

# Longer than any term of ours: the white-space tokenizer cuts what is longer in two.
MAX_TERM_CHARACTERS = 4_096
# A flush of a session is a few hundred kilobytes; bulk feeding writes a segment every 16 MB.
_WRITE_BUFFER_MEGABYTES = 16.0
# Lucene's 1,024 would refuse long filters; requests are bounded by their size already.
_MAX_CLAUSES = 1_000_000

_logger = logging.getLogger(__name__)


def partition_prefix(partition: str) -> str:
    """What the terms of a partition begin with, so that its statistics are its own.

    Twelve characters; should two partitions ever share them, they share statistics, not passages.
    """
    digest = hashlib.blake2b(partition.encode("utf-8", "surrogatepass"), digest_size=9).digest()
    return base64.urlsafe_b64encode(digest).decode("ascii")


class LuceneEngine:
    """The writer, and a searcher over all that was applied."""

    def __init__(self, directory: Path, k1: float, b: float) -> None:
        types = self.types = lucene_types()
        types.IndexSearcher.setMaxClauseCount(_MAX_CLAUSES)
        self._path = directory
        self._k1, self._b = k1, b
        self._passage_analyzer = types.EnglishAnalyzer(types.CharArraySet.EMPTY_SET)
        self._question_analyzer = types.EnglishAnalyzer(
            types.StopFilter.makeStopSet(list(STOP_WORDS))
        )
        self._slot_with_timestamp = _DocumentSlot(types, timestamp=True)
        self._slot_without_timestamp = _DocumentSlot(types, timestamp=False)
        self._stamp = 0
        self.committed_stamp = 0
        self._closed = False
        # Bytes of the files of the last commit: Lucene writes a file once.
        self._sizes: dict[str, int] = {}
        self._open_or_start_anew()

    # What was applied is visible through these two.
    reader: Any
    searcher: Any

    def words(self, text: str) -> list[str]:
        """Segmented, lower-cased, stemmed."""
        return self._analyse(self._passage_analyzer, text)

    def words_without_stops(self, text: str) -> list[str]:
        """The same without stop words."""
        return self._analyse(self._question_analyzer, text)

    def _analyse(self, analyzer: Any, text: str) -> list[str]:
        types = self.types
        joined: str = types.String.join(" ", types.AnalyzerUtils.analyze(analyzer, text))
        return joined.split(" ") if joined else []

    def delete(self, passage_ids: Collection[int]) -> None:
        """Remove passages; visible after `publish`."""
        if passage_ids:
            query = self.types.LongField.newSetQuery(ID_FIELD, sorted(passage_ids))
            self._writer.deleteDocuments([query])

    def add(self, documents: Iterable[LexicalDocument]) -> None:
        """Write passages whose ids the index does not hold; visible after `publish`."""
        for document in documents:
            self._add(document)

    def publish(self, stamp: int) -> None:
        """Make everything written visible to searches. The next commit keeps the stamp."""
        self._refresh()
        self._stamp = stamp

    def _add(self, document: LexicalDocument) -> None:
        prefix = partition_prefix(document.partition)
        terms = passage_terms(document.text, self.words)
        slot = self._slot_without_timestamp
        if document.timestamp_ms is not None:
            slot = self._slot_with_timestamp
            slot.timestamp.setLongValue(document.timestamp_ms)
        slot.id.setLongValue(document.passage_id)
        slot.keys.setStringValue(" ".join(document_keys(document)))
        slot.terms.setStringValue(" ".join([prefix + term for term in terms]))
        self._writer.addDocument(slot.document)

    def _refresh(self) -> None:
        newer = self.types.DirectoryReader.openIfChanged(self.reader)
        if newer is not None:
            self.reader.close()
            self._set_reader(newer)

    def _set_reader(self, reader: Any) -> None:
        self.reader = reader
        self.searcher = self.types.IndexSearcher(reader)
        self.searcher.setSimilarity(self.types.BM25Similarity(*self._parameters()))

    def _parameters(self) -> tuple[float, float]:
        """The k1 and b with which Lucene scores as if the average length were `ORDINARY_TERMS`.

        BM25 sets a term's count against k1 (1 - b + b length / average). Lucene's average is that
        of everybody's passages, so what others remember would show in a score; with these two
        values the expression comes out as with the constant.
        """
        count = self.reader.getDocCount(TERMS_FIELD)
        if not count:
            return self._k1, self._b
        average = self.reader.getSumTotalTermFreq(TERMS_FIELD) / count
        slope = self._b * average / ORDINARY_TERMS
        return self._k1 * (1 - self._b + slope), slope / (1 - self._b + slope)

    def commit(self) -> None:
        """See `LexicalIndex.commit`."""
        data = self.types.HashMap()
        data.put("format", FORMAT)
        data.put("stamp", str(self._stamp))
        self._writer.setLiveCommitData(data.entrySet())
        reach(FaultPoint.INDEX_COMMITTING)
        self._writer.commit()
        self.committed_stamp = self._stamp

    def merge_deletes(self) -> bool:
        """Begin to rewrite the files that hold deleted passages; False when there are none.

        Lucene merges on threads of its own. Call it until there are none, then commit.
        """
        self._refresh()
        if not self.reader.numDeletedDocs():
            return False
        self._writer.forceMergeDeletes(False)
        return True

    def clear(self) -> None:
        """See `LexicalIndex.clear`."""
        self._writer.deleteAll()
        self._refresh()
        self._stamp = 0
        self.commit()

    def is_whole(self) -> bool:
        """See `LexicalIndex.is_whole`."""
        import jnius

        try:
            commit = self.types.SegmentInfos.readLatestCommit(self._directory)
            names = self.types.String.join("/", commit.files(True)).split("/")
            sizes = {name: (self._path / name).stat().st_size for name in names}
        except (jnius.JavaException, OSError):
            return False
        if any(sizes[name] != self._sizes.get(name, sizes[name]) for name in sizes):
            return False
        self._sizes = sizes
        return True

    def check_part(self, number: int) -> bool:
        """Compare the checksums of one part; False when there is no such part.

        Raises what Lucene raises when they differ.
        """
        leaves = self.reader.leaves()
        if number >= leaves.size():
            return False
        leaves.get(number).reader().checkIntegrity()
        return True

    def count(self) -> int:
        """How many passages there are."""
        return int(self.reader.numDocs())

    def close(self) -> None:
        """Commit and release the files, which it does though the commit fails."""
        self._closed = True
        try:
            self.commit()
        finally:
            for release in (self.reader.close, self._writer.rollback, self._directory.close):
                _ignoring_java_errors(release)

    def recover(self) -> None:
        """Open again what an error has closed.

        Lucene closes a writer that met an error it cannot undo: a full disk, a damaged file. What
        was not committed is lost then, and `committed_stamp` says what remains.
        """
        if self._closed or self._writer.isOpen():
            return
        # As long as no other can be opened, searches go on with what this reader sees.
        outdated = (self.reader, self._directory)
        self._open_or_start_anew()
        for resource in outdated:
            _ignoring_java_errors(resource.close)

    def _open_or_start_anew(self) -> None:
        import jnius

        self._path.mkdir(parents=True, exist_ok=True)
        try:
            self._open()
        except jnius.JavaException as error:
            # Errors, as Java tells them from exceptions, are about the VM: memory, classes.
            if error.classname in _NOT_DAMAGE or error.classname.endswith("Error"):
                raise
            _logger.warning("lexical index is damaged (%s); it starts anew", error.classname)
            self._start_anew()
        except _OtherFormatError:
            _logger.info("lexical index has another format; it starts anew")
            self._start_anew()

    def _start_anew(self) -> None:
        for path in self._path.iterdir():
            if path.is_file():
                path.unlink()
        self._open()

    def _open(self) -> None:
        types = self.types
        self._directory = types.FSDirectory.open(types.File(str(self._path)).toPath())
        try:
            stamp = self._read_stamp()
            config = types.IndexWriterConfig(types.WhitespaceAnalyzer(MAX_TERM_CHARACTERS))
            config.setRAMBufferSizeMB(_WRITE_BUFFER_MEGABYTES)
            merging = types.TieredMergePolicy()
            # A deletion is final: no file may keep its words because it has few of them.
            merging.setForceMergeDeletesPctAllowed(0.0)
            config.setMergePolicy(merging)
            # Closing after an error must not make half a batch durable.
            config.setCommitOnClose(False)
            self._writer = types.IndexWriter(self._directory, config)
            try:
                self._set_reader(types.DirectoryReader.open(self._writer))
            except BaseException:
                _ignoring_java_errors(self._writer.rollback)
                raise
        except BaseException:
            _ignoring_java_errors(self._directory.close)
            raise
        self._stamp = self.committed_stamp = stamp

    def _read_stamp(self) -> int:
        # A lock file alone is what remains of a start that was cut short.
        if not any(path.name != "write.lock" for path in self._path.iterdir()):
            return 0
        data = self.types.SegmentInfos.readLatestCommit(self._directory).getUserData()
        # The writer's first commit, before ours, has no data.
        if data.get("format") not in (FORMAT, None):
            raise _OtherFormatError
        return int(data.get("stamp") or 0)


class _OtherFormatError(Exception):
    pass


# Failures to open that say nothing against the index: it is in use, or the disk is.
_LOCKED = "org.apache.lucene.store.LockObtainFailedException"
_NOT_DAMAGE = frozenset(
    {_LOCKED, "java.nio.file.AccessDeniedException", "java.nio.file.FileSystemException"}
)


class _DocumentSlot:
    """A Lucene document whose fields are filled again for every passage.

    Lucene copies values while it indexes, and building a document anew costs ten times the calls.
    """

    def __init__(self, types: LuceneTypes, *, timestamp: bool) -> None:
        no = types.Store.NO
        self.id = types.LongField(ID_FIELD, 0, no)
        self.keys = types.Field(KEYS_FIELD, "", _field_type(types, "DOCS", norms=False))
        self.terms = types.Field(TERMS_FIELD, "", _field_type(types, "DOCS_AND_FREQS", norms=True))
        self.document = types.Document()
        for field in (self.id, self.keys, self.terms):
            self.document.add(field)
        if timestamp:
            self.timestamp = types.LongField(TIMESTAMP_FIELD, 0, no)
            self.document.add(self.timestamp)


def _field_type(types: LuceneTypes, options: str, *, norms: bool) -> Any:
    field_type = types.FieldType()
    field_type.setTokenized(True)
    field_type.setOmitNorms(not norms)
    field_type.setIndexOptions(getattr(types.IndexOptions, options))
    field_type.freeze()
    return field_type


def _ignoring_java_errors(function: Callable[[], None]) -> None:
    """For cleaning up after a failure that is being reported already."""
    import jnius

    with suppress(jnius.JavaException):
        function()


# Files that are not what was written. A mapped file that was cut short is an internal error of the
# VM, where it is read.
_DAMAGE = frozenset(
    {
        "java.io.EOFException",
        "java.io.FileNotFoundException",
        "java.lang.InternalError",
        "java.nio.file.NoSuchFileException",
        "org.apache.lucene.index.CorruptIndexException",
        "org.apache.lucene.index.IndexFormatTooNewException",
        "org.apache.lucene.index.IndexFormatTooOldException",
        "org.apache.lucene.index.IndexNotFoundException",
    }
)


def translate_java_error(class_name: str) -> ServiceError:
    """What a Java exception means outside. Its message stays here: it may quote a passage."""
    if class_name in _DAMAGE:
        return IndexDamagedError("lexical")
    if class_name == _LOCKED:
        return ServiceError(
            ErrorCode.CONFIGURATION_ERROR, "The keyword index is in use by another process"
        )
    if class_name.startswith(("java.io.", "java.nio.", "org.apache.lucene.")):
        return ServiceError(
            ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE,
            "The keyword index cannot be read or written",
            retry_after_seconds=5.0,
        )
    return ServiceError(ErrorCode.INTERNAL_ERROR, f"The keyword index failed ({class_name})")
