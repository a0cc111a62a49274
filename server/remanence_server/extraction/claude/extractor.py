"""Extraction by a language model.

The model sees what the owner remembers of the cell and nothing else, so what only another owner
said of themselves cannot get into an episode or a fact. What it answers counts as far as it cites:
a fact needs a message that is there, a statement of the profile one of the owner's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, tzinfo
from typing import Any

from remanence_server.domain.messages import MemoryCell, Message, Role
from remanence_server.domain.owners import Owner
from remanence_server.domain.records import Profile
from remanence_server.extraction.claude.answers import (
    CASE_SCHEMA,
    EPISODE_SCHEMA,
    FACTS_SCHEMA,
    PROFILE_SCHEMA,
    CaseAnswer,
    EpisodeAnswer,
    FactAnswer,
    FactsAnswer,
    StatementAnswer,
    StatementsAnswer,
    read_answer,
    read_items,
)
from remanence_server.extraction.claude.material import Frame, Part, conversation_parts
from remanence_server.extraction.claude.run import run_as_text
from remanence_server.extraction.heuristic.case.trajectory import trajectory_of
from remanence_server.extraction.heuristic.conversation import Conversation, conversation_of
from remanence_server.extraction.heuristic.episode import EpisodeLimits, episode_content
from remanence_server.extraction.heuristic.profile.statement import Claim, Statement
from remanence_server.extraction.heuristic.profile.update import has_speakers, updated
from remanence_server.extraction.heuristic.sentences import clip
from remanence_server.extraction.interface import (
    CaseDraft,
    CaseSkipped,
    CaseSkipReason,
    EpisodeDraft,
    FactDraft,
)
from remanence_server.providers.models import Model, ModelAnswer, ModelRequest
from remanence_server.runtime.instants import day_of

_SUMMARY_CHARACTERS = 600
_FACT_CHARACTERS = 2_000
_DESCRIPTION_CHARACTERS = 300


class ModelExtractor:
    """See `Extractor`.

    Each call of a stage is one call of the model, or one for each part of a conversation that is
    too long for one.
    """

    name = "claude"

    def __init__(self, model: Model, prompts: Mapping[str, str], zone: tzinfo) -> None:
        """`prompts` has instructions for each stage; dates are told in the display `zone`."""
        self._model = model
        self._prompts = prompts
        self._zone = zone

    async def extract_episode(self, cell: MemoryCell, owner: Owner) -> EpisodeDraft:
        """See `Extractor`."""
        conversation = conversation_of(cell, owner)
        answers = [
            read_answer(
                EpisodeAnswer,
                await self._ask("episode", _about(conversation, part), EPISODE_SCHEMA),
            )
            for part in self._parts(cell, conversation)
        ]
        if not answers:
            # Nobody said a word: nothing to ask about.
            content = episode_content(conversation, cell, owner, self._zone, EpisodeLimits())
            return EpisodeDraft(subject=content, summary=content, content=content)
        return EpisodeDraft(
            subject=answers[0].subject,
            summary=clip(" ".join(answer.summary for answer in answers), _SUMMARY_CHARACTERS),
            content="\n\n".join(answer.episode for answer in answers),
        )

    async def extract_facts(self, cell: MemoryCell, owner: Owner) -> tuple[FactDraft, ...]:
        """See `Extractor`."""
        conversation = conversation_of(cell, owner)
        drafts: dict[str, FactDraft] = {}
        for part in self._parts(cell, conversation):
            answer = read_answer(
                FactsAnswer, await self._ask("facts", _about(conversation, part), FACTS_SCHEMA)
            )
            named = part.messages

            def holds(fact: FactAnswer, named: Mapping[str, Message] = named) -> bool:
                return any(name in named for name in fact.message_ids)

            for fact in read_items(FactAnswer, answer.facts, holds):
                draft = _fact(fact, [named[name] for name in fact.message_ids if name in named])
                drafts.setdefault(draft.content.casefold(), draft)
        return tuple(drafts.values())

    async def update_profile(
        self, cell: MemoryCell, owner: Owner, current: Profile | None, source: str | None = None
    ) -> Profile | None:
        """See `Extractor`."""
        conversation = conversation_of(cell, owner)
        if not any(line.is_owner for line in conversation.lines):
            return None
        data = current.data if current is not None else {}
        known = Frame.of(cell).around("profile", _shown_profile(data))
        statements: list[Statement] = []
        several = len(conversation.owner_names()) > 1 or has_speakers(data)
        for part in self._parts(cell, conversation):
            about = f"{known}\n{_about(conversation, part)}"
            answer = read_answer(
                StatementsAnswer, await self._ask("profile", about, PROFILE_SCHEMA)
            )
            named = part.messages

            def holds(statement: StatementAnswer, named: Mapping[str, Message] = named) -> bool:
                message = named.get(statement.message_id)
                return message is not None and _is_own(message, owner)

            for item in read_items(StatementAnswer, answer.statements, holds):
                statements.append(_statement(item, named[item.message_id], several=several))
        result = updated(data, statements, source)
        if result is None:
            return None
        earlier_ms = current.timestamp_ms if current is not None else 0
        return Profile(owner, result, max(earlier_ms, result["profile_timestamp_ms"]))

    async def extract_case(self, cell: MemoryCell, owner: Owner) -> CaseDraft | CaseSkipped:
        """See `Extractor`. The gates come first, so a run that is no case costs no call."""
        run = trajectory_of(cell, owner.owner_id)
        if isinstance(run, CaseSkipped):
            return run
        text = run_as_text(run, self._model.maximum_input_characters)
        content = Frame.of(cell).around("run", text)
        answer = read_answer(CaseAnswer, await self._ask("case", content, CASE_SCHEMA))
        if not answer.worth_keeping:
            return CaseSkipped(CaseSkipReason.NOT_WORTH_KEEPING)
        return CaseDraft(
            task_intent=answer.task_intent,
            approach=answer.approach,
            quality_score=answer.quality_score,
            key_insight=answer.key_insight or None,
        )

    def _parts(self, cell: MemoryCell, conversation: Conversation) -> Iterable[Part]:
        return conversation_parts(
            cell, conversation, self._zone, self._model.maximum_input_characters
        )

    async def _ask(self, stage: str, content: str, schema: Mapping[str, Any]) -> ModelAnswer:
        return await self._model.fill_in(
            ModelRequest(
                stage=stage,
                instructions=self._prompts[stage],
                content=content,
                schema_name=f"record_{stage}",
                schema=schema,
            )
        )


def _about(conversation: Conversation, part: Part) -> str:
    names = ", ".join(conversation.owner_names())
    return f"The owner is {names or 'not a speaker'}.\n{part.text}"


def _is_own(message: Message, owner: Owner) -> bool:
    return message.role is Role.USER and message.sender_id == owner.owner_id


def _fact(fact: FactAnswer, cited: list[Message]) -> FactDraft:
    return FactDraft(
        content=clip(fact.text, _FACT_CHARACTERS),
        message_ids=tuple(dict.fromkeys(message.message_id for message in cited)),
        timestamp_ms=max(message.timestamp_ms for message in cited),
        sender_ids=tuple(dict.fromkeys(message.sender_id for message in cited)),
    )


def _statement(item: StatementAnswer, message: Message, *, several: bool) -> Statement:
    return Statement(
        claim=Claim(
            item.category.casefold(), clip(item.description, _DESCRIPTION_CHARACTERS), item.ends
        ),
        # The words that say it, not the model's account of them.
        evidence=clip(" ".join(message.text.split()), _DESCRIPTION_CHARACTERS),
        message_id=message.message_id,
        timestamp_ms=message.timestamp_ms,
        speaker=message.speaker if several else None,
    )


def _shown_profile(data: Mapping[str, Any]) -> str:
    """The current items, a line each; the history is not the model's business."""
    lines = []
    for item in data.get("explicit_info") or ():
        if isinstance(item, Mapping) and item.get("description"):
            day = item.get("timestamp_ms")
            since = f" ({day_of(day, UTC).isoformat()})" if isinstance(day, int) else ""
            lines.append(f"- {item.get('category', 'other')}: {item['description']}{since}")
    return "\n".join(lines) or "(empty)"
