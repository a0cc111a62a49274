"""Files of conversations. One bad conversation does not spoil the others.

A file holds conversations, `{"session_id", "messages": [...]}`, or messages, alone in a list or
line by line (JSONL); messages belong to their `session_id`, or to one named like the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from remanence_server.cli.conversations.messages import Senders, as_message, with_message_id

# In a folder of examples: what `remanence demo` asks, no conversation.
QUESTIONS_FILE = "questions.json"
_LINE_SUFFIXES = (".jsonl", ".ndjson")
_SUFFIXES = (".json", *_LINE_SUFFIXES)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that could not be imported: file and line, and why."""

    source: str
    reason: str

    def __str__(self) -> str:
        return f"{self.source}: {self.reason}"


@dataclass(slots=True)
class Conversation:
    """Messages of one session, in the JSON of the API; `sources` says where each was read."""

    session_id: str
    source: str
    app_id: str | None = None
    project_id: str | None = None
    messages: list[dict[str, Any]] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)


def find_files(paths: Sequence[Path]) -> tuple[list[Path], list[Problem]]:
    """The files to read: those named, and the JSON and JSONL files in folders named, sorted."""
    files: list[Path] = []
    problems: list[Problem] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(
                candidate
                for candidate in path.rglob("*")
                if candidate.suffix.lower() in _SUFFIXES
                and candidate.name != QUESTIONS_FILE
                and candidate.is_file()
                and not any(part.startswith(".") for part in candidate.relative_to(path).parts)
            )
            files += inside
            if not inside:
                problems.append(Problem(str(path), "no .json or .jsonl file in this folder"))
        elif path.is_file():
            files.append(path)
        else:
            problems.append(Problem(str(path), "no such file or folder"))
    return files, problems


def read_file(path: Path, senders: Senders) -> tuple[list[Conversation], list[Problem]]:
    """The conversations of one file, and what in it could not be used."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        return [], [Problem(str(path), "not UTF-8 text")]
    except OSError as error:
        return [], [Problem(str(path), error.strerror or "cannot be read")]
    problems: list[Problem] = []
    conversations: list[Conversation] = []
    # Messages that stand alone, by session; a problem in one spoils its session, not the file.
    loose: dict[str, Conversation] = {}
    spoilt: set[str] = set()
    for item, source in _items(path, text, problems):
        if isinstance(item, Mapping) and "messages" in item:
            conversation = _conversation(item, source, path, senders, problems)
            if conversation is not None:
                conversations.append(conversation)
            continue
        session_id = item.get("session_id") if isinstance(item, Mapping) else None
        session_id = path.stem if session_id is None else session_id
        if not isinstance(session_id, str):
            problems.append(Problem(source, "session_id should be text"))
            continue
        target = loose.setdefault(session_id, Conversation(session_id, source))
        if not _take(target, item, source, senders, problems):
            spoilt.add(session_id)
    conversations += [each for name, each in loose.items() if name not in spoilt and each.messages]
    return conversations, problems


def _conversation(
    item: Mapping[str, Any], source: str, path: Path, senders: Senders, problems: list[Problem]
) -> Conversation | None:
    session_id = item.get("session_id", path.stem)
    messages = item["messages"]
    if not isinstance(session_id, str) or not isinstance(messages, list):
        problems.append(Problem(source, "session_id should be text and messages a list"))
        return None
    conversation = Conversation(session_id, source, item.get("app_id"), item.get("project_id"))
    for number, message in enumerate(messages, 1):
        if not _take(conversation, message, f"{source}, message {number}", senders, problems):
            return None
    if not conversation.messages:
        problems.append(Problem(source, "a conversation without messages"))
        return None
    return conversation


def _take(
    target: Conversation, item: object, source: str, senders: Senders, problems: list[Problem]
) -> bool:
    """Appends a message to its conversation; False where it cannot be used."""
    try:
        message = as_message(item, senders)
    except ValueError as error:
        problems.append(Problem(source, str(error)))
        return False
    if message is not None:
        message.pop("session_id", None)
        message = with_message_id(message, target.session_id, len(target.messages))
        target.messages.append(message)
        target.sources.append(source)
    return True


def _items(path: Path, text: str, problems: list[Problem]) -> Iterator[tuple[Any, str]]:
    """The objects of a file, each with the place it was read from."""
    if path.suffix.lower() not in _LINE_SUFFIXES:
        try:
            data = json.loads(text)
        except ValueError as error:
            line = getattr(error, "lineno", 1)
            problems.append(Problem(f"{path}:{line}", "not JSON"))
            return
        if isinstance(data, list):
            yield from ((item, f"{path}, item {number}") for number, item in enumerate(data, 1))
        else:
            yield data, str(path)
        return
    # Not splitlines: a JSON text may hold U+2028 and the like as they are.
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            source = f"{path}:{number}"
            try:
                yield json.loads(line), source
            except ValueError:
                problems.append(Problem(source, "not JSON"))
