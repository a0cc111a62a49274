"""Profiles and skills: whole pages that people edit, written over without losing what is theirs."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.domain.records import AgentSkill, Profile
from remanence_server.markdown.paths import MemoryPaths
from remanence_server.markdown.profile_page import decode_profile, render_profile
from remanence_server.markdown.skill_page import decode_skill, render_skill
from remanence_server.markdown.store import MarkdownStore
from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.runtime.fault_points import FaultPoint, hooked

_INSTANT_MS = 1_779_967_836_123
_ALICE = Owner(Scope(), Track.USER, "alice")
_CODER = Owner(Scope(), Track.AGENT, "coder")
_PROFILE_FILE = MemoryPaths(Path("/root")).profile(_ALICE)
_SKILL_FILE = MemoryPaths(Path("/root")).skill(_CODER, "fix-django")

_DATA: Mapping[str, Any] = {
    "summary": "Alice climbs.\n\n## Not a heading\nand cooks.",
    "explicit_info": [
        {
            "category": "Home",
            "description": "Lives in Berlin",
            "evidence": "I moved to Berlin",
            "timestamp_ms": _INSTANT_MS,
            "superseded": [
                {
                    "description": "Lives in Rome",
                    "evidence": "I live in Rome",
                    "timestamp_ms": 1_700_000_000_001,
                }
            ],
        },
        {"category": "Home", "description": "Has a garden"},
        {"category": "Work", "description": "Is a nurse", "evidence": "", "superseded": []},
    ],
    "implicit_traits": ["Patient", {"trait": "Curious", "description": "asks why"}],
    "profile_timestamp_ms": _INSTANT_MS,
    "language": {"code": "de"},
}

_text = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    st.sampled_from(
        [
            "## Home",
            "- x",
            "~~gone~~",
            "**a**: b",
            "x <!-- {} -->",
            "evidence: y",
            "\r\n",
            "2026-05-28",
        ]
    ),
)
_json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | _text,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_text, inner, max_size=2),
    max_leaves=4,
)
_earlier = st.fixed_dictionaries(
    {"description": _text}, optional={"evidence": _text, "timestamp_ms": st.integers(0, 10**13)}
)
_item = st.fixed_dictionaries(
    {"description": _text},
    optional={
        "category": _text,
        "evidence": _text,
        "timestamp_ms": st.integers(0, 10**13),
        "superseded": st.lists(_earlier, max_size=2),
        "confidence": _json,
    },
)
_data = st.fixed_dictionaries(
    {},
    optional={
        "summary": _text,
        "explicit_info": st.lists(_item, max_size=3) | _json,
        "implicit_traits": st.lists(_text | _item | _json, max_size=3),
        "profile_timestamp_ms": _json,
        "other": _json,
    },
)


def _by_category(data: Mapping[str, Any]) -> dict[str, Any]:
    items = data.get("explicit_info")
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        return dict(data)
    first = [repr(item.get("category")) for item in items]
    ordered = sorted(items, key=lambda item: first.index(repr(item.get("category"))))
    return {**data, "explicit_info": ordered}


@settings(max_examples=100, deadline=None)
@given(_data)
def test_any_profile_data_comes_back_exactly(data: dict[str, Any]) -> None:
    profile = Profile(_ALICE, data, _INSTANT_MS)
    page = render_profile(profile, _PROFILE_FILE, UTC)
    parsed = decode_profile(_PROFILE_FILE, page, UTC)
    assert parsed == replace(profile, data=_by_category(data))
    again = render_profile(parsed, _PROFILE_FILE, UTC, page)
    assert decode_profile(_PROFILE_FILE, again, UTC) == parsed


@settings(max_examples=60, deadline=None)
@given(name=_text.filter(bool), description=_text, content=_text, ids=st.lists(_text, max_size=2))
def test_any_skill_comes_back_exactly(
    name: str, description: str, content: str, ids: list[str]
) -> None:
    skill = AgentSkill(_CODER, name, description, content, 0.1, 1.0, tuple(ids), _INSTANT_MS)
    page = render_skill(skill, UTC)
    assert decode_skill(_SKILL_FILE, page, UTC) == skill
    assert decode_skill(_SKILL_FILE, render_skill(skill, UTC, page), UTC) == skill


@pytest.fixture
def page(store: MarkdownStore) -> Path:
    return store.write_profile(Profile(_ALICE, _DATA, _INSTANT_MS)).path


def _edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def _data_of(store: MarkdownStore) -> Mapping[str, Any]:
    profile = store.read_profile(_ALICE)
    assert profile is not None
    return profile.data


def test_a_profile_that_is_not_there_is_none(store: MarkdownStore) -> None:
    assert store.read_profile(_ALICE) is None
    assert store.profile_hash(_ALICE) == ""
    assert store.remove_profile(_ALICE) is False


def test_a_written_profile_is_read_back(store: MarkdownStore, page: Path) -> None:
    assert store.read_profile(_ALICE) == Profile(_ALICE, _DATA, _INSTANT_MS)
    parsed = store.read(page)
    assert parsed.problems == ()
    assert parsed.records[0].content_hash == store.profile_hash(_ALICE)


def test_the_lines_of_the_page_are_the_profile(store: MarkdownStore, page: Path) -> None:
    _edit(page, "- Lives in Berlin", "- Lives in Hamburg")
    _edit(page, "- Has a garden\n", "")
    _edit(page, "## Work\n\n", "## Work\n\n- Works nights\n  - 2026-06-01: told me\n")
    _edit(page, "## Traits", "## Pets\n* A cat\n\n## Traits")
    _edit(page, "Alice climbs.", "Alice swims.")
    data = _data_of(store)
    assert [(i["category"], i["description"]) for i in data["explicit_info"]] == [
        ("Home", "Lives in Hamburg"),
        ("Work", "Works nights"),
        ("Work", "Is a nurse"),
        ("Pets", "A cat"),
    ]
    assert data["explicit_info"][0]["evidence"] == "I moved to Berlin"
    assert data["explicit_info"][0]["superseded"][0]["description"] == "Lives in Rome"
    assert data["explicit_info"][1]["evidence"] == "told me"
    assert data["explicit_info"][1]["timestamp_ms"] == 1_780_272_000_000
    assert data["summary"].startswith("Alice swims.")
    assert data["language"] == {"code": "de"}


def test_a_line_that_a_person_strikes_out_is_no_longer_so(store: MarkdownStore, page: Path) -> None:
    _edit(page, "- Has a garden", "- ~~Has a garden~~\n  - sold it")
    descriptions = [item["description"] for item in _data_of(store)["explicit_info"]]
    assert "Has a garden" not in descriptions
    assert "Lives in Berlin" in descriptions


def test_what_a_person_added_stays_when_the_profile_is_written_again(
    store: MarkdownStore, page: Path
) -> None:
    _edit(page, "track: user\n", "track: user # us\nmood: happy\n# a comment\ntags: [a, b]\n")
    _edit(page, "- Has a garden\n", "- Has a garden\n\nIt is a long story.\n")
    profile = store.read_profile(_ALICE)
    assert profile is not None
    items = [*profile.data["explicit_info"], {"category": "Food", "description": "Loves plums"}]
    store.write_profile(
        Profile(_ALICE, {**profile.data, "explicit_info": items}, _INSTANT_MS + 5_000)
    )
    text = page.read_text()
    assert "track: user # us\nmood: happy\n# a comment\n" in text
    assert "tags: [a, b]" in text
    assert "It is a long story." in text.split("## Work")[0]
    assert "- Loves plums" in text
    assert _data_of(store)["explicit_info"] == items
    before = text
    store.write_profile(
        Profile(_ALICE, {**profile.data, "explicit_info": items}, _INSTANT_MS + 5_000)
    )
    assert page.read_text() == before


def test_an_edit_made_meanwhile_is_not_overwritten(store: MarkdownStore, page: Path) -> None:
    base = store.profile_hash(_ALICE)
    _edit(page, "Alice climbs.", "Alice swims.")
    edited = page.read_bytes()
    with pytest.raises(ServiceError) as caught:
        store.write_profile(Profile(_ALICE, {}, 0), expected_hash=base)
    assert caught.value.code is ErrorCode.CONFLICT
    assert page.read_bytes() == edited
    store.write_profile(Profile(_ALICE, {}, 0), expected_hash=store.profile_hash(_ALICE))
    assert _data_of(store) == {}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("user_id: alice", "user_id: alice: bob"),
        ("user_id: alice", "user_id: bob"),
        ('<!-- data: {"language"', '<!-- data: {language"'),
        ('{"evidence":"","superseded":[]}', "{evidence}"),
        ("updated_at: ", "updated_at: soon #"),
    ],
)
def test_a_page_that_cannot_be_read_is_reported_and_never_overwritten(
    store: MarkdownStore, page: Path, old: str, new: str
) -> None:
    _edit(page, old, new)
    spoilt = page.read_bytes()
    parsed = store.read(page)
    assert not parsed.readable
    assert len(parsed.problems) == 1
    for attempt in (
        lambda: store.read_profile(_ALICE),
        lambda: store.write_profile(Profile(_ALICE, {}, 0), expected_hash=""),
    ):
        with pytest.raises(ServiceError) as caught:
            attempt()
        assert caught.value.code is ErrorCode.CONFLICT
    assert page.read_bytes() == spoilt


def test_bytes_that_are_not_utf8_make_a_page_unreadable(store: MarkdownStore, page: Path) -> None:
    page.write_bytes(page.read_bytes().replace(b"garden", b"g\xffrden"))
    (problem,) = store.read(page).problems
    assert b"\xff" in page.read_bytes().split(b"\n")[problem.line - 1]
    with pytest.raises(ServiceError):
        store.write_profile(Profile(_ALICE, {}, 0))


def test_windows_line_ends_and_a_byte_order_mark_change_nothing(
    store: MarkdownStore, page: Path
) -> None:
    before = store.read(page).records
    page.write_bytes(b"\xef\xbb\xbf" + page.read_bytes().replace(b"\n", b"\r\n"))
    assert store.read(page).records == before


def test_a_page_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    def refuse(point: FaultPoint) -> None:
        assert point is FaultPoint.PROFILE_TEMPORARY_WRITTEN
        raise OSError(errno.ENOSPC, "full")

    store = MarkdownStore(tmp_path, UTC)
    page = store.write_profile(Profile(_ALICE, _DATA, _INSTANT_MS)).path
    before = page.read_bytes()
    with hooked(refuse), pytest.raises(ServiceError, match="storage is full"):
        store.write_profile(Profile(_ALICE, {}, 0))
    assert page.read_bytes() == before
    assert list((tmp_path / ".run" / "markdown").iterdir()) == []


def test_a_page_saved_by_a_person_at_the_last_moment_is_merged_not_lost(tmp_path: Path) -> None:
    saved = False

    def save(point: FaultPoint) -> None:
        nonlocal saved
        if point is FaultPoint.PROFILE_TEMPORARY_WRITTEN and not saved:
            saved = True
            _edit(file, "track: user\n", "track: user\nmood: happy\n")

    store = MarkdownStore(tmp_path, UTC)
    file = MemoryPaths(tmp_path).profile(_ALICE).path
    store.write_profile(Profile(_ALICE, _DATA, _INSTANT_MS))
    with hooked(save):
        store.write_profile(Profile(_ALICE, {"summary": "New"}, _INSTANT_MS))
    assert saved
    assert "mood: happy" in file.read_text()
    assert _data_of(store) == {"summary": "New"}


def test_a_removed_profile_is_gone(store: MarkdownStore, page: Path) -> None:
    assert store.remove_profile(_ALICE) is True
    assert not page.exists()
    assert store.read_profile(_ALICE) is None


def _skill(name: str, content: str = "1. Look\n2. Act") -> AgentSkill:
    return AgentSkill(_CODER, name, f"How to {name}", content, 0.5, 1.0, ("ac_1",), _INSTANT_MS)


def test_skills_whose_names_are_alike_are_separate(store: MarkdownStore) -> None:
    names = ["fix django", "fix_django", "Skill", "skill", "../../escape", "é" * 255, "nul.md"]
    for name in names:
        assert store.write_skill(_skill(name, name)).record == _skill(name, name)
    assert {(skill.name, skill.content) for skill in store.read_skills(_CODER)} == {
        (name, name) for name in names
    }
    assert len(list(store.files())) == len(names)


def test_names_alike_are_separate_on_a_disk_that_folds_case(tmp_path: Path) -> None:
    store = MarkdownStore(tmp_path, UTC, folds_case=True)
    for name in ("Skill", "skill"):
        store.write_skill(_skill(name, name))
        store.write_skill(_skill(name, f"{name} again"))
    assert {skill.content for skill in store.read_skills(_CODER)} == {"Skill again", "skill again"}
    folders = {file.path.parent.name.casefold() for file in store.files()}
    assert len(folders) == 2


def test_a_skill_is_written_over_in_the_folder_that_a_person_gave_it(
    store: MarkdownStore,
) -> None:
    path = store.write_skill(_skill("fix-django")).path
    own = path.parent.with_name("my-favourite")
    path.parent.rename(own)
    _edit(own / "SKILL.md", "name: fix-django\n", "name: fix-django\nlicense: MIT # mine\n")
    (own / "notes.md").write_text("mine")
    written = store.write_skill(replace(_skill("fix-django"), description="Better"))
    assert written.path == own / "SKILL.md"
    assert [skill.description for skill in store.read_skills(_CODER)] == ["Better"]
    assert "license: MIT # mine" in written.path.read_text()
    assert store.remove_skill(_CODER, "fix-django") is True
    assert [path.name for path in own.iterdir()] == ["notes.md"]
    assert store.remove_skill(_CODER, "fix-django") is False


def test_when_a_skill_was_created_stays(store: MarkdownStore) -> None:
    path = store.write_skill(_skill("a")).path
    store.write_skill(replace(_skill("a"), timestamp_ms=_INSTANT_MS + 86_400_000))
    text = path.read_text()
    assert 'created_at: "2026-05-28T11:30:36.123Z"' in text
    assert 'updated_at: "2026-05-29T11:30:36.123Z"' in text


def test_a_skill_written_elsewhere_needs_only_a_name_and_a_description(
    store: MarkdownStore, tmp_path: Path
) -> None:
    folder = tmp_path / "default_app/default_project/agents/coder/skills/pdf"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(
        "---\nname: pdf\ndescription: >\n  Reads\n  PDF files\n---\n# Steps\n\nRead.\n"
    )
    (skill,) = store.read_skills(_CODER)
    assert skill.name == "pdf"
    assert skill.description == "Reads PDF files\n"
    assert skill.content == "# Steps\n\nRead."
    assert skill.confidence == 1.0
    (folder / "SKILL.md").write_text("# no front matter\n")
    assert store.read_skills(_CODER) == ()
    parsed = store.read(folder / "SKILL.md")
    assert "name and a description" in parsed.problems[0].reason


def test_a_removed_skill_leaves_no_folder(store: MarkdownStore) -> None:
    path = store.write_skill(_skill("a")).path
    assert store.remove_skill(_CODER, "a") is True
    assert not path.parent.exists()
