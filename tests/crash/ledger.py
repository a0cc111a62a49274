"""What the clients of a crash test have sent, and what of it was acknowledged."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from tests.blackbox.conftest import T0

DAY_MS = 24 * 3600 * 1000


@dataclass(frozen=True, slots=True)
class Sent:
    """A message. Its id is also the word by which it is found."""

    message_id: str
    user: str
    session_id: str
    timestamp_ms: int

    def body(self) -> dict[str, Any]:
        """The message as the API takes it: one fact, and one line for the profile."""
        return {
            "message_id": self.message_id,
            "sender_id": self.user,
            "role": "user",
            "timestamp": self.timestamp_ms,
            "content": f"I live in Town{self.message_id} near the harbour.",
        }


@dataclass(frozen=True, slots=True)
class Batch:
    """Messages of one call."""

    session_id: str
    messages: tuple[Sent, ...]

    def moved_to(self, session_id: str) -> Batch:
        """The same in another session."""
        moved = (replace(message, session_id=session_id) for message in self.messages)
        return Batch(session_id, tuple(moved))

    def body(self, **more: Any) -> dict[str, Any]:
        """The body of the call."""
        return {
            "session_id": self.session_id,
            "messages": [message.body() for message in self.messages],
            **more,
        }


@dataclass(slots=True)
class Ledger:
    """Shared by all clients of a root. Ids grow, so their order is the order of sending."""

    acknowledged: dict[str, Sent] = field(default_factory=dict)
    # The batch of each client that was sent and not answered: it may have been accepted or not.
    in_doubt: dict[str, Batch] = field(default_factory=dict)
    # Sessions that may have something to flush.
    open_sessions: set[str] = field(default_factory=set)
    # Ids of what a delete was called for; the calls that were not answered, to be made again.
    deleted: set[str] = field(default_factory=set)
    deletes_in_doubt: list[dict[str, str]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    _number: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def next_batch(self, client: str, round_number: int, size: int) -> Batch:
        """New messages of a client: a user of its own, a session of a few rounds, a day a round."""
        with self._lock:
            session_id = f"{client}-{round_number // 4}"
            messages = []
            for _ in range(size):
                self._number += 1
                at_ms = T0 + round_number * DAY_MS + self._number * 1000
                messages.append(Sent(f"k{self._number:07d}", client, session_id, at_ms))
            batch = Batch(session_id, tuple(messages))
            self.in_doubt[client] = batch
            self.open_sessions.add(session_id)
            return batch

    def answered(self, client: str, batch: Batch) -> None:
        """A batch was acknowledged."""
        with self._lock:
            self.acknowledged.update((message.message_id, message) for message in batch.messages)
            del self.in_doubt[client]

    def delete(self, session_id: str) -> dict[str, str]:
        """Takes the messages of a session for deleted; returns the body of the call."""
        body = {"session_id": session_id}
        with self._lock:
            gone = [m.message_id for m in self.acknowledged.values() if m.session_id == session_id]
            for message_id in gone:
                del self.acknowledged[message_id]
            self.deleted.update(gone)
            self.deletes_in_doubt.append(body)
        return body

    def fail(self, text: str) -> None:
        """Something that must not happen."""
        with self._lock:
            self.failures.append(text)

    def users(self) -> Iterator[str]:
        """Everybody of whom something was acknowledged."""
        yield from sorted({message.user for message in self.acknowledged.values()})
