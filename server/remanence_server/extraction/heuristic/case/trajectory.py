"""A cell as one agent's run: requests, rounds of tool calls, and how it ends.

A round is one message of the agent that calls tools, or a group of tool rows whose call was lost.
Results find their calls by id, in whatever order they come; repeated ones count once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from remanence_server.domain.messages import MemoryCell, Message, Role, ToolCall
from remanence_server.extraction.heuristic.informative import is_informative
from remanence_server.extraction.heuristic.sentences import split_sentences
from remanence_server.extraction.heuristic.words import words
from remanence_server.extraction.interface import CaseSkipped, CaseSkipReason

MINIMUM_TOOL_ROUNDS = 3
# "Thanks, that works!" after the answer closes a run as well as the answer does.
_CLOSING_WORDS = 12


@dataclass(frozen=True, slots=True)
class Step:
    """One tool call and its result; an orphan result has no call, a lost one no result."""

    call: ToolCall | None
    result: str | None
    tool_name: str
    # What the agent said when it made the call.
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Trajectory:
    """A run from the first request on, closed by the agent's words."""

    messages: tuple[Message, ...]
    requests: tuple[Message, ...]
    steps: tuple[Step, ...]
    rounds: int
    conclusion: str


def trajectory_of(cell: MemoryCell, agent_id: str) -> Trajectory | CaseSkipped:
    """The run of `agent_id` in the cell, or why there is none."""
    first_request = next(
        (
            position
            for position, message in enumerate(cell.messages)
            if message.role is Role.USER and message.text.strip()
        ),
        None,
    )
    if first_request is None:
        return CaseSkipped(CaseSkipReason.NO_USER_REQUEST)
    messages = _of_agent(cell.messages[first_request:], agent_id)
    if not any(_is_agent(message, agent_id) for message in messages):
        return CaseSkipped(CaseSkipReason.NO_AGENT_TURN)
    last = next((message for message in reversed(messages) if not _is_closing(message)), None)
    if last is None or not _is_agent(last, agent_id) or last.tool_calls or not last.text.strip():
        return CaseSkipped(CaseSkipReason.NOT_CLOSED)
    rounds = _rounds(messages)
    if rounds < MINIMUM_TOOL_ROUNDS:
        return CaseSkipped(CaseSkipReason.TOO_FEW_TOOL_ROUNDS)
    requests = tuple(message for message in messages if message.role is Role.USER)
    return Trajectory(messages, requests, _steps(messages), rounds, last.text.strip())


def _of_agent(messages: Sequence[Message], agent_id: str) -> tuple[Message, ...]:
    """Without the turns of other agents and the results of their calls."""
    foreign = {
        call.id
        for message in messages
        if message.role is Role.ASSISTANT and message.sender_id != agent_id
        for call in message.tool_calls
    }
    own = {
        call.id
        for message in messages
        if _is_agent(message, agent_id)
        for call in message.tool_calls
    }
    return tuple(
        message
        for message in messages
        if message.role is Role.USER
        or _is_agent(message, agent_id)
        or (message.role is Role.TOOL and message.tool_call_id not in foreign - own)
    )


def _is_agent(message: Message, agent_id: str) -> bool:
    return message.role is Role.ASSISTANT and message.sender_id == agent_id


def _is_closing(message: Message) -> bool:
    """A user's last word that asks for nothing, or an empty row."""
    text = message.text.strip()
    if message.role is Role.ASSISTANT:
        return not text and not message.tool_calls
    if message.role is not Role.USER:
        return False
    brief = len(words(text)) <= _CLOSING_WORDS and "?" not in text
    return brief and not any(
        is_informative(sentence, frozenset()) for sentence in split_sentences(text)
    )


def _rounds(messages: Sequence[Message]) -> int:
    called = {call.id for message in messages for call in message.tool_calls}
    rounds = 0
    in_orphans = False
    for message in messages:
        orphan = message.role is Role.TOOL and message.tool_call_id not in called
        rounds += bool(message.tool_calls) or (orphan and not in_orphans)
        in_orphans = orphan or (in_orphans and message.role is Role.TOOL)
    return rounds


def _steps(messages: Sequence[Message]) -> tuple[Step, ...]:
    """The calls in the order made, each with its first result; orphan results where they stand."""
    results: dict[str, str] = {}
    names: dict[str, str] = {}
    for message in messages:
        if message.role is Role.TOOL and message.tool_call_id is not None:
            results.setdefault(message.tool_call_id, message.text.strip())
            names.setdefault(message.tool_call_id, message.speaker)
    called = {call.id for message in messages for call in message.tool_calls}
    steps: list[Step] = []
    seen: set[str] = set()
    for message in messages:
        for number, call in enumerate(message.tool_calls):
            if call.id not in seen:
                seen.add(call.id)
                remark = message.text.strip() if number == 0 else ""
                steps.append(Step(call, results.get(call.id), call.name, remark))
        orphan_id = message.tool_call_id if message.role is Role.TOOL else None
        if orphan_id is not None and orphan_id not in called and orphan_id not in seen:
            seen.add(orphan_id)
            steps.append(Step(None, results[orphan_id], names[orphan_id]))
    return tuple(steps)
