"""A cell as one owner remembers it: which turns are theirs, concern them, or are nobody's business.

Between two people everything concerns both. In a group of users, a turn concerns an owner when it
is theirs, names them, or answers them; the turns next to their own are kept as context.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from remanence_server.domain.messages import MemoryCell, Message, Role
from remanence_server.domain.owners import Owner
from remanence_server.extraction.heuristic.lexicon import SECOND_PERSON
from remanence_server.extraction.heuristic.sentences import Unit, UnitKind, split_units
from remanence_server.extraction.heuristic.words import CJK, fold, one_line, words

# With at most this many users everyone speaks with everyone.
_PAIR = 2
_CJK_SECOND_PERSON = ("你", "您", "あなた", "君", "너", "당신")
_NAME_PARTS_MINIMUM_CHARACTERS = 2


@dataclass(frozen=True, slots=True)
class Line:
    """One turn with words in it. `units` are its sentences and blocks, in order."""

    message: Message
    speaker: str
    text: str
    units: tuple[Unit, ...]
    is_owner: bool
    # The owner said it, or it was said to or about them; other lines are context.
    concerns_owner: bool

    @property
    def is_assistant(self) -> bool:
        """Whether the assistant says it."""
        return self.message.role is Role.ASSISTANT

    def sentences(self) -> Iterator[str]:
        """The sentences, blocks left out."""
        return (unit.text for unit in self.units if unit.kind is UnitKind.SENTENCE)


@dataclass(frozen=True, slots=True)
class Conversation:
    """The turns an owner remembers, in the order given.

    `left_out[i]` is how many turns of others were left out before `lines[i]`; its last item counts
    those after the last line.
    """

    lines: tuple[Line, ...]
    left_out: tuple[int, ...]
    # Speakers in order of appearance, and their name parts folded, for telling names from topics.
    speakers: tuple[str, ...]
    name_parts: frozenset[str]
    # Whether an assistant takes part.
    with_assistant: bool

    def owner_names(self) -> tuple[str, ...]:
        """The names under which the owner speaks; more than one if the client shares an id."""
        return tuple(dict.fromkeys(line.speaker for line in self.lines if line.is_owner))


def conversation_of(cell: MemoryCell, owner: Owner) -> Conversation:
    """The conversation of `cell` as the user `owner` remembers it."""
    spoken = [
        (message, text)
        for message in cell.messages
        if message.role is not Role.TOOL and (text := message.text.strip())
    ]
    users = cell.user_ids()
    everyone = len(users) <= _PAIR
    owner_parts = _name_parts(
        {message.speaker for message, _ in spoken if message.sender_id == owner.owner_id}
        | {owner.owner_id}
    )
    other_parts = (
        _name_parts({message.speaker for message, _ in spoken if message.role is Role.USER})
        - owner_parts
    )
    lines = []
    previous: Message | None = None
    for message, text in spoken:
        is_owner = message.role is Role.USER and message.sender_id == owner.owner_id
        concerns = everyone or is_owner or _names(text, owner_parts)
        if not concerns and previous is not None and previous.sender_id == owner.owner_id:
            concerns = _addresses_somebody(text) and not _names(text, other_parts)
        lines.append(
            Line(message, one_line(message.speaker), text, split_units(text), is_owner, concerns)
        )
        previous = message
    shown = [
        line.concerns_owner
        or any(lines[near].is_owner for near in (at - 1, at + 1) if 0 <= near < len(lines))
        for at, line in enumerate(lines)
    ]
    kept = tuple(line for line, is_shown in zip(lines, shown, strict=True) if is_shown)
    speakers = tuple(dict.fromkeys(line.speaker for line in kept)) or (owner.owner_id,)
    return Conversation(
        lines=kept,
        left_out=_gaps(shown),
        speakers=speakers,
        name_parts=owner_parts | other_parts,
        with_assistant=any(line.is_assistant for line in kept),
    )


def _gaps(shown: list[bool]) -> tuple[int, ...]:
    gaps = [0]
    for is_shown in shown:
        if is_shown:
            gaps.append(0)
        else:
            gaps[-1] += 1
    return tuple(gaps)


def _name_parts(names: set[str]) -> frozenset[str]:
    return frozenset(
        folded
        for name in names
        for part in (*words(name), name)
        if len(folded := fold(part)) >= _NAME_PARTS_MINIMUM_CHARACTERS
    )


def _names(text: str, parts: frozenset[str]) -> bool:
    folded = {fold(word).removesuffix("'s") for word in words(text)}
    if folded & parts:
        return True
    # Names within text that has no spaces.
    return any(part in text for part in parts if CJK.search(part))


def _addresses_somebody(text: str) -> bool:
    return any(fold(word) in SECOND_PERSON for word in words(text)) or any(
        word in text for word in _CJK_SECOND_PERSON
    )
