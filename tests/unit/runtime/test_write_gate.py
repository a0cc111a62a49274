from __future__ import annotations

import threading
import time

import pytest

from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.runtime.write_gate import WriteGate


def test_writers_pass_together() -> None:
    gate, both = WriteGate(), threading.Barrier(2)

    def write() -> None:
        with gate.writing():
            both.wait(5)

    threads = [threading.Thread(target=write) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert not both.broken


def test_a_closed_gate_waits_for_writers_and_holds_up_new_ones() -> None:
    gate = WriteGate()
    told: list[str] = []
    inside, leave = threading.Event(), threading.Event()

    def first() -> None:
        with gate.writing():
            inside.set()
            leave.wait(5)
            told.append("first writer ends")

    def second() -> None:
        with gate.writing():
            told.append("second writer")

    one, two = threading.Thread(target=first), threading.Thread(target=second)
    one.start()
    inside.wait(5)
    threading.Timer(0.1, leave.set).start()
    with gate.closed(5):
        two.start()
        time.sleep(0.1)
        told.append("quiet ends")
    one.join(5)
    two.join(5)
    assert told == ["first writer ends", "quiet ends", "second writer"]


def test_a_writer_may_enter_again_while_somebody_waits_for_quiet() -> None:
    gate = WriteGate()
    waiting = threading.Thread(target=lambda: gate.closed(5).__enter__())
    with gate.writing():
        waiting.start()
        time.sleep(0.05)
        with gate.writing():
            pass
    waiting.join(5)
    assert not waiting.is_alive()


def test_a_write_that_does_not_end_leaves_the_gate_open() -> None:
    gate, entered = WriteGate(), threading.Event()

    def write() -> None:
        with gate.writing():
            entered.set()

    with gate.writing():
        closing: list[ErrorCode] = []

        def close() -> None:
            with pytest.raises(ServiceError) as refused, gate.closed(0.05):
                pass
            closing.append(refused.value.code)

        thread = threading.Thread(target=close)
        thread.start()
        thread.join(5)
        assert closing == [ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE]
        writer = threading.Thread(target=write)
        writer.start()
        assert entered.wait(5)
        writer.join(5)
