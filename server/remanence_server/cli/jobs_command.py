"""`jobs list`, `show`, `retry` and `drop`: the durable work behind add and flush."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
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
from remanence_server.cli.output import (
    CommandError,
    UsageError,
    console,
    moment,
    place_in_pages,
    print_json,
    printable,
    say_error,
)

if TYPE_CHECKING:
    from remanence_client import Client, Job

_DEFAULT_TIMEOUT_SECONDS = 30.0
_LARGEST_PAGE = 100
_RETRIED_TOGETHER = ("dead_letter", "waiting_retry")
_DROPPED_TOGETHER = (*_RETRIED_TOGETHER, "queued")

IdsArgument = Annotated[list[int] | None, typer.Argument(help="Ids, as `jobs list` shows them.")]
StatusOption = Annotated[
    str | None,
    typer.Option(
        "--status",
        help="queued, waiting_retry, running, succeeded, dead_letter or cancelled.",
    ),
]
StageOption = Annotated[
    str | None, typer.Option("--stage", help="episode, facts, profile or case.")
]
AllOption = Annotated[
    bool, typer.Option("--all", help="All of --status, which is dead_letter unless it is given.")
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]

app = typer.Typer(
    help="Look at the work behind add and flush; retry or drop what failed.", rich_markup_mode=None
)


@app.callback(invoke_without_command=True)
def jobs(context: typer.Context) -> None:
    """Look at the work behind add and flush; retry or drop what failed."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("list")
def list_jobs(
    status: StatusOption = None,
    stage: StageOption = None,
    session: SessionOption = None,
    page: PageOption = 1,
    page_size: PageSizeOption = 20,
    app_id: AppOption = None,
    project: ProjectOption = None,
    root: RootOption = DEFAULT_ROOT,
    server: ServerOption = None,
    timeout: TimeoutOption = _DEFAULT_TIMEOUT_SECONDS,
    json_output: JsonOption = False,
) -> None:
    """List jobs, newest first."""
    from remanence_client import to_json
    from remanence_server.cli.connection import connect

    with connect(server, root, timeout_seconds=timeout) as client:
        found = client.list_jobs(
            session_id=session,
            status=status,  # type: ignore[arg-type]  # the client refuses other words
            stage=stage,
            page=page,
            page_size=page_size,
            app_id=app_id,
            project_id=project,
        )
    if json_output:
        print_json(to_json(found))
        return
    if found.items:
        _show_table(found.items)
    typer.echo(place_in_pages(found.page, found.page_size, found.total))


@app.command()
def show(
    job_id: Annotated[int, typer.Argument(help="Id, as `jobs list` shows it.", metavar="ID")],
    app_id: AppOption = None,
    project: ProjectOption = None,
    root: RootOption = DEFAULT_ROOT,
    server: ServerOption = None,
    timeout: TimeoutOption = _DEFAULT_TIMEOUT_SECONDS,
    json_output: JsonOption = False,
) -> None:
    """Show one job."""
    from remanence_client import to_json
    from remanence_server.cli.connection import connect

    with connect(server, root, timeout_seconds=timeout) as client:
        job = client.get_job(job_id, app_id=app_id, project_id=project)
    if json_output:
        print_json(to_json(job))
    else:
        _show_job(job)


@app.command()
def retry(
    ids: IdsArgument = None,
    everything: AllOption = False,
    status: StatusOption = None,
    stage: StageOption = None,
    session: SessionOption = None,
    yes: YesOption = False,
    app_id: AppOption = None,
    project: ProjectOption = None,
    root: RootOption = DEFAULT_ROOT,
    server: ServerOption = None,
    timeout: TimeoutOption = _DEFAULT_TIMEOUT_SECONDS,
    json_output: JsonOption = False,
) -> None:
    """Give jobs that failed a fresh budget of attempts, now."""
    from remanence_server.cli.connection import connect

    with connect(server, root, timeout_seconds=timeout) as client:
        chosen = _choose(
            client, ids, everything, _RETRIED_TOGETHER, status, stage, session, app_id, project
        )
        if everything and chosen and not yes:
            typer.confirm(f"Retry {_count(chosen)}?", abort=True, err=True)
        _each(
            chosen,
            lambda job_id: client.retry_job(job_id, app_id=app_id, project_id=project),
            json_output,
        )


@app.command()
def drop(
    ids: IdsArgument = None,
    everything: AllOption = False,
    status: StatusOption = None,
    stage: StageOption = None,
    session: SessionOption = None,
    yes: YesOption = False,
    app_id: AppOption = None,
    project: ProjectOption = None,
    root: RootOption = DEFAULT_ROOT,
    server: ServerOption = None,
    timeout: TimeoutOption = _DEFAULT_TIMEOUT_SECONDS,
    json_output: JsonOption = False,
) -> None:
    """Give jobs up for good, with the messages that only they still needed."""
    from remanence_server.cli.connection import connect

    with connect(server, root, timeout_seconds=timeout) as client:
        chosen = _choose(
            client, ids, everything, _DROPPED_TOGETHER, status, stage, session, app_id, project
        )
        if chosen and not yes:
            question = f"Drop {_count(chosen)}? What was not extracted is lost."
            typer.confirm(question, abort=True, err=True)
        _each(
            chosen,
            lambda job_id: client.drop_job(job_id, app_id=app_id, project_id=project),
            json_output,
        )


def _choose(
    client: Client,
    ids: Sequence[int] | None,
    everything: bool,
    statuses: Collection[str],
    status: str | None,
    stage: str | None,
    session: str | None,
    app_id: str | None,
    project: str | None,
) -> list[int]:
    """The ids given, else those of every job that matches."""
    if bool(ids) == everything:
        raise UsageError("give the ids of jobs, or --all")
    if ids:
        if status or stage or session:
            raise UsageError("--status, --stage and --session choose among --all, not among ids")
        return list(dict.fromkeys(ids))
    status = status or "dead_letter"
    if status not in statuses:
        raise UsageError(f"with --all, --status is one of {', '.join(statuses)}")
    chosen: list[int] = []
    page = 1
    while True:
        found = client.list_jobs(
            session_id=session,
            status=status,  # type: ignore[arg-type]  # one of the words above
            stage=stage,
            page=page,
            page_size=_LARGEST_PAGE,
            app_id=app_id,
            project_id=project,
        )
        chosen += [job.id for job in found.items]
        if page * _LARGEST_PAGE >= found.total:
            # The oldest first: so their order stays what it was.
            return sorted(set(chosen))
        page += 1


def _each(ids: Sequence[int], act: Callable[[int], Job], json_output: bool) -> None:
    """Does it to every job; one that refuses does not keep the others from it."""
    from remanence_client import ConflictError, NotFoundError, to_json

    done: list[Job] = []
    for job_id in ids:
        try:
            done.append(act(job_id))
        except (ConflictError, NotFoundError) as error:
            say_error(error.message)
    if json_output:
        print_json(to_json(done))
    elif done:
        _show_table(done)
    elif not ids:
        typer.echo("there are no such jobs")
    if len(done) < len(ids):
        raise CommandError(f"{len(ids) - len(done)} of {_count(ids)} could not be changed")


def _count(ids: Collection[int]) -> str:
    return f"{len(ids)} job{'s'[: len(ids) != 1]}"


def _show_table(found: Sequence[Job]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table("id", "status", "stage", "owner", "session", "tries", "since", "why", box=None)
    for job in found:
        table.add_row(
            str(job.id),
            _status(job),
            job.stage,
            Text(printable(_owner(job))),
            Text(printable(job.session_id)),
            f"{job.attempts}/{job.maximum_attempts}",
            moment(job.created_at),
            Text(printable(job.error or "")),
        )
    console().print(table)


def _show_job(job: Job) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    rows = {
        "id": str(job.id),
        "status": _status(job),
        "stage": job.stage,
        "scope": f"{job.app_id} / {job.project_id}",
        "owner": _owner(job),
        "session": job.session_id,
        "attempts": f"{job.attempts} of {job.maximum_attempts}",
        "error": f"{job.error} ({job.error_code})" if job.error else None,
        "created": moment(job.created_at),
        "next attempt": moment(job.next_attempt_at) if job.next_attempt_at else None,
        "finished": moment(job.finished_at) if job.finished_at else None,
    }
    for name, value in rows.items():
        if value is not None:
            table.add_row(name, Text(printable(value)))
    console().print(table)


def _status(job: Job) -> str:
    return job.status.replace("_", " ")


def _owner(job: Job) -> str:
    return f"user {job.user_id}" if job.user_id is not None else f"agent {job.agent_id}"
