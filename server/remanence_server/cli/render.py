"""Results for people. Memory text is shown as it is, less control characters."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from remanence_client import AgentCase, AgentSkill, Episode, Page, Profile, SearchResult
from remanence_server.cli.output import console, moment, place_in_pages, printable

_SHOWN_FACTS = 3
# Of each kind, where only the gist is shown.
_SHOWN_RECORDS = 2


def show_search(result: SearchResult, output: Console | None = None) -> None:
    """Prints what a search found: a row for each memory, best first."""
    output = output or console()
    _show_profiles(output, result.profiles)
    table = Table("score", "when", "memory", box=None)
    for episode in result.episodes:
        body = _episode_text(episode)
        for fact in episode.atomic_facts[:_SHOWN_FACTS]:
            body.append(f"\n- {printable(fact.content)}", style="dim")
        table.add_row(f"{episode.score:.2f}", moment(episode.timestamp), body)
    for case in result.agent_cases:
        table.add_row(f"{case.score:.2f}", moment(case.timestamp), _case_text(case))
    for skill in result.agent_skills:
        table.add_row(f"{skill.score:.2f}", "", _skill_text(skill))
    if table.row_count:
        output.print(table)
    elif not result.profiles:
        output.print("nothing found")
    if result.unprocessed_messages:
        output.print("not extracted yet:")
        for message in result.unprocessed_messages:
            content = message.content
            text = content if isinstance(content, str) else f"[{len(content)} items]"
            line = f"{moment(message.timestamp)} {message.sender_name or message.sender_id}: {text}"
            output.print(Padding(Text(printable(line)), (0, 0, 0, 2), expand=False))


def show_answer(result: SearchResult, expected: str, output: Console) -> None:
    """Prints the gist of what a search found, with the words expected standing out."""
    # The profile first: it knows what is so now, the episodes what was said when.
    known = [line for each in result.profiles for line in _profile_lines(each.profile_data)]
    for line in known:
        if expected.casefold() in line.casefold():
            _show_gist(output, None, "profile", [line], expected)
    for episode in result.episodes[:_SHOWN_RECORDS]:
        facts = [fact.content for fact in episode.atomic_facts[:_SHOWN_FACTS]]
        _show_gist(output, episode.score, episode.subject, facts or [episode.summary], expected)
    for case in result.agent_cases[:_SHOWN_RECORDS]:
        lines = [case.key_insight or case.approach]
        _show_gist(output, case.score, case.task_intent, lines, expected)
    for skill in result.agent_skills[:_SHOWN_RECORDS]:
        _show_gist(output, skill.score, f"skill {skill.name}", [skill.description], expected)


def _show_gist(
    output: Console, score: float | None, title: str, lines: Iterable[str], expected: str
) -> None:
    shown = "    " if score is None else f"{score:.2f}"
    output.print(Text(f"  {shown}  {printable(title)}"), no_wrap=True, overflow="ellipsis")
    for line in lines:
        text = Text(f"- {printable(line)}", style="dim")
        text.highlight_words([expected], style="bold green not dim", case_sensitive=False)
        output.print(Padding(text, (0, 0, 0, 8), expand=False))


def show_page(page_of: Page, *, page: int, page_size: int, output: Console | None = None) -> None:
    """Prints one page of a listing and where it is in the whole."""
    output = output or console()
    _show_profiles(output, page_of.profiles)
    table = Table("when", "memory", "id", box=None)
    for episode in page_of.episodes:
        table.add_row(moment(episode.timestamp), _episode_text(episode), episode.id)
    for case in page_of.agent_cases:
        table.add_row(moment(case.timestamp), _case_text(case), case.id)
    for skill in page_of.agent_skills:
        table.add_row("", _skill_text(skill), skill.id)
    if table.row_count:
        output.print(table)
    output.print(place_in_pages(page, page_size, page_of.total_count))


def _episode_text(episode: Episode) -> Text:
    text = Text(printable(episode.subject or episode.session_id), style="bold")
    # An entry that was written by hand may have no summary.
    if gist := episode.summary or episode.episode:
        text.append(f"\n{printable(gist)}", style="not bold")
    return text


def _case_text(case: AgentCase) -> Text:
    text = Text(printable(case.task_intent), style="bold")
    text.append(f"\n{printable(case.approach)}", style="not bold")
    if case.key_insight:
        text.append(f"\n- {printable(case.key_insight)}", style="dim not bold")
    return text


def _skill_text(skill: AgentSkill) -> Text:
    text = Text(printable(skill.name), style="bold")
    text.append(f"\n{printable(skill.description)}", style="not bold")
    return text


def _show_profiles(output: Console, profiles: Iterable[Profile]) -> None:
    for profile in profiles:
        output.print(Text(f"profile of {printable(profile.user_id or profile.id)}", style="bold"))
        for line in _profile_lines(profile.profile_data):
            output.print(Padding(Text(printable(line)), (0, 0, 0, 2), expand=False))


def _profile_lines(data: Mapping[str, Any]) -> Iterable[str]:
    """What is known, a line each; the schema of a profile is the extractor's own."""
    for key, value in data.items():
        if key == "summary" or key.endswith("_ms"):
            continue
        items = value if isinstance(value, list) else [value]
        for item in items:
            if isinstance(item, Mapping) and "description" in item:
                yield f"{item.get('category') or key}: {item['description']}"
            elif isinstance(item, str):
                yield f"{key}: {item}"
            elif item not in (None, {}):
                yield f"{key}: {json.dumps(item, ensure_ascii=False)}"
