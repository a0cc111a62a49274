"""`import`: conversations from files, with their own times."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from remanence_server.cli.options import (
    DEFAULT_ROOT,
    AppOption,
    JsonOption,
    ProjectOption,
    RootOption,
    ServerOption,
    TimeoutOption,
)
from remanence_server.cli.output import console, print_json, say_error


def import_conversations(
    paths: Annotated[
        list[Path], typer.Argument(help="JSON or JSONL files, or folders of them.", metavar="PATH")
    ],
    user: Annotated[
        str | None, typer.Option("--user", help="Who speaks where role user has no sender_id.")
    ] = None,
    assistant: Annotated[
        str, typer.Option("--assistant", help="Who speaks where the assistant has no sender_id.")
    ] = "assistant",
    restart: Annotated[
        bool, typer.Option("--restart", help="Send again what an earlier run has sent.")
    ] = False,
    app: AppOption = None,
    project: ProjectOption = None,
    root: RootOption = DEFAULT_ROOT,
    server: ServerOption = None,
    timeout: TimeoutOption = 120.0,
    json_output: JsonOption = False,
) -> int:
    """Import conversations from files.

    A file holds {"session_id", "messages": [...]} objects or single messages, each with a
    timestamp. Running it again goes on where it stopped; within a week nothing is stored twice.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from remanence_server.cli.connection import connect, find_server
    from remanence_server.cli.conversations.files import find_files, read_file
    from remanence_server.cli.conversations.messages import Senders
    from remanence_server.cli.conversations.progress import ImportProgress, progress_path
    from remanence_server.cli.conversations.sending import send_conversations

    files, problems = find_files(paths)
    conversations = []
    for path in files:
        found, wrong = read_file(path, Senders(user=user, assistant=assistant))
        conversations += found
        problems += wrong
    progress = ImportProgress(
        progress_path(_cache_folder(), find_server(server, root), [app or "", project or ""], paths)
    )
    if restart:
        progress.forget()
    messages = console(stderr=True)
    bar = Progress(
        TextColumn("importing"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("conversations"),
        console=messages,
        disable=not messages.is_terminal,
        transient=True,
    )
    with connect(server, root, timeout_seconds=timeout) as client, bar:
        step = bar.add_task("", total=len(conversations))
        summary = send_conversations(
            client,
            conversations,
            progress,
            app_id=app,
            project_id=project,
            on_done=lambda conversation: bar.advance(step),
        )
    problems += summary.problems
    if not problems:
        progress.forget()
    for problem in problems:
        say_error(str(problem))
    if json_output:
        print_json(
            {
                "imported": summary.imported,
                "skipped": summary.skipped,
                "messages": summary.messages,
                "problems": [
                    {"source": problem.source, "reason": problem.reason} for problem in problems
                ],
            }
        )
    else:
        earlier = f", {summary.skipped} were there already" if summary.skipped else ""
        wrong_text = f", {len(problems)} problems" if problems else ""
        typer.echo(
            f"imported {summary.imported} conversations with {summary.messages} messages"
            f"{earlier}{wrong_text}"
        )
    return 1 if problems else 0


def _cache_folder() -> Path:
    configured = os.environ.get("XDG_CACHE_HOME")
    return Path(configured) if configured else Path("~/.cache").expanduser()
