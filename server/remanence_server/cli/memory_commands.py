"""`add`, `flush`, `search` and `get`: the memory API by hand."""

from __future__ import annotations

import json
import sys
import uuid
from pathlib import Path
from typing import Annotated, Any

import typer

from remanence_server.cli.options import (
    DEFAULT_ROOT,
    AgentOption,
    AppOption,
    FilterOption,
    JsonOption,
    PageOption,
    PageSizeOption,
    ProjectOption,
    RootOption,
    ServerOption,
    SessionOption,
    TimeoutOption,
    UserOption,
)
from remanence_server.cli.output import UsageError, print_json

_DEFAULT_TIMEOUT_SECONDS = 60.0


def add(
    text: Annotated[
        str | None, typer.Argument(help="What was said; absent or -: read from stdin.")
    ] = None,
    session: Annotated[str | None, typer.Option("--session", help="The session.")] = None,
    sender: Annotated[
        str | None,
        typer.Option("--sender", "--user", help="Who said it; a user owns the memories."),
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="Display name of the sender.")] = None,
    role: Annotated[str, typer.Option("--role", help="user, assistant or tool.")] = "user",
    timestamp: Annotated[
        str | None, typer.Option("--timestamp", help="ISO-8601 or epoch; absent: now.")
    ] = None,
    tool_call_id: Annotated[
        str | None, typer.Option("--tool-call-id", help="The call a tool message answers.")
    ] = None,
    body: Annotated[
        str | None,
        typer.Option("--body", metavar="FILE", help="JSON body of the API instead; -: stdin."),
    ] = None,
    defer: Annotated[bool, typer.Option("--defer", help="Only keep it; extract later.")] = False,
    queue: Annotated[
        bool, typer.Option("--async", help="Only queue it, and print the id of the task.")
    ] = False,
    app: AppOption = None,
    project: ProjectOption = None,
    root: RootOption = DEFAULT_ROOT,
    server: ServerOption = None,
    timeout: TimeoutOption = _DEFAULT_TIMEOUT_SECONDS,
    json_output: JsonOption = False,
) -> None:
    """Add a message, or a whole request body, to a session."""
    from remanence_client import to_json
    from remanence_server.cli.connection import connect

    if body is not None:
        if text is not None:
            raise UsageError("give a text or --body, not both")
        request = _read_body(body)
    else:
        if session is None or sender is None:
            raise UsageError("--session and --sender are needed, or --body")
        message = {
            "sender_id": sender,
            "sender_name": name,
            "role": role,
            "timestamp": _instant_ms(timestamp),
            "content": _read_stdin() if text is None or text == "-" else text,
            "tool_call_id": tool_call_id,
            "message_id": uuid.uuid4().hex,
        }
        request = {"session_id": session, "messages": [message]}
    with connect(server, root, timeout_seconds=timeout) as client:
        result = client.add(
            request["session_id"],
            request["messages"],
            app_id=app or request.get("app_id"),
            project_id=project or request.get("project_id"),
            defer_extraction=defer or request.get("defer_extraction") is True,
            async_mode=queue or request.get("async_mode") is True,
        )
    if json_output:
        print_json(to_json(result))
        return
    task = f", task {result.request_id}" if result.status == "queued" else ""
    count = f"{result.message_count} message{'s'[: result.message_count != 1]}"
    typer.echo(f"{count} kept in {request['session_id']}: {result.status}{task}")


def flush(
    session: Annotated[str, typer.Argument(help="The session.")],
    no_wait: Annotated[
        bool, typer.Option("--no-wait", help="Do not wait until the memories can be found.")
    ] = False,
    app: AppOption = None,
    project: ProjectOption = None,
    root: RootOption = DEFAULT_ROOT,
    server: ServerOption = None,
    timeout: TimeoutOption = _DEFAULT_TIMEOUT_SECONDS,
    json_output: JsonOption = False,
) -> None:
    """Extract what a session has buffered, now."""
    from remanence_client import to_json
    from remanence_server.cli.connection import connect

    with connect(server, root, timeout_seconds=timeout) as client:
        result = client.flush(session, app_id=app, project_id=project, wait=not no_wait)
    if json_output:
        print_json(to_json(result))
    else:
        typer.echo(f"{session}: {result.status.replace('_', ' ')}")


def search(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    user: UserOption = None,
    agent: AgentOption = None,
    method: Annotated[
        str | None, typer.Option("--method", help="keyword, vector, hybrid or agentic.")
    ] = None,
    top_k: Annotated[int, typer.Option("--top-k", help="1 to 100; -1: what is worth it.")] = 10,
    radius: Annotated[
        float | None, typer.Option("--radius", help="Cosine floor of dense recall, 0 to 1.")
    ] = None,
    min_score: Annotated[
        float | None, typer.Option("--min-score", help="Floor of the final score, 0 to 1.")
    ] = None,
    profile: Annotated[bool, typer.Option("--profile", help="Also the user's profile.")] = False,
    session: SessionOption = None,
    filter_text: FilterOption = None,
    app: AppOption = None,
    project: ProjectOption = None,
    root: RootOption = DEFAULT_ROOT,
    server: ServerOption = None,
    timeout: TimeoutOption = _DEFAULT_TIMEOUT_SECONDS,
    json_output: JsonOption = False,
) -> None:
    """Find the memories of a user or an agent that bear on a question."""
    from remanence_client import to_json
    from remanence_server.cli.connection import connect
    from remanence_server.cli.render import show_search

    _check_owner(user, agent)
    filters = _filters(filter_text, session)
    with connect(server, root, timeout_seconds=timeout) as client:
        result = client.search(
            query,
            user_id=user,
            agent_id=agent,
            app_id=app,
            project_id=project,
            method=method,  # type: ignore[arg-type]  # the client refuses other words
            top_k=top_k,
            radius=radius,
            min_score=min_score,
            include_profile=profile,
            filters=filters,
        )
    if json_output:
        print_json(to_json(result))
    else:
        show_search(result)


def get(
    user: UserOption = None,
    agent: AgentOption = None,
    memory_type: Annotated[
        str | None,
        typer.Option("--type", help="episode (default), profile, agent_case or agent_skill."),
    ] = None,
    page: PageOption = 1,
    page_size: PageSizeOption = 20,
    sort_by: Annotated[
        str | None, typer.Option("--sort-by", help="timestamp or updated_at.")
    ] = None,
    ascending: Annotated[bool, typer.Option("--ascending", help="Oldest first.")] = False,
    session: SessionOption = None,
    filter_text: FilterOption = None,
    app: AppOption = None,
    project: ProjectOption = None,
    root: RootOption = DEFAULT_ROOT,
    server: ServerOption = None,
    timeout: TimeoutOption = _DEFAULT_TIMEOUT_SECONDS,
    json_output: JsonOption = False,
) -> None:
    """List the memories of a user or an agent."""
    from remanence_client import to_json
    from remanence_server.cli.connection import connect
    from remanence_server.cli.render import show_page

    _check_owner(user, agent)
    filters = _filters(filter_text, session)
    with connect(server, root, timeout_seconds=timeout) as client:
        result = client.get(
            memory_type or ("episode" if user else "agent_case"),  # type: ignore[arg-type]
            user_id=user,
            agent_id=agent,
            app_id=app,
            project_id=project,
            page=page,
            page_size=page_size,
            sort_by=sort_by,  # type: ignore[arg-type]  # the client refuses other words
            sort_order="asc" if ascending else None,
            filters=filters,
        )
    if json_output:
        print_json(to_json(result))
    else:
        show_page(result, page=page, page_size=page_size)


def _check_owner(user: str | None, agent: str | None) -> None:
    if (user is None) == (agent is None):
        raise UsageError("give one of --user and --agent")


def read_filters(text: str | None) -> dict[str, Any] | None:
    """The value of `--filter`. Raises UsageError."""
    if text is None:
        return None
    try:
        filters = json.loads(text)
    except ValueError as error:
        raise UsageError(f"--filter is not JSON: {error}") from None
    if not isinstance(filters, dict):
        raise UsageError('--filter is an object, such as {"sender_id": "alice"}')
    return filters


def _filters(text: str | None, session: str | None) -> dict[str, Any] | None:
    filters = read_filters(text)
    if session is None:
        return filters
    # The session stands alone at the top: so the server also shows what it has buffered.
    return {"session_id": session, **({"AND": [filters]} if filters else {})}


def _instant_ms(text: str | None) -> int:
    from remanence_server.cli.conversations.messages import instant_ms
    from remanence_server.runtime.clock import SystemClock

    if text is None:
        return SystemClock().now_ms()
    try:
        return instant_ms(text)
    except ValueError as error:
        raise UsageError(f"--timestamp: {error}") from None


def _read_stdin() -> str:
    if sys.stdin.isatty():
        raise UsageError("give the text, or pipe it in")
    return sys.stdin.read().rstrip("\n")


def _read_body(name: str) -> dict[str, Any]:
    text = sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
    try:
        body = json.loads(text)
    except ValueError as error:
        raise UsageError(f"--body {name} is not JSON: {error}") from None
    if not isinstance(body, dict) or not isinstance(body.get("session_id"), str):
        raise UsageError(f"--body {name}: an object with session_id and messages is needed")
    if not isinstance(body.get("messages"), list):
        raise UsageError(f"--body {name}: messages should be a list")
    return body
