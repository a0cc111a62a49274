"""The loader of settings: precedence, refusals, and texts a user can act on."""

from __future__ import annotations

from pathlib import Path

import pytest

from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.runtime.settings import Settings
from remanence_server.runtime.settings_loader import (
    known_keys,
    load_settings,
    load_settings_with_sources,
    variable_of,
)


def refusal(root: Path, environment: dict[str, str] | None = None, **overrides: object) -> str:
    flags = {key.replace("__", "."): value for key, value in overrides.items()}
    with pytest.raises(ServiceError) as raised:
        load_settings(root, environment or {}, flags)
    assert raised.value.code is ErrorCode.CONFIGURATION_ERROR
    assert str(root) not in raised.value.message
    return raised.value.message


def test_without_file_environment_and_flags_every_default_holds(tmp_path: Path) -> None:
    settings = load_settings(tmp_path, {}, {})
    assert settings == Settings(root=tmp_path)
    assert settings.server.grpc == "127.0.0.1:50051"
    assert settings.memory.timezone == "UTC"


def test_each_source_wins_over_those_before_it(tmp_path: Path) -> None:
    (tmp_path / "remanence.toml").write_text(
        '[jobs]\nworkers = 3\nmaximum_attempts = 7\n[log]\nlevel = "error"\n', encoding="utf-8"
    )
    environment = {"REMANENCE_JOBS__WORKERS": "4", "REMANENCE_LOG__LEVEL": "debug"}
    loaded = load_settings_with_sources(
        tmp_path, environment, {"log.level": "warning", "log.format": None}
    )
    assert loaded.settings.jobs.maximum_attempts == 7
    assert loaded.settings.jobs.workers == 4
    assert loaded.settings.log.level == "warning"
    assert loaded.settings.log.format == "console"
    assert loaded.sources == {
        "jobs.maximum_attempts": "remanence.toml",
        "jobs.workers": "REMANENCE_JOBS__WORKERS",
        "log.level": "flag",
    }


def test_a_misspelt_key_in_the_file_is_refused_with_the_nearest_known_key(tmp_path: Path) -> None:
    (tmp_path / "remanence.toml").write_text('[server]\nhtp = "x"\n', encoding="utf-8")
    assert refusal(tmp_path) == (
        "Unknown setting 'server.htp' (remanence.toml); did you mean 'server.http'?"
    )


def test_a_misspelt_table_is_refused_with_the_nearest_known_table(tmp_path: Path) -> None:
    (tmp_path / "remanence.toml").write_text("[serverr]\n", encoding="utf-8")
    assert "did you mean 'server'?" in refusal(tmp_path)


def test_a_misspelt_variable_is_refused_with_the_nearest_known_variable(tmp_path: Path) -> None:
    message = refusal(tmp_path, {"REMANENCE_LOG__LEVLE": "info"})
    assert "did you mean 'REMANENCE_LOG__LEVEL'?" in message


def test_variables_of_others_and_empty_ones_are_left_alone(tmp_path: Path) -> None:
    environment = {
        "PATH": "/bin",
        "REMANENCE_SERVER": "127.0.0.1:1",
        "REMANENCE_ROOT": "/x",
        "REMANENCE_JOBS__WORKERS": "",
    }
    assert load_settings(tmp_path, environment) == Settings(root=tmp_path)


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("REMANENCE_SERVER__HTTP", "8000", "HOST:PORT"),
        ("REMANENCE_SERVER__GRPC", "127.0.0.1:70000", "port 0 to 65535"),
        ("REMANENCE_MEMORY__TIMEZONE", "Mars/Olympus", "not a time zone"),
        ("REMANENCE_MEMORY__TIMEZONE", "America", "not a time zone"),
        ("REMANENCE_JOBS__WORKERS", "many", "valid integer"),
        ("REMANENCE_JOBS__LEASE_SECONDS", "inf", "finite"),
        ("REMANENCE_EXTRACTION__PROVIDER", "gpt", "'auto', 'heuristic' or 'claude'"),
        ("REMANENCE_CLAUDE__BASE_URL", "api.example.org", "http:// or https://"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_naming_key_and_variable(
    tmp_path: Path, variable: str, value: str, expected: str
) -> None:
    message = refusal(tmp_path, {variable: value})
    assert variable in message
    assert expected in message


def test_a_file_that_is_not_toml_is_refused_with_the_line(tmp_path: Path) -> None:
    (tmp_path / "remanence.toml").write_text("[server]\nhttp = \n", encoding="utf-8")
    assert "line 2" in refusal(tmp_path)


def test_a_file_in_another_encoding_is_refused(tmp_path: Path) -> None:
    (tmp_path / "remanence.toml").write_bytes('[log]\nlevel = "é"'.encode("latin-1"))
    assert "UTF-8" in refusal(tmp_path)


def test_a_folder_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "remanence.toml").mkdir()
    assert "cannot be read" in refusal(tmp_path)


def test_a_key_where_a_table_belongs_is_refused(tmp_path: Path) -> None:
    (tmp_path / "remanence.toml").write_text('log = "debug"\n', encoding="utf-8")
    assert "[log]" in refusal(tmp_path)


def test_a_table_within_a_table_is_set_by_file_and_variable(tmp_path: Path) -> None:
    (tmp_path / "remanence.toml").write_text(
        "[memorize.async_queue]\nmax_attempts = 2\nmax_replays = 5\n", encoding="utf-8"
    )
    environment = {"REMANENCE_MEMORIZE__ASYNC_QUEUE__MAX_ATTEMPTS": "7"}
    queue = load_settings(tmp_path, environment).memorize.async_queue
    assert (queue.max_attempts, queue.max_replays, queue.max_concurrency) == (7, 5, 4)


def test_a_misspelt_key_of_a_table_within_a_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "remanence.toml").write_text(
        "[memorize.async_queue]\nmax_attemps = 2\n", encoding="utf-8"
    )
    assert "did you mean 'memorize.async_queue.max_attempts'?" in refusal(tmp_path)


def test_a_key_where_a_table_within_a_table_belongs_is_refused(tmp_path: Path) -> None:
    (tmp_path / "remanence.toml").write_text("[memorize]\nasync_queue = 4\n", encoding="utf-8")
    assert "[memorize.async_queue]" in refusal(tmp_path)


def test_settings_cannot_be_changed_once_loaded(tmp_path: Path) -> None:
    settings = load_settings(tmp_path, {})
    with pytest.raises(ValueError, match="frozen"):
        settings.log.level = "debug"  # type: ignore[misc]


def test_every_key_can_be_set_by_its_variable(tmp_path: Path) -> None:
    defaults = known_keys()
    assert variable_of("server.max_body_bytes") == "REMANENCE_SERVER__MAX_BODY_BYTES"
    environment = {variable_of(key): str(value) for key, value in defaults.items() if value != ""}
    loaded = load_settings_with_sources(tmp_path, environment)
    assert loaded.settings == Settings(root=tmp_path)
    assert set(loaded.sources) == {key for key, value in defaults.items() if value != ""}
