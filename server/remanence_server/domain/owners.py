"""Whose memory it is: a scope, and within it a user or an agent."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Track(StrEnum):
    """A user and an agent of one name are two owners."""

    USER = "user"
    AGENT = "agent"


@dataclass(frozen=True, slots=True, order=True)
class Scope:
    """An application and a project within it; nothing crosses scopes."""

    app_id: str = "default"
    project_id: str = "default"


@dataclass(frozen=True, slots=True, order=True)
class Owner:
    """A user or an agent within a scope."""

    scope: Scope
    track: Track
    owner_id: str
