"""Log lines: one renderer for structlog and the standard library, and nothing private in them."""

from __future__ import annotations

import io
import json
import logging
import subprocess
import sys
import warnings
from collections.abc import Iterator

import pytest

from remanence_server.runtime.logging import configure_logging, get_logger, request_context


@pytest.fixture(autouse=True)
def restored_root_logger() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.getLogger("remanence_server").setLevel(logging.NOTSET)
    logging.captureWarnings(False)


def lines(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_json_lines_carry_level_logger_time_and_fields() -> None:
    stream = io.StringIO()
    configure_logging("info", "json", stream)
    get_logger("jobs").info("job_done", job_id="j1", duration_ms=3)
    (line,) = lines(stream)
    assert line["event"] == "job_done"
    assert line["job_id"] == "j1"
    assert line["level"] == "info"
    assert line["logger"] == "jobs"
    assert str(line["timestamp"]).endswith("Z")


def test_lines_below_the_level_are_not_written() -> None:
    stream = io.StringIO()
    configure_logging("warning", "json", stream)
    get_logger("a").info("quiet")
    get_logger("a").warning("loud")
    assert [line["event"] for line in lines(stream)] == ["loud"]


def test_every_line_inside_a_request_carries_its_id_and_none_after_it() -> None:
    stream = io.StringIO()
    configure_logging("info", "json", stream)
    with request_context("r1"):
        get_logger("a").info("inside")
        logging.getLogger("library").warning("inside too")
    get_logger("a").info("after")
    assert [line.get("request_id") for line in lines(stream)] == ["r1", "r1", None]


def test_a_traceback_is_one_json_line_without_the_values_of_variables() -> None:
    stream = io.StringIO()
    configure_logging("info", "json", stream)

    def fails(secret: str) -> None:
        raise RuntimeError("broken")

    try:
        fails("words" + "-of-a-user")
    except RuntimeError:
        get_logger("a").exception("failed")
    (line,) = lines(stream)
    assert "broken" in str(line["exception"])
    assert "words-of-a-user" not in stream.getvalue()


def test_console_lines_are_plain_text_where_there_is_no_terminal() -> None:
    stream = io.StringIO()
    configure_logging("info", "console", stream)
    try:
        raise RuntimeError("broken")
    except RuntimeError:
        get_logger("a").exception("failed", job_id="j1")
    assert "job_id=j1" in stream.getvalue()
    assert "RuntimeError: broken" in stream.getvalue()
    assert "\x1b[" not in stream.getvalue()


def test_of_an_exception_that_a_library_reports_the_text_is_not_told() -> None:
    stream = io.StringIO()
    configure_logging("info", "json", stream)
    library = logging.getLogger("library")
    try:
        raise ValueError("words of a user")
    except ValueError as error:
        library.exception("Exception in handler %s", "h1")
        library.error("Unexpected [%s] raised by [%s]", error, "m1")
        library.error(error)
        library.warning("asked for %(what)s", {"what": "more"})
    assert "words of a user" not in stream.getvalue()
    first, second, third, fourth = lines(stream)
    assert first["event"] == "Exception in handler h1"
    assert first["exception"] == "ValueError"
    assert "test_logging.py" in str(first["frames"])
    assert second["event"] == "Unexpected [ValueError] raised by [m1]"
    assert third["event"] == "ValueError"
    assert fourth["event"] == "asked for more"


def test_libraries_are_not_heard_at_debug() -> None:
    stream = io.StringIO()
    configure_logging("debug", "json", stream)
    logging.getLogger("library").debug("sent: words of a user")
    get_logger("remanence_server.api").debug("ours")
    assert [line["event"] for line in lines(stream)] == ["ours"]


def test_warnings_are_lines_too() -> None:
    stream = io.StringIO()
    configure_logging("info", "json", stream)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(True)
        warnings.warn("soon gone", DeprecationWarning, stacklevel=1)
    (line,) = lines(stream)
    assert line["logger"] == "py.warnings"
    assert "soon gone" in str(line["event"])


def test_what_nobody_caught_is_a_line_without_its_text() -> None:
    script = """
import asyncio, sys, threading
from remanence_server.runtime.logging import configure_logging, log_unhandled_faults

configure_logging("info", "json")

class Broken:
    def __del__(self):
        raise ValueError("words of a user")

def fails(*_):
    raise ValueError("words of a user")

async def fails_in_task():
    fails()

async def main():
    log_unhandled_faults(asyncio.get_running_loop())
    task = asyncio.create_task(fails_in_task())
    asyncio.get_running_loop().call_soon(fails, "words of a user")
    await asyncio.sleep(0.01)
    del task
    thread = threading.Thread(target=fails)
    thread.start()
    thread.join()
    Broken()
    await asyncio.sleep(0.01)

asyncio.run(main())
fails()
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert "words of a user" not in done.stderr
    written = [json.loads(line) for line in done.stderr.splitlines()]
    assert [line["event"] for line in written].count("unhandled_in_loop") == 2
    assert {line["event"] for line in written} == {
        "unhandled_in_loop",
        "unhandled_in_thread",
        "unhandled_in_destructor",
        "unhandled",
    }
    assert all(line["exception"] == "ValueError" for line in written)
