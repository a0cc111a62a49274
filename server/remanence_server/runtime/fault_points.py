"""Fault points: named places where a test kills, stops or fails the process.

They are off unless the process is started with REMANENCE_ALLOW_FAULTS=1 and

    REMANENCE_FAULT=NAME:ACTION[:COUNT]

and then it says so in its log and in its health. `kill`, `hang` and `tear` strike at the COUNTth
arrival; the actions that raise strike at each of the first COUNT. A point that is not armed costs
one comparison.
"""

from __future__ import annotations

import errno
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum, auto

from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.runtime.logging import get_logger

FAULT_VARIABLE = "REMANENCE_FAULT"
ALLOW_VARIABLE = "REMANENCE_ALLOW_FAULTS"

_log = get_logger(__name__)


class FaultPoint(StrEnum):
    """Every point, in the order in which a message comes by."""

    # The process starts.
    SCHEMA_MIGRATION = auto()  # system.db: the steps are done, the transaction is open
    START_RECOVERY = auto()  # jobs of the dead process are given back, its deliveries not yet
    LOOP_STARTED = auto()  # a supervised loop begins

    # A message is accepted.
    INBOX_ACCEPTED = auto()  # an asynchronous request is committed, not answered
    INBOX_CLAIMED = auto()  # requests are claimed, their delivery has not begun
    BUFFER_APPENDED = auto()  # a batch is committed to the buffer
    BOUNDARY = auto()  # its segment is about to be looked at
    CUT_COMMITTED = auto()  # rows have become a cell, nobody is told
    ADD_ACCEPTED = auto()  # all that `add` does before its answer, waiting apart, is done
    DELIVERY_DONE = auto()  # a queued request is delivered, its row still says "processing"

    # A job runs.
    JOB_CLAIMED = auto()
    EXTRACTION_DONE = auto()  # the extractor has answered, nothing is saved
    OUTPUT_SAVED = auto()  # the output is in the job's row, not in Markdown
    MARKDOWN_TEMPORARY_WRITTEN = auto()  # a new file is synced under its temporary name
    PROFILE_TEMPORARY_WRITTEN = auto()  # the same for a page
    MARKDOWN_RENAMED = auto()  # it has its name, its folder is not synced
    MARKDOWN_HALF_APPENDED = auto()  # half of an append is written; only `tear` comes by here
    MARKDOWN_APPENDED = auto()  # all of it is written, not synced
    MARKDOWN_WRITTEN = auto()  # Markdown is durable, the projector is not told
    STAGE_DONE = auto()  # the job's work is done, its row does not say so
    JOB_SUCCEEDED = auto()  # its row says so, nobody is told

    # The index follows.
    CATALOGUE_COMMITTED = auto()  # before Lucene
    LEXICAL_APPLIED = auto()  # Lucene has it, not durably
    VECTORS_STORED = auto()  # the catalogue has them, FAISS has not
    INDEX_COMMITTING = auto()  # Lucene is about to commit
    INDEX_COMMITTED = auto()  # it has; the catalogue still keeps what was deleted

    # A delete.
    DELETE_RECORDED = auto()  # it is on record, nothing is removed
    DELETE_MARKDOWN_REMOVED = auto()  # from Markdown, not from the index
    DELETE_INDEX_REMOVED = auto()  # from the index, the record is not closed


class FaultAction(StrEnum):
    """What happens at a point."""

    KILL = auto()  # SIGKILL
    HANG = auto()  # the thread stops for ever
    TEAR = auto()  # write half, then SIGKILL; only at MARKDOWN_HALF_APPENDED
    FULL = auto()  # OSError ENOSPC, as from a full disk
    READ_ONLY = auto()  # OSError EROFS
    PROVIDER = auto()  # the ServiceError of a provider that is down
    ERROR = auto()  # a RuntimeError, as from a mistake of ours


@dataclass(slots=True)
class Fault:
    """A point, what happens there, and when."""

    point: FaultPoint
    action: FaultAction
    count: int = 1
    arrivals: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, point: FaultPoint) -> None:
        """A thread has come to a point."""
        if point is not self.point:
            return
        with self._lock:
            self.arrivals += 1
            arrival = self.arrivals
        match self.action:
            case FaultAction.KILL | FaultAction.TEAR:
                if arrival == self.count:
                    os.kill(os.getpid(), signal.SIGKILL)
                    threading.Event().wait()  # the signal is on its way
            case FaultAction.HANG:
                if arrival == self.count:
                    threading.Event().wait()
            case _:
                if arrival <= self.count:
                    raise self._failure()

    def _failure(self) -> Exception:
        match self.action:
            case FaultAction.FULL:
                return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            case FaultAction.READ_ONLY:
                return OSError(errno.EROFS, os.strerror(errno.EROFS))
            case FaultAction.PROVIDER:
                return ServiceError(
                    ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE, "the provider does not answer"
                )
            case _:
                return RuntimeError("armed fault")

    def __str__(self) -> str:
        return f"{self.point}:{self.action}:{self.count}"


Hook = Callable[[FaultPoint], None]

# None in production.
_hook: Hook | None = None


def reach(point: FaultPoint) -> None:
    """Says that the process has come to a point. May raise, or not return."""
    if _hook is not None:
        _hook(point)


def is_armed(point: FaultPoint) -> bool:
    """Whether a fault waits at this point, for what must be prepared for it."""
    return isinstance(_hook, Fault) and _hook.point is point


def armed_fault() -> str | None:
    """The fault of this process, for health; None when there is none."""
    return str(_hook) if isinstance(_hook, Fault) else None


def arm_from(environment: Mapping[str, str]) -> None:
    """Arms what the environment of the process asks for; call it once, at its start.

    Raises ServiceError CONFIGURATION_ERROR when faults are not allowed here, and for a fault that
    does not exist.
    """
    global _hook  # noqa: PLW0603 - one switch for the process, turned once
    text = environment.get(FAULT_VARIABLE, "")
    if not text:
        return
    if environment.get(ALLOW_VARIABLE) != "1":
        raise _refused(f"{FAULT_VARIABLE} is for tests; unset it, or set {ALLOW_VARIABLE}=1")
    _hook = parse_fault(text)
    _log.error("fault_armed", fault=str(_hook), hint="for tests only: this server will fail")


def parse_fault(text: str) -> Fault:
    """Reads NAME:ACTION[:COUNT]. Raises ServiceError CONFIGURATION_ERROR."""
    name, _, rest = text.partition(":")
    action, _, count = rest.partition(":")
    try:
        fault = Fault(FaultPoint(name), FaultAction(action), int(count or 1))
    except ValueError:
        raise _refused(f"{FAULT_VARIABLE} must be NAME:ACTION[:COUNT]; it is '{text}'") from None
    torn = FaultPoint.MARKDOWN_HALF_APPENDED
    if fault.count < 1 or (fault.action is FaultAction.TEAR) is not (fault.point is torn):
        raise _refused(f"{FAULT_VARIABLE} '{text}' cannot happen")
    return fault


@contextmanager
def hooked(hook: Hook) -> Iterator[None]:
    """Calls `hook` at every point; for tests within the process, one at a time."""
    global _hook  # noqa: PLW0603 - the switch, turned back at the end
    before, _hook = _hook, hook
    try:
        yield
    finally:
        _hook = before


def _refused(message: str) -> ServiceError:
    return ServiceError(ErrorCode.CONFIGURATION_ERROR, message, field=FAULT_VARIABLE)
