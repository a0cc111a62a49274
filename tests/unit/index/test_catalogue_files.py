from __future__ import annotations

from pathlib import Path

import apsw
import numpy as np
import pytest
from tests.unit.index.test_catalogue import ALICE, episode, indexed, open_catalogue, unit

from remanence_server.domain.records import Kind
from remanence_server.runtime.errors import ErrorCode, ServiceError


async def filled(directory: Path) -> None:
    catalogue = open_catalogue(directory)
    change = await catalogue.upsert([indexed(episode(1), "a"), indexed(episode(2), "b")], 1)
    await catalogue.save_vectors(
        [passage.passage_id for passage in change.added], np.stack([unit(1, 0), unit(0, 1)])
    )
    await catalogue.mark_filled()
    await catalogue.close()


async def test_a_new_catalogue_asks_to_be_filled_until_it_has_been(tmp_path: Path) -> None:
    for _ in range(2):  # a start that was cut short does not count
        catalogue = open_catalogue(tmp_path)
        assert catalogue.was_reset
        await catalogue.close()
    await filled(tmp_path)
    catalogue = open_catalogue(tmp_path)
    assert not catalogue.was_reset
    assert (await catalogue.counts())[Kind.EPISODE] == 2
    assert await catalogue.check() == []
    await catalogue.close()


@pytest.mark.parametrize("damage", ["text", "header kept", "cut", "empty"])
async def test_a_damaged_catalogue_is_put_away_and_begun_anew(tmp_path: Path, damage: str) -> None:
    await filled(tmp_path)
    path = tmp_path / "catalogue.db"
    content = path.read_bytes()
    path.write_bytes(
        {
            "text": b"this is not a database at all" * 100,
            "header kept": content[:100] + b"\xff" * (len(content) - 100),
            "cut": content[:700],
            "empty": b"",
        }[damage]
    )
    catalogue = open_catalogue(tmp_path)
    assert catalogue.was_reset
    assert (await catalogue.counts())[Kind.EPISODE] == 0
    # The vectors outlive it: nothing is embedded again.
    change = await catalogue.upsert([indexed(episode(1), "a")], 1)
    assert change.added[0].embedded
    assert await catalogue.prune_vectors() == 1
    await catalogue.close()
    assert (tmp_path / "catalogue.db.damaged").exists() == (damage != "empty")


@pytest.mark.parametrize("name", ["catalogue.db", "embeddings.db"])
async def test_a_file_of_another_version_is_begun_anew(tmp_path: Path, name: str) -> None:
    await filled(tmp_path)
    connection = apsw.Connection(str(tmp_path / name))
    connection.execute("PRAGMA user_version = 999")
    connection.close()
    catalogue = open_catalogue(tmp_path)
    assert catalogue.was_reset == (name == "catalogue.db")
    expected = 2 if name == "embeddings.db" else 0
    assert (await catalogue.counts())[Kind.EPISODE] == expected
    assert await catalogue.count_without_vector() == expected
    await catalogue.close()


@pytest.mark.parametrize("damage", [None, b"garbage" * 1000])
async def test_lost_vectors_are_asked_for_again(tmp_path: Path, damage: bytes | None) -> None:
    await filled(tmp_path)
    path = tmp_path / "embeddings.db"
    path.unlink()
    if damage:
        path.write_bytes(damage)
    catalogue = open_catalogue(tmp_path)
    assert not catalogue.was_reset
    assert await catalogue.count_without_vector() == 2
    assert len((await catalogue.load_partition(ALICE, "episode")).passage_ids) == 0
    await catalogue.close()


async def test_another_model_drops_the_vectors_and_keeps_the_records(tmp_path: Path) -> None:
    await filled(tmp_path)
    catalogue = open_catalogue(tmp_path, "space-2")
    assert not catalogue.was_reset
    assert (await catalogue.counts())[Kind.EPISODE] == 2
    assert await catalogue.count_without_vector() == 2
    await catalogue.close()


async def test_deleted_memory_leaves_no_trace_in_the_file(tmp_path: Path) -> None:
    secret = "the password of the cellar is swordfish"
    catalogue = open_catalogue(tmp_path)
    await catalogue.upsert([indexed(episode(1, content=secret), secret)], 1)
    await catalogue.delete_records(ALICE, Kind.EPISODE, [episode(1).entry_id])
    await catalogue.close()
    assert secret.encode() not in (tmp_path / "catalogue.db").read_bytes()


async def test_a_disk_that_takes_nothing_is_told_as_such(tmp_path: Path) -> None:
    catalogue = open_catalogue(tmp_path)
    await catalogue.upsert([indexed(episode(1), "a")], 1)
    connection = catalogue._connections._write_connection
    pages = connection.pragma("page_count")
    connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(ServiceError) as caught:
        await catalogue.upsert([indexed(episode(n), "text" * 500) for n in range(2, 200)], 1)
    assert caught.value.code is ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE
    assert (await catalogue.counts())[Kind.EPISODE] == 1
    connection.execute("PRAGMA max_page_count = 1000000")
    await catalogue.upsert([indexed(episode(2), "b")], 1)
    assert (await catalogue.counts())[Kind.EPISODE] == 2
    await catalogue.close()
