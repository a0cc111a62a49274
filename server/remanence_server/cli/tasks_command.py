"""`tasks list` and `show`: what became of requests that were queued."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from remanence_server.cli.options import (
    DEFAULT_ROOT,
    AppOption,
    JsonOption,
    PageOption,
    PageSizeOption,
    ProjectOption,
    RootOption,
    ServerOption,
    SessionOption,
    TimeoutOption,
)
from remanence_server.cli.output import moment, place_in_pages, print_json, printable

if TYPE_CHECKING:
    from remanence_client import Task

_DEFAULT_TIMEOUT_SECONDS = 30.0

app = typer.Typer(
    help="See what became of requests that were queued (`add --async`).", rich_markup_mode=None
)


@app.callback(invoke_without_command=True)
def tasks(context: typer.Context) -> None:
    """See what became of requests that were queued (`add --async`)."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("list")
def list_tasks(
    session: SessionOption = None,
    status: Annotated[
        str | None, typer.Option("--status", help="queued, processing, success or failed.")
    ] = None,
    page: PageOption = 1,
    page_size: PageSizeOption = 20,
    app_id: AppOption = None,
    project: ProjectOption = None,
    root: RootOption = DEFAULT_ROOT,
    server: ServerOption = None,
    timeout: TimeoutOption = _DEFAULT_TIMEOUT_SECONDS,
    json_output: JsonOption = False,
) -> None:
    """List tasks, newest first."""
    from remanence_client import to_json
    from remanence_server.cli.connection import connect

    with connect(server, root, timeout_seconds=timeout) as client:
        found = client.list_tasks(
            session_id=session,
            status=status,  # type: ignore[arg-type]  # the client refuses other words
            page=page,
            page_size=page_size,
            app_id=app_id,
            project_id=project,
        )
    if json_output:
        print_json(to_json(found))
        return
    for task in found.items:
        typer.echo(_line(task))
    typer.echo(place_in_pages(found.page, found.page_size, found.total))


@app.command()
def show(
    task_id: Annotated[str, typer.Argument(help="Id, as `add --async` prints it.", metavar="ID")],
    root: RootOption = DEFAULT_ROOT,
    server: ServerOption = None,
    timeout: TimeoutOption = _DEFAULT_TIMEOUT_SECONDS,
    json_output: JsonOption = False,
) -> None:
    """Show one task."""
    from remanence_client import to_json
    from remanence_server.cli.connection import connect

    with connect(server, root, timeout_seconds=timeout) as client:
        task = client.get_task(task_id)
    if json_output:
        print_json(to_json(task))
    else:
        typer.echo(_line(task))


def _line(task: Task) -> str:
    finished = "" if task.finished_at is None else f", finished {moment(task.finished_at)}"
    error = f": {task.error_code} {printable(task.error or '')}" if task.error_code else ""
    kind = task.task_type.removeprefix("memory_")
    return f"{task.id}  {kind} {task.status}, queued {moment(task.created_at)}{finished}{error}"
