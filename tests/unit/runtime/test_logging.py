"""Log lines: one renderer for structlog and the standard library, and nothing private in them."""

from __future__ import annotations

import io
import json
import logging
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
