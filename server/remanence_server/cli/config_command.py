"""`config show`: the settings in effect."""

from __future__ import annotations

import typer

from remanence_server.cli.options import DEFAULT_ROOT, JsonOption, RootOption
from remanence_server.cli.output import console, print_json

app = typer.Typer(help="Look at the settings.", rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def config(context: typer.Context) -> None:
    """Look at the settings."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def show(root: RootOption = DEFAULT_ROOT, json_output: JsonOption = False) -> None:
    """Print every setting in effect and where it was set; secrets are masked."""
    import os
    from operator import attrgetter

    from rich.table import Table

    from remanence_server.runtime.settings_loader import known_keys, load_settings_with_sources

    loaded = load_settings_with_sources(root, os.environ)
    rows: dict[str, dict[str, object]] = {}
    for key in known_keys():
        value = attrgetter(key)(loaded.settings)
        # Text of whatever JSON has no word for: a SecretStr shows as asterisks.
        shown = value if isinstance(value, (bool, int, float)) else str(value)
        rows[key] = {"value": shown, "source": loaded.sources.get(key, "default")}
    if json_output:
        print_json({"root": str(loaded.settings.root), "settings": rows})
        return
    table = Table("setting", "value", "source", box=None, title_justify="left")
    for key, row in rows.items():
        table.add_row(key, str(row["value"]), str(row["source"]))
    output = console()
    output.print(f"root {loaded.settings.root}")
    output.print(table)
