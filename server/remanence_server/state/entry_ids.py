"""Numbers for Markdown entries: given once, in the transaction that saves what they will hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date

import apsw

from remanence_server.domain.owners import Owner
from remanence_server.domain.records import Kind, record_key
from remanence_server.state.database import Database
from remanence_server.state.jobs.model import Job
from remanence_server.state.jobs.store import LeaseLostError
from remanence_server.state.record_json import load_records


class EntryIds:
    """The counters of system.db, one for each owner, kind and day."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def reserve_and_save(
        self,
        job: Job,
        needs: dict[tuple[Kind, date], tuple[int, int]],
        build_output: Callable[[dict[tuple[Kind, date], int]], str],
    ) -> str:
        """Reserves numbers for a job's records and saves the job's output under them, at once.

        `needs` maps (kind, day) to (how many numbers, the least the counter may stand at).
        `build_output` gets the first number of each and returns the output to save, which is also
        returned. Raises LeaseLostError when the job is no longer ours.
        """

        def run(connection: apsw.Connection) -> str:
            first: dict[tuple[Kind, date], int] = {}
            for (kind, day), (count, floor) in needs.items():
                last: int = connection.execute(
                    "INSERT INTO entry_sequence (app_id, project_id, track, owner_id, kind, day,"
                    " last_sequence) VALUES (?, ?, ?, ?, ?, ?, ?)"
                    " ON CONFLICT DO UPDATE SET last_sequence ="
                    "   max(last_sequence, ?) + ? RETURNING last_sequence",
                    (*_key(job.owner, kind, day), floor + count, floor, count),
                ).get
                first[kind, day] = last - count + 1
            output = build_output(first)
            connection.execute(
                "UPDATE job SET output_json = ? WHERE job_id = ? AND lease_token = ?",
                (output, job.job_id, job.lease_token),
            )
            if not connection.changes():
                raise LeaseLostError
            return output

        return await self._database.write(run)

    async def raise_and_find_reserved(
        self, owner: Owner, highest: Mapping[tuple[Kind, date], int]
    ) -> frozenset[str]:
        """Raises counters to numbers that come from elsewhere; returns the ids that jobs hold.

        No number given later collides with those. An id that a job of the owner has been given, and
        has not finished writing, must not be used for anything else.
        """

        def run(connection: apsw.Connection) -> frozenset[str]:
            connection.executemany(
                "INSERT INTO entry_sequence (app_id, project_id, track, owner_id, kind, day,"
                " last_sequence) VALUES (?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT DO UPDATE SET last_sequence ="
                "   max(last_sequence, excluded.last_sequence)",
                [(*_key(owner, kind, day), last) for (kind, day), last in highest.items()],
            )
            place = (owner.scope.app_id, owner.scope.project_id, owner.track.value, owner.owner_id)
            outputs = connection.execute(
                "SELECT output_json FROM job WHERE app_id = ? AND project_id = ? AND track = ?"
                " AND owner_id = ? AND output_json IS NOT NULL",
                place,
            )
            return frozenset(
                record_key(record) for (text,) in outputs for record in load_records(text)
            )

        return await self._database.write(run)


def _key(owner: Owner, kind: Kind, day: date) -> tuple[str, ...]:
    return (
        owner.scope.app_id,
        owner.scope.project_id,
        owner.track.value,
        owner.owner_id,
        kind.value,
        day.isoformat(),
    )
