"""What only the Lucene index has: a directory that can be missing, damaged, old or in use."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path

import pytest
import pytest_asyncio

from remanence_server.index.jvm import JavaThread
from remanence_server.index.lexical import lucene_engine
from remanence_server.index.lexical.interface import LexicalDocument
from remanence_server.index.lexical.lucene_index import LuceneIndex
from remanence_server.runtime.errors import ErrorCode, ServiceError


def passage(passage_id: int, text: str) -> LexicalDocument:
    return LexicalDocument(passage_id, "ann", "turn", text, timestamp_ms=passage_id)


async def found(index: LuceneIndex, text: str) -> list[int]:
    matches = await index.search("ann", ["turn"], text, 100)
    return [hit.passage_id for hit in matches.hits["turn"]]


@pytest_asyncio.fixture
async def committed(java: JavaThread, tmp_path: Path) -> AsyncIterator[Path]:
    """The directory of an index that holds two passages under stamp 5."""
    directory = tmp_path / "lexical"
    index = await LuceneIndex.open(directory, java)
    await index.apply(5, [passage(1, "a cat"), passage(2, "a dog")], [])
    await index.close()
    yield directory


async def test_what_was_committed_is_there_after_a_start(java: JavaThread, committed: Path) -> None:
    index = await LuceneIndex.open(committed, java)
    assert await index.committed_stamp() == 5
    assert await found(index, "cat") == [1]
    await index.close()


async def test_after_a_crash_the_stamp_says_what_is_missing(
    java: JavaThread, committed: Path, tmp_path: Path
) -> None:
    index = await LuceneIndex.open(committed, java)
    await index.apply(6, [passage(3, "a cat")], [2])
    # The files at this moment are what a killed process leaves, its lock file among them.
    left = tmp_path / "left"
    shutil.copytree(committed, left)
    await index.close()
    assert (left / "write.lock").exists()

    again = await LuceneIndex.open(left, java)
    assert await again.committed_stamp() == 5
    assert await found(again, "cat dog") == [1, 2]
    await again.close()


def _truncate_all(directory: Path) -> None:
    for path in directory.iterdir():
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _overwrite_commit(directory: Path) -> None:
    next(directory.glob("segments_*")).write_bytes(b"not an index" * 10)


def _lose_commit(directory: Path) -> None:
    next(directory.glob("segments_*")).unlink()


def _lose_data(directory: Path) -> None:
    next(directory.glob("*.cfs")).unlink()


def _truncate_data(directory: Path) -> None:
    path = next(directory.glob("*.cfs"))
    path.write_bytes(path.read_bytes()[:-20])


def _empty_files(directory: Path) -> None:
    for path in directory.iterdir():
        path.write_bytes(b"")


@pytest.mark.parametrize(
    "damage",
    [_truncate_all, _overwrite_commit, _lose_commit, _lose_data, _truncate_data, _empty_files],
)
async def test_a_damaged_index_starts_anew(
    java: JavaThread, committed: Path, damage: Callable[[Path], None]
) -> None:
    damage(committed)
    index = await LuceneIndex.open(committed, java)
    assert (await index.committed_stamp(), await index.count()) == (0, 0)
    await index.apply(7, [passage(1, "a cat")], [])
    await index.commit()
    assert await found(index, "cat") == [1]
    await index.close()


async def test_a_start_that_was_cut_short_is_no_damage(java: JavaThread, tmp_path: Path) -> None:
    (tmp_path / "lexical").mkdir()
    (tmp_path / "lexical" / "write.lock").touch()
    index = await LuceneIndex.open(tmp_path / "lexical", java)
    assert (await index.committed_stamp(), await index.count()) == (0, 0)
    await index.close()


async def test_an_index_of_another_format_starts_anew(
    java: JavaThread, committed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lucene_engine, "FORMAT", "another")
    index = await LuceneIndex.open(committed, java)
    assert (await index.committed_stamp(), await index.count()) == (0, 0)
    await index.close()


async def test_an_index_in_use_is_refused_and_left_alone(java: JavaThread, committed: Path) -> None:
    index = await LuceneIndex.open(committed, java)
    with pytest.raises(ServiceError) as refusal:
        await LuceneIndex.open(committed, java)
    assert refusal.value.code is ErrorCode.CONFIGURATION_ERROR
    assert await found(index, "cat") == [1]
    await index.close()


async def test_two_indexes_share_the_thread(java: JavaThread, tmp_path: Path) -> None:
    one = await LuceneIndex.open(tmp_path / "one", java)
    two = await LuceneIndex.open(tmp_path / "two", java)
    await one.apply(1, [passage(1, "a cat")], [])
    await two.apply(1, [passage(2, "a cat")], [])
    assert (await found(one, "cat"), await found(two, "cat")) == ([1], [2])
    await one.close()
    assert await found(two, "cat") == [2]
    await two.close()


async def test_losing_the_directory_while_running_ends_in_an_empty_index(
    java: JavaThread, committed: Path
) -> None:
    index = await LuceneIndex.open(committed, java)
    shutil.rmtree(committed)
    with pytest.raises(ServiceError) as failure:
        await index.apply(6, [passage(3, "a secret kettle")], [])
        await index.commit()
    assert failure.value.code is ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE
    assert (await index.committed_stamp(), await index.count()) == (0, 0)
    await index.apply(6, [passage(3, "a secret kettle")], [])
    await index.commit()
    assert await found(index, "kettle") == [3]
    assert await index.committed_stamp() == 6
    await index.close()


async def test_a_commit_waits_for_the_whole_of_a_write(java: JavaThread, tmp_path: Path) -> None:
    index = await LuceneIndex.open(tmp_path / "lexical", java)
    many = [passage(n, "a cat") for n in range(1, 500)]
    await asyncio.gather(index.apply(9, many, []), index.commit())
    left = tmp_path / "left"
    shutil.copytree(tmp_path / "lexical", left)
    again = await LuceneIndex.open(left, java)
    assert (await again.committed_stamp(), await again.count()) == (9, 499)
    await again.close()
    await index.close()


async def test_searches_go_on_while_much_is_written(java: JavaThread, tmp_path: Path) -> None:
    index = await LuceneIndex.open(tmp_path / "lexical", java)
    await index.apply(1, [passage(1, "a cat")], [])
    many = [passage(n, f"a dog number {n}") for n in range(2, 2_000)]
    writing = asyncio.create_task(index.apply(2, many, []))
    searches = 0
    while not writing.done():
        # All of a write appears at once.
        assert await found(index, "dog") == [] or writing.done() or await index.count() == 1_999
        searches += 1
    await writing
    assert searches > 3
    assert len(await found(index, "dog")) == 100
    await index.close()


async def test_a_failure_quotes_no_passage(java: JavaThread, committed: Path) -> None:
    index = await LuceneIndex.open(committed, java)
    await index.close()
    with pytest.raises(ServiceError) as failure:
        await index.apply(6, [passage(3, "a secret kettle")], [])
    error: BaseException | None = failure.value
    while error is not None:
        assert "kettle" not in str(error)
        error = error.__cause__ or error.__context__


async def test_a_closed_index_stays_closed(java: JavaThread, committed: Path) -> None:
    index = await LuceneIndex.open(committed, java)
    await index.close()
    with pytest.raises(ServiceError):
        await found(index, "cat")
    # Nobody holds the directory.
    again = await LuceneIndex.open(committed, java)
    assert await found(again, "cat") == [1]
    await again.close()


async def test_the_weight_of_length_is_a_parameter(java: JavaThread, tmp_path: Path) -> None:
    scores = {}
    for b in (0.0, 1.0):
        index = await LuceneIndex.open(tmp_path / str(b), java, b=b)
        await index.apply(1, [passage(1, "a cat"), passage(2, "a cat on " + "many " * 40)], [])
        hits = (await index.search("ann", ["turn"], "cat", 10)).hits["turn"]
        scores[b] = {hit.passage_id: hit.score for hit in hits}
        await index.close()
    assert scores[0.0][1] == pytest.approx(scores[0.0][2])
    assert scores[1.0][1] > 1.5 * scores[1.0][2]


async def test_the_saturation_of_counts_is_a_parameter(java: JavaThread, tmp_path: Path) -> None:
    ratios = []
    for k1 in (0.1, 3.0):
        index = await LuceneIndex.open(tmp_path / str(k1), java, k1=k1, b=0.0)
        await index.apply(1, [passage(1, "cat"), passage(2, "cat cat cat cat")], [])
        hits = (await index.search("ann", ["turn"], "cat", 10)).hits["turn"]
        ratios.append(hits[0].score / hits[1].score)
        await index.close()
    assert ratios[0] < 1.1
    assert ratios[1] > 2.0


async def test_an_expunged_index_has_no_file_with_what_was_deleted(
    java: JavaThread, tmp_path: Path
) -> None:
    directory = tmp_path / "lexical"
    index = await LuceneIndex.open(directory, java)
    await index.apply(1, [passage(number, f"cat {number}") for number in range(1, 200)], [])
    await index.commit()
    await index.apply(2, [], [7])
    await index.commit()
    # The list of what is deleted in a file that still holds it.
    assert list(directory.glob("*.liv"))
    await index.expunge()
    assert not list(directory.glob("*.liv"))
    assert await index.committed_stamp() == 2
    assert await index.count() == 198
    await index.expunge()
    await index.close()


async def test_a_file_that_was_cut_short_is_missed_at_every_look(
    java: JavaThread, tmp_path: Path
) -> None:
    index = await LuceneIndex.open(tmp_path / "lexical", java)
    await index.apply(1, [passage(1, "a cat")], [])
    await index.commit()
    assert await index.is_whole()
    path = max((tmp_path / "lexical").iterdir(), key=lambda path: path.stat().st_size)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)
    # Whoever sees to it may fail the first time.
    assert [await index.is_whole() for _ in range(2)] == [False, False]
    await index.close()


async def test_an_index_that_cannot_be_committed_is_closed_all_the_same(
    java: JavaThread, tmp_path: Path
) -> None:
    directory = tmp_path / "lexical"
    index = await LuceneIndex.open(directory, java)
    await index.apply(1, [passage(1, "a cat")], [])
    await index.commit()
    await index.apply(2, [passage(2, "a dog")], [])
    shutil.rmtree(directory)
    with pytest.raises(ServiceError):
        await index.close()
    assert _open_files_in(directory) == []


def _open_files_in(directory: Path) -> list[str]:
    found: list[str] = []
    for link in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            found.append(str(link.readlink()))
    return [name for name in found if name.startswith(str(directory))]
