"""A gate before the Markdown: writers pass together, until somebody closes it for a moment.

A backup needs one instant at which nothing is half-way from `system.db` to Markdown.
`MarkdownStore` takes its own writes through its gate (`store.gate`); whoever writes files under the
memory root by other means does the same: `with store.gate.writing(): ...`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from remanence_server.runtime.errors import ErrorCode, ServiceError


class WriteGate:
    """Many writers, or one who wants quiet. For threads; a writer may enter again inside."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._writers = 0
        self._closed = False
        self._inside = threading.local()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Encloses a write; waits while the gate is closed, which is never long."""
        depth: int = getattr(self._inside, "depth", 0)
        if not depth:
            with self._condition:
                self._condition.wait_for(lambda: not self._closed)
                self._writers += 1
        self._inside.depth = depth + 1
        try:
            yield
        finally:
            self._inside.depth = depth
            if not depth:
                with self._condition:
                    self._writers -= 1
                    self._condition.notify_all()

    @contextmanager
    def closed(self, timeout_seconds: float) -> Iterator[None]:
        """Holds up new writes, waits for those that run, and lets all go on at the end.

        Raises ServiceError (EXTERNAL_SERVICE_UNAVAILABLE) when a write does not end in time.
        """
        deadline_seconds = time.monotonic() + timeout_seconds
        with self._condition:
            if not self._condition.wait_for(lambda: not self._closed, timeout_seconds):
                raise _no_quiet()
            self._closed = True
            remaining_seconds = max(0.0, deadline_seconds - time.monotonic())
            if not self._condition.wait_for(lambda: not self._writers, remaining_seconds):
                self._closed = False
                self._condition.notify_all()
                raise _no_quiet()
        try:
            yield
        finally:
            with self._condition:
                self._closed = False
                self._condition.notify_all()


def _no_quiet() -> ServiceError:
    return ServiceError(
        ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE,
        "memory files are being written without a pause; try again",
        retry_after_seconds=5.0,
    )
