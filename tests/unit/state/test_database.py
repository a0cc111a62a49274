from __future__ import annotations

import asyncio
import gc
from pathlib import Path

import apsw
import pytest
from prometheus_client import CollectorRegistry

from remanence_server.runtime import storage
from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.runtime.metrics import DatabaseMetrics
from remanence_server.state.database import Database, storage_error

_SCHEMA = "CREATE TABLE IF NOT EXISTS word (id INTEGER PRIMARY KEY, text TEXT UNIQUE NOT NULL)"


def _insert(text: str):
    def run(connection: apsw.Connection) -> int:
        connection.execute("INSERT INTO word (text) VALUES (?)", (text,))
        return connection.last_insert_rowid()

    return run


def _words(connection: apsw.Connection) -> list[str]:
    return [text for (text,) in connection.execute("SELECT text FROM word ORDER BY id")]


async def test_a_write_is_seen_by_the_next_read(tmp_path: Path) -> None:
    database = Database(tmp_path / "a.db", _SCHEMA, 1)
    await database.write(_insert("one"))
    assert await database.read(_words) == ["one"]
    database.close()


async def test_concurrent_writers_share_commits(tmp_path: Path) -> None:
    database = Database(tmp_path / "a.db", _SCHEMA, 1)
    commits = 0

    def count(_: apsw.Connection) -> bool:
        nonlocal commits
        commits += 1
        return False

    database._writer.set_commit_hook(lambda: bool(count(database._writer)))
    await asyncio.gather(*(database.write(_insert(f"w{i}")) for i in range(200)))
    assert len(await database.read(_words)) == 200
    assert commits < 100
    database.close()


async def test_a_writer_that_fails_leaves_its_neighbours_alone(tmp_path: Path) -> None:
    database = Database(tmp_path / "a.db", _SCHEMA, 1)
    await database.write(_insert("taken"))

    def half(connection: apsw.Connection) -> None:
        connection.execute("INSERT INTO word (text) VALUES ('half')")
        connection.execute("INSERT INTO word (text) VALUES ('taken')")

    outcomes = await asyncio.gather(
        database.write(_insert("before")),
        database.write(half),
        database.write(_insert("after")),
        return_exceptions=True,
    )
    assert isinstance(outcomes[1], apsw.ConstraintError)
    assert await database.read(_words) == ["taken", "before", "after"]
    database.close()


async def test_a_caller_that_goes_away_does_not_undo_its_write(tmp_path: Path) -> None:
    database = Database(tmp_path / "a.db", _SCHEMA, 1)
    task = asyncio.create_task(database.write(_insert("kept")))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await database.write(_insert("next"))
    assert await database.read(_words) == ["kept", "next"]
    database.close()


async def test_what_was_queued_before_close_is_written(tmp_path: Path) -> None:
    database = Database(tmp_path / "a.db", _SCHEMA, 1)
    writes = [asyncio.create_task(database.write(_insert(f"w{i}"))) for i in range(20)]
    await asyncio.sleep(0)
    await asyncio.to_thread(database.close)
    await asyncio.gather(*writes)
    again = Database(tmp_path / "a.db", _SCHEMA, 1)
    assert len(await again.read(_words)) == 20
    again.close()


async def test_a_closed_database_refuses_work_as_unavailable(tmp_path: Path) -> None:
    database = Database(tmp_path / "a.db", _SCHEMA, 1)
    database.close()
    with pytest.raises(ServiceError) as refused:
        await database.write(_insert("late"))
    assert refused.value.code is ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE


async def test_a_full_disk_is_an_unavailable_service_and_writes_nothing(tmp_path: Path) -> None:
    database = Database(tmp_path / "a.db", _SCHEMA, 1)
    pages = await database.read(lambda c: c.execute("PRAGMA page_count").get)
    await database.write(lambda c: c.execute(f"PRAGMA max_page_count={pages}") and None)
    with pytest.raises(ServiceError) as refused:
        await database.write(_insert("x" * 100_000))
    assert refused.value.code is ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE
    assert refused.value.message == "storage is full"
    assert database.refusal == "storage is full"
    assert await database.read(_words) == []
    await database.write(_insert("small"))
    assert await database.read(_words) == ["small"]
    assert database.refusal is None
    database.close()


def test_a_file_of_a_later_release_is_refused_and_left_alone(tmp_path: Path) -> None:
    Database(tmp_path / "a.db", _SCHEMA, 2).close()
    before = (tmp_path / "a.db").read_bytes()
    with pytest.raises(ServiceError) as refused:
        Database(tmp_path / "a.db", _SCHEMA, 1)
    assert refused.value.code is ErrorCode.CONFIGURATION_ERROR
    assert "later release" in refused.value.message
    assert (tmp_path / "a.db").read_bytes() == before


def test_a_damaged_file_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(b"this is no database, " * 300)
    with pytest.raises(ServiceError) as refused:
        Database(tmp_path / "a.db", _SCHEMA, 1)
    assert refused.value.code is ErrorCode.CONFIGURATION_ERROR
    assert "move it away" in refused.value.message


def test_no_text_of_the_storage_engine_reaches_the_public_message() -> None:
    assert storage_error(apsw.IOError("/secret/path failed")).message == "storage has failed"


async def test_a_write_that_fails_after_its_caller_has_left_makes_no_noise(
    database: Database,
) -> None:
    noise: list[object] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: noise.append(context["message"]))

    def failing(connection: apsw.Connection) -> None:
        raise ValueError("the secret words of alice")

    for leaves_at_once in (True, False):
        writes = [asyncio.create_task(database.write(failing)) for _ in range(20)]
        await asyncio.sleep(0)
        if leaves_at_once:
            for write in writes:
                write.cancel()
        await asyncio.gather(*writes, return_exceptions=True)
        writes.clear()  # the noise would come when the last reference goes
    assert await database.write(lambda connection: 1) == 1
    gc.collect()
    await asyncio.sleep(0)
    assert noise == []


async def test_a_transaction_that_had_nothing_to_write_does_not_say_that_the_disk_is_well(
    tmp_path: Path,
) -> None:
    database = Database(tmp_path / "a.db", _SCHEMA, 1)
    pages = await database.read(lambda c: c.execute("PRAGMA page_count").get)
    await database.write(lambda c: c.execute(f"PRAGMA max_page_count={pages}") and None)
    with pytest.raises(ServiceError):
        await database.write(_insert("x" * 100_000))
    refusal = database.refusal
    assert refusal is not None
    await database.write(lambda c: c.execute("DELETE FROM word WHERE id < 0") and None)
    assert database.refusal == refusal
    database.close()


async def test_a_probe_asks_the_disk_and_changes_nothing(tmp_path: Path) -> None:
    database = Database(tmp_path / "a.db", _SCHEMA, 7)
    await database.write(_insert("one"))
    log_bytes = (tmp_path / "a.db-wal").stat().st_size
    database.refusal = "storage is full"
    await database.probe()
    assert database.refusal is None
    assert (tmp_path / "a.db-wal").stat().st_size > log_bytes
    assert await database.read(_words) == ["one"]
    assert await database.read(lambda c: c.pragma("user_version")) == 7
    other = apsw.Connection(str(tmp_path / "a.db"))
    other.execute("BEGIN IMMEDIATE")
    database._writer.set_busy_timeout(10)
    await database.probe()  # it raises nothing, it only looks
    assert database.refusal is not None
    other.execute("ROLLBACK")
    other.close()
    await database.probe()
    assert database.refusal is None
    database.close()


async def test_transactions_and_who_shared_them_are_counted(tmp_path: Path) -> None:
    registry = CollectorRegistry()
    database = Database(tmp_path / "a.db", _SCHEMA, 1, DatabaseMetrics.of(registry))
    await asyncio.gather(*(database.write(_insert(f"w{i}")) for i in range(200)))

    def value(name: str, **labels: str) -> float:
        return registry.get_sample_value(f"remanence_database_{name}", labels) or 0.0

    committed = value("transactions_total", outcome="committed")
    assert 1 <= committed < 100
    assert value("works_per_commit_sum") == 200
    assert value("works_per_commit_count") == value("commit_duration_seconds_count") == committed
    await database.write(lambda c: c.execute("PRAGMA max_page_count=1") and None)
    with pytest.raises(ServiceError):
        await database.write(_insert("x" * 100_000))
    assert value("transactions_total", outcome="refused") == 1
    database.close()


async def test_every_commit_is_synced_before_it_is_answered(database: Database) -> None:
    # What the docstring of tests/unit/markdown/test_power_loss.py builds on.
    full = 2
    assert await database.write(lambda c: c.pragma("synchronous")) == full
    assert await database.write(lambda c: c.pragma("journal_mode")) == "wal"


async def test_nothing_of_what_was_deleted_is_left_and_a_reader_holds_up_no_writer_meanwhile(
    tmp_path: Path,
) -> None:
    database = Database(tmp_path / "a.db", _SCHEMA, 1)
    for number in range(50):
        await database.write(_insert(f"quagga {number}"))
    await database.write(lambda c: c.execute("DELETE FROM word") and None)
    reader = apsw.Connection(str(tmp_path / "a.db"))
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM word").get == 0
    emptying = asyncio.create_task(database.empty_log())
    await asyncio.sleep(0.3)
    # SQLite would wait five seconds for the reader.
    async with asyncio.timeout(3):
        await database.write(_insert("kept"))
    assert not emptying.done()
    reader.execute("COMMIT")
    reader.close()
    async with asyncio.timeout(3):
        await emptying
    files = (tmp_path / "a.db", tmp_path / "a.db-wal")
    assert all(b"quagga" not in file.read_bytes() for file in files)
    assert await database.read(_words) == ["kept"]
    database.close()


async def test_without_room_to_pack_a_file_it_is_left_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database(tmp_path / "a.db", _SCHEMA, 1)
    await database.write(_insert("kept"))
    files = (tmp_path / "a.db", tmp_path / "a.db-wal")
    sizes = [file.stat().st_size for file in files]
    monkeypatch.setattr(storage, "_RESERVE_BYTES", 1 << 60)
    with pytest.raises(ServiceError, match="storage is full"):
        await database.empty_log()
    assert [file.stat().st_size for file in files] == sizes
    # Whoever has less to write may still do so.
    await database.write(_insert("too"))
    assert await database.read(_words) == ["kept", "too"]
    database.close()
