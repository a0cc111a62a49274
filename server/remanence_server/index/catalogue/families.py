"""Questions about what belongs together: sessions, episodes and what was made of them, files."""

from __future__ import annotations

from collections.abc import Collection

import apsw

from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.domain.records import Kind
from remanence_server.index.catalogue.queries import rows
from remanence_server.index.catalogue.rows import Owners

_MADE_OF_EPISODES = (Kind.ATOMIC_FACT, Kind.TRANSCRIPT)


def descendants(
    connection: apsw.Connection, owners: Owners, owner: Owner, episode_ids: Collection[str]
) -> dict[Kind, list[str]]:
    """Entry ids by kind, one look for each episode and kind: an episode has few records."""
    found: dict[Kind, list[str]] = {kind: [] for kind in _MADE_OF_EPISODES}
    owner_key = owners.find(connection, owner)
    for episode_id in episode_ids if owner_key is not None else ():
        for kind in _MADE_OF_EPISODES:
            found[kind] += [
                entry_id
                for (entry_id,) in rows(
                    connection,
                    "SELECT entry_id FROM record "
                    "WHERE owner_key = ? AND kind = ? AND parent_id = ?",
                    (owner_key, kind, episode_id),
                )
            ]
    return found


def owners_of_session(connection: apsw.Connection, scope: Scope, session_id: str) -> list[Owner]:
    """Owners with records of a session, in the order of their first record."""
    kinds = ", ".join(f"'{kind}'" for kind in Kind)
    return [
        Owner(scope, Track(track), owner_id)
        for track, owner_id in rows(
            connection,
            "SELECT track, owner_id FROM owner WHERE app_id = ? AND project_id = ? AND EXISTS "
            "(SELECT 1 FROM record r WHERE r.owner_key = owner.owner_key "
            f"AND r.kind IN ({kinds}) AND r.session_id = ?) ORDER BY owner_key",
            (scope.app_id, scope.project_id, session_id),
        )
    ]


def paths_of(connection: apsw.Connection, owners: Owners, owner: Owner) -> list[str]:
    """The files that an owner's records come from, by path."""
    owner_key = owners.find(connection, owner)
    if owner_key is None:
        return []
    found = rows(
        connection,
        "SELECT DISTINCT path FROM record WHERE owner_key = ? ORDER BY path",
        (owner_key,),
    )
    return [path for (path,) in found]
