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
        CHECK (status IN ('queued', 'running', 'succeeded', 'dead_letter')),
    attempts            INTEGER NOT NULL DEFAULT 0,
    maximum_attempts    INTEGER NOT NULL,
    available_at_ms     INTEGER NOT NULL,
    lease_token         TEXT,
    lease_until_ms      INTEGER,
    last_error_code     TEXT,
    last_error          TEXT,
    created_at_ms       INTEGER NOT NULL,
    finished_at_ms      INTEGER
) STRICT;
CREATE INDEX IF NOT EXISTS job_by_claim ON job (job_id) WHERE status IN ('queued', 'running');
CREATE INDEX IF NOT EXISTS job_by_serial_key
    ON job (serial_key, job_id) WHERE status IN ('queued', 'running');
CREATE INDEX IF NOT EXISTS job_by_cell ON job (cell_id);
CREATE INDEX IF NOT EXISTS job_by_session
    ON job (app_id, project_id, session_id) WHERE status IN ('queued', 'running');
CREATE INDEX IF NOT EXISTS job_by_finish ON job (finished_at_ms) WHERE status = 'succeeded';

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
CREATE INDEX IF NOT EXISTS inbox_by_age ON memorize_inbox (created_at_ms);
CREATE INDEX IF NOT EXISTS inbox_by_failure ON memorize_inbox (id) WHERE status = 'failed';

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

INSERT INTO unprocessed_buffer VALUES
    (7, 'default', 'default', 's-open', 'm_s-open_00000007', '{"text":"later"}', 1000);
INSERT INTO accepted_message VALUES ('default', 'default', 's-1', 'm_s-1_00000001', 900);
INSERT INTO memory_cell VALUES
    ('mc_waits', 'default', 'default', 's-1', '[]', 900),
    ('mc_dead', 'acme', 'web', 's-2', '[]', 901);
INSERT INTO job (job_id, stage, serial_key, cell_id, app_id, project_id, track, owner_id,
    session_id, input_json, output_json, status, attempts, maximum_attempts, available_at_ms,
    lease_token, lease_until_ms, last_error_code, last_error, created_at_ms, finished_at_ms)
VALUES
    (3, 'episode', 'k-dead', 'mc_dead', 'acme', 'web', 'user', 'bob', 's-2', NULL, '[1]',
        'dead_letter', 5, 5, 950, NULL, NULL, 'CRASHED', 'the server stopped meanwhile', 901, 960),
    (4, 'episode', 'k-1', 'mc_waits', 'default', 'default', 'user', 'alice', 's-1', NULL, NULL,
        'succeeded', 1, 5, 900, NULL, NULL, NULL, NULL, 900, 940),
    (5, 'facts', 'k-2', 'mc_waits', 'default', 'default', 'user', 'alice', 's-1',
        '{"episode_id":"ep_20260528_0001"}', '[2]',
        'running', 2, 5, 940, 'token', 2000, NULL, NULL, 940, NULL),
    (6, 'facts', 'k-2', 'mc_waits', 'default', 'default', 'user', 'alice', 's-1', NULL, NULL,
        'queued', 0, 5, 940, NULL, NULL, NULL, NULL, 940, NULL),
    (7, 'profile', 'k-3', 'mc_waits', 'default', 'default', 'user', 'alice', 's-1', NULL, NULL,
        'queued', 1, 5, 5000, NULL, NULL, 'EXTERNAL_SERVICE_UNAVAILABLE', 'storage is full',
        940, NULL),
    (8, 'profile', 'k-3', 'mc_waits', 'default', 'default', 'user', 'alice', 's-1', NULL, NULL,
        'queued', 0, 5, 940, NULL, NULL, NULL, NULL, 940, NULL);
UPDATE sqlite_sequence SET seq = 20 WHERE name = 'job';
INSERT INTO memorize_inbox (request_id, app_id, project_id, session_id, is_final, defer_extraction,
    payload_json, message_count, status, created_at_ms, updated_at_ms)
VALUES ('req-1', 'default', 'default', 's-3', 0, 0, '[]', 0, 'processing', 950, 950);
INSERT INTO entry_sequence VALUES
    ('default', 'default', 'user', 'alice', 'episode', '2026-05-28', 1);
PRAGMA user_version = 1;
