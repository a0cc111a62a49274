"""`doctor`: what is configured, what is missing, and how to get it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from remanence_server.cli.options import DEFAULT_ROOT, JsonOption, RootOption
from remanence_server.cli.output import console, print_json, printable

if TYPE_CHECKING:
    from remanence_server.cli.doctor_checks import Check

_STYLES = {"ok": "green", "warn": "yellow", "fail": "bold red"}


def doctor(root: RootOption = DEFAULT_ROOT, json_output: JsonOption = False) -> int:
    """Check machine, settings and server; say what to do.

    The exit code is 1 if anything fails.
    """
    checks = _run_checks(root)
    failed = any(check.status == "fail" for check in checks)
    if json_output:
        print_json({"healthy": not failed, "checks": [asdict(check) for check in checks]})
    else:
        _show(checks)
    return 1 if failed else 0


def _run_checks(root: RootOption) -> list[Check]:
    import os

    from remanence_server.cli import doctor_checks as look
    from remanence_server.runtime.errors import ServiceError
    from remanence_server.runtime.settings_loader import FILE_NAME, load_settings

    try:
        settings = load_settings(root, os.environ)
    except ServiceError as error:
        broken = look.Check("settings", "fail", error.message, "correct it; see: remanence init")
        return [look.check_python(), broken]
    configured = (settings.root / FILE_NAME).exists()
    source = FILE_NAME if configured else f"defaults, no {FILE_NAME}"
    return [
        look.check_python(),
        look.Check("settings", "ok", source, "" if configured else "remanence init writes one"),
        look.check_root(settings.root),
        *look.check_state(settings.root),
        look.check_lexical(settings),
        look.check_dense(),
        look.check_embeddings(settings),
        look.check_extraction(settings, os.environ),
        *look.check_server(settings),
        *look.check_markdown(settings),
    ]


def _show(checks: list[Check]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table("", "check", box=None)
    # A path is broken over lines, never cut: its end says which file and line it is.
    table.add_column("found", overflow="fold")
    table.add_column("what to do", overflow="fold")
    for check in checks:
        table.add_row(
            Text(check.status, style=_STYLES[check.status]),
            check.name,
            printable(check.detail),
            printable(check.hint),
        )
    console().print(table)
