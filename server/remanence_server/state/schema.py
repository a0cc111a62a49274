"""The tables of system.db."""

from __future__ import annotations

# Raise it with every change of what is there already, and add the step from the version before to
# `state/migrations.py`. A new table needs neither: it is made when the file is opened.
SCHEMA_VERSION = 2

SCHEMA = """
-- Accepted messages that are not yet part of a memory cell, in the order of acceptance.
CREATE TABLE IF NOT EXISTS unprocessed_buffer (
    sequence        INTEGER PRIMARY KEY AUTOINCREMENT,
    app_id          TEXT NOT NULL,
    project_id      TEXT NOT NULL,
    session_id      TEXT NOT NULL,
    message_id      TEXT NOT NULL,
    message_json    TEXT NOT NULL,
    created_at_ms   INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS buffer_by_message
    ON unprocessed_buffer (app_id, project_id, session_id, message_id);
CREATE INDEX IF NOT EXISTS buffer_by_session
    ON unprocessed_buffer (app_id, project_id, session_id, sequence);

-- Ids that clients gave to messages which have left the buffer, so that a repeat stays a repeat.
CREATE TABLE IF NOT EXISTS accepted_message (
    app_id          TEXT NOT NULL,
    project_id      TEXT NOT NULL,
    session_id      TEXT NOT NULL,
    message_id      TEXT NOT NULL,
    accepted_at_ms  INTEGER NOT NULL,
    PRIMARY KEY (app_id, project_id, session_id, message_id)
) STRICT, WITHOUT ROWID;

-- Closed segments whose jobs are not all finished. The row goes when they are: the words live on in
-- the transcript of the owner, not here.
CREATE TABLE IF NOT EXISTS memory_cell (
    cell_id         TEXT PRIMARY KEY,
    app_id          TEXT NOT NULL,
    project_id      TEXT NOT NULL,
    session_id      TEXT NOT NULL,
    messages_json   TEXT NOT NULL,
    created_at_ms   INTEGER NOT NULL
) STRICT;

-- One row a stage of the pipeline. Claiming is a single UPDATE: lease and attempts cannot disagree.
CREATE TABLE IF NOT EXISTS job (
    job_id              INTEGER PRIMARY KEY AUTOINCREMENT,
    stage               TEXT NOT NULL,
    -- Jobs of one serial key run one at a time, in order.
    serial_key          TEXT NOT NULL,
    cell_id             TEXT NOT NULL,
    app_id              TEXT NOT NULL,
    project_id          TEXT NOT NULL,
    track               TEXT NOT NULL,
    owner_id            TEXT NOT NULL,
    session_id          TEXT NOT NULL,
    -- What an earlier stage hands on (an entry id), as JSON.
    input_json          TEXT,
    -- What the stage produced, with the ids it will be written under; kept so that a repeat after a
    -- crash writes the same thing and does not ask a model again.
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
    -- How often in a row it failed for what says nothing against it. Such failures use up none of
    -- its attempts; the pause after them grows.
    waits               INTEGER NOT NULL DEFAULT 0,
    -- 1 for one that ran whenever the process died and has one attempt left: it runs with no other
    -- beside it, so that none is given up for what another has done.
    alone               INTEGER NOT NULL DEFAULT 0,
    -- 1 for the one unfinished job of a serial key whose turn it is. Kept by the triggers below, so
    -- that finding the next job costs the same whatever waits behind it.
    is_next             INTEGER NOT NULL DEFAULT 0,
    -- How much somebody waits for it: 2 does, 1 for what follows from such a job, 0 nobody does.
    wanted              INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS job_by_turn ON job (serial_key) WHERE is_next = 1;
CREATE INDEX IF NOT EXISTS job_by_due
    ON job (wanted, available_at_ms, job_id) WHERE status = 'queued' AND is_next = 1;
CREATE INDEX IF NOT EXISTS job_without_failure
    ON job (job_id) WHERE status = 'queued' AND is_next = 1 AND last_error_code IS NULL;
CREATE INDEX IF NOT EXISTS job_alone ON job (job_id) WHERE alone = 1;
CREATE INDEX IF NOT EXISTS job_by_lease ON job (lease_until_ms) WHERE status = 'running';
CREATE INDEX IF NOT EXISTS job_by_serial_key
    ON job (serial_key, job_id) WHERE status IN ('queued', 'running');
CREATE INDEX IF NOT EXISTS job_by_failure
    ON job (app_id, project_id) WHERE status = 'queued' AND last_error_code IS NOT NULL;
CREATE INDEX IF NOT EXISTS job_by_finish
    ON job (status, finished_at_ms) WHERE finished_at_ms IS NOT NULL;
CREATE INDEX IF NOT EXISTS job_by_cell ON job (cell_id);
CREATE INDEX IF NOT EXISTS job_by_session ON job (app_id, project_id, session_id, status);
CREATE INDEX IF NOT EXISTS job_by_scope ON job (app_id, project_id);
CREATE INDEX IF NOT EXISTS job_by_status ON job (app_id, project_id, status);

CREATE TRIGGER IF NOT EXISTS job_queues AFTER INSERT ON job
WHEN NEW.status IN ('queued', 'running')
BEGIN
    UPDATE job SET is_next = 1 WHERE job_id = NEW.job_id AND NOT EXISTS
        (SELECT 1 FROM job WHERE serial_key = NEW.serial_key AND is_next = 1);
END;
-- Also one that waits for another attempt: meanwhile an earlier one may have been retried.
CREATE TRIGGER IF NOT EXISTS job_leaves AFTER UPDATE OF status ON job
WHEN OLD.is_next = 1 AND NEW.status <> 'running'
BEGIN
    UPDATE job SET is_next = 0 WHERE job_id = NEW.job_id;
    UPDATE job SET is_next = 1 WHERE job_id = (SELECT min(job_id) FROM job
        WHERE serial_key = NEW.serial_key AND status IN ('queued', 'running'));
END;
-- A job that is retried goes before those queued after it, but not before one that runs.
CREATE TRIGGER IF NOT EXISTS job_returns AFTER UPDATE OF status ON job
WHEN OLD.status NOT IN ('queued', 'running') AND NEW.status IN ('queued', 'running')
BEGIN
    UPDATE job SET is_next = 0 WHERE serial_key = NEW.serial_key AND is_next = 1
        AND status = 'queued' AND job_id > NEW.job_id;
    UPDATE job SET is_next = 1 WHERE job_id = NEW.job_id AND NOT EXISTS
        (SELECT 1 FROM job WHERE serial_key = NEW.serial_key AND is_next = 1);
END;
CREATE TRIGGER IF NOT EXISTS job_goes AFTER DELETE ON job
WHEN OLD.is_next = 1
BEGIN
    UPDATE job SET is_next = 1 WHERE job_id = (SELECT min(job_id) FROM job
        WHERE serial_key = OLD.serial_key AND status IN ('queued', 'running'));
END;

-- Requests that were answered with 202, in the order of acceptance, and what became of them.
CREATE TABLE IF NOT EXISTS memorize_inbox (
    id                  INTEGER PRIMARY KEY AUTOINCREMENT,
    -- The id of the task.
    request_id          TEXT NOT NULL UNIQUE,
    app_id              TEXT NOT NULL,
    project_id          TEXT NOT NULL,
    session_id          TEXT NOT NULL,
    -- 1 for a flush, 0 for an add.
    is_final            INTEGER NOT NULL,
    defer_extraction    INTEGER NOT NULL,
    -- What is to be delivered; empty once it is.
    payload_json        TEXT NOT NULL,
    message_count       INTEGER NOT NULL,
    status              TEXT NOT NULL
        CHECK (status IN ('queued', 'processing', 'success', 'failed')),
    -- How often it was given back because the process died while it was delivered.
    attempt             INTEGER NOT NULL DEFAULT 0,
    error_code          TEXT,
    last_error          TEXT,
    created_at_ms       INTEGER NOT NULL,
    updated_at_ms       INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS inbox_by_session
    ON memorize_inbox (app_id, project_id, session_id, status);
CREATE INDEX IF NOT EXISTS inbox_by_claim
    ON memorize_inbox (id) WHERE status IN ('queued', 'processing');
CREATE INDEX IF NOT EXISTS inbox_in_flight
    ON memorize_inbox (id) WHERE status = 'processing';
CREATE INDEX IF NOT EXISTS inbox_by_age ON memorize_inbox (created_at_ms);
CREATE INDEX IF NOT EXISTS inbox_by_failure ON memorize_inbox (id) WHERE status = 'failed';

-- What a request with an idempotency key was answered. No text of a request: only its hash.
CREATE TABLE IF NOT EXISTS receipt (
    app_id          TEXT NOT NULL,
    project_id      TEXT NOT NULL,
    method          TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    request_hash    BLOB NOT NULL,
    request_id      TEXT NOT NULL,
    response        BLOB NOT NULL,
    created_at_ms   INTEGER NOT NULL,
    PRIMARY KEY (app_id, project_id, method, idempotency_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS receipt_by_age ON receipt (created_at_ms);

-- Deletions that are decided and not finished, one row an owner. No text of a memory: only ids.
CREATE TABLE IF NOT EXISTS deletion (
    deletion_id     INTEGER PRIMARY KEY AUTOINCREMENT,
    app_id          TEXT NOT NULL,
    project_id      TEXT NOT NULL,
    track           TEXT NOT NULL,
    owner_id        TEXT NOT NULL,
    selection_json  TEXT NOT NULL,
    -- While it is `recorded`, nothing is written to the Markdown of the owner.
    state           TEXT NOT NULL CHECK (state IN ('recorded', 'profile_waits', 'removed')),
    created_at_ms   INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS deletion_by_owner
    ON deletion (app_id, project_id, track, owner_id, state);

-- A row for each deletion after which old pages of this file may still hold what it took out.
CREATE TABLE IF NOT EXISTS deletion_trace (
    trace_id        INTEGER PRIMARY KEY AUTOINCREMENT
) STRICT;

-- The last sequence number given to an entry of one owner, kind and day.
CREATE TABLE IF NOT EXISTS entry_sequence (
    app_id          TEXT NOT NULL,
    project_id      TEXT NOT NULL,
    track           TEXT NOT NULL,
    owner_id        TEXT NOT NULL,
    kind            TEXT NOT NULL,
    day             TEXT NOT NULL,
    last_sequence   INTEGER NOT NULL,
    PRIMARY KEY (app_id, project_id, track, owner_id, kind, day)
) STRICT, WITHOUT ROWID;
"""
