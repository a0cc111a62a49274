"""A folder written by the first version of the format. It must stay readable for ever.

Never change these files. A new format adds a folder of its own beside them.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from datetime import UTC
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remanence_server.domain.messages import Role
from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.domain.records import (
    AgentCase,
    AgentSkill,
    AtomicFact,
    Episode,
    Kind,
    Profile,
    Record,
    Transcript,
    Turn,
)
from remanence_server.markdown.store import MarkdownStore
from remanence_server.runtime.errors import ServiceError

_GOLDEN = Path(__file__).parent / "golden" / "v1"
_INSTANT_MS = 1_779_967_836_123
_ALICE = Owner(Scope(), Track.USER, "alice")
_CODER = Owner(Scope("shop", "web"), Track.AGENT, "coder")
_EPISODES = (
    Episode(
        owner=_ALICE,
        entry_id="ep_20260528_00000001",
        session_id="demo-002",
        timestamp_ms=_INSTANT_MS,
        sender_ids=("alice", "helper"),
        subject="Alice: climbing in Yosemite",
        summary="Alice loves climbing in Yosemite every spring.",
        content=(
            "Thursday, 28 May 2026.\n\n"
            "> Alice: I love climbing in Yosemite.\n> Alice: Every spring!\n\n"
            "- helper asked where she stays"
        ),
        parent_id="mc_1",
    ),
    Episode(
        owner=_ALICE,
        entry_id="ep_20260528_00000002",
        session_id='odd "session"\n../..',
        timestamp_ms=_INSTANT_MS + 60_000,
        sender_ids=("alice", "Bob, the second"),
        subject="Two\nlines",
        summary="",
        content="### Content\n<!-- /entry:ep_20260528_00000002 -->\r\n---\n&#13; \x00 end\n",
        parent_type="cluster",
    ),
)
_FACTS = tuple(
    AtomicFact(
        owner=_ALICE,
        entry_id=f"af_20260528_0000000{number}",
        session_id="demo-002",
        timestamp_ms=_INSTANT_MS,
        content=content,
        parent_id="ep_20260528_00000001",
        sender_ids=("alice",),
        message_ids=("m_demo-002_1", "m_demo-002_2"),
    )
    for number, content in ((1, "Alice climbs in Yosemite every spring."), (2, "two\nlines <!-- x"))
)
_TRANSCRIPT = Transcript(
    owner=_ALICE,
    entry_id="tr_20260528_00000001",
    session_id="demo-002",
    timestamp_ms=_INSTANT_MS,
    sender_ids=("alice", "helper"),
    turns=(
        Turn(
            "m_demo-002_1",
            "alice",
            "Alice",
            Role.USER,
            _INSTANT_MS - 36_123,
            "I love climbing in Yosemite.\nEvery spring!\n\n```sh\n# a list\nls\n```",
        ),
        Turn("m_demo-002_2", "helper", "helper", Role.ASSISTANT, _INSTANT_MS, "Where do you stay?"),
    ),
    parent_id="ep_20260528_00000001",
)
_CASE = AgentCase(
    owner=_CODER,
    entry_id="ac_20260528_00000001",
    session_id="demo-003",
    timestamp_ms=_INSTANT_MS,
    task_intent="Make the build pass",
    approach="1. Read the log\n2. Fix the import",
    quality_score=0.85,
    key_insight="The lock file was stale.",
    sender_ids=("dana", "coder"),
    parent_id="mc_2",
)
_SKILL = AgentSkill(
    owner=_CODER,
    name="fix-imports",
    description="Fixes imports: when a build cannot find a module",
    content="# Steps\n\n1. Read the log\n2. Fix the import",
    confidence=0.75,
    maturity_score=1.0,
    source_case_ids=("ac_20260528_00000001",),
    timestamp_ms=_INSTANT_MS,
)
_PROFILE = Profile(
    owner=_ALICE,
    data={
        "summary": "Alice climbs, and works as a nurse.",
        "explicit_info": [
            {
                "category": "Home",
                "description": "Lives in Berlin",
                "evidence": "I moved to Berlin last month",
                "timestamp_ms": _INSTANT_MS,
                "superseded": [
                    {
                        "description": "Lives in Rome",
                        "evidence": "I live in Rome",
                        "timestamp_ms": 1_735_812_000_000,
                    }
                ],
            },
            {
                "category": "Work",
                "description": "Is a nurse",
                "message_ids": ["m_demo-002_1"],
            },
        ],
        "implicit_traits": ["Patient", {"trait": "Curious", "description": "asks why"}],
        "profile_timestamp_ms": _INSTANT_MS,
        "language": "en",
    },
    timestamp_ms=_INSTANT_MS,
)
_RECORDS: tuple[Record, ...] = (*_EPISODES, *_FACTS, _TRANSCRIPT, _CASE, _SKILL, _PROFILE)


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    # Whether a byte has reached the medium cannot be seen from here; waiting for it is slow.
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


def _write(root: Path) -> MarkdownStore:
    store = MarkdownStore(root, UTC)
    store.append((*_EPISODES, *_FACTS, _TRANSCRIPT, _CASE))
    store.write_skill(_SKILL)
    store.write_profile(_PROFILE)
    return store


def _read(store: MarkdownStore) -> list[Record]:
    records: list[Record] = []
    for file in store.files():
        parsed = store.read(file)
        assert parsed.problems == ()
        records.extend(entry.record for entry in parsed.records)
    return records


def test_the_golden_folder_is_read_as_it_was_written() -> None:
    records = _read(MarkdownStore(_GOLDEN, UTC))
    assert len(records) == len(_RECORDS)
    assert all(record in records for record in _RECORDS)


def test_the_golden_folder_can_be_written_on(tmp_path: Path) -> None:
    root = tmp_path / "root"
    shutil.copytree(_GOLDEN, root)
    store = _write(root)
    assert len(_read(store)) == len(_RECORDS)


def test_what_is_written_today_is_the_golden_folder(tmp_path: Path) -> None:
    # When this fails the format has changed: raise schema_version and keep this folder readable.
    _write(tmp_path)
    golden = {p.relative_to(_GOLDEN): p.read_bytes() for p in _GOLDEN.rglob("*.md")}
    written = {p.relative_to(tmp_path): p.read_bytes() for p in tmp_path.rglob("*.md")}
    assert written.keys() == golden.keys()
    for path, data in golden.items():
        assert written[path] == data, path


_DAMAGE = st.sampled_from(
    [
        *(b"", b"\xff", b"\x00", b"\n", b"\r\n", b"-->", b"<!-- entry:x -->\n", b"---\n", b"### "),
        *(b"- &a [*a]\n", b": ", b"\t", b"{", b'"', b"**", b"9999-99-99", b"\xef\xbb\xbf"),
    ]
)


@settings(max_examples=50, deadline=None)
@given(number=st.integers(0, 5), place=st.floats(0, 1), length=st.integers(0, 40), damage=_DAMAGE)
def test_a_damaged_file_is_never_more_than_reported(
    tmp_path_factory: pytest.TempPathFactory,
    number: int,
    place: float,
    length: int,
    damage: bytes,
) -> None:
    root = tmp_path_factory.mktemp("root") / "memory"
    shutil.copytree(_GOLDEN, root)
    store = MarkdownStore(root, UTC)
    file = sorted(store.files(), key=lambda file: file.path)[number]
    data = file.path.read_bytes()
    position = int(place * len(data))
    damaged = data[:position] + damage + data[position + length :]
    file.path.write_bytes(damaged)
    store.read(file)
    with contextlib.suppress(ServiceError):
        _write(root)
    for other in store.files():
        store.read(other)
    if file.kind in (Kind.PROFILE, Kind.AGENT_SKILL) and not store.read(file).readable:
        assert file.path.read_bytes() == damaged


@pytest.mark.parametrize("path", [p.relative_to(_GOLDEN) for p in _GOLDEN.rglob("*.md")], ids=str)
def test_golden_files_are_utf8_with_unix_line_ends(path: Path) -> None:
    data = (_GOLDEN / path).read_bytes()
    assert b"\r" not in data
    assert b"\x00" not in data
    assert data.decode().endswith("\n")
