"""The tables of the catalogue and of the embedding store, and how their files are opened.

Both files are derived: one that is damaged or of another version is put away and begun anew, and
Markdown fills it again.
"""

from __future__ import annotations

import uuid
from pathlib import Path

import apsw

from remanence_server.index.catalogue.queries import DAMAGE, rows, value
from remanence_server.index.damage import IndexDamagedError

SCHEMA_VERSION = 2
EMBEDDINGS_VERSION = 1

CATALOGUE_FILE = "catalogue.db"
EMBEDDINGS_FILE = "embeddings.db"

_CATALOGUE = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE owner (
    owner_key INTEGER PRIMARY KEY,
    app_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    track TEXT NOT NULL,
    owner_id TEXT NOT NULL,
    UNIQUE (app_id, project_id, track, owner_id)
) STRICT;

CREATE TABLE file (
    path TEXT PRIMARY KEY,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    content_hash TEXT NOT NULL,
    problems BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE record (
    record_id INTEGER PRIMARY KEY AUTOINCREMENT,
    owner_key INTEGER NOT NULL,
    kind TEXT NOT NULL,
    entry_id TEXT NOT NULL,
    public_id TEXT NOT NULL,
    path TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    session_id TEXT,
    parent_type TEXT,
    parent_id TEXT,
    timestamp_ms INTEGER,
    updated_at_ms INTEGER NOT NULL,
    payload BLOB NOT NULL,
    UNIQUE (owner_key, kind, entry_id)
) STRICT;
CREATE INDEX record_by_timestamp ON record (owner_key, kind, timestamp_ms, public_id);
CREATE INDEX record_by_update ON record (owner_key, kind, updated_at_ms, public_id);
CREATE INDEX record_by_session ON record (owner_key, kind, session_id, timestamp_ms);
CREATE INDEX record_by_parent ON record (owner_key, kind, parent_id);
CREATE INDEX record_by_path ON record (path);
CREATE INDEX record_by_public_id ON record (public_id);

CREATE TABLE record_sender (
    record_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    sender_id TEXT NOT NULL,
    PRIMARY KEY (record_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE record_speaker (
    record_id INTEGER NOT NULL,
    speaker TEXT NOT NULL,
    owner_key INTEGER NOT NULL,
    PRIMARY KEY (record_id, speaker)
) STRICT, WITHOUT ROWID;
CREATE TABLE speaker_tally (
    owner_key INTEGER NOT NULL,
    records INTEGER NOT NULL,
    speaker TEXT NOT NULL,
    PRIMARY KEY (owner_key, speaker)
) STRICT, WITHOUT ROWID;
CREATE INDEX speaker_by_share ON speaker_tally (owner_key, records);
CREATE TRIGGER speaker_added AFTER INSERT ON record_speaker BEGIN
    INSERT INTO speaker_tally VALUES (new.owner_key, 1, new.speaker)
    ON CONFLICT DO UPDATE SET records = records + 1;
END;
CREATE TRIGGER speaker_removed AFTER DELETE ON record_speaker BEGIN
    UPDATE speaker_tally SET records = records - 1
    WHERE owner_key = old.owner_key AND speaker = old.speaker;
    DELETE FROM speaker_tally
    WHERE owner_key = old.owner_key AND speaker = old.speaker AND records = 0;
END;

CREATE TABLE tally (
    owner_key INTEGER NOT NULL,
    kind TEXT NOT NULL,
    records INTEGER NOT NULL,
    PRIMARY KEY (owner_key, kind)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER tally_added AFTER INSERT ON record BEGIN
    INSERT INTO tally VALUES (new.owner_key, new.kind, 1)
    ON CONFLICT DO UPDATE SET records = records + 1;
END;
CREATE TRIGGER tally_removed AFTER DELETE ON record BEGIN
    UPDATE tally SET records = records - 1 WHERE owner_key = old.owner_key AND kind = old.kind;
END;

CREATE TABLE passage (
    passage_id INTEGER PRIMARY KEY AUTOINCREMENT,
    record_id INTEGER NOT NULL,
    owner_key INTEGER NOT NULL,
    channel TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    text TEXT NOT NULL,
    text_hash BLOB NOT NULL,
    dense INTEGER NOT NULL,
    lexical INTEGER NOT NULL,
    embedded INTEGER NOT NULL,
    stamp INTEGER NOT NULL
) STRICT;
CREATE INDEX passage_by_record ON passage (record_id);
CREATE INDEX passage_by_stamp ON passage (stamp);
CREATE INDEX passage_by_text ON passage (text_hash) WHERE dense;
CREATE INDEX passage_by_partition ON passage (owner_key, channel) WHERE embedded;
CREATE INDEX passage_without_vector ON passage (passage_id) WHERE dense AND NOT embedded;

CREATE TABLE deleted_passage (
    stamp INTEGER PRIMARY KEY,
    passage_id INTEGER NOT NULL,
    owner_key INTEGER NOT NULL,
    channel TEXT NOT NULL
) STRICT;
"""

# Vectors are kept by the hash of their text, in a file of their own: they are dear to compute, so
# they outlive the catalogue, and one text of several owners has one vector.
_EMBEDDINGS = """
CREATE TABLE embeddings.meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE embeddings.embedding (
    embedding_id INTEGER PRIMARY KEY,
    text_hash BLOB NOT NULL UNIQUE,
    vector BLOB NOT NULL
) STRICT;
"""


def open_writer(index_directory: Path, fingerprint: str, first_id: int = 1) -> apsw.Connection:
    """The connection that writes, with both files in place and of this version.

    Args:
        index_directory: Where `catalogue.db` and `embeddings.db` are; made if missing.
        fingerprint: The vector space; stored vectors of another one are dropped.
        first_id: Where a new catalogue begins to count records and passages.

    Returns:
        The connection.
    """
    index_directory.mkdir(parents=True, exist_ok=True)
    catalogue = index_directory / CATALOGUE_FILE
    embeddings = index_directory / EMBEDDINGS_FILE
    _put_away_if_unusable(catalogue, SCHEMA_VERSION)
    _put_away_if_unusable(embeddings, EMBEDDINGS_VERSION)
    connection = apsw.Connection(str(catalogue))
    try:
        _configure(connection)
        connection.execute("ATTACH ? AS embeddings", (str(embeddings),))
        connection.execute("PRAGMA embeddings.journal_mode = wal")
        connection.execute("PRAGMA embeddings.synchronous = normal")
        # Deleted memory leaves no readable trace in free pages.
        connection.execute("PRAGMA secure_delete = fast")
        # This one is never packed anew.
        connection.execute("PRAGMA embeddings.secure_delete = on")
        with connection:
            if not connection.pragma("user_version"):
                connection.execute(_CATALOGUE)
                connection.executemany(
                    "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)",
                    [("record", first_id - 1), ("passage", first_id - 1)],
                )
                put_meta(connection, "generation", uuid.uuid4().hex)
                connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            _prepare_embeddings(connection, fingerprint)
    except BaseException:
        connection.close()
        raise
    return connection


def open_reader(index_directory: Path) -> apsw.Connection:
    """A connection that only reads; the writer has been opened before."""
    connection = apsw.Connection(str(index_directory / CATALOGUE_FILE))
    _configure(connection)
    connection.execute("ATTACH ? AS embeddings", (str(index_directory / EMBEDDINGS_FILE),))
    connection.execute("PRAGMA query_only = 1")
    return connection


def is_filled(path: Path) -> bool:
    """Whether a catalogue, by its file, was ever filled from Markdown. False if it is unusable."""
    if not path.is_file():
        return False
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            return bool(meta_value(connection, "filled"))
        finally:
            connection.close()
    except (apsw.Error, IndexDamagedError):
        return False


def meta_value(connection: apsw.Connection, key: str) -> str | int | None:
    """A value of the table `meta`."""
    found: str | int | None = value(connection, "SELECT value FROM main.meta WHERE key = ?", (key,))
    return found


def put_meta(connection: apsw.Connection, key: str, content: str | int) -> None:
    """Sets a value of the table `meta`."""
    connection.execute("INSERT OR REPLACE INTO main.meta VALUES (?, ?)", (key, content))


def _configure(connection: apsw.Connection) -> None:
    connection.set_busy_timeout(10_000)
    connection.execute("PRAGMA journal_mode = wal")
    # What is deleted is overwritten: it may be somebody's words.
    connection.execute("PRAGMA secure_delete = 1")
    # Derived data: a power cut may take the last transactions, and the startup scan brings them.
    connection.execute("PRAGMA synchronous = normal")
    connection.execute("PRAGMA cache_size = -16000")
    connection.execute("PRAGMA temp_store = memory")


def put_away(index_directory: Path) -> None:
    """Renames both files: they could be opened, and then not be read."""
    for name in (CATALOGUE_FILE, EMBEDDINGS_FILE):
        if (index_directory / name).exists():
            _rename_damaged(index_directory / name)


def remove_damaged(index_directory: Path) -> None:
    """Removes what was put away: what is deleted from memory may still be in it."""
    for name in (CATALOGUE_FILE, EMBEDDINGS_FILE):
        (index_directory / f"{name}.damaged").unlink(missing_ok=True)


def _rename_damaged(path: Path) -> None:
    _companions_removed(path)
    # One is kept to look at; more would fill the disk of a machine that is failing.
    path.replace(path.with_name(f"{path.name}.damaged"))


def _put_away_if_unusable(path: Path, current_version: int) -> None:
    """Renames a damaged file, removes one of another version; leaves a good one."""
    if not path.exists():
        return
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            version = connection.pragma("user_version")
            rows(connection, "SELECT count(*) FROM sqlite_schema")
        finally:
            connection.close()
    except (*DAMAGE, IndexDamagedError, apsw.CantOpenError):
        _rename_damaged(path)
        return
    if version not in (0, current_version):
        _companions_removed(path)
        path.unlink()


def _companions_removed(path: Path) -> None:
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _prepare_embeddings(connection: apsw.Connection, fingerprint: str) -> None:
    """Empties the embedding store when it holds another vector space, and agrees the flags."""
    stored = None
    if connection.pragma("user_version", schema="embeddings"):
        stored = value(connection, "SELECT value FROM embeddings.meta WHERE key = 'fingerprint'")
    if stored != fingerprint:
        connection.execute("DROP TABLE IF EXISTS embeddings.embedding")
        connection.execute("DROP TABLE IF EXISTS embeddings.meta")
        connection.execute(_EMBEDDINGS)
        connection.execute(
            "INSERT INTO embeddings.meta VALUES ('fingerprint', ?), ('generation', ?)",
            (fingerprint, uuid.uuid4().hex),
        )
        connection.execute(f"PRAGMA embeddings.user_version = {EMBEDDINGS_VERSION}")
    generation = value(connection, "SELECT value FROM embeddings.meta WHERE key = 'generation'")
    if meta_value(connection, "embedding_generation") != generation:
        # The store was deleted or emptied behind the catalogue's back.
        connection.execute(
            "UPDATE passage SET embedded = dense AND EXISTS "
            "(SELECT 1 FROM embeddings.embedding e WHERE e.text_hash = passage.text_hash)"
        )
        put_meta(connection, "embedding_generation", generation)
    # A power cut may take the end of one file and not of the other.
    connection.execute(
        "UPDATE passage SET embedded = 0 WHERE embedded AND NOT EXISTS "
        "(SELECT 1 FROM embeddings.embedding e WHERE e.text_hash = passage.text_hash)"
    )
