"""Appending to daily files: durable, idempotent, and never at the cost of what is there."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, date, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remanence_server.domain.messages import Role
from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.domain.records import (
    AgentCase,
    AtomicFact,
    Episode,
    Kind,
    Record,
    Transcript,
    Turn,
)
from remanence_server.markdown import daily_files, disk
from remanence_server.markdown.daily_files import DailyRecord
from remanence_server.markdown.store import MarkdownStore
from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.runtime.fault_points import FaultPoint, hooked

DAY = date(2026, 5, 28)
Make = Callable[..., DailyRecord]

_text = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
    st.lists(
        st.sampled_from(
            ["### Content", "<!-- /entry:x -->", "\n", "\r\n", " ", "**a**: b", "> ", "- ", "## x"]
        ),
        max_size=6,
    ).map("".join),
)
_texts = st.lists(_text, max_size=3).map(tuple)
_instants = st.integers(-60_000_000_000_000, 253_402_300_799_999)
_USER = Owner(Scope("app", "proj"), Track.USER, "alice")
_AGENT = Owner(Scope("app", "proj"), Track.AGENT, "coder")
_episodes = st.builds(
    Episode,
    owner=st.just(_USER),
    entry_id=st.just("ep_20260528_00000001"),
    session_id=_text,
    timestamp_ms=_instants,
    sender_ids=_texts,
    subject=_text,
    summary=_text,
    content=_text,
    parent_type=_text,
    parent_id=_text,
)
_facts = st.builds(
    AtomicFact,
    owner=st.just(_USER),
    entry_id=st.just("af_20260528_00000001"),
    session_id=_text,
    timestamp_ms=_instants,
    content=_text,
    parent_id=_text,
    sender_ids=_texts,
    message_ids=_texts,
    parent_type=_text,
)
_turns = st.builds(Turn, _text, _text, _text, st.sampled_from(Role), _instants, _text)
_transcripts = st.builds(
    Transcript,
    owner=st.just(_USER),
    entry_id=st.just("tr_20260528_00000001"),
    session_id=_text,
    timestamp_ms=_instants,
    sender_ids=_texts,
    turns=st.lists(_turns, max_size=3).map(tuple),
    parent_id=_text,
    parent_type=_text,
)
_cases = st.builds(
    AgentCase,
    owner=st.just(_AGENT),
    entry_id=st.just("ac_20260528_00000001"),
    session_id=_text,
    timestamp_ms=_instants,
    task_intent=_text,
    approach=_text,
    quality_score=st.floats(0, 1),
    key_insight=st.none() | _text,
    sender_ids=_texts,
    parent_type=_text,
    parent_id=_text,
)


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    # Whether a byte has reached the medium cannot be seen from here; waiting for it is slow.
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


def _records(store: MarkdownStore) -> list[Record]:
    records: list[Record] = []
    for file in store.files():
        parsed = store.read(file)
        assert parsed.problems == ()
        records.extend(entry.record for entry in parsed.records)
    return records


def _store(root: Path, zone: tzinfo = UTC) -> MarkdownStore:
    root.mkdir()
    return MarkdownStore(root, zone)


def _only_file(store: MarkdownStore) -> Path:
    (file,) = store.files()
    return file.path


@settings(max_examples=150, deadline=None)
@given(
    record=st.one_of(_episodes, _facts, _transcripts, _cases),
    zone=st.sampled_from([UTC, ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Kolkata")]),
)
def test_any_record_comes_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, record: DailyRecord, zone: ZoneInfo
) -> None:
    store = MarkdownStore(tmp_path_factory.mktemp("root"), zone)
    neighbour = replace(record, entry_id=f"{record.entry_id[:-1]}2")
    (written, _) = store.append((record, neighbour))
    assert written.record == record
    parsed = store.read(written.path)
    assert parsed.problems == ()
    assert [entry.record for entry in parsed.records] == [record, neighbour]
    assert parsed.records[0].content_hash == written.content_hash
    assert parsed.stamp == written.stamp


def test_records_of_several_kinds_go_to_their_files_and_come_back_in_order(
    store: MarkdownStore, episode: Make, fact: Make, transcript: Make, case: Make
) -> None:
    records = (fact(1), episode(), case(), fact(2), transcript())
    written = store.append(records)
    assert tuple(entry.record for entry in written) == records
    assert len({entry.path for entry in written}) == 4
    assert set(_records(store)) == set(records)


def test_appending_leaves_every_byte_that_was_there(store: MarkdownStore, episode: Make) -> None:
    store.append((episode(1),))
    path = _only_file(store)
    before = path.read_bytes()
    inode = path.stat().st_ino
    store.append((episode(2),))
    assert path.read_bytes().startswith(before)
    assert path.stat().st_ino == inode


def test_the_day_of_an_entry_is_that_of_its_messages_in_the_display_zone(
    tmp_path: Path, episode: Make
) -> None:
    # 28 May 2026 23:30 UTC is the 29th in Berlin.
    record = replace(episode(), entry_id="by-hand", timestamp_ms=1_780_011_000_000)
    (in_utc,) = _store(tmp_path / "utc", UTC).append((record,))
    (in_berlin,) = _store(tmp_path / "berlin", ZoneInfo("Europe/Berlin")).append((record,))
    assert in_utc.path.name == "episode-2026-05-28.md"
    assert in_berlin.path.name == "episode-2026-05-29.md"


def test_an_id_is_kept_in_the_file_of_its_day_though_its_message_is_older(
    store: MarkdownStore, fact: Make, alice: Owner
) -> None:
    (written,) = store.append((replace(fact(7), timestamp_ms=0),))
    assert written.path.name == "atomic_fact-2026-05-28.md"
    assert store.last_sequence(alice, Kind.ATOMIC_FACT, DAY) == 7
    assert store.last_sequence(alice, Kind.ATOMIC_FACT, date(1970, 1, 1)) == 0


def test_an_entry_is_not_written_twice_and_comes_back_as_it_is_on_disk(
    store: MarkdownStore, tmp_path: Path, episode: Make, fact: Make
) -> None:
    store.append((episode(1, "as first written"), fact(1)))
    files = {file.path: file.path.read_bytes() for file in store.files()}
    for again in (store, MarkdownStore(tmp_path, UTC)):
        written = again.append((episode(1, "as written again"), fact(1)))
        assert [entry.record for entry in written] == [episode(1, "as first written"), fact(1)]
        assert {path: path.read_bytes() for path in files} == files


def test_one_id_twice_in_a_call_is_written_once(store: MarkdownStore, episode: Make) -> None:
    written = store.append((episode(), episode()))
    assert len(written) == 2
    assert _records(store) == [episode()]


def _torn_files(make: Make, path: Path, store: MarkdownStore) -> Iterator[int]:
    """Leaves the file of entry 1 with ever more of entries 2 and 3; yields where it was torn."""
    store.append((make(1),))
    before = path.stat().st_size
    store.append((make(2, "Ölbäume 你好"), make(3)))
    whole = path.read_bytes()
    for end in range(before, len(whole), 5):
        # A power cut may leave zeros where the rest should be.
        path.write_bytes(whole[:end] + b"\x00" * (end % 3))
        yield end


@pytest.mark.parametrize("kind", ["episode", "fact", "transcript"])
def test_a_torn_tail_is_cut_when_its_entries_are_written_again(
    request: pytest.FixtureRequest, store: MarkdownStore, kind: str
) -> None:
    make: Make = request.getfixturevalue(kind)
    batch = (make(2, "Ölbäume 你好"), make(3))
    path = store.append((make(1),))[0].path
    for end in _torn_files(make, path, store):
        written = MarkdownStore(store.root, UTC).append(batch)
        assert tuple(entry.record for entry in written) == batch
        assert _records(store) == [make(1), *batch], end


@pytest.mark.parametrize("kind", ["episode", "fact", "transcript"])
def test_a_torn_tail_spoils_nothing_when_something_else_is_written_first(
    request: pytest.FixtureRequest, store: MarkdownStore, kind: str
) -> None:
    make: Make = request.getfixturevalue(kind)
    batch = (make(2, "Ölbäume 你好"), make(3))
    path = store.append((make(1),))[0].path
    for end in _torn_files(make, path, store):
        MarkdownStore(store.root, UTC).append((make(4),))
        records = [entry.record for entry in store.read(path).records]
        assert (records[0], records[-1]) == (make(1), make(4)), end
        assert set(records) <= {make(1), *batch, make(4)}, end
        MarkdownStore(store.root, UTC).append(batch)
        assert set(_records(store)) == {make(1), *batch, make(4)}, end


def test_an_entry_whose_closing_marker_a_person_deleted_is_reported_and_kept(
    store: MarkdownStore, episode: Make
) -> None:
    store.append((episode(1), episode(2, "precious")))
    path = _only_file(store)
    edited = path.read_text().replace("<!-- /entry:ep_20260528_00000002 -->\n", "")
    path.write_text(edited)
    store.append((episode(3),))
    parsed = store.read(path)
    assert path.read_text().startswith(edited)
    assert [entry.record for entry in parsed.records] == [episode(1), episode(3)]
    (problem,) = parsed.problems
    assert problem.entry_id == "ep_20260528_00000002"
    assert edited.split("\n")[problem.line - 1] == "<!-- entry:ep_20260528_00000002 -->"


def test_an_append_goes_on_in_a_file_that_a_person_has_just_saved(
    store: MarkdownStore, episode: Make
) -> None:
    store.append((episode(1),))
    path = _only_file(store)
    other = path.with_name(".copy")
    other.write_text(path.read_text().replace("Alice climbs.", "Alice dances."))
    other.rename(path)
    before = path.stat()
    (written,) = store.append((episode(2),))
    assert [entry.record for entry in store.read(path).records] == [
        episode(1, "Alice dances."),
        episode(2),
    ]
    # Whoever knew the file before the edit is not told that it knows it now.
    assert written.stamp_before is not None
    assert written.stamp_before.inode == before.st_ino
    assert written.stamp_before.size == before.st_size


@pytest.mark.parametrize("how", ["in place", "by renaming a copy over it"])
def test_a_file_saved_while_an_append_is_on_its_way_keeps_both(
    store: MarkdownStore, episode: Make, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    path = store.append((episode(1),))[0].path
    append = disk.append_durably
    calls = 0

    def save_first(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 1:
            edited = path.read_text().replace("Alice climbs.", "Alice dances all night.")
            copy = path if how == "in place" else path.with_name(".copy")
            copy.write_text(f"{edited}<!-- ent")
            copy.rename(path)
        return append(*arguments)

    monkeypatch.setattr(daily_files, "append_durably", save_first)
    store.append((episode(2),))
    assert calls == 2
    assert _records(store) == [episode(1, "Alice dances all night."), episode(2)]


def test_an_entry_written_to_a_file_that_loses_its_name_is_written_again(
    tmp_path: Path, episode: Make
) -> None:
    saved = False

    def save(point: FaultPoint) -> None:
        nonlocal saved
        if point is FaultPoint.MARKDOWN_APPENDED and not saved:
            saved = True
            copy = path.with_name(".copy")
            copy.write_bytes(before)
            copy.rename(path)

    store = MarkdownStore(tmp_path, UTC)
    path = store.append((episode(1),))[0].path
    before = path.read_bytes()
    with hooked(save):
        store.append((episode(2),))
    assert saved
    assert _records(store) == [episode(1), episode(2)]


@pytest.mark.parametrize("sees_the_append", [True, False])
def test_a_file_saved_in_place_while_an_append_is_synced_is_not_passed_off_as_known(
    store: MarkdownStore, episode: Make, *, sees_the_append: bool
) -> None:
    saved = False

    def save(point: FaultPoint) -> None:
        nonlocal saved
        if point is FaultPoint.MARKDOWN_APPENDED and not saved:
            saved = True
            text = path.read_text() if sees_the_append else before
            path.write_text(text.replace("Alice climbs.", "Alice dances all night.", 1))

    (first,) = store.append((episode(1),))
    path = first.path
    before = path.read_text()
    with hooked(save):
        (written,) = store.append((episode(2),))
    assert saved
    assert _records(store) == [episode(1, "Alice dances all night."), episode(2)]
    # What was known before the edit does not lead to what is there now.
    assert written.stamp == disk.stamp_of(path)
    assert written.stamp_before != first.stamp


def test_a_file_saved_the_moment_it_got_its_name_is_not_passed_off_as_known(
    store: MarkdownStore, episode: Make
) -> None:
    def save(point: FaultPoint) -> None:
        if point is FaultPoint.MARKDOWN_RENAMED:
            (path,) = store.root.rglob("*.md")
            path.write_text(path.read_text().replace("Alice climbs.", "Alice dances all night."))

    with hooked(save):
        (written,) = store.append((episode(1),))
    assert _records(store) == [episode(1, "Alice dances all night.")]
    assert written.stamp != disk.stamp_of(written.path)


def test_a_file_without_a_line_break_at_its_end_is_appended_to_properly(
    store: MarkdownStore, episode: Make
) -> None:
    store.append((episode(1),))
    path = _only_file(store)
    path.write_text(path.read_text() + "my own note")
    store.append((episode(2),))
    assert _records(store) == [episode(1), episode(2)]
    assert "\nmy own note\n\n<!-- entry:" in path.read_text()


def test_a_large_day_goes_on_in_another_file(
    store: MarkdownStore, episode: Make, alice: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(daily_files, "ROLL_OVER_BYTES", 2_000)
    for number in range(1, 8):
        store.append((episode(number),))
    names = [file.path.name for file in store.files()]
    assert "episode-2026-05-28.md" in names
    assert "episode-2026-05-28.2.md" in names
    assert sorted(_records(store), key=str) == [episode(number) for number in range(1, 8)]
    assert store.last_sequence(alice, Kind.EPISODE, DAY) == 7
    store.append((episode(1, "again"),))
    assert len(_records(store)) == 7


def test_one_huge_entry_can_be_read_again(store: MarkdownStore, transcript: Make) -> None:
    huge = transcript(1, "word " * 2_000_000)
    store.append((huge, transcript(2)))
    store.append((transcript(3),))
    assert set(_records(store)) == {huge, transcript(2), transcript(3)}


def test_removed_entries_leave_no_word_and_do_not_come_back(
    store: MarkdownStore, tmp_path: Path, episode: Make, fact: Make, alice: Owner
) -> None:
    store.append((episode(1), episode(2, "PIN 9931"), episode(3), fact(1), fact(2, "PIN 9931")))
    wanted = ["ep_20260528_00000002", "ep_20260528_00000009"]
    assert store.remove_entries(alice, Kind.EPISODE, wanted) == {"ep_20260528_00000002"}
    assert store.remove_entries(alice, Kind.EPISODE, wanted) == frozenset()
    store.remove_entries(alice, Kind.ATOMIC_FACT, ["af_20260528_00000002"])
    for again in (store, MarkdownStore(tmp_path, UTC)):
        assert again.append((episode(2, "PIN 9931"), fact(2, "PIN 9931"))) == ()
    assert set(_records(store)) == {episode(1), episode(3), fact(1)}
    assert not any("9931" in file.path.read_text() for file in store.files())
    assert not list((tmp_path / ".run" / "markdown").iterdir())


def test_removing_the_last_entry_does_not_free_its_number(
    store: MarkdownStore, tmp_path: Path, episode: Make, alice: Owner
) -> None:
    store.append((episode(1), episode(2)))
    store.remove_entries(alice, Kind.EPISODE, ["ep_20260528_00000002"])
    assert MarkdownStore(tmp_path, UTC).last_sequence(alice, Kind.EPISODE, DAY) == 2


def test_removing_keeps_what_a_person_wrote_around(
    store: MarkdownStore, episode: Make, alice: Owner
) -> None:
    store.append((episode(1), episode(2)))
    path = _only_file(store)
    text = path.read_text().replace("track: user\n", "track: user\nmood: happy # today\n")
    path.write_text(f"{text}\nA note of mine.\n".replace("\n", "\r\n"), newline="")
    before = path.read_bytes()
    store.remove_entries(alice, Kind.EPISODE, ["ep_20260528_00000001"])
    after = path.read_bytes()
    start = before.index(b"<!-- entry:ep_20260528_00000001 -->")
    end = before.index(b"<!-- entry:ep_20260528_00000002 -->")
    assert after == (before[:start] + b"<!-- removed:ep_20260528_00000001 -->\n\r\n" + before[end:])


def test_a_hand_written_id_can_be_removed(
    store: MarkdownStore, episode: Make, alice: Owner
) -> None:
    record = replace(episode(), entry_id="my-own")
    store.append((record,))
    assert store.remove_entries(alice, Kind.EPISODE, ["my-own"]) == {"my-own"}
    assert _records(store) == []


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (errno.ENOSPC, "storage is full"),
        (errno.EDQUOT, "storage is full"),
        (errno.EROFS, "storage cannot be written"),
        (errno.EACCES, "storage cannot be written"),
        (errno.EIO, "storage has failed"),
    ],
)
def test_a_disk_that_refuses_is_reported_and_the_file_stays_as_it_was(
    tmp_path: Path, episode: Make, number: int, message: str
) -> None:
    def refuse(point: FaultPoint) -> None:
        del point
        raise OSError(number, "refused", str(tmp_path))

    store = MarkdownStore(tmp_path, UTC)
    with hooked(refuse), pytest.raises(ServiceError):
        store.append((episode(1),))
    assert list(store.files()) == []
    store.append((episode(1),))
    before = _only_file(store).read_bytes()
    with hooked(refuse), pytest.raises(ServiceError) as caught:
        store.append((episode(2),))
    assert caught.value.code is ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE
    assert caught.value.message == message
    assert _only_file(store).read_bytes() == before
    assert not list((tmp_path / ".run" / "markdown").iterdir())
    store.append((episode(2),))
    assert _records(store) == [episode(1), episode(2)]


def test_a_short_write_is_taken_back(
    store: MarkdownStore, episode: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.append((episode(1),))
    before = _only_file(store).read_bytes()
    write = os.write
    calls = 0

    def short(descriptor: int, data: bytes) -> int:
        nonlocal calls
        calls += 1
        if calls > 1:
            raise OSError(errno.ENOSPC, "full")
        return write(descriptor, data[:20])

    monkeypatch.setattr(os, "write", short)
    with pytest.raises(ServiceError, match="storage is full"):
        store.append((episode(2),))
    assert calls == 2
    assert _only_file(store).read_bytes() == before


def test_an_entry_counts_as_written_only_once_it_is_synced(
    store: MarkdownStore, tmp_path: Path, episode: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.append((episode(1), episode(2)))
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_ino))
    path = _only_file(store)
    inode, folder = path.stat().st_ino, path.parent.stat().st_ino
    store.append((episode(3),))
    assert synced == [inode]
    # A repeat finds the entry; whoever wrote it may have died before the syncs.
    synced.clear()
    MarkdownStore(tmp_path, UTC).append((episode(3),))
    assert synced == [inode, folder]


def test_new_folders_are_made_durable_up_to_the_root(
    store: MarkdownStore, tmp_path: Path, episode: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: set[int] = set()
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.add(os.fstat(descriptor).st_ino))
    (written,) = store.append((episode(1),))
    folder = written.path
    while folder != tmp_path:
        assert folder.stat().st_ino in synced
        folder = folder.parent
    assert tmp_path.stat().st_ino in synced


def test_a_folder_that_leads_out_of_the_root_is_not_written_to(
    tmp_path: Path, episode: Make
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    root = tmp_path / "root"
    (root / "default_app" / "default_project").mkdir(parents=True)
    (root / "default_app" / "default_project" / "users").symlink_to(outside)
    with pytest.raises(ServiceError):
        MarkdownStore(root, UTC).append((episode(1),))
    assert list(outside.iterdir()) == []


def test_a_missing_root_is_not_made_anew(tmp_path: Path, episode: Make) -> None:
    with pytest.raises(ServiceError, match="storage is missing"):
        MarkdownStore(tmp_path / "gone", UTC).append((episode(),))
    assert not (tmp_path / "gone").exists()


def test_a_record_of_the_wrong_track_is_a_mistake_of_the_caller(
    store: MarkdownStore, episode: Make, coder: Owner
) -> None:
    with pytest.raises(ValueError, match="track"):
        store.append((replace(episode(), owner=coder),))


def test_threads_append_to_one_day_without_losing_an_entry(
    store: MarkdownStore, fact: Make
) -> None:
    def work(first: int) -> None:
        for number in range(first, first + 10):
            store.append((fact(number),))

    threads = [threading.Thread(target=work, args=(1 + 10 * n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(_records(store)) == {fact(number) for number in range(1, 61)}


def test_leftovers_of_a_killed_process_are_removed(store: MarkdownStore, tmp_path: Path) -> None:
    folder = tmp_path / ".run" / "markdown"
    folder.mkdir(parents=True)
    (folder / "0123.tmp").write_text("half")
    assert store.remove_temporary_files() == 1
    assert list(folder.iterdir()) == []
    assert disk.remove_temporary_files(tmp_path / "no such root") == 0
