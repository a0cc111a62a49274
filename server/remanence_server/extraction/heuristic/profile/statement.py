"""One explicit statement of a user about themselves."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Claim:
    """What a sentence states: a category and a readable phrase without subject ("Lives in Porto").

    `ends` marks a statement that only says what is no longer so ("Quit their job").
    """

    category: str
    description: str
    ends: bool = False


@dataclass(frozen=True, slots=True)
class Statement:
    """A claim with the words that make it and the message they are in.

    `timestamp_ms` is the epoch of that message. `speaker` is set only where several people share
    the owner's id.
    """

    claim: Claim
    evidence: str
    message_id: str
    timestamp_ms: int
    speaker: str | None = None
