"""`remanence delete`: memories go for good."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from remanence_server.cli.memory_commands import read_filters
from remanence_server.cli.options import (
    DEFAULT_ROOT,
    AgentOption,
    AppOption,
    FilterOption,
    JsonOption,
    ProjectOption,
    RootOption,
    ServerOption,
    TimeoutOption,
    UserOption,
)
from remanence_server.cli.output import UsageError, print_json

if TYPE_CHECKING:
    from remanence_client import DeleteResult

_DEFAULT_TIMEOUT_SECONDS = 120.0
_COUNTED = (
    ("episodes", "episode", "episodes"),
    ("atomic_facts", "fact", "facts"),
    ("agent_cases", "case", "cases"),
    ("agent_skills", "skill", "skills"),
    ("profile_items", "profile line", "profile lines"),
    ("messages", "waiting message", "waiting messages"),
)


def delete(
    user: UserOption = None,
    agent: AgentOption = None,
    ids: Annotated[
        list[str] | None, typer.Option("--id", help="An id, as search shows it; may be repeated.")
    ] = None,
    session: Annotated[
        str | None,
        typer.Option("--session", help="A session; without --user or --agent, of everybody in it."),
    ] = None,
    filter_text: FilterOption = None,
    everything: Annotated[
        bool, typer.Option("--everything", help="All that the user or the agent has.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    app: AppOption = None,
    project: ProjectOption = None,
    root: RootOption = DEFAULT_ROOT,
    server: ServerOption = None,
    timeout: TimeoutOption = _DEFAULT_TIMEOUT_SECONDS,
    json_output: JsonOption = False,
) -> None:
    """Delete memories for good: from Markdown, state and index."""
    from remanence_client import to_json
    from remanence_server.cli.connection import connect

    if [bool(ids), session is not None, filter_text is not None, everything].count(True) != 1:
        raise UsageError("say what to delete: one of --id, --session, --filter and --everything")
    if user is not None and agent is not None:
        raise UsageError("give --user or --agent, not both")
    owner = user if user is not None else agent
    if owner is None and session is None:
        raise UsageError("give one of --user and --agent")
    filters = read_filters(filter_text)
    if not yes:
        what = _described(ids or [], session, filter_text)
        typer.confirm(f"Delete {what} of {owner or 'everybody'} for good?", abort=True, err=True)
    with connect(server, root, timeout_seconds=timeout) as client:
        result = client.delete(
            user_id=user,
            agent_id=agent,
            app_id=app,
            project_id=project,
            ids=ids or (),
            session_id=session,
            filters=filters,
            everything=everything,
        )
    if json_output:
        print_json(to_json(result))
    else:
        typer.echo(f"deleted: {_summary(result)}")


def _described(ids: list[str], session: str | None, filter_text: str | None) -> str:
    if ids:
        return f"{len(ids)} {'memory' if len(ids) == 1 else 'memories'}"
    if session is not None:
        return f"session {session}"
    return "everything" if filter_text is None else f"what matches {filter_text}"


def _summary(result: DeleteResult) -> str:
    parts = [
        f"{count} {one if count == 1 else many}"
        for key, one, many in _COUNTED
        if (count := getattr(result, key))
    ]
    return ", ".join(parts) or "nothing was there"
