"""Log lines: structured, to stderr, for people or for machines.

What goes to the log is ids, counts, durations and codes: never memory text, queries or prompts.
"""

from __future__ import annotations

import logging
import sys
from typing import Any, Literal, TextIO

import structlog

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
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderer],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(number)
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


def get_logger(name: str) -> structlog.stdlib.BoundLogger:
    """A logger; bind what every line of a component shares with `.bind(...)`."""
    logger: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(name)
    return logger


def request_context(request_id: str) -> Any:
    """A context manager: every line written inside, in this task, carries the request id."""
    return structlog.contextvars.bound_contextvars(request_id=request_id)
