"""The console script `remanence`: its commands, and how failures end."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer

from remanence_server.cli import (
    config_command,
    delete_command,
    demo_command,
    doctor_command,
    import_command,
    jobs_command,
    memory_commands,
    rebuild_command,
    server_commands,
    tasks_command,
    transfer_commands,
)
from remanence_server.cli.output import CommandError, say_error

EXIT_FAILURE = 1
EXIT_INTERRUPTED = 130

app = typer.Typer(
    name="remanence",
    help="A long-term memory service for AI agents.",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    # Plain help: loading what would draw boxes takes longer than everything else together.
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def without_command(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", help="Print the version and stop."),
) -> None:
    """A long-term memory service for AI agents."""
    if version:
        server_commands.version()
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


app.command()(server_commands.serve)
app.command()(server_commands.init)
app.command()(memory_commands.add)
app.command()(memory_commands.flush)
app.command()(memory_commands.search)
app.command()(memory_commands.get)
app.command()(delete_command.delete)
app.command("import")(import_command.import_conversations)
app.command()(transfer_commands.export)
app.command()(transfer_commands.backup)
app.command()(demo_command.demo)
app.command()(doctor_command.doctor)
app.command()(rebuild_command.rebuild)
app.add_typer(jobs_command.app, name="jobs")
app.add_typer(tasks_command.app, name="tasks")
app.add_typer(config_command.app, name="config")
app.command()(server_commands.version)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; returns the exit code: 0, 1 failure, 2 wrong usage, 130 interrupted."""
    try:
        result = app(args=arguments, prog_name="remanence", standalone_mode=False)
    except typer.TyperException as error:
        say_error(error.format_message())
        return error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has seen enough.
        return EXIT_FAILURE
    except CommandError as error:
        say_error(str(error))
        return error.exit_code
    except Exception as error:
        say_error(_public_text(error))
        return EXIT_FAILURE
    return result if isinstance(result, int) else 0


def _public_text(error: Exception) -> str:
    """One line for a failure that no command turned into words of its own."""
    # What can only have been raised if its module was loaded is looked up where it was loaded.
    for module, name in (
        ("remanence_client.errors", "RemanenceError"),
        ("remanence_server.runtime.errors", "ServiceError"),
    ):
        if module in sys.modules and isinstance(error, getattr(sys.modules[module], name)):
            return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, ImportError) and error.name:
        return f"the module {error.name} is missing; reinstall remanence with its dependencies"
    from remanence_server.runtime.faults import describe_fault

    fault = describe_fault(error)
    return f"unexpected failure, please report it: {fault['exception']} at {fault['frames']}"


if __name__ == "__main__":
    sys.exit(main())
