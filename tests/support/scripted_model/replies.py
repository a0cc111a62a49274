"""What the model may do with a call: answer well, answer badly, or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Tool:
    """Fills in the form it was asked for."""

    value: Any


@dataclass(frozen=True)
class Raw:
    """Fills in the form with this text, JSON or not."""

    text: str


@dataclass(frozen=True)
class Text:
    """Speaks instead of filling in the form."""

    text: str


@dataclass(frozen=True)
class Stop:
    """Ends for a reason of its own ("refusal", "max_tokens"), after this much of a form or text."""

    reason: str
    raw: str = ""
    text: str = ""


@dataclass(frozen=True)
class Http:
    """Answers with an HTTP error."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    kind: str = ""


@dataclass(frozen=True)
class Hang:
    """Says nothing for some seconds, then closes."""

    seconds: float


@dataclass(frozen=True)
class Cut:
    """Closes the connection after some bytes of a good stream."""

    after_bytes: int


@dataclass(frozen=True)
class SseError:
    """Begins a stream and ends it with an error event, such as "overloaded_error"."""

    kind: str


Fault = Http | Hang | Cut | SseError
Reply = Tool | Raw | Text | Stop | Fault


def reply_from_json(value: Mapping[str, Any]) -> Reply:
    """A reply as written in a rules file: one key, named like the reply."""
    if len(value) != 1:
        raise ValueError("a reply has one key: tool, raw, text, stop, http, hang, cut or sse_error")
    (name, given), *_ = value.items()
    match name:
        case "tool":
            return Tool(given)
        case "raw":
            return Raw(str(given))
        case "text":
            return Text(str(given))
        case "stop":
            return Stop(str(given))
        case "http":
            return Http(**given) if isinstance(given, dict) else Http(int(given))
        case "hang":
            return Hang(float(given))
        case "cut":
            return Cut(int(given))
        case "sse_error":
            return SseError(str(given))
        case _:
            raise ValueError(f"no reply is called {name!r}")
