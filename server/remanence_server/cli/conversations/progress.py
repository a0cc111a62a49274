"""What an interrupted import has done already. Losing this file costs time, nothing else."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from remanence_server.cli.conversations.files import Conversation


class ImportProgress:
    """The conversations that one import has finished, in a file until all of it is done."""

    def __init__(self, path: Path) -> None:
        """Goes on where `path` says an earlier run stopped; a file that is no good is none."""
        self._path = path
        self._done: set[str] = set()
        with contextlib.suppress(OSError, ValueError, TypeError):
            self._done = set(json.loads(path.read_text(encoding="utf-8"))["done"])

    def is_done(self, conversation: Conversation) -> bool:
        """Whether the conversation, with just these messages, was finished earlier."""
        return _digest(conversation) in self._done

    def mark_done(self, conversation: Conversation) -> None:
        """Remembers, on disk as well if that can be, that the conversation is finished."""
        self._done.add(_digest(conversation))
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            temporary = self._path.with_suffix(".tmp")
            temporary.write_text(json.dumps({"done": sorted(self._done)}), encoding="utf-8")
            temporary.replace(self._path)

    def forget(self) -> None:
        """Everything is done: the next run starts afresh."""
        self._done.clear()
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)


def progress_path(cache: Path, address: str, scope: Sequence[str], paths: Sequence[Path]) -> Path:
    """Where the progress of importing these paths to this server is kept."""
    identity = json.dumps([address, *scope, *(str(path.resolve()) for path in paths)])
    name = hashlib.sha256(identity.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return cache / "remanence" / f"import-{name}.json"


def _digest(conversation: Conversation) -> str:
    identity = json.dumps(
        [
            conversation.session_id,
            conversation.app_id,
            conversation.project_id,
            [message["message_id"] for message in conversation.messages],
        ]
    )
    return hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:32]
