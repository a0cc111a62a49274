"""Names of files: distinct, reversible, and inside the root whatever the id."""

from __future__ import annotations

import os
from datetime import UTC, date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.domain.records import Kind
from remanence_server.markdown.names import decode_name, encode_name, shorten_name, twin_name
from remanence_server.markdown.paths import MemoryPaths
from remanence_server.markdown.store import MarkdownStore
from remanence_server.runtime.errors import ErrorCode, ServiceError

_names = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20),
    st.text("aA.%~ /\\\x00:_-é\u0301", min_size=1, max_size=8),
)


@given(_names)
def test_a_name_comes_back_and_is_safe(name: str) -> None:
    encoded = encode_name(name, maximum_bytes=None)
    assert decode_name(encoded) == name
    assert decode_name(twin_name(encoded)) == name
    assert not set(encoded) & set('/\\:*?"<>|\x00~')
    assert encoded[0] not in ". "
    assert encoded[-1] not in ". "
    assert encoded.isprintable()


@given(_names, _names)
def test_different_names_have_different_files(one: str, other: str) -> None:
    if one != other:
        assert encode_name(one, maximum_bytes=None) != encode_name(other, maximum_bytes=None)


@pytest.mark.parametrize(
    "name", ["alice", "Alice", "a.b-c_d+e@f", "fix django", "部署检查", "user-42"]
)
def test_ordinary_names_stay_as_they_are(name: str) -> None:
    assert encode_name(name) == name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("..", "%2E%2E"),
        (".hidden", "%2Ehidden"),
        ("end.", "end%2E"),
        ("CON", "%43ON"),
        ("nul.md", "%6Eul.md"),
        ("a/b", "a%2Fb"),
        ("%2e%2e%2fq", "%252e%252e%252fq"),
        ("x\x00.md", "x%00.md"),
        ("re\u0301sume", "re%CC%81sume"),
        ("r\u00e9sume", "r%C3%A9sume"),
    ],
)
def test_what_a_system_could_misread_is_encoded(name: str, expected: str) -> None:
    assert encode_name(name) == expected


@pytest.mark.parametrize("name", ["%zz", "%61lice", ".x", "a~zz", "Alice~0", "CON", "\udcff", ""])
def test_a_folder_that_we_never_name_so_is_nobodys(name: str) -> None:
    assert decode_name(name) is None


def test_an_id_too_long_for_a_file_name_is_refused_by_name_of_its_field() -> None:
    with pytest.raises(ServiceError) as caught:
        encode_name("é" * 255, field="app_id")
    assert caught.value.code is ErrorCode.INVALID_INPUT
    assert caught.value.field == "app_id"


def test_long_skill_names_are_cut_and_stay_distinct() -> None:
    one, other = "é" * 255, "é" * 254 + "e"
    names = {shorten_name(encode_name(n, maximum_bytes=None), n) for n in (one, other)}
    assert len(names) == 2
    assert all(len(name.encode()) <= 200 for name in names)


def test_the_tree_is_the_one_that_is_documented(tmp_path: Path) -> None:
    paths = MemoryPaths(tmp_path)
    user = Owner(Scope(), Track.USER, "alice")
    agent = Owner(Scope("shop", "web"), Track.AGENT, "coder")
    day = date(2026, 5, 28)
    shown = [
        paths.daily_file(user, Kind.EPISODE, day),
        paths.daily_file(user, Kind.EPISODE, day, 2),
        paths.daily_file(user, Kind.ATOMIC_FACT, day),
        paths.daily_file(user, Kind.TRANSCRIPT, day),
        paths.profile(user),
        paths.daily_file(agent, Kind.AGENT_CASE, day),
        paths.skill(agent, "fix-django"),
    ]
    assert [str(file.path.relative_to(tmp_path)) for file in shown] == [
        "default_app/default_project/users/alice/episodes/episode-2026-05-28.md",
        "default_app/default_project/users/alice/episodes/episode-2026-05-28.2.md",
        "default_app/default_project/users/alice/.atomic_facts/atomic_fact-2026-05-28.md",
        "default_app/default_project/users/alice/.transcripts/transcript-2026-05-28.md",
        "default_app/default_project/users/alice/user.md",
        "shop/web/agents/coder/.cases/agent_case-2026-05-28.md",
        "shop/web/agents/coder/skills/skill_fix-django/SKILL.md",
    ]
    assert [paths.identify(file.path) for file in shown] == shown


@pytest.mark.parametrize("app_id", ["default", "default_app", "%64efault_app", "..", ".index", "x"])
def test_every_scope_has_a_folder_of_its_own_inside_the_root(tmp_path: Path, app_id: str) -> None:
    paths = MemoryPaths(tmp_path)
    owner = Owner(Scope(app_id, app_id), Track.USER, "../../etc")
    file = paths.profile(owner)
    assert os.path.normpath(file.path).startswith(f"{tmp_path}{os.sep}")
    assert paths.identify(file.path) == file
    assert len(file.path.relative_to(tmp_path).parts) == 5


@pytest.mark.parametrize(
    "path",
    [
        "default_app/default_project/users/alice/notes.md",
        "default_app/default_project/users/alice/episodes/.episode-2026-05-28.md.swp",
        "default_app/default_project/users/alice/episodes/episode-2026-13-28.md",
        "default_app/default_project/users/alice/episodes/episode-2026-05-28.1.md",
        "default_app/default_project/users/alice/episodes/agent_case-2026-05-28.md",
        "default_app/default_project/users/alice/episodes/more/episode-2026-05-28.md",
        "default_app/default_project/agents/alice/user.md",
        "default_app/default_project/agents/alice/episodes/episode-2026-05-28.md",
        "default_app/default_project/agents/alice/skills/SKILL.md",
        "default/default_project/users/alice/user.md",
        ".index/catalogue.db",
        ".run/markdown/x.tmp",
        "user.md",
    ],
)
def test_other_files_are_not_memory(tmp_path: Path, path: str) -> None:
    assert MemoryPaths(tmp_path).identify(tmp_path / path) is None


def test_a_path_outside_the_root_is_not_memory(tmp_path: Path) -> None:
    paths = MemoryPaths(tmp_path / "root")
    outside = tmp_path / "default_app/default_project/users/alice/user.md"
    assert paths.identify(outside) is None


def test_names_that_differ_by_case_are_two_on_a_disk_that_folds_case(tmp_path: Path) -> None:
    # The tree is listed, never probed by name, so a disk that keeps case apart tests it as well.
    store = MarkdownStore(tmp_path, UTC, folds_case=True)
    paths = MemoryPaths(tmp_path, folds_case=True)
    owners = [Owner(Scope(), Track.USER, name) for name in ("Alice", "alice", "ALICE")]
    folders = []
    for owner in owners:
        folder = paths.owner_folder(owner)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "user.md").write_text("")
        folders.append(folder)
    assert folders[0].name == "Alice"
    assert len({folder.name.casefold() for folder in folders}) == 3
    assert [paths.owner_folder(owner) for owner in owners] == folders
    assert {file.owner for file in store.files()} == set(owners)


def test_a_missing_root_is_not_an_empty_one(tmp_path: Path) -> None:
    with pytest.raises(ServiceError) as caught:
        list(MemoryPaths(tmp_path / "gone").files())
    assert caught.value.code is ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE


def test_links_are_not_followed(tmp_path: Path, store: MarkdownStore) -> None:
    outside = tmp_path / "outside"
    (outside / "alice").mkdir(parents=True)
    (outside / "alice" / "user.md").write_text("")
    users = tmp_path / "default_app" / "default_project"
    users.mkdir(parents=True)
    (users / "users").symlink_to(outside)
    assert list(store.files()) == []
