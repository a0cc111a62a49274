"""The name of an owner's part of an index."""

from __future__ import annotations

from remanence_server.domain.owners import Owner

# No id holds a control character once it has been quoted by the index; here it only has to part.
_SEPARATOR = "\x1f"


def partition_key(owner: Owner) -> str:
    """A text that is different for different owners."""
    scope = owner.scope
    return _SEPARATOR.join((scope.app_id, scope.project_id, owner.track.value, owner.owner_id))
