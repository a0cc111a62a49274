"""`export` and `backup`: memory as files, an owner's or everybody's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from remanence_server.cli.options import (
    DEFAULT_ROOT,
    AgentOption,
    AppOption,
    JsonOption,
    ProjectOption,
    RootOption,
    ServerOption,
)
from remanence_server.cli.output import CommandError, UsageError, print_json, say_error

if TYPE_CHECKING:
    from remanence_client import ReceivedFiles

_MEBIBYTE = 1024 * 1024

FolderArgument = Annotated[
    Path, typer.Argument(help="A folder that is not there yet, or empty.", metavar="DIR")
]
TransferTimeoutOption = Annotated[
    float, typer.Option("--timeout", min=0.1, help="Seconds allowed for all of it.")
]


def export(
    directory: FolderArgument,
    user: Annotated[str | None, typer.Option("--user", help="The user to export.")] = None,
    agent: AgentOption = None,
    app: AppOption = None,
    project: ProjectOption = None,
    root: RootOption = DEFAULT_ROOT,
    server: ServerOption = None,
    timeout: TransferTimeoutOption = 3600.0,
    json_output: JsonOption = False,
) -> None:
    """Write all that a user or an agent has into a folder.

    Memories as JSON lines and as Markdown, and messages that are not part of a memory yet.
    `remanence import DIR` takes it in again, on any server.
    """
    from remanence_server.cli.connection import connect
    from remanence_server.cli.owner_import import read_manifest

    if (user is None) == (agent is None):
        raise UsageError("give one of --user and --agent")
    with connect(server, root) as client:
        client.export_owner(
            directory,
            user_id=user,
            agent_id=agent,
            app_id=app,
            project_id=project,
            timeout_seconds=timeout,
        )
    manifest = read_manifest(directory.expanduser())
    if manifest is None:
        raise CommandError(f"{directory} has no manifest; is the server of another version?")
    if json_output:
        print_json(manifest)
        return
    for problem in manifest["problems"]:
        say_error(f"{directory}/{problem['file']}:{problem['line']}: {problem['reason']}")
    counts = dict(manifest["counts"])
    messages = counts.pop("messages")
    files = counts.pop("files")
    typer.echo(
        f"exported {sum(counts.values())} records, {messages} messages and {files} files"
        f" to {directory}"
    )


def backup(
    directory: FolderArgument,
    root: RootOption = DEFAULT_ROOT,
    server: ServerOption = None,
    timeout: TransferTimeoutOption = 3600.0,
    json_output: JsonOption = False,
) -> None:
    """Copy the whole memory into a folder, consistent, while the server runs or without one.

    To restore it, copy the folder to where a root should be and start the server there.
    """
    from remanence_server.cli.connection import connect, running_server

    root = root.expanduser().absolute()
    if directory.expanduser().absolute().is_relative_to(root):
        raise UsageError(f"{directory} is inside the memory root {root}; name one outside")
    if server is None and running_server(root) is None:
        received = _without_server(root, directory)
    else:
        with connect(server, root) as client:
            received = client.backup(directory, timeout_seconds=timeout)
    note = json.loads((directory.expanduser() / "backup.json").read_text(encoding="utf-8"))
    if json_output:
        print_json(note)
        return
    for name in note["left_out"]:
        say_error(f"{name} is not in the backup, as secrets are not; keep it elsewhere")
    typer.echo(
        f"backed up {received.files} files, {received.size_bytes / _MEBIBYTE:.1f} MiB, to"
        f" {directory}\n"
        f"to restore: cp -a {directory} NEW_ROOT; remanence doctor --root NEW_ROOT;"
        " remanence serve --root NEW_ROOT"
    )


def _without_server(root: Path, directory: Path) -> ReceivedFiles:
    """Copies a root that no server runs on, and that none can start on meanwhile."""
    from remanence_client import ReceivedFiles
    from remanence_client.folders import ArrivingFolder
    from remanence_server import __version__
    from remanence_server.markdown.disk import sync_file
    from remanence_server.runtime.clock import SystemClock
    from remanence_server.runtime.root import MemoryRoot, RootInUseError
    from remanence_server.runtime.write_gate import WriteGate
    from remanence_server.transfer.backup import BackupSource, copy_root, remove_leftovers
    from remanence_server.transfer.pieces import regular_files

    if not root.is_dir():
        raise CommandError(f"there is no memory root {root}")
    try:
        held = MemoryRoot(root)
    except RootInUseError:
        raise CommandError(
            f"a server is starting or stopping on {root}; try again in a moment"
        ) from None
    try:
        remove_leftovers(root)
        with ArrivingFolder(directory) as folder:
            source = BackupSource(root, WriteGate(), SystemClock(), __version__)
            copy_root(source, folder.partial)
            files = list(regular_files(folder.partial))
            for path in files:
                sync_file(path)
            size_bytes = sum(path.stat().st_size for path in files)
            folder.finish()
        return ReceivedFiles(files=len(files), size_bytes=size_bytes)
    finally:
        held.release()
