"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DEFAULT_ROOT = Path("~/.remanence")

RootOption = Annotated[
    Path,
    typer.Option(
        "--root", envvar="REMANENCE_ROOT", help="Memory root.", metavar="DIR", show_default=True
    ),
]
ServerOption = Annotated[
    str | None,
    typer.Option(
        "--server",
        envvar="REMANENCE_SERVER",
        help="gRPC address of the server; else the one that runs on the root.",
        metavar="HOST:PORT",
    ),
]
TimeoutOption = Annotated[
    float, typer.Option("--timeout", min=0.1, help="Seconds allowed for a call.")
]
AppOption = Annotated[str | None, typer.Option("--app", help="Scope: application.")]
ProjectOption = Annotated[str | None, typer.Option("--project", help="Scope: project.")]
UserOption = Annotated[str | None, typer.Option("--user", help="The user whose memory it is.")]
AgentOption = Annotated[str | None, typer.Option("--agent", help="The agent whose memory it is.")]
SessionOption = Annotated[str | None, typer.Option("--session", help="Only this session.")]
PageOption = Annotated[int, typer.Option("--page", help="Page, from 1.")]
PageSizeOption = Annotated[int, typer.Option("--page-size", help="1 to 100.")]
FilterOption = Annotated[
    str | None,
    typer.Option("--filter", help='A filter, such as {"sender_id": "alice"}.', metavar="JSON"),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the JSON of the API.")]
