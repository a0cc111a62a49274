from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import apsw
import pytest

from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.state.database import Database
from remanence_server.state.jobs.store import JobStore
from remanence_server.state.migrations import MIGRATIONS
from remanence_server.state.schema import SCHEMA, SCHEMA_VERSION

# What each earlier version wrote, as SQL: tables as its code made them, and rows of every kind.
_GOLDEN = Path(__file__).parent / "golden"
_VERSIONS = range(1, SCHEMA_VERSION)
_JOB_COLUMNS = (
    "job_id, stage, serial_key, cell_id, app_id, project_id, track, owner_id, session_id,"
    " input_json, output_json, status, attempts, maximum_attempts, available_at_ms, lease_token,"
    " lease_until_ms, last_error_code, last_error, created_at_ms, finished_at_ms"
)


def _write_golden(path: Path, version: int) -> None:
    connection = apsw.Connection(str(path))
    connection.execute((_GOLDEN / f"system_db_version_{version}.sql").read_text())
    connection.close()


def _open(path: Path, migrations: Mapping[int, str] = MIGRATIONS) -> Database:
    return Database(path, SCHEMA, SCHEMA_VERSION, migrations=migrations)


def _rows(path: Path, sql: str) -> Sequence[tuple[object, ...]]:
    connection = apsw.Connection(str(path))
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def _shape(path: Path) -> dict[str, str]:
    """Every table, index and trigger of a file, as SQL without comments and layout."""
    found = _rows(path, "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
    return {
        str(name): re.sub(r"\s+|\"", "", re.sub(r"--[^\n]*", "", str(sql))) for name, sql in found
    }


@pytest.mark.parametrize("version", _VERSIONS)
def test_a_file_of_an_earlier_version_gets_the_shape_of_a_new_one(
    version: int, tmp_path: Path
) -> None:
    _write_golden(tmp_path / "old.db", version)
    _open(tmp_path / "old.db").close()
    _open(tmp_path / "new.db").close()
    assert _shape(tmp_path / "old.db") == _shape(tmp_path / "new.db")
    assert _rows(tmp_path / "old.db", "PRAGMA user_version") == [(SCHEMA_VERSION,)]
    assert _rows(tmp_path / "old.db", "PRAGMA integrity_check") == [("ok",)]


@pytest.mark.parametrize("version", _VERSIONS)
def test_every_row_of_an_earlier_version_is_kept(version: int, tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    _write_golden(path, version)
    # What is in all versions; later columns are asked for by other tests.
    queries = {
        "job": f"SELECT {_JOB_COLUMNS} FROM job ORDER BY job_id",
        **{
            table: f"SELECT * FROM {table}"
            for table in (
                "unprocessed_buffer",
                "accepted_message",
                "memory_cell",
                "memorize_inbox",
                "entry_sequence",
                "sqlite_sequence ORDER BY name",
            )
        },
    }
    before = {table: _rows(path, sql) for table, sql in queries.items()}
    assert all(before.values())
    _open(path).close()
    assert {table: _rows(path, sql) for table, sql in queries.items()} == before


async def test_jobs_of_version_1_go_on_in_their_order(tmp_path: Path) -> None:
    _write_golden(tmp_path / "old.db", 1)
    database = _open(tmp_path / "old.db")
    store = JobStore(database)
    assert await store.recover(3000) == 1
    claimed = []
    while job := await store.claim(6000, 1000):
        claimed.append((job.job_id, job.attempts, job.output_json))
        await store.succeed(job, (), 6000)
    assert claimed == [(5, 3, "[2]"), (6, 1, None), (7, 2, None), (8, 1, None)]
    database.close()


def test_a_migration_that_fails_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    _write_golden(path, 1)
    before = _shape(path)
    with pytest.raises(apsw.SQLError):
        _open(path, {1: MIGRATIONS[1] + "SELECT * FROM no_such_table"})
    assert _shape(path) == before
    assert _rows(path, "PRAGMA user_version") == [(1,)]
    _open(path).close()


def test_a_file_from_which_no_step_leads_here_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    _write_golden(path, 1)
    before = _shape(path)
    with pytest.raises(ServiceError) as refused:
        Database(path, SCHEMA, SCHEMA_VERSION)
    assert refused.value.code is ErrorCode.CONFIGURATION_ERROR
    assert _shape(path) == before


def test_a_file_from_before_versions_were_counted_is_one_of_version_1(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    _write_golden(path, 1)
    connection = apsw.Connection(str(path))
    connection.pragma("user_version", 0)
    connection.close()
    _open(path).close()
    assert _rows(path, "PRAGMA user_version") == [(SCHEMA_VERSION,)]
    assert _rows(path, "SELECT count(*) FROM job WHERE is_next = 1") == [(2,)]
