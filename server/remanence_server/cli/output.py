"""What commands print: results on stdout, one line for a failure on stderr."""

from __future__ import annotations

import json
import sys
from datetime import datetime
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

# Where there is no terminal whose width could be asked for.
_PLAIN_WIDTH = 120
# Line breaks, and the joiners that scripts and emoji need.
_KEPT = "\n\t\u200c\u200d"


class CommandError(Exception):
    """A command that cannot go on; the text says why and what to do, in one line."""

    def __init__(self, message: str, *, exit_code: int = 1) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class UsageError(CommandError):
    """The command was called in a way that makes no sense."""

    def __init__(self, message: str) -> None:
        super().__init__(message, exit_code=2)


def say_error(message: str) -> None:
    """Writes the one line that ends a failed command."""
    typer.echo(f"remanence: {' '.join(printable(message).split())}", err=True)


def print_json(data: Any) -> None:
    """Writes a value as JSON, for machines."""
    typer.echo(json.dumps(data, ensure_ascii=False, indent=2))


def place_in_pages(page: int, page_size: int, total: int) -> str:
    """The last line of a listing: where it is in the whole."""
    return f"page {page} of {max(1, -(-total // page_size))}, {total} in all"


def console(*, stderr: bool = False) -> Console:
    """A console that shows memory text as it is: no markup, no emoji codes, no guesses."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _PLAIN_WIDTH
    return Console(file=stream, width=width, markup=False, emoji=False, highlight=False)


def printable(text: str) -> str:
    """The text without control characters: memory text must not drive a terminal."""
    return "".join(
        character if character.isprintable() or character in _KEPT else " " for character in text
    )


def moment(instant: datetime) -> str:
    """An instant for people, in the zone of this machine."""
    return instant.astimezone().strftime("%Y-%m-%d %H:%M")
