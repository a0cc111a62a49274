"""The console script: help, versions, interruptions, failures nobody foresaw."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import types
from typing import Any

from remanence_server import __version__


def test_help_lists_every_command(cli: Any) -> None:
    done = cli("--help")
    assert done.code == 0
    commands = "serve init add flush search get import demo doctor version config"
    assert all(f" {command} " in done.out for command in commands.split())


def test_no_command_shows_the_help(cli: Any) -> None:
    done = cli()
    assert done.code == 0
    assert "Usage" in done.out


def test_config_alone_shows_its_help(cli: Any) -> None:
    done = cli("config")
    assert (done.code, done.err) == (0, "")
    assert "show" in done.out


def test_the_version_is_printed_three_ways(cli: Any) -> None:
    assert cli("version").out == cli("--version").out == f"remanence {__version__}\n"
    assert cli("version", "--json").json == {"version": __version__}


def test_nothing_heavy_is_imported_before_a_command_needs_it() -> None:
    script = (
        "import sys, remanence_server.cli.main\n"
        "heavy = {'grpc', 'pydantic', 'faiss', 'numpy', 'fastapi', 'remanence_client', 'asyncio'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_the_module_runs_as_a_program() -> None:
    command = [sys.executable, "-m", "remanence_server.cli", "version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"remanence {__version__}\n")


def test_an_interruption_ends_with_130_and_no_words(cli: Any, monkeypatch: Any) -> None:
    def interrupted(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("remanence_client.Client.flush", interrupted)
    done = cli("flush", "s", "--server=127.0.0.1:1")
    assert (done.code, done.out, done.err) == (130, "", "")


def test_a_failure_nobody_foresaw_is_one_line_without_its_text(cli: Any, monkeypatch: Any) -> None:
    def broken(*arguments: object, **options: object) -> None:
        raise RuntimeError("words of a user")

    monkeypatch.setattr("remanence_client.Client.flush", broken)
    done = cli("flush", "s", "--server=127.0.0.1:1")
    assert done.code == 1
    assert done.err.startswith("remanence: unexpected failure, please report it: RuntimeError at ")
    assert done.err.count("\n") == 1
    assert "words of a user" not in done.err


def test_a_part_that_is_not_installed_is_named(cli: Any, monkeypatch: Any) -> None:
    # None in sys.modules makes an import fail.
    monkeypatch.setitem(sys.modules, "remanence_server.api.serve", None)
    done = cli("serve", "--http=127.0.0.1:0")
    assert done.code == 1
    assert "remanence_server.api.serve is missing; reinstall" in done.err


def test_a_file_that_is_not_there_is_named(cli: Any) -> None:
    done = cli("add", "--body=/no/such/file")
    assert done.code == 1
    assert done.err == "remanence: /no/such/file: No such file or directory\n"


def _flattened(table: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in table.items():
        inner = isinstance(value, dict)
        flat |= _flattened(value, f"{prefix}{name}.") if inner else {prefix + name: value}
    return flat


def test_init_writes_a_file_whose_every_line_can_be_taken_into_use(cli: Any) -> None:
    from remanence_server.runtime.settings_loader import known_keys, load_settings

    done = cli("init")
    path = cli.root / "remanence.toml"
    assert done.out == f"wrote {path}\n"
    text = path.read_text(encoding="utf-8")
    assert load_settings(cli.root, {}) == load_settings(cli.root / "other", {}).model_copy(
        update={"root": cli.root}
    )
    in_use = "\n".join(
        line.removeprefix("# ") if " = " in line else line for line in text.splitlines()
    )
    assert _flattened(tomllib.loads(in_use)) == dict(known_keys())
    assert cli.root.stat().st_mode & 0o077 == 0


def test_init_does_not_overwrite_without_force(cli: Any) -> None:
    cli("init")
    path = cli.root / "remanence.toml"
    path.write_text("[log]\n", encoding="utf-8")
    done = cli("init")
    assert (done.code, path.read_text(encoding="utf-8")) == (1, "[log]\n")
    assert "--force" in done.err
    assert cli("init", "--force").code == 0
    assert path.read_text(encoding="utf-8") != "[log]\n"


def test_a_root_that_cannot_be_made_is_said_in_one_line(cli: Any) -> None:
    cli.root.write_text("a file", encoding="utf-8")
    done = cli("init")
    assert done.code == 1
    assert "cannot use" in done.err


def test_serve_hands_flags_over_settings_and_returns_the_exit_code(
    cli: Any, monkeypatch: Any
) -> None:
    seen: list[Any] = []

    def run_server(settings: Any) -> int:
        seen.append(settings)
        return 3

    # The real one would start a virtual machine.
    serve = types.ModuleType("serve")
    serve.run_server = run_server  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "remanence_server.api.serve", serve)
    monkeypatch.setenv("REMANENCE_SERVER__GRPC", "127.0.0.1:7")
    done = cli("serve", "--http=127.0.0.1:0", "--log-level=debug", "--log-format=json")
    assert done.code == 3
    (settings,) = seen
    assert settings.root == cli.root
    assert cli.root.is_dir()
    assert (settings.server.http, settings.server.grpc) == ("127.0.0.1:0", "127.0.0.1:7")
    assert (settings.log.level, settings.log.format) == ("debug", "json")


def test_serve_refuses_a_setting_it_does_not_know(cli: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("REMANENCE_LOG__LEVLE", "x")
    done = cli("serve")
    assert done.code == 1
    assert "did you mean 'REMANENCE_LOG__LEVEL'?" in done.err
    assert not cli.root.exists()


def test_config_show_prints_values_and_where_they_come_from(cli: Any, monkeypatch: Any) -> None:
    cli.root.mkdir()
    (cli.root / "remanence.toml").write_text("[jobs]\nworkers = 7\n", encoding="utf-8")
    monkeypatch.setenv("REMANENCE_LOG__LEVEL", "debug")
    data = cli("config", "show", "--json").json
    assert data["root"] == str(cli.root)
    assert data["settings"]["jobs.workers"] == {"value": 7, "source": "remanence.toml"}
    assert data["settings"]["log.level"] == {"value": "debug", "source": "REMANENCE_LOG__LEVEL"}
    assert data["settings"]["memory.timezone"] == {"value": "UTC", "source": "default"}
    out = cli("config", "show").out
    (line,) = [line for line in out.splitlines() if "jobs.workers" in line]
    assert line.split() == ["jobs.workers", "7", "remanence.toml"]


def test_config_show_masks_secrets(cli: Any, monkeypatch: Any) -> None:
    from pydantic import SecretStr

    from remanence_server.runtime import settings_loader
    from remanence_server.runtime.settings import Settings

    def with_secret(root: Any, environment: Any) -> Any:
        settings = Settings(root=root)
        log = settings.log.model_copy(update={"level": SecretStr("sk-very-secret")})
        return settings_loader.LoadedSettings(settings.model_copy(update={"log": log}), {})

    monkeypatch.setattr(settings_loader, "load_settings_with_sources", with_secret)
    for arguments in (["config", "show"], ["config", "show", "--json"]):
        done = cli(*arguments)
        assert done.code == 0
        assert "sk-very-secret" not in done.out
        assert "****" in done.out
