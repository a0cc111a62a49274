"""The queue of changes: in order, with the age of the oldest and with who asked."""

from __future__ import annotations

from pathlib import Path

from remanence_server.projection.changes import Batch, ChangeQueue
from remanence_server.runtime.clock import ManualClock
from remanence_server.runtime.tracing import NoTracing, Origin


class Asking(NoTracing):
    """Says that somebody asks."""

    def __init__(self, origin: Origin | None) -> None:
        self.origin = origin

    def here(self) -> Origin | None:
        return self.origin


def test_the_lag_is_the_age_of_the_oldest_change_until_it_is_in_the_index() -> None:
    clock = ManualClock()
    queue = ChangeQueue(clock, NoTracing())
    assert queue.lag_seconds() == 0
    queue.put(Path("a.md"))
    clock.advance_ms(2_000)
    queue.put(Path("b.md"))
    clock.advance_ms(1_000)
    assert queue.lag_seconds() == 3
    assert queue.take() == ([Path("a.md"), Path("b.md")], [])
    assert not queue
    clock.advance_ms(500)
    queue.put(Path("c.md"))
    # What is being taken up still waits, and it is older than what came meanwhile.
    clock.advance_ms(500)
    assert queue.lag_seconds() == 4
    queue.done()
    assert queue.lag_seconds() == 0.5
    queue.take()
    queue.done()
    assert queue.lag_seconds() == 0


def test_who_asked_comes_with_what_was_asked_for() -> None:
    asking = Asking("first")
    queue = ChangeQueue(ManualClock(), asking)
    queue.put(Path("a.md"))
    asking.origin = None
    queue.put(Path("b.md"))
    asking.origin = "third"
    queue.put(Path("c.md"))
    assert queue.take()[1] == ["first", "third"]
    assert queue.take() == ([], [])


def test_a_batch_has_each_file_once() -> None:
    batch = Batch.of([Path("a.md"), (), Path("b.md"), Path("a.md")])
    assert (batch.entries, batch.files) == ([], [Path("a.md"), Path("b.md")])
