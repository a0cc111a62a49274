"""`demo`: the whole product once, on a root that is thrown away."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from remanence_server.cli.output import CommandError, console

if TYPE_CHECKING:
    from rich.console import Console

    from remanence_client import Client
    from remanence_server.cli.demo_questions import Question


def demo(
    examples: Annotated[
        Path | None,
        typer.Option("--examples", help="Folder of conversations and a questions.json."),
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option("--keep", metavar="DIR", help="Use this new folder as root and keep it."),
    ] = None,
) -> int:
    """Show the whole service once, on a root of its own.

    Starts it, imports the examples, asks questions, shows the Markdown, stops it.
    """
    from remanence_server.cli.conversations.files import QUESTIONS_FILE
    from remanence_server.cli.demo_questions import read_questions
    from remanence_server.cli.demo_server import running_demo_server
    from remanence_server.cli.server_commands import make_root

    folder = examples or Path(__file__).parents[3] / "examples"
    questions_path = folder / QUESTIONS_FILE
    if not questions_path.is_file():
        raise CommandError(f"no {QUESTIONS_FILE} in {folder}; name a folder with --examples")
    questions = read_questions(questions_path)
    output = console()
    with tempfile.TemporaryDirectory(prefix="remanence-demo-") as temporary:
        root = (keep or Path(temporary) / "root").expanduser().absolute()
        if root.exists() and any(root.iterdir()):
            raise CommandError(f"{root} is not empty; --keep takes a new folder")
        make_root(root)
        output.print(f"starting a service on {root}")
        with running_demo_server(root, Path(temporary) / "server.log", os.environ) as client:
            _import(output, client, folder, Path(temporary))
            output.print("\nasking; each find has its score: how likely it bears on the question")
            missed = [each for each in questions if not _ask(output, client, each)]
        _show_markdown(output, root)
    if keep is None:
        output.print("these files are gone again; --keep DIR keeps them")
    if missed:
        raise CommandError(f"{len(missed)} of {len(questions)} answers lack the words expected")
    return 0


def _import(output: Console, client: Client, folder: Path, scratch: Path) -> None:
    from remanence_server.cli.conversations.files import find_files, read_file
    from remanence_server.cli.conversations.messages import Senders
    from remanence_server.cli.conversations.progress import ImportProgress
    from remanence_server.cli.conversations.sending import send_conversations

    files, problems = find_files([folder])
    for path in files:
        conversations, wrong = read_file(path, Senders())
        summary = send_conversations(
            client,
            conversations,
            ImportProgress(scratch / "progress.json"),
            app_id=None,
            project_id=None,
            on_done=lambda conversation: None,
        )
        problems += wrong + summary.problems
        output.print(f"imported {path.name}: {summary.messages} messages")
    if problems:
        raise CommandError(str(problems[0]))


def _ask(output: Console, client: Client, question: Question) -> bool:
    """Prints a question and what was found; whether the expected words are in it."""
    from rich.text import Text

    from remanence_server.cli.demo_questions import search_until_expected
    from remanence_server.cli.render import show_answer

    result, holds = search_until_expected(client, question)
    output.print()
    asked = f"the memory of {question.owner} is asked: {question.question}"
    output.print(Text(asked, style="bold cyan"))
    show_answer(result, question.expects, output)
    if not holds:
        output.print(Text(f"expected and not found: {question.expects}", style="bold red"))
    return holds


def _show_markdown(output: Console, root: Path) -> None:
    """Prints the Markdown files below the root as a tree."""
    from rich.tree import Tree

    tree = Tree(f"the memory, as Markdown in {root}")
    branches = {root: tree}
    for path in sorted(root.rglob("*.md")):
        parts = path.relative_to(root).parts
        # Not what the service keeps for itself.
        if parts[0].startswith("."):
            continue
        for depth in range(1, len(parts) + 1):
            here = root.joinpath(*parts[:depth])
            if here not in branches:
                branches[here] = branches[here.parent].add(here.name)
    output.print()
    output.print(tree)
