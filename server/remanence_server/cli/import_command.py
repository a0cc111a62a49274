"""`import`: conversations from files, with their own times; or the export of an owner."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
from remanence_server.cli.output import UsageError, console, print_json, say_error

if TYPE_CHECKING:
    from remanence_server.cli.owner_import import OwnerTarget


def import_conversations(
    paths: Annotated[
        list[Path],
        typer.Argument(
            help="JSON or JSONL files, or folders of them; or one folder that `export` wrote.",
            metavar="PATH",
        ),
    ],
    user: Annotated[
        str | None,
        typer.Option(
            "--user",
            help="Who speaks where role user has no sender_id; of an export: who takes it.",
        ),
    ] = None,
    agent: Annotated[
        str | None, typer.Option("--agent", help="Of an export: the agent who takes it.")
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
    """Import conversations from files, or what `export` wrote of an owner.

    A file holds {"session_id", "messages": [...]} objects or single messages, each with a
    timestamp. Running it again goes on where it stopped; nothing is stored twice for 30 days.
    An export goes to the owner and scope it came from, unless others are named.
    """
    from remanence_server.cli.owner_import import OwnerTarget, read_manifest

    manifests = [manifest for path in paths if (manifest := read_manifest(path)) is not None]
    if manifests:
        if len(paths) > 1:
            raise UsageError("import one export at a time, and nothing beside it")
        target = OwnerTarget(user, agent, app, project)
        return _import_owner(
            paths[0],
            manifests[0],
            target,
            root=root,
            server=server,
            timeout_seconds=timeout,
            json_output=json_output,
        )
    if agent is not None:
        raise UsageError("--agent is for an export; --assistant says who speaks as the assistant")
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
                "known": summary.known,
                "messages": summary.messages,
                "problems": [
                    {"source": problem.source, "reason": problem.reason} for problem in problems
                ],
            }
        )
    else:
        there = summary.skipped + summary.known
        earlier = f", {there} were there already" if there else ""
        wrong_text = f", {len(problems)} problems" if problems else ""
        typer.echo(
            f"imported {summary.imported} conversations with {summary.messages} messages"
            f"{earlier}{wrong_text}"
        )
    return 1 if problems else 0


def _import_owner(
    folder: Path,
    manifest: Mapping[str, Any],
    target: OwnerTarget,
    *,
    root: Path,
    server: str | None,
    timeout_seconds: float,
    json_output: bool,
) -> int:
    from remanence_server.cli.connection import connect
    from remanence_server.cli.owner_import import import_owner

    with connect(server, root, timeout_seconds=timeout_seconds) as client:
        done = import_owner(client, folder, manifest, target)
    if json_output:
        print_json(asdict(done))
        return 0
    there = done.records_present + done.messages_present
    earlier = f", {there} were there already" if there else ""
    typer.echo(f"imported {done.records} records and {done.messages} messages{earlier}")
    return 0


def _cache_folder() -> Path:
    configured = os.environ.get("XDG_CACHE_HOME")
    return Path(configured) if configured else Path("~/.cache").expanduser()
