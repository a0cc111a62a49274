"""`serve`, `init` and `version`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from remanence_server.cli.options import DEFAULT_ROOT, JsonOption, RootOption
from remanence_server.cli.output import CommandError, print_json

_ROOT_MODE = 0o700


def serve(
    root: RootOption = DEFAULT_ROOT,
    http: Annotated[
        str | None, typer.Option("--http", metavar="HOST:PORT", help="HTTP address; port 0: free.")
    ] = None,
    grpc: Annotated[
        str | None, typer.Option("--grpc", metavar="HOST:PORT", help="gRPC address; port 0: free.")
    ] = None,
    log_level: Annotated[
        str | None, typer.Option("--log-level", help="debug, info, warning or error.")
    ] = None,
    log_format: Annotated[str | None, typer.Option("--log-format", help="console or json.")] = None,
) -> int:
    """Run the service until it is told to stop."""
    import os

    from remanence_server.runtime.settings_loader import load_settings

    flags = {
        "server.http": http,
        "server.grpc": grpc,
        "log.level": log_level,
        "log.format": log_format,
    }
    settings = load_settings(root, os.environ, flags)
    make_root(settings.root)
    # After the settings: a mistake in them should not cost a second.
    from remanence_server.api.serve import run_server

    return run_server(settings)


def init(
    root: RootOption = DEFAULT_ROOT,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite a remanence.toml that is there.")
    ] = False,
) -> None:
    """Write a remanence.toml with every setting, explained."""
    from remanence_server.cli.settings_template import settings_template
    from remanence_server.runtime.settings_loader import FILE_NAME

    root = root.expanduser().absolute()
    make_root(root)
    path = root / FILE_NAME
    if path.exists() and not force:
        raise CommandError(f"{path} exists; --force overwrites it")
    path.write_text(settings_template(), encoding="utf-8")
    typer.echo(f"wrote {path}")


def version(json_output: JsonOption = False) -> None:
    """Print the version."""
    from remanence_server import __version__

    if json_output:
        print_json({"version": __version__})
    else:
        typer.echo(f"remanence {__version__}")


def make_root(root: Path) -> None:
    """Makes sure that the root is there; a new one is for its owner's eyes only.

    Raises:
        CommandError: it cannot be made.
    """
    try:
        root.parent.mkdir(parents=True, exist_ok=True)
        root.mkdir(mode=_ROOT_MODE, exist_ok=True)
    except FileExistsError:
        raise CommandError(f"cannot use {root} as memory root: it is a file") from None
    except OSError as error:
        raise CommandError(f"cannot use {root} as memory root: {error.strerror}") from None
