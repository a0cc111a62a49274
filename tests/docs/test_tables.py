"""The tables of the documentation say what the code says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer

from remanence_server.api import serve
from remanence_server.cli.main import app
from remanence_server.runtime.errors import CATALOGUE
from remanence_server.runtime.settings_loader import OTHER_VARIABLES, known_keys, sections
from tests.docs.pages import REPOSITORY, bare, table
from tests.docs.running import make_targets

API = REPOSITORY / "docs" / "api.md"
OPERATIONS = REPOSITORY / "docs" / "operations.md"


def _commands() -> Any:
    return typer.main.get_command(app)


def test_the_error_table_is_the_catalogue() -> None:
    documented = [[bare(cell) for cell in row[:4]] for row in table(API, "code")]
    assert documented == [
        [
            code.value,
            str(spec.http_status),
            spec.grpc_status.value,
            "yes" if spec.retryable else "no",
        ]
        for code, spec in CATALOGUE.items()
    ]


def test_the_settings_table_is_the_settings() -> None:
    defaults = known_keys()
    rows = [
        f"| `{key}` | `{json.dumps(defaults[key])}` | {field.description} |"
        for section, model in sections()
        for name, field in model.model_fields.items()
        # A table within a table has rows of its own.
        if (key := f"{section}.{name}") in defaults
    ]
    documented = [f"| {' | '.join(row)} |" for row in table(OPERATIONS, "setting")]
    assert documented == rows, "docs/operations.md should have\n" + "\n".join(rows)


def test_the_variables_that_are_no_settings_are_documented() -> None:
    documented = {bare(row[0]) for row in table(OPERATIONS, "variable")}
    assert documented == OTHER_VARIABLES | {"ENV", "JAVA_HOME", "XDG_CACHE_HOME"}


def test_the_make_targets_are_those_of_the_makefile() -> None:
    documented = {bare(row[0]).removeprefix("make").strip() for row in table(OPERATIONS, "target")}
    assert documented - {""} == make_targets() - {"help"}


def test_the_commands_are_those_of_the_console_script() -> None:
    documented = {bare(row[0]).split()[1] for row in table(OPERATIONS, "command")}
    assert documented == set(_commands().commands)


def test_the_flags_of_serve_are_those_it_has() -> None:
    documented = {bare(row[0]).split()[0] for row in table(OPERATIONS, "flag")}
    serve_command = _commands().commands["serve"]
    assert documented == {option for each in serve_command.params for option in each.opts}


def test_the_exit_codes_of_serve_are_those_it_has() -> None:
    documented = [int(row[0]) for row in table(OPERATIONS, "exit code")]
    wrong_usage = 2
    assert documented == [
        serve.EXIT_OK,
        serve.EXIT_FAILED,
        wrong_usage,
        serve.EXIT_ROOT_IN_USE,
    ]


@pytest.mark.parametrize(
    "text",
    [
        *(row[0] for row in table(OPERATIONS, "reason")),
        *(
            cell.strip("`").partition("`")[0]
            for cell in (row[0] for row in table(OPERATIONS, "what you see"))
            if cell.startswith("`") and " " in cell.partition("`")[2].partition("`")[0]
        ),
    ],
)
def test_a_text_that_people_look_up_is_one_that_is_said(text: str) -> None:
    source = "".join(
        path.read_text(encoding="utf-8")
        for folder in ("server/remanence_server", "clients/python/src")
        for path in sorted((REPOSITORY / folder).rglob("*.py"))
    )
    pieces = [piece.strip() for piece in text.split("...")]
    assert [piece for piece in pieces if piece not in source] == []


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("README.md", ("Not yet available", "Honest limits")),
        ("docs/api.md", ("Not yet available",)),
    ],
)
def test_what_error_texts_and_pages_refer_to_is_there(path: str, words: tuple[str, ...]) -> None:
    headings = [
        line.lstrip("# ")
        for line in Path(REPOSITORY / path).read_text(encoding="utf-8").splitlines()
        if line.startswith("#")
    ]
    assert set(words) <= set(headings)
