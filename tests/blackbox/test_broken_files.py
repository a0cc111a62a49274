"""What people and their editors do to the files: the good stays found, the bad is told by line."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.blackbox.conftest import eventually, said
from tests.blackbox.surfaces import GrpcSurface, HttpSurface, Surface

DAY_MS = 86_400_000
WORDS = ("plum", "quince", "medlar", "cherry", "apricot", "currant", "sorrel")


def _remember(surface: Surface, user: str, day: int, text: str) -> None:
    session = f"{user}-{day}-{len(text)}"
    body = {"session_id": session, "messages": [said(text, user, day * DAY_MS)]}
    assert surface.call("add", {**body, "defer_extraction": True}).data is not None
    assert surface.call("flush", {"session_id": session}).data is not None


def _finds(surface: Surface, user: str, word: str) -> int:
    body = {"user_id": user, "query": word, "method": "keyword"}
    found = surface.call("search", body).ok["episodes"]
    return sum(word in episode["episode"] for episode in found)


def _problems(surface: HttpSurface | GrpcSurface, user: str) -> dict[str, tuple[int, str]]:
    """Line and reason of what health lists, by the name of the file."""
    places: list[Any]
    if isinstance(surface, HttpSurface):
        report = surface.client.get("/health").json()
        places = [(p["path"], p["line"], p["reason"]) for p in report["cascade"]["problems"]]
    else:
        listed = surface.health().cascade.problems
        places = [(problem.path, problem.line, problem.reason) for problem in listed]
    return {Path(path).name: (line, reason) for path, line, reason in places if f"/{user}/" in path}


@pytest.fixture
def folder(surface: HttpSurface | GrpcSurface, root: Path, tag: str) -> Iterator[Path]:
    """Seven episodes of Eli on seven days."""
    user = f"eli{tag}"
    for day, word in enumerate(WORDS):
        _remember(surface, user, day, f"I planted a {word} tree by the wall.")
    yield root / "default_app/default_project/users" / user / "episodes"
    # The server is shared: it must be well again for whoever comes next.
    shutil.rmtree(root / "default_app/default_project/users" / user)
    eventually(lambda: not _problems(surface, user))


def _file(folder: Path, day: int) -> Path:
    return folder / f"episode-2026-0{5 if day < 4 else 6}-{28 + day if day < 4 else day - 3:02d}.md"


def test_broken_hand_edits_are_told_by_line_and_spoil_nothing_else(
    surface: HttpSurface | GrpcSurface, folder: Path
) -> None:
    user = folder.parent.name
    files = [_file(folder, day) for day in range(7)]
    texts = [path.read_text() for path in files]
    files[0].write_bytes(b"\xef\xbb\xbf" + texts[0].replace("\n", "\r\n").encode())
    files[1].write_text(texts[1].replace("---\n", '---\ntitle: Meeting: plan "B"\n\tx: y\n', 1))
    head, _, rest = texts[2].removeprefix("---\n").partition("---\n")
    files[2].write_text(f"---\n{head}{rest}")
    files[3].write_text(
        texts[3].replace("cherry", "damson").replace("---\n", "---\nmood: happy  # of mine\n", 1)
    )
    own_id = f"id: {user}_episode_2026-06-01"
    assert own_id in texts[4]
    files[4].write_text(texts[4].replace(own_id, f"id: {user}_episode_2026-05-31"))
    huge = folder / "episode-2026-05-20.md"
    huge.write_bytes(b"- " * (5 << 20))
    files[6].write_bytes(files[6].read_bytes().replace(b"# Episodes", b"# \xff\xfe Episodes"))
    left = {path: path.read_bytes() for path in (*files, huge) if path != files[3]}

    broken = {files[day].name for day in (1, 2, 4, 6)} | {huge.name}
    eventually(lambda: _problems(surface, user).keys() == broken)
    problems = _problems(surface, user)
    assert problems[files[1].name][0] in (2, 3)
    assert "closed" in problems[files[2].name][1]
    assert "does not agree with the path" in problems[files[4].name][1]
    assert "too large" in problems[huge.name][1]
    assert "UTF-8" in problems[files[6].name][1]
    assert "Meeting" not in str(problems)

    assert [_finds(surface, user, word) for word in WORDS] == [1, 0, 0, 0, 0, 1, 0]
    assert _finds(surface, user, "damson") == 1

    # The day of a file that cannot be read goes on in another one; a good one is appended to.
    _remember(surface, user, 2, "I planted a walnut tree there.")
    _remember(surface, user, 3, "I planted a hazelnut there too.")
    _remember(surface, user, 0, "I planted an almond tree as well.")
    assert [_finds(surface, user, word) for word in ("walnut", "hazelnut", "almond")] == [1, 1, 1]
    assert "walnut" in (folder / files[2].name.replace(".md", ".2.md")).read_text()
    edited = files[3].read_text()
    assert "mood: happy  # of mine\n" in edited
    assert "damson" in edited
    assert "hazelnut" in edited
    appended = files[0].read_bytes()
    assert appended.startswith(left.pop(files[0]))
    assert {path: path.read_bytes() for path in left} == left

    # Each is whole again once it is mended.
    huge.unlink()
    for day in (1, 2, 4, 6):
        files[day].write_text(texts[day])
    eventually(lambda: not _problems(surface, user))
    assert [_finds(surface, user, WORDS[day]) for day in (1, 2, 4, 6)] == [1, 1, 1, 1]


def test_what_editors_and_sync_tools_leave_lying_about_is_nobodys(
    surface: HttpSurface | GrpcSurface, folder: Path
) -> None:
    user, path = folder.parent.name, _file(folder, 0)
    text = path.read_text().replace("plum", "bogus")
    for name in (
        f".{path.name}.swp",
        f"{path.name}~",
        f"#{path.name}#",
        f"{path.name}.tmp",
        "4913",
        ".DS_Store",
        f"{path.stem}.sync-conflict-20260101-101010-ABCDEFG.md",
        f"{path.stem} (conflicted copy).md",
    ):
        (folder / name).write_text(text)
    path.write_text(path.read_text().replace("plum", "greengage"))
    eventually(lambda: _finds(surface, user, "greengage"))
    assert _finds(surface, user, "bogus") == 0
    assert _problems(surface, user) == {}


def test_a_folder_that_is_deleted_is_forgotten_and_one_that_is_moved_is_followed(
    surface: HttpSurface | GrpcSurface, folder: Path, tmp_path: Path
) -> None:
    user = folder.parent.name
    away = shutil.move(folder.parent, tmp_path / "away")
    eventually(lambda: not _finds(surface, user, "plum"))
    shutil.move(away, folder.parent)
    eventually(lambda: _finds(surface, user, "plum"))
    shutil.rmtree(folder)
    eventually(lambda: not _finds(surface, user, "plum"))
    folder.mkdir()
