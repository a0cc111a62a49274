"""The write path on a folder, wired as the service wires it, with switches that make it fail."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path

from remanence_server.domain.filters import Filter
from remanence_server.domain.messages import MemoryCell, Message, Role
from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.domain.records import Episode, Profile, Transcript, Turn
from remanence_server.extraction.heuristic import HeuristicExtractor
from remanence_server.extraction.interface import CaseDraft, CaseSkipped, EpisodeDraft, FactDraft
from remanence_server.index.catalogue import SqliteCatalogue
from remanence_server.index.dense import FaissDenseIndex
from remanence_server.index.lexical.interface import LexicalDocument, LexicalMatches
from remanence_server.index.partitions import partition_key
from remanence_server.ingest.boundary import BoundaryLimits, HeuristicBoundaryDetector
from remanence_server.markdown.paths import MemoryFile
from remanence_server.markdown.reader import ParsedFile
from remanence_server.markdown.store import MarkdownStore
from remanence_server.memory.stages import Pipeline
from remanence_server.memory.write import WritePath
from remanence_server.projection.activities import REBUILD, Activity
from remanence_server.projection.files import FileProjection
from remanence_server.projection.filling import Filling
from remanence_server.projection.follower import Follower
from remanence_server.projection.indexer import Indexer
from remanence_server.projection.projector import Projector
from remanence_server.projection.publisher import Publisher
from remanence_server.projection.scan import Scan
from remanence_server.providers.embeddings.hashing import HashingEmbedder
from remanence_server.providers.embeddings.interface import Matrix
from remanence_server.runtime.clock import Clock, SystemClock
from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.runtime.supervision import Supervisor
from remanence_server.state.database import Database
from remanence_server.state.entry_ids import EntryIds
from remanence_server.state.jobs.runner import JobRunner, RunnerPolicy
from remanence_server.state.jobs.store import JobStore
from remanence_server.state.schema import SCHEMA, SCHEMA_VERSION
from remanence_server.state.sessions import SessionStore
from tests.support.memory_lexical_index import MemoryLexicalIndex

# 2026-05-28T11:30:36Z
T0 = 1_779_967_836_000
ALICE = Owner(Scope(), Track.USER, "alice")
CODER = Owner(Scope(), Track.AGENT, "coder")


@dataclass
class Switch:
    """Fails the next `times` calls of whatever asks it."""

    times: int = 0
    calls: int = 0
    code: ErrorCode = ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE

    def pass_or_fail(self) -> None:
        """Raises as a provider or a disk in trouble does."""
        self.calls += 1
        if self.times:
            self.times -= 1
            raise ServiceError(self.code, "switched off")


class SwitchedEmbedder(HashingEmbedder):
    """The hashing embedder, which can fail, and counts the passages it embedded."""

    def __init__(self) -> None:
        self.switch = Switch()
        self.embedded: list[str] = []

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """See `Embedder`."""
        if texts:
            self.switch.pass_or_fail()
        self.embedded += texts
        return await super().embed_passages(texts)


class SwitchedLexicalIndex(MemoryLexicalIndex):
    """The keyword index in memory, which can fail."""

    def __init__(self) -> None:
        super().__init__()
        self.switch = Switch()
        self.fed: list[int] = []

    async def apply(
        self, stamp: int, upserts: Sequence[LexicalDocument], deletes: Sequence[int]
    ) -> None:
        """See `LexicalIndex.apply`."""
        self.switch.pass_or_fail()
        self.fed += [document.passage_id for document in upserts]
        await super().apply(stamp, upserts, deletes)


class CountingMarkdown(MarkdownStore):
    """The Markdown store, which remembers the files that were read whole."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, UTC)
        self.reads: list[str] = []

    def read(self, path: Path | MemoryFile) -> ParsedFile:
        """See `MarkdownStore.read`."""
        self.reads.append((path.path if isinstance(path, MemoryFile) else path).name)
        return super().read(path)


class SwitchedExtractor(HeuristicExtractor):
    """The heuristic extractor, each step of which can fail and is counted."""

    def __init__(self) -> None:
        super().__init__(zone=UTC)
        self.episode = Switch()
        self.facts = Switch()
        self.profile = Switch()
        self.case = Switch()

    async def extract_episode(self, cell: MemoryCell, owner: Owner) -> EpisodeDraft:
        """See `Extractor`."""
        self.episode.pass_or_fail()
        return await super().extract_episode(cell, owner)

    async def extract_facts(self, cell: MemoryCell, owner: Owner) -> tuple[FactDraft, ...]:
        """See `Extractor`."""
        self.facts.pass_or_fail()
        return await super().extract_facts(cell, owner)

    async def update_profile(
        self, cell: MemoryCell, owner: Owner, current: Profile | None, source: str | None = None
    ) -> Profile | None:
        """See `Extractor`."""
        self.profile.pass_or_fail()
        return await super().update_profile(cell, owner, current, source)

    async def extract_case(self, cell: MemoryCell, owner: Owner) -> CaseDraft | CaseSkipped:
        """See `Extractor`."""
        self.case.pass_or_fail()
        return await super().extract_case(cell, owner)


@dataclass(slots=True)
class Workshop:
    """All of the write path. Use `open_workshop`."""

    root: Path
    markdown: CountingMarkdown
    catalogue: SqliteCatalogue
    lexical: SwitchedLexicalIndex
    dense: FaissDenseIndex
    embedder: SwitchedEmbedder
    indexer: Indexer
    projector: Projector
    publisher: Publisher
    supervisor: Supervisor
    state: Database
    sessions: SessionStore
    jobs: JobStore
    runner: JobRunner
    extractor: SwitchedExtractor
    pipeline: Pipeline
    path: WritePath

    @property
    def scan(self) -> Scan:
        """A scan of the root."""
        return Scan(self.markdown, self.catalogue, self.projector)

    def follower(self, *, watch: bool = True, scan_interval_seconds: float = 3600) -> Follower:
        """A follower that has not been started."""
        return Follower(
            self.markdown,
            self.catalogue,
            self.projector,
            self.supervisor,
            self.fill,
            watch,
            scan_interval_seconds,
        )

    async def fill(self) -> bool:
        """Reads all of the Markdown into the catalogue."""

        async def finish() -> None:
            await self.catalogue.mark_filled()

        clock = SystemClock()
        files = FileProjection(self.markdown, self.catalogue, clock, self.projector.problems)
        filling = Filling(files, self.indexer, self.projector)
        return await filling.run(Activity(REBUILD, clock.now_ms()), finish)

    async def settle(self) -> None:
        """Waits until everything submitted is searchable."""
        await self.projector.wait_until_visible()

    async def words(self, owner: Owner, text: str, where: Filter | None = None) -> list[int]:
        """Passages found by their words."""
        channels = ("episode", "fact", "window", "case", "skill")
        found: LexicalMatches = await self.lexical.search(
            partition_key(owner), channels, text, 100, where
        )
        return [hit.passage_id for hits in found.hits.values() for hit in hits]

    async def vectors(self, owner: Owner, channel: str, text: str) -> list[str]:
        """Texts of passages found by their meaning, the nearest first."""
        vector = await self.embedder.embed_query(text)
        hits = await self.dense.search(owner, [channel], vector, 100)
        ids = [hit.passage_id for hit in hits[channel]]
        texts = await self.catalogue.passage_texts(ids)
        return [texts[passage_id] for passage_id in ids]

    def turns(self) -> list[tuple[str, str]]:
        """(owner, message id) of every turn of every transcript on disk."""
        return [
            (parsed.record.owner.owner_id, turn.message_id)
            for file in self.markdown.files()
            for parsed in self.markdown.read(file).records
            if isinstance(parsed.record, Transcript)
            for turn in parsed.record.turns
        ]

    def entry_ids(self) -> list[str]:
        """The entry id of every entry on disk, as often as it is there."""
        return [
            f"{parsed.record.owner.owner_id}/{parsed.record.entry_id}"
            for file in self.markdown.files()
            for parsed in self.markdown.read(file).records
            if not isinstance(parsed.record, Profile) and hasattr(parsed.record, "entry_id")
        ]


@dataclass(frozen=True, slots=True)
class WorkshopPlan:
    """What a test wants to be different."""

    project: bool = True
    work: bool = True
    clock: Clock = field(default_factory=SystemClock)
    maximum_attempts: int = 3
    retry_backoff_seconds: float = 0.01
    maximum_messages: int = 50
    lexical: SwitchedLexicalIndex | None = None


@asynccontextmanager
async def open_workshop(root: Path, plan: WorkshopPlan | None = None) -> AsyncIterator[Workshop]:
    """Opens every store under `root`, and starts what the plan says."""
    plan = plan or WorkshopPlan()
    embedder, lexical, supervisor = SwitchedEmbedder(), plan.lexical, Supervisor()
    lexical = lexical or SwitchedLexicalIndex()
    catalogue = SqliteCatalogue(
        root / ".index", fingerprint=embedder.fingerprint, dimensions=embedder.dimensions
    )
    dense = FaissDenseIndex(catalogue.load_partition, memory_budget_bytes=1 << 24)
    markdown = CountingMarkdown(root)
    indexer = Indexer(catalogue, lexical, dense, embedder)
    projector = Projector(markdown, catalogue, indexer, plan.clock, supervisor)
    publisher = Publisher(markdown, projector)
    state = Database(root / "system.db", SCHEMA, SCHEMA_VERSION)
    sessions, jobs, extractor = SessionStore(state), JobStore(state), SwitchedExtractor()
    pipeline = Pipeline(
        sessions, EntryIds(state), extractor, publisher, UTC, plan.maximum_attempts, jobs
    )
    policy = RunnerPolicy(
        workers=2, lease_seconds=60, retry_backoff_seconds=plan.retry_backoff_seconds
    )
    runner = JobRunner(jobs, pipeline.stages(), plan.clock, policy, supervisor)
    path = WritePath(
        sessions=sessions,
        boundary=HeuristicBoundaryDetector(BoundaryLimits(maximum_messages=plan.maximum_messages)),
        pipeline=pipeline,
        job_store=jobs,
        runner=runner,
        projector=projector,
        clock=plan.clock,
        visibility_timeout_seconds=10.0,
    )
    if plan.project:
        await projector.start()
    if plan.work:
        await runner.start()
    try:
        yield Workshop(
            root, markdown, catalogue, lexical, dense, embedder, indexer, projector, publisher,
            supervisor, state, sessions, jobs, runner, extractor, pipeline, path,
        )  # fmt: skip
    finally:
        await runner.stop(5)
        await supervisor.stop()
        await dense.close()
        await catalogue.close()
        state.close()


def episode(
    number: int = 1, content: str = "Alice climbs in Yosemite.", owner: Owner = ALICE
) -> Episode:
    """An episode of 2026-05-28."""
    return Episode(
        owner=owner,
        entry_id=f"ep_20260528_{number:08d}",
        session_id="s1",
        timestamp_ms=T0,
        sender_ids=(owner.owner_id,),
        subject=content.split(".", maxsplit=1)[0],
        summary=content,
        content=content,
        parent_id="mc_1",
    )


def transcript(*texts: str, number: int = 1, owner: Owner = ALICE) -> Transcript:
    """A transcript whose turns are said by A and B in turn."""
    return Transcript(
        owner=owner,
        entry_id=f"tr_20260528_{number:08d}",
        session_id="s1",
        timestamp_ms=T0,
        sender_ids=("a", "b"),
        turns=tuple(
            Turn(f"m{index}", "ab"[index % 2], "AB"[index % 2], Role.USER, T0 + index, text)
            for index, text in enumerate(texts)
        ),
        parent_id=f"ep_20260528_{number:08d}",
    )


def said(
    text: str, message_id: str = "", sender: str = "alice", at: int = 0, role: Role = Role.USER
) -> Message:
    """A message."""
    return Message(message_id, sender, role, T0 + at, text)
