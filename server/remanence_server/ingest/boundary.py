"""Where a session is cut into memory cells.

A cut position is an exclusive end: messages before it are a closed cell. The rules, in the order
they are applied:

1. A long silence ends a cell, once a user has spoken in it.
2. A segment over the size limits is cut at its largest pause or before a user turn, in the second
   half of what fits.
3. A tool call and its results stay together, whatever the limits say.
4. The final call closes what is left.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from remanence_server.domain.messages import Message, Role

# A row of a tool run weighs a quarter of a chat turn, and of a tool's output only the head counts
# towards the tokens: cut in the middle, a run has neither its request nor its outcome.
_CHAT_WEIGHT = 4
_TOOL_WEIGHT = 1
_TOOL_OUTPUT_TOKENS = 200
# Pauses below this say nothing about topics; above it, the longest one is the natural cut.
_NOTABLE_PAUSE_MS = 10 * 60 * 1000
_CHARACTERS_PER_TOKEN = 4
# Scripts in which a character is about a token: kana, Han, Hangul.
_TOKEN_PER_CHARACTER = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")


@dataclass(frozen=True, slots=True)
class BoundaryLimits:
    """When a cell has to end.

    `maximum_messages` and `maximum_tokens` bound a cell of chat turns (tokens are estimated);
    `idle_gap_ms` is the silence in milliseconds that ends one.
    """

    maximum_messages: int = 50
    maximum_tokens: int = 8192
    idle_gap_ms: int = 6 * 60 * 60 * 1000

    def __post_init__(self) -> None:
        """Refuses limits with which no message would fit."""
        if min(self.maximum_messages, self.maximum_tokens, self.idle_gap_ms) < 1:
            raise ValueError("boundary limits must be positive")


class BoundaryDetector(Protocol):
    """Decides where the buffered messages of a session are cut."""

    async def detect(self, messages: Sequence[Message], *, final: bool) -> tuple[int, ...]:
        """Ascending cut positions, each in 1..len(messages).

        Messages after the last cut stay in the buffer. When `final`, and there are messages, the
        last cut is always len(messages).
        """
        ...


def estimate_tokens(text: str) -> int:
    """About as many tokens as a modern tokenizer makes of `text`, without one."""
    if text.isascii():
        return -(-len(text) // _CHARACTERS_PER_TOKEN)
    dense = sum(1 for _ in _TOKEN_PER_CHARACTER.finditer(text))
    return dense - (-(len(text) - dense) // _CHARACTERS_PER_TOKEN)


class HeuristicBoundaryDetector:
    """Cuts by silence and size. The same messages always give the same cuts."""

    def __init__(self, limits: BoundaryLimits | None = None) -> None:
        """`limits` default to those of the reference: 50 messages, 8,192 tokens."""
        self._limits = limits or BoundaryLimits()

    async def detect(self, messages: Sequence[Message], *, final: bool) -> tuple[int, ...]:
        """See `BoundaryDetector`."""
        if not messages:
            return ()
        session = _Session(messages, self._limits)
        start = 0
        cuts: list[int] = []
        for silence in [*session.silences(), len(messages)]:
            while (cut := session.size_cut(start, silence)) is not None:
                cuts.append(cut)
                start = cut
            if silence < len(messages) and session.has_user(start, silence):
                cuts.append(silence)
                start = silence
        if final and start < len(messages):
            # A tail in which no user speaks belongs to what came before, if it fits.
            if cuts and not session.has_user(start, len(messages)):
                before = cuts[-2] if len(cuts) > 1 else 0
                if session.fits(before, len(messages)):
                    cuts.pop()
            cuts.append(len(messages))
        return tuple(cuts)


class _Session:
    """Prefix sums over the buffered messages, so that each question is answered at once."""

    def __init__(self, messages: Sequence[Message], limits: BoundaryLimits) -> None:
        self._messages = messages
        self._limits = limits
        self._users = [0]
        self._weights = [0]
        self._tokens = [0]
        for message in messages:
            in_tool_run = message.role is Role.TOOL or bool(message.tool_calls)
            tokens = estimate_tokens(message.text) + sum(
                estimate_tokens(call.arguments) for call in message.tool_calls
            )
            if in_tool_run:
                tokens = min(tokens, _TOOL_OUTPUT_TOKENS)
            self._users.append(self._users[-1] + (message.role is Role.USER))
            self._weights.append(
                self._weights[-1] + (_TOOL_WEIGHT if in_tool_run else _CHAT_WEIGHT)
            )
            self._tokens.append(self._tokens[-1] + tokens)
        self._paired = _inside_pairs(messages)

    def has_user(self, start: int, end: int) -> bool:
        """Whether a user speaks in messages[start:end]."""
        return self._users[end] > self._users[start]

    def fits(self, start: int, end: int) -> bool:
        """Whether messages[start:end] is within the limits; one message always is."""
        weight = self._weights[end] - self._weights[start]
        tokens = self._tokens[end] - self._tokens[start]
        limits = self._limits
        within = (
            weight <= limits.maximum_messages * _CHAT_WEIGHT and tokens <= limits.maximum_tokens
        )
        return within or end - start <= 1

    def silences(self) -> list[int]:
        """Positions after a pause of at least the idle gap."""
        found = []
        latest_ms = self._messages[0].timestamp_ms
        for position, message in enumerate(self._messages):
            silent_ms = message.timestamp_ms - latest_ms
            starts_cell = message.role is not Role.TOOL and position not in self._paired
            if starts_cell and silent_ms >= self._limits.idle_gap_ms:
                found.append(position)
            latest_ms = max(latest_ms, message.timestamp_ms)
        return found

    def size_cut(self, start: int, end: int) -> int | None:
        """Where to cut messages[start:end] because it is too big, or None if it is not."""
        if self.fits(start, end):
            return None
        limit = start + 1
        while self.fits(start, limit + 1):
            limit += 1
        allowed = [cut for cut in range(start + 1, limit + 1) if cut not in self._paired]
        if allowed:
            middle = start + (limit - start) // 2
            return max([cut for cut in allowed if cut > middle] or allowed, key=self._naturalness)
        # A tool call whose results alone exceed the limits: it ends where they end.
        beyond = (cut for cut in range(limit + 1, end) if cut not in self._paired)
        return next(beyond, None)

    def _naturalness(self, cut: int) -> tuple[int, bool, bool, int]:
        before, after = self._messages[cut - 1], self._messages[cut]
        pause_ms = after.timestamp_ms - before.timestamp_ms
        return (
            pause_ms if pause_ms >= _NOTABLE_PAUSE_MS else 0,
            after.role is Role.USER,
            after.role is not Role.TOOL,
            cut,
        )


def _inside_pairs(messages: Sequence[Message]) -> frozenset[int]:
    """Positions between a tool call and one of its results, where no cut may be."""
    called_at: dict[str, int] = {}
    opened = [0] * (len(messages) + 1)
    for position, message in enumerate(messages):
        if message.role is Role.TOOL and message.tool_call_id in called_at:
            opened[called_at[message.tool_call_id] + 1] += 1
            opened[position + 1] -= 1
        for call in message.tool_calls:
            called_at[call.id] = position
    return frozenset(
        position for position, depth in enumerate(itertools.accumulate(opened)) if depth > 0
    )
