"""Log lines: structured, to stderr, for people or for machines.

What goes to the log is ids, counts, durations and codes: never memory text, queries or prompts.
Libraries know nothing of that rule. So they are heard from `info` on only, and of an exception that
they report its type and place are told, not its text.
"""

from __future__ import annotations

import asyncio
import logging
import re
import sys
import threading
from collections.abc import MutableMapping
from types import TracebackType
from typing import Any, Literal, TextIO

import structlog

from remanence_server.runtime.faults import describe_fault

_OURS = "remanence_server"
# Libraries that write at INFO for each request, or of every step of their own start.
_CHATTY_LIBRARIES = (
    "anthropic",
    "asyncio",
    "faiss.loader",
    "httpcore",
    "httpx",
    "uvicorn.access",
    "uvicorn.error",
    "watchfiles",
)


def configure_logging(
    level: Literal["debug", "info", "warning", "error"],
    format: Literal["console", "json"],
    stream: TextIO | None = None,
) -> None:
    """Sets up structlog and, through the same renderer, the standard library's logging.

    Args:
        level: the least severe level that is written.
        format: `console` for people, `json` for one JSON object a line.
        stream: where lines go; stderr by default.
    """
    target = sys.stderr if stream is None else stream
    number = getattr(logging, level.upper())
    shared: list[Any] = [
        # What `request_context` bound, request_id before all.
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    renderer: list[Any] = (
        # Frames without their local variables: those hold memory text.
        [
            structlog.processors.ExceptionRenderer(
                structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
            ),
            structlog.processors.JSONRenderer(),
        ]
        if format == "json"
        else [
            structlog.dev.ConsoleRenderer(
                colors=target.isatty(), exception_formatter=structlog.dev.plain_traceback
            )
        ]
    )
    handler = logging.StreamHandler(target)
    handler.addFilter(_without_exception_texts)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, _add_fault],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderer],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(number, logging.INFO))
    logging.getLogger(_OURS).setLevel(number)
    logging.captureWarnings(True)
    for name in _CHATTY_LIBRARIES:
        logging.getLogger(name).setLevel(max(number, logging.WARNING))
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


def log_unhandled_faults(loop: asyncio.AbstractEventLoop) -> None:
    """Makes what nobody caught, in a task, a thread or the process, a line like any other.

    Left to themselves, Python and asyncio print the text of the exception, and its arguments.
    """
    log = get_logger(_OURS)

    def in_loop(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        fault = {} if error is None else describe_fault(error)
        # The words of asyncio; what follows them shows the values of objects and arguments.
        reason = re.split(r"[<(]", str(context.get("message", "")))[0].strip()
        log.error("unhandled_in_loop", reason=reason, **fault)

    def in_thread(arguments: threading.ExceptHookArgs) -> None:
        if arguments.exc_value is not None and arguments.exc_type is not SystemExit:
            log.error("unhandled_in_thread", **describe_fault(arguments.exc_value))

    def in_destructor(arguments: sys.UnraisableHookArgs) -> None:
        if arguments.exc_value is not None:
            log.error("unhandled_in_destructor", **describe_fault(arguments.exc_value))

    def in_process(_: type[BaseException], error: BaseException, __: TracebackType | None) -> None:
        log.critical("unhandled", **describe_fault(error))

    loop.set_exception_handler(in_loop)
    threading.excepthook = in_thread
    sys.unraisablehook = in_destructor
    sys.excepthook = in_process


def _without_exception_texts(record: logging.LogRecord) -> bool:
    """Takes the texts of exceptions out of the record of a library; ours have a dict as message."""
    if isinstance(record.msg, dict):
        return True
    if isinstance(record.msg, BaseException):
        record.msg = type(record.msg).__name__
    if isinstance(record.args, tuple):
        record.args = tuple(
            type(value).__name__ if isinstance(value, BaseException) else value
            for value in record.args
        )
    if record.exc_info:
        error = record.exc_info[1]
        record.remanence_fault = {} if error is None else describe_fault(error)
        record.exc_info = record.exc_text = None
    return True


def _add_fault(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    event.update(getattr(event["_record"], "remanence_fault", {}))
    return event


def get_logger(name: str) -> structlog.stdlib.BoundLogger:
    """A logger; bind what every line of a component shares with `.bind(...)`."""
    logger: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(name)
    return logger


def request_context(request_id: str) -> Any:
    """A context manager: every line written inside, in this task, carries the request id."""
    return structlog.contextvars.bound_contextvars(request_id=request_id)
