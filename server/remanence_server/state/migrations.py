"""How a system.db of an earlier version becomes one of the next, keeping every row.

A step is SQL from version n to n + 1, for what is there already: a table that changed. It is never
edited once it was released. Steps run in the transaction that then makes what the schema adds, such
as new tables and the indexes of a table that a step has rebuilt.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import apsw

from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.runtime.fault_points import FaultPoint, reach
from remanence_server.runtime.logging import get_logger

_log = get_logger(__name__)

# SQLite cannot change a CHECK: the table is made anew. Ids stay, and none is ever given twice.
_JOBS_THAT_CAN_BE_CANCELLED = """
ALTER TABLE job RENAME TO job_of_version_1;
CREATE TABLE job (
    job_id              INTEGER PRIMARY KEY AUTOINCREMENT,
    stage               TEXT NOT NULL,
    serial_key          TEXT NOT NULL,
    cell_id             TEXT NOT NULL,
    app_id              TEXT NOT NULL,
    project_id          TEXT NOT NULL,
    track               TEXT NOT NULL,
    owner_id            TEXT NOT NULL,
    session_id          TEXT NOT NULL,
    input_json          TEXT,
    output_json         TEXT,
    status              TEXT NOT NULL
        CHECK (status IN ('queued', 'running', 'succeeded', 'dead_letter', 'cancelled')),
    attempts            INTEGER NOT NULL DEFAULT 0,
    maximum_attempts    INTEGER NOT NULL,
    available_at_ms     INTEGER NOT NULL,
    lease_token         TEXT,
    lease_until_ms      INTEGER,
    last_error_code     TEXT,
    last_error          TEXT,
    created_at_ms       INTEGER NOT NULL,
    finished_at_ms      INTEGER,
    waits               INTEGER NOT NULL DEFAULT 0,
    alone               INTEGER NOT NULL DEFAULT 0,
    is_next             INTEGER NOT NULL DEFAULT 0,
    wanted              INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO job (job_id, stage, serial_key, cell_id, app_id, project_id, track, owner_id,
    session_id, input_json, output_json, status, attempts, maximum_attempts, available_at_ms,
    lease_token, lease_until_ms, last_error_code, last_error, created_at_ms, finished_at_ms)
SELECT job_id, stage, serial_key, cell_id, app_id, project_id, track, owner_id,
    session_id, input_json, output_json, status, attempts, maximum_attempts, available_at_ms,
    lease_token, lease_until_ms, last_error_code, last_error, created_at_ms, finished_at_ms
FROM job_of_version_1;
UPDATE job SET is_next = 1 WHERE job_id IN
    (SELECT min(job_id) FROM job WHERE status IN ('queued', 'running') GROUP BY serial_key);
DELETE FROM sqlite_sequence WHERE name = 'job';
INSERT INTO sqlite_sequence (name, seq)
    SELECT 'job', seq FROM sqlite_sequence WHERE name = 'job_of_version_1';
DROP TABLE job_of_version_1;
"""

# From the version to the next.
MIGRATIONS: Mapping[int, str] = MappingProxyType({1: _JOBS_THAT_CAN_BE_CANCELLED})


def bring_up_to_date(
    connection: apsw.Connection,
    file_name: str,
    schema: str,
    version: int,
    migrations: Mapping[int, str],
) -> None:
    """Makes a new file one of `version`, or one of an earlier version: all of it or nothing.

    Raises ServiceError CONFIGURATION_ERROR, and changes nothing, for a file of a later version, and
    for one from which no migrations lead here.
    """
    found = int(connection.pragma("user_version"))
    is_new = not connection.execute("SELECT count(*) FROM sqlite_master").get
    if found > version:
        raise ServiceError(
            ErrorCode.CONFIGURATION_ERROR,
            f"{file_name} was written by a later release (version {found}, this one knows"
            f" {version}); start that release again",
        )
    # Versions were not counted before the first.
    steps = range(max(found, 1), version) if not is_new else range(0)
    if any(step not in migrations for step in steps):
        raise ServiceError(
            ErrorCode.CONFIGURATION_ERROR,
            f"{file_name} is of version {found}, which this release cannot read; start the release"
            " that wrote it, or the one after it",
        )
    if steps:
        _log.warning(
            "state_migration",
            file=file_name,
            from_version=steps.start,
            to_version=version,
            hint="earlier releases cannot read the file then; the way back is a backup of it",
        )
    with connection:
        for step in steps:
            connection.execute(migrations[step])
        connection.execute(schema)
        reach(FaultPoint.SCHEMA_MIGRATION)
        connection.pragma("user_version", version)
