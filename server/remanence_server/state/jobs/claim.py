"""Which job comes next. The cost of the answer does not depend on how many jobs wait.

Only the first unfinished job of a serial key can be next (`is_next`, kept by triggers). Those are
indexed by when they became due, so every part of these statements is one look into an index.
"""

from __future__ import annotations

from remanence_server.state.jobs.model import Wanted

_READY = "status = 'queued' AND is_next = 1"


def _longest_due(wanted: Wanted) -> str:
    return (
        f"SELECT * FROM (SELECT job_id, wanted, available_at_ms FROM job WHERE {_READY}"
        f" AND wanted = {wanted} AND available_at_ms <= :now_ms"
        " ORDER BY available_at_ms, job_id LIMIT 1)"
    )


_CANDIDATES = " UNION ALL ".join(_longest_due(wanted) for wanted in Wanted)

# While one is to run alone, no other is claimed.
_ONE_IS_ALONE = f"""
EXISTS (SELECT 1 FROM job WHERE alone = 1 AND (status = 'running' OR ({_READY})))
"""
_NONE_RUNS = "NOT EXISTS (SELECT 1 FROM job WHERE status = 'running')"

# A lease that ran out comes first. Then what is wanted most, or, in a turn of `:longest_due`, what
# has been due longest. What has not failed waits for nothing, whatever a clock that was set back
# says.
CLAIM = f"""
UPDATE job SET status = 'running', attempts = attempts + 1, lease_token = :token,
    lease_until_ms = :lease_until_ms
WHERE job_id = coalesce(
    (SELECT job_id FROM job WHERE status = 'running' AND lease_until_ms <= :now_ms
        ORDER BY lease_until_ms LIMIT 1),
    iif({_ONE_IS_ALONE},
        (SELECT job_id FROM job WHERE alone = 1 AND {_READY} AND {_NONE_RUNS}
            ORDER BY job_id LIMIT 1),
        coalesce(
            (SELECT job_id FROM ({_CANDIDATES})
                ORDER BY iif(:longest_due, 0, -wanted), available_at_ms, job_id LIMIT 1),
            (SELECT job_id FROM job WHERE {_READY} AND last_error_code IS NULL
                ORDER BY job_id LIMIT 1))))
RETURNING job_id, stage, cell_id, app_id, project_id, track, owner_id, session_id, attempts,
    maximum_attempts, waits, lease_token, input_json, output_json
"""

_FIRST_DUE = " UNION ALL ".join(
    f"SELECT min(available_at_ms) AS at_ms FROM job WHERE {_READY} AND wanted = {wanted}"
    for wanted in Wanted
)

NEXT_AVAILABLE = f"""
SELECT min(at_ms) FROM (
    SELECT min(lease_until_ms) AS at_ms FROM job WHERE status = 'running'
    UNION ALL SELECT CASE
        WHEN {_ONE_IS_ALONE} THEN iif({_NONE_RUNS}, 0, NULL)
        WHEN EXISTS (SELECT 1 FROM job WHERE {_READY} AND last_error_code IS NULL) THEN 0
        ELSE (SELECT min(at_ms) FROM ({_FIRST_DUE})) END)
"""
