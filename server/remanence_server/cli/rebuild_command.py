"""`rebuild`: makes the index anew from the Markdown, and shows how far it is."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Protocol, Self

import typer

from remanence_server.cli.connection import connect, running_server
from remanence_server.cli.options import DEFAULT_ROOT, RootOption, ServerOption
from remanence_server.cli.output import CommandError, UsageError, console

if TYPE_CHECKING:
    from rich.progress import TaskID

    from remanence_server.runtime.settings import Settings

_LOOK_INTERVAL_SECONDS = 0.2
_STOP_GRACE_SECONDS = 30.0
_EXIT_ROOT_IN_USE = 3
# Activities of the health report, for people.
_LABELS = {"rebuild": "files", "embed": "passages embedded"}


def rebuild(
    root: RootOption = DEFAULT_ROOT,
    server: ServerOption = None,
    no_wait: Annotated[
        bool, typer.Option("--no-wait", help="Start it on the running server and return.")
    ] = False,
) -> None:
    """Make the index anew from the Markdown; a running server goes on answering."""
    root = root.expanduser().absolute()
    if server is not None or running_server(root) is not None:
        _rebuild_on_server(server, root, wait=not no_wait)
    elif no_wait:
        raise UsageError("--no-wait needs a running server: remanence serve")
    elif not root.is_dir():
        raise CommandError(f"{root} is not a memory root: choose another with --root")
    else:
        _rebuild_here(root)


def _rebuild_on_server(server: str | None, root: Path, *, wait: bool) -> None:
    with connect(server, root) as client:
        started = client.rebuild().started
        if not wait:
            typer.echo("rebuild started" if started else "a rebuild is running already")
            return
        if not started:
            typer.echo("a rebuild is running already")
        with _Bars() as bars:
            while bars.show(client.health().activities):
                time.sleep(_LOOK_INTERVAL_SECONDS)
    typer.echo(bars.summary())


def _rebuild_here(root: Path) -> None:
    """Without a server: opens the service for as long as it takes."""
    import asyncio

    from remanence_server.runtime.logging import configure_logging
    from remanence_server.runtime.root import MemoryRoot, RootInUseError
    from remanence_server.runtime.settings_loader import load_settings

    settings = load_settings(root, os.environ, {})
    configure_logging("error", settings.log.format)
    try:
        held = MemoryRoot(settings.root)
    except RootInUseError:
        message = f"another process is using {settings.root}"
        raise CommandError(message, exit_code=_EXIT_ROOT_IN_USE) from None
    try:
        typer.echo(asyncio.run(_open_and_rebuild(settings)))
    finally:
        held.release()


async def _open_and_rebuild(settings: Settings) -> str:
    import asyncio

    from remanence.v2 import ops_pb2
    from remanence_server.api.composition import open_service
    from remanence_server.api.engines import start_engines

    service = await open_service(settings, start_engines(settings))
    try:
        ops = service.servicers.ops
        # Where the index was missing, opening has begun already.
        await ops.Rebuild(ops_pb2.RebuildRequest(), None)
        with _Bars() as bars:
            health = await ops.GetHealth(ops_pb2.GetHealthRequest(), None)
            while bars.show(health.activities):
                await asyncio.sleep(_LOOK_INTERVAL_SECONDS)
                health = await ops.GetHealth(ops_pb2.GetHealthRequest(), None)
    finally:
        await service.close(_STOP_GRACE_SECONDS)
    return bars.summary()


class _Activity(Protocol):
    """An activity of the health report, in whatever form it came."""

    @property
    def name(self) -> str: ...
    @property
    def done(self) -> int: ...
    @property
    def total(self) -> int: ...


class _Bars:
    """A progress bar for each activity. On no terminal nothing is drawn."""

    def __init__(self) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.progress import TimeElapsedColumn as Elapsed

        screen = console(stderr=True)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            Elapsed(),
            console=screen,
            disable=not screen.is_terminal,
        )
        self._tasks: dict[str, TaskID] = {}
        self._started_seconds = time.monotonic()

    def show(self, activities: Sequence[_Activity]) -> bool:
        """Draws how far they are; says whether any runs."""
        for task in self._tasks.values():
            # Whatever is not told of any more is done.
            total = self._progress.tasks[task].total
            self._progress.update(task, completed=total)
        for activity in activities:
            if activity.name not in self._tasks:
                label = _LABELS.get(activity.name, activity.name)
                self._tasks[activity.name] = self._progress.add_task(label, total=None)
            self._progress.update(
                self._tasks[activity.name], completed=activity.done, total=activity.total or None
            )
        return bool(activities)

    def summary(self) -> str:
        """One line for the end."""
        seconds = time.monotonic() - self._started_seconds
        return f"index rebuilt in {seconds:.1f} s"

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._progress.stop()
