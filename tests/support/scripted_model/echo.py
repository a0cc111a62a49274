"""What the model answers when no rule is left: the material, echoed in the shape asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import unescape
from typing import Any

_MESSAGE = re.compile(
    r"<message-(?P<mark>\w+) (?P<attributes>[^\n]*)>\n(?P<text>.*?)\n</message-(?P=mark)>",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r'(\w+)=("[^"]*"|\'[^\']*\')')
_REQUEST = re.compile(r"The user says: ([^\n]*)")


@dataclass(frozen=True)
class Shown:
    """A message as the prompt shows it."""

    name: str
    speaker: str
    role: str
    text: str


def messages_in(prompt: str) -> list[Shown]:
    """The messages of a prompt, in order."""
    found = []
    for match in _MESSAGE.finditer(prompt):
        attributes = {
            name: unescape(value[1:-1]) for name, value in _ATTRIBUTE.findall(match["attributes"])
        }
        found.append(
            Shown(attributes["id"], attributes["speaker"], attributes["role"], match["text"])
        )
    return found


def echo(stage: str, prompt: str) -> Mapping[str, Any]:
    """The default answer of a stage."""
    return _STAGES[stage](prompt)


def _episode(prompt: str) -> Mapping[str, Any]:
    shown = messages_in(prompt)
    first = next((message.text for message in shown if message.role == "user"), "nothing")
    body = "\n".join(message.text for message in shown)
    return {"subject": first, "summary": first, "episode": body}


def _facts(prompt: str) -> Mapping[str, Any]:
    return {
        "facts": [
            {"text": message.text, "message_ids": [message.name]}
            for message in messages_in(prompt)
            if message.role == "user"
        ]
    }


def _profile(prompt: str) -> Mapping[str, Any]:
    return {"statements": []}


def _case(prompt: str) -> Mapping[str, Any]:
    request = _REQUEST.search(prompt)
    return {
        "worth_keeping": True,
        "task_intent": request[1] if request else "unknown",
        "approach": "as asked",
        "quality_score": 0.5,
        "key_insight": "",
    }


_STAGES: Mapping[str, Callable[[str], Mapping[str, Any]]] = {
    "episode": _episode,
    "facts": _facts,
    "profile": _profile,
    "case": _case,
}
