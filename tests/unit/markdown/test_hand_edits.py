"""What people do to the files: it is honoured, or reported where it stands; never overwritten."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from remanence_server.domain.owners import Owner
from remanence_server.domain.records import AgentCase, AtomicFact, Episode, Kind, Transcript
from remanence_server.markdown.reader import ParsedFile
from remanence_server.markdown.store import MarkdownStore

_HEADER_END = "date: 2026-05-28\n---\n"


@pytest.fixture
def page(store: MarkdownStore, episode: Callable[..., Episode]) -> Path:
    (first, _) = store.append((episode(1, "one"), episode(2, "two")))
    return first.path


def _edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def _contents(parsed: ParsedFile) -> list[str]:
    return [entry.record.content for entry in parsed.records if isinstance(entry.record, Episode)]


def test_windows_line_ends_and_a_byte_order_mark_change_nothing(
    store: MarkdownStore, page: Path
) -> None:
    before = store.read(page)
    page.write_bytes(b"\xef\xbb\xbf" + page.read_bytes().replace(b"\n", b"\r\n"))
    after = store.read(page)
    assert after.problems == ()
    assert after.records == before.records


def test_appending_to_a_windows_file_touches_none_of_its_bytes(
    store: MarkdownStore, page: Path, episode: Callable[..., Episode]
) -> None:
    before = b"\xef\xbb\xbf" + page.read_bytes().replace(b"\n", b"\r\n")
    page.write_bytes(before)
    store.append((episode(3, "three"),))
    assert page.read_bytes().startswith(before)
    assert _contents(store.read(page)) == ["one", "two", "three"]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("track: user\n", 'track: user\ntitle: Meeting: plan "B"\n', 8),
        ("track: user\n", "track: user\n\tmood: x\n", 8),
        ("track: user\n", "track: user\nmood: a\nmood: b\n", 9),
        (_HEADER_END, "date: 2026-05-28\n", 1),
        ("user_id: alice\n", "user_id: bob\n", 1),
        ("app_id: default\n", "app_id: other\n", 1),
        ("date: 2026-05-28\n", "date: 2026-05-27\n", 1),
        ("id: alice_episode_2026-05-28\n", "id: alice_episode_2026-05-27\n", 1),
        ("schema_version: 1\n", "schema_version: 2\n", 1),
    ],
)
def test_a_spoilt_front_matter_is_reported_by_line_and_the_day_goes_on_elsewhere(
    store: MarkdownStore,
    page: Path,
    episode: Callable[..., Episode],
    old: str,
    new: str,
    line: int,
) -> None:
    _edit(page, old, new)
    spoilt = page.read_bytes()
    parsed = store.read(page)
    assert not parsed.readable
    assert parsed.records == ()
    assert [(problem.path, problem.line) for problem in parsed.problems] == [(page, line)]
    (written,) = store.append((episode(3, "three"),))
    assert written.path.name == "episode-2026-05-28.2.md"
    assert page.read_bytes() == spoilt
    assert _contents(store.read(written.path)) == ["three"]
    # Entries that are in the spoilt file are not written a second time.
    assert store.append((episode(1, "one"),)) == ()
    _edit(page, new, old)
    assert _contents(store.read(page)) == ["one", "two"]


def test_own_keys_and_comments_in_the_front_matter_are_fine_and_stay(
    store: MarkdownStore, page: Path, episode: Callable[..., Episode]
) -> None:
    _edit(page, "track: user\n", "track: user # of people\nmood: happy\ntags: [a, b]\n")
    store.append((episode(3, "three"),))
    assert _contents(store.read(page)) == ["one", "two", "three"]
    assert "track: user # of people\nmood: happy\ntags: [a, b]\n" in page.read_text()


def test_a_changed_word_or_key_changes_the_hash_of_that_entry_only(
    store: MarkdownStore, page: Path
) -> None:
    before = [entry.content_hash for entry in store.read(page).records]
    _edit(page, "two", "zwei")
    after = [entry.content_hash for entry in store.read(page).records]
    assert after[0] == before[0]
    assert after[1] != before[1]
    _edit(page, "**session_id**: demo-002", "**session_id**: other")
    parsed = store.read(page)
    assert parsed.records[0].content_hash != before[0]
    record = parsed.records[0].record
    assert isinstance(record, Episode)
    assert record.session_id == "other"


def test_a_broken_entry_is_reported_and_the_others_work(store: MarkdownStore, page: Path) -> None:
    _edit(page, "**timestamp**: 2026-05-28T11:30:36.124Z", "**timestamp**: yesterday")
    parsed = store.read(page)
    assert parsed.readable
    assert _contents(parsed) == ["two"]
    (problem,) = parsed.problems
    assert problem.entry_id == "ep_20260528_00000001"
    assert problem.reason == "timestamp is not an ISO-8601 date and time"
    assert page.read_text().split("\n")[problem.line - 1] == ("<!-- entry:ep_20260528_00000001 -->")


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("### Content\n", "### Inhalt\n", "the section Content is missing"),
        ("### Content\n", "### Summary\n", "the section Summary is there twice"),
        ("**parent_id**", "**session_id**", "session_id is there twice"),
        ("00000001 -->\n##", "00000002 -->\n##", "a closing marker without an entry"),
        ("<!-- entry:ep_20260528_00000001 -->\n", "", "a closing marker without an entry"),
    ],
)
def test_every_way_to_break_an_entry_has_a_reason(
    store: MarkdownStore, page: Path, old: str, new: str, reason: str
) -> None:
    _edit(page, old, new)
    parsed = store.read(page)
    assert reason in [problem.reason for problem in parsed.problems]
    assert "two" in _contents(parsed)


def test_the_second_of_two_entries_with_one_id_is_reported(
    store: MarkdownStore, page: Path
) -> None:
    text = page.read_text().replace("ep_20260528_00000002", "ep_20260528_00000001")
    page.write_text(text)
    parsed = store.read(page)
    assert _contents(parsed) == ["one"]
    assert [p.reason for p in parsed.problems] == ["another entry before it has the same id"]


def test_an_id_that_belongs_to_another_day_is_reported(store: MarkdownStore, page: Path) -> None:
    text = page.read_text().replace("ep_20260528_00000002", "ep_20260527_00000001")
    page.write_text(text)
    parsed = store.read(page)
    assert _contents(parsed) == ["one"]
    assert [p.reason for p in parsed.problems] == ["the id belongs to the file of another day"]


def test_bytes_that_are_not_utf8_spoil_the_entry_they_are_in(
    store: MarkdownStore, page: Path, episode: Callable[..., Episode]
) -> None:
    page.write_bytes(page.read_bytes().replace(b"one", b"on\xff"))
    parsed = store.read(page)
    assert _contents(parsed) == ["two"]
    assert [problem.reason for problem in parsed.problems] == ["the text is not valid UTF-8"]
    spoilt = page.read_bytes()
    store.append((episode(3, "three"),))
    assert page.read_bytes().startswith(spoilt)


@pytest.mark.parametrize("place", ["start", "end"])
def test_bytes_that_are_not_utf8_outside_of_entries_spoil_the_file(
    store: MarkdownStore, page: Path, episode: Callable[..., Episode], place: str
) -> None:
    data = page.read_bytes()
    spoilt = b"\xff\xfe" + data if place == "start" else data + b"\n\xff\n"
    page.write_bytes(spoilt)
    parsed = store.read(page)
    assert not parsed.readable
    assert parsed.problems[0].line == (1 if place == "start" else data.count(b"\n") + 2)
    store.append((episode(3, "three"),))
    assert page.read_bytes() == spoilt


def test_a_huge_file_that_is_not_ours_is_refused_by_its_size(
    store: MarkdownStore, page: Path, episode: Callable[..., Episode]
) -> None:
    page.write_text("- " * 5_000_000)
    parsed = store.read(page)
    assert not parsed.readable
    assert "too large" in parsed.problems[0].reason
    (written,) = store.append((episode(3, "three"),))
    assert written.path.name == "episode-2026-05-28.2.md"


def test_an_entry_written_by_hand_works(store: MarkdownStore, page: Path) -> None:
    page.write_text(
        "<!-- entry:my-note -->\n## A walk\n**timestamp**: 2026-05-28 09:00\n"
        "### Content\nWe walked.\n<!-- /entry:my-note -->\n"
    )
    parsed = store.read(page)
    assert parsed.problems == ()
    (entry,) = parsed.records
    assert isinstance(entry.record, Episode)
    assert entry.record.subject == "A walk"
    assert entry.record.content == "We walked."
    assert entry.record.timestamp_ms == 1_779_958_800_000


def test_a_heading_of_ones_own_inside_a_text_belongs_to_the_text(
    store: MarkdownStore, page: Path
) -> None:
    _edit(page, "one", "one\n\n### My thoughts\n\nmore")
    assert _contents(store.read(page))[0] == "one\n\n### My thoughts\n\nmore"


def test_notes_between_entries_are_nobodys_business(store: MarkdownStore, page: Path) -> None:
    _edit(page, "<!-- entry:ep_20260528_00000002", "- a note\n\n<!-- entry:ep_20260528_00000002")
    parsed = store.read(page)
    assert parsed.problems == ()
    assert _contents(parsed) == ["one", "two"]


def test_a_fact_without_a_marker_is_reported(
    store: MarkdownStore, fact: Callable[..., AtomicFact]
) -> None:
    (written, _) = store.append((fact(1), fact(2)))
    lines = written.path.read_text().split("\n")
    position = lines.index("## ep_20260528_00000001")
    lines.insert(position + 1, "- Alice likes tea, too.")
    written.path.write_text("\n".join(lines))
    parsed = store.read(written.path)
    assert [entry.record for entry in parsed.records] == [fact(1), fact(2)]
    assert [problem.line for problem in parsed.problems] == [position + 2]


def test_facts_in_the_form_of_blocks_are_read(store: MarkdownStore, alice: Owner) -> None:
    path = store.root / "default_app/default_project/users/alice/.atomic_facts"
    path.mkdir(parents=True)
    file = path / "atomic_fact-2026-05-28.md"
    file.write_text(
        "<!-- entry:af_20260528_00000001 -->\n## af_20260528_00000001\n\n"
        "**timestamp**: 2026-05-28T11:30:36Z\n**session_id**: demo-002\n"
        "**parent_type**: episode\n**parent_id**: ep_20260528_00000001\n\n"
        "### Fact\n\nAlice climbs.\n\n<!-- /entry:af_20260528_00000001 -->\n"
    )
    parsed = store.read(file)
    assert parsed.problems == ()
    (entry,) = parsed.records
    assert isinstance(entry.record, AtomicFact)
    assert entry.record.content == "Alice climbs."
    assert entry.record.parent_id == "ep_20260528_00000001"


@pytest.mark.parametrize("details", ["nonsense", "timestamp=never", 'session="half'])
def test_spoilt_details_of_a_fact_are_reported(
    store: MarkdownStore, fact: Callable[..., AtomicFact], details: str
) -> None:
    (written, _) = store.append((fact(1), fact(2)))
    text = written.path.read_text()
    start = text.index(" timestamp=")
    written.path.write_text(f"{text[:start]} {details}{text[text.index(' -->', start) :]}")
    parsed = store.read(written.path)
    assert [entry.record for entry in parsed.records] == [fact(2)]
    assert [problem.entry_id for problem in parsed.problems] == ["af_20260528_00000001"]


def test_a_score_that_is_no_number_is_reported(
    store: MarkdownStore, case: Callable[..., AgentCase]
) -> None:
    (written,) = store.append((case(),))
    _edit(written.path, "**quality_score**: 0.85", "**quality_score**: good")
    parsed = store.read(written.path)
    assert [problem.reason for problem in parsed.problems] == ["quality_score is not a number"]


def test_a_turn_can_be_corrected_and_a_note_beside_it_is_not_its_text(
    store: MarkdownStore, transcript: Callable[..., Transcript]
) -> None:
    (written,) = store.append((transcript(),))
    _edit(written.path, "> Where?", "> Where exactly?\n\nshe was curious")
    (entry,) = store.read(written.path).records
    first, second = transcript().turns
    corrected = replace(second, text="Where exactly?")
    assert entry.record == replace(transcript(), turns=(first, corrected))


def test_no_reason_quotes_the_file(store: MarkdownStore, page: Path) -> None:
    _edit(page, "track: user\n", "track: user\nsecret: 9931: x\nsecret: 9931\n")
    assert not any("9931" in problem.reason for problem in store.read(page).problems)


def test_a_deleted_file_is_missing_and_starts_again(
    store: MarkdownStore, page: Path, episode: Callable[..., Episode], alice: Owner
) -> None:
    page.unlink()
    with pytest.raises(FileNotFoundError):
        store.read(page)
    (written,) = store.append((episode(3, "three"),))
    assert written.path == page
    assert store.last_sequence(alice, Kind.EPISODE, date(2026, 5, 28)) == 3


def test_a_path_that_is_no_memory_file_cannot_be_read(store: MarkdownStore) -> None:
    with pytest.raises(ValueError, match="memory file"):
        store.read(store.root / "README.md")


def test_reading_in_another_zone_gives_the_same_instants(
    store: MarkdownStore, page: Path, tmp_path: Path
) -> None:
    elsewhere = MarkdownStore(tmp_path, ZoneInfo("America/New_York"))
    assert elsewhere.read(page).records == store.read(page).records
