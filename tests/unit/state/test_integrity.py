from __future__ import annotations

import os
from pathlib import Path

import pytest

from remanence_server.state.copying import copy_database
from remanence_server.state.database import Database
from remanence_server.state.integrity import is_sound

_SCHEMA = "CREATE TABLE IF NOT EXISTS t (x TEXT)"


async def test_a_copy_of_a_database_in_use_is_sound_and_holds_what_was_committed(
    tmp_path: Path,
) -> None:
    database = Database(tmp_path / "a.db", _SCHEMA, 1)
    await database.write(lambda c: c.execute("INSERT INTO t VALUES ('kept')"))
    copy_database(tmp_path / "a.db", tmp_path / "b.db")
    # Work goes on, in the one and not in the other.
    await database.write(lambda c: c.execute("INSERT INTO t VALUES ('later')"))
    assert is_sound(tmp_path / "a.db")
    assert is_sound(tmp_path / "b.db")
    database.close()
    assert {entry.name for entry in os.scandir(tmp_path)} == {"a.db", "b.db"}
    copied = Database(tmp_path / "b.db", _SCHEMA, 1)
    assert await copied.read(lambda c: c.execute("SELECT x FROM t").fetchall()) == [("kept",)]
    copied.close()


def test_a_damaged_file_is_not_sound(tmp_path: Path) -> None:
    Database(tmp_path / "a.db", _SCHEMA, 1).close()
    data = bytearray((tmp_path / "a.db").read_bytes())
    data[100:600] = b"\xff" * 500
    (tmp_path / "a.db").write_bytes(data)
    assert not is_sound(tmp_path / "a.db")
    (tmp_path / "b.db").write_bytes(b"no database at all " * 100)
    assert not is_sound(tmp_path / "b.db")
    with pytest.raises(OSError, match="absent"):
        is_sound(tmp_path / "absent.db")
