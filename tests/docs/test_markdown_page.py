"""docs/markdown.md shows memories as they are on disk."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from remanence_server.domain.records import Kind
from remanence_server.markdown.front_matter import read_front_matter
from remanence_server.markdown.store import MarkdownStore
from tests.docs.pages import REPOSITORY, Block, blocks, table
from tests.docs.running import Runner
from tests.support.server_process import start_server

PAGE = REPOSITORY / "docs" / "markdown.md"
_PATH = re.compile(r"`(default_app/[^`]+\.md)`:\s*$")
_INLINE_KEY = re.compile(r"^\*\*([a-z_]+)\*\*:", re.MULTILINE)


def _examples() -> dict[str, str]:
    """The files that the page shows: path to text."""
    return {
        match[1]: block.text
        for block in blocks(PAGE)
        if block.language == "markdown" and (match := _PATH.search(block.lead))
    }


def _entry_by_hand() -> Block:
    (entry,) = [b for b in blocks(PAGE) if b.language == "markdown" and not _PATH.search(b.lead)]
    return entry


def _write(root: Path, examples: dict[str, str]) -> MarkdownStore:
    for path, text in examples.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return MarkdownStore(root, ZoneInfo("UTC"))


def test_there_is_an_example_of_each_kind_and_the_service_reads_it(tmp_path: Path) -> None:
    examples = _examples()
    store = _write(tmp_path, examples)
    kinds = set()
    for path in examples:
        parsed = store.read(tmp_path / path)
        assert parsed.problems == (), path
        assert parsed.records, path
        kinds.add(parsed.file.kind)
    assert kinds == set(Kind)
    assert len(table(PAGE, "kind")) == len(Kind)


def test_the_entry_by_hand_can_be_added_to_the_example(tmp_path: Path) -> None:
    examples = _examples()
    path = next(path for path in examples if "/episodes/" in path)
    store = _write(tmp_path, {path: f"{examples[path]}\n{_entry_by_hand().text}"})
    parsed = store.read(tmp_path / path)
    assert parsed.problems == ()
    texts = [repr(each.record) for each in parsed.records]
    assert any("Mr. Okafor" in text for text in texts)


@pytest.fixture(scope="module")
def imported_root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("imported")
    server = start_server(folder / "root")
    runner = Runner(server, folder)
    runner.run(Block("", 0, "sh", "remanence import examples", ""), None)
    # The stop waits until what the import began is written.
    assert server.stop() == 0
    yield server.root


@pytest.mark.parametrize("path", [path for path in _examples() if "/skills/" not in path])
def test_an_example_has_the_keys_of_the_real_file(imported_root: Path, path: str) -> None:
    shown = _examples()[path]
    real = (imported_root / path).read_text(encoding="utf-8")
    assert list(read_front_matter(shown).values) == list(read_front_matter(real).values)
    assert set(_INLINE_KEY.findall(shown)) == set(_INLINE_KEY.findall(real))
    comments = re.compile(r"<!-- (/?\w+)[: ]")
    assert set(comments.findall(shown)) <= set(comments.findall(real))
