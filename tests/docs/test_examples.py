"""Every example of the documentation is run, in order, against a server of its page's own."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from remanence_server.runtime.settings_loader import FILE_NAME, load_settings_with_sources
from tests.docs.pages import PAGES, REPOSITORY, Block, blocks, name_of
from tests.docs.running import (
    CALLS_SERVER,
    NOT_RUN,
    Runner,
    check_make_target,
    commands_of,
    difference_of,
)
from tests.support.server_process import start_server

OPERATIONS = REPOSITORY / "docs" / "operations.md"
# What a page shows that is no example to run; docs/markdown.md has tests of its own.
_SHOWN_ONLY = frozenset({"", "markdown"})
# YAML is for other programs: tests/docs/test_metrics_table.py looks at it.
_RUN = frozenset({"sh", "python", "toml", "json", "yaml"})


def _programs(page: Path) -> set[str]:
    return {
        command[0].rpartition("/")[2]
        for block in blocks(page)
        if block.language == "sh"
        for command in commands_of(block.text)
    }


def _needs_server(page: Path) -> bool:
    languages = {block.language for block in blocks(page)}
    return "python" in languages or bool(_programs(page) & CALLS_SERVER)


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Runner]:
    server = start_server(tmp_path / "root")
    (tmp_path / "home").mkdir()
    yield Runner(server, tmp_path / "home")
    assert server.stop() == 0


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_is_of_a_language_that_is_checked(page: Path) -> None:
    unknown = [b.place for b in blocks(page) if b.language not in _RUN | _SHOWN_ONLY]
    assert unknown == []


@pytest.mark.parametrize("page", [page for page in PAGES if _needs_server(page)], ids=name_of)
def test_the_examples_of_a_page_do_what_it_says(page: Path, runner: Runner, tmp_path: Path) -> None:
    found = blocks(page)
    for block, following in zip(found, [*found[1:], None], strict=True):
        if block.language == "sh":
            is_answer = following is not None and following.language == "json"
            runner.run(block, following if is_answer else None)
        elif block.language == "python":
            assert runner.python(block) or "print" not in block.text, f"{block.place} said nothing"
        elif block.language == "toml":
            _check_settings(block, tmp_path / "settings")
    if name_of(page) in _LEAVES_BEHIND:
        _LEAVES_BEHIND[name_of(page)](runner.server.root)


def _first_memory_lies_where_the_readme_says(root: Path) -> None:
    shown = "~/.remanence/default_app/default_project/users/alice/"
    assert f"`{shown}`" in (REPOSITORY / "README.md").read_text(encoding="utf-8")
    folder = root / shown.removeprefix("~/.remanence/")
    assert (folder / "episodes" / "episode-2026-05-28.md").is_file()


def _root_is_as_the_tree_in_operations_shows(root: Path) -> None:
    tree = next(block.text for block in blocks(OPERATIONS) if block.language == "")
    for path in [*root.iterdir(), *(root / ".index").iterdir(), *(root / ".run").iterdir()]:
        assert path.name.partition("-")[0] in tree, f"{path.name} is not in the tree"


_LEAVES_BEHIND: dict[str, Callable[[Path], None]] = {
    "README.md": _first_memory_lies_where_the_readme_says,
    "docs/operations.md": _root_is_as_the_tree_in_operations_shows,
}


def test_a_backup_as_documented_is_all_that_a_restore_needs(tmp_path: Path) -> None:
    home, other_home = tmp_path / "home", tmp_path / "other"
    home.mkdir()
    other_home.mkdir()
    server = start_server(home / ".remanence")
    Runner(server, home).run(Block("", 0, "sh", "remanence import examples", ""), None)
    before = _episodes(server.http)
    assert server.stop() == 0
    (tar,) = [b for b in blocks(OPERATIONS) if b.text.startswith("tar ")]
    _shell(tar.text, home)
    assert shutil.which("tar")
    _shell(f"tar -xzf {home}/remanence-backup.tar.gz", other_home)
    assert not (other_home / ".remanence" / ".index").exists()
    # "It was deleted while no server ran": that page says it comes back.
    shutil.rmtree(home / ".remanence" / ".index")
    for root in (home / ".remanence", other_home / ".remanence"):
        server = start_server(root)
        try:
            assert difference_of(before, _episodes(server.http, len(before))) is None
            assert _episodes(server.http) == before
        finally:
            assert server.stop() == 0


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_command_is_run_or_not_run_on_purpose(page: Path) -> None:
    assert _programs(page) <= CALLS_SERVER | NOT_RUN | {"cp", "make"}
    for block in blocks(page):
        for command in commands_of(block.text) if block.language == "sh" else ():
            if command[0] == "make":
                check_make_target(command[1:])


def _episodes(address: str, at_least: int = 1) -> list[dict[str, object]]:
    """Alice's episodes; after a start the index may still be on its way."""
    found: list[dict[str, object]] = []
    for _ in range(200):
        answer = httpx.post(
            f"http://{address}/api/v2/memory/get",
            json={"user_id": "alice", "memory_type": "episode"},
        )
        found = answer.json()["data"]["episodes"]
        health = httpx.get(f"http://{address}/health").json()
        if len(found) >= at_least and health["cascade"]["pending"] == 0:
            break
    return found


def _shell(command: str, home: Path) -> None:
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    subprocess.run(["/bin/sh", "-ec", command], cwd=home, env=environment, check=True)


def _check_settings(block: Block, root: Path) -> None:
    root.mkdir(exist_ok=True)
    (root / FILE_NAME).write_text(block.text, encoding="utf-8")
    assert load_settings_with_sources(root, {}).sources, block.place
