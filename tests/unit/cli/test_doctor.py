"""`doctor`: each finding with its status and what to do about it."""

from __future__ import annotations

import socket
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from remanence_server.cli import doctor_checks
from remanence_server.cli.doctor_checks import Check
from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.domain.records import Episode
from remanence_server.markdown.daily_files import DailyFiles
from remanence_server.markdown.paths import MemoryPaths
from remanence_server.runtime.settings import ServerSettings, Settings


def settings(root: Path, **sections: Any) -> Settings:
    server = ServerSettings(http="127.0.0.1:0", grpc="127.0.0.1:0")
    return Settings.model_validate({"root": root, "server": server, **sections})


def by_name(checks: list[Check]) -> dict[str, Check]:
    return {check.name: check for check in checks}


def test_this_python_is_good() -> None:
    assert doctor_checks.check_python().status == "ok"


def test_a_root_that_is_not_there_is_fine_if_it_can_be_made(tmp_path: Path) -> None:
    check = doctor_checks.check_root(tmp_path / "a" / "b")
    assert check.status == "ok"
    assert "made at the first start" in check.detail
    assert not (tmp_path / "a").exists()


def test_a_file_in_place_of_the_root_fails(tmp_path: Path) -> None:
    (tmp_path / "root").write_text("x", encoding="utf-8")
    assert doctor_checks.check_root(tmp_path / "root").status == "fail"


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs /proc")
def test_a_root_that_cannot_be_written_fails() -> None:
    # Not even the superuser may write there.
    check = doctor_checks.check_root(Path("/proc/remanence"))
    assert check.status == "fail"
    assert "/proc cannot be written" in check.detail
    assert check.hint


@pytest.mark.parametrize(
    ("free_bytes", "status"), [(5 * 2**30, "ok"), (2**29, "warn"), (1, "fail")]
)
def test_little_disk_space_warns_and_next_to_none_fails(
    tmp_path: Path, monkeypatch: Any, free_bytes: int, status: str
) -> None:
    usage = type("Usage", (), {"free": free_bytes})
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage)
    assert doctor_checks.check_root(tmp_path).status == status


def test_the_indexes_and_the_model_load(tmp_path: Path) -> None:
    plain = settings(tmp_path)
    assert doctor_checks.check_lexical(plain).status == "ok"
    assert doctor_checks.check_dense().status == "ok"
    embeddings = doctor_checks.check_embeddings(plain)
    assert embeddings.status == "ok"
    assert "384 dimensions" in embeddings.detail


def test_a_model_that_is_not_there_fails_with_a_hint(tmp_path: Path) -> None:
    check = doctor_checks.check_embeddings(
        settings(tmp_path, embeddings={"model_directory": str(tmp_path / "none")})
    )
    assert check.status == "fail"
    assert "model_directory" in check.hint


def test_embeddings_without_a_model_warn(tmp_path: Path) -> None:
    check = doctor_checks.check_embeddings(settings(tmp_path, embeddings={"provider": "hashing"}))
    assert check.status == "warn"


def test_it_says_which_extractor_auto_picks_and_never_the_key(tmp_path: Path) -> None:
    plain = settings(tmp_path)
    assert "picks heuristic" in doctor_checks.check_extraction(plain, {}).detail
    by_others = doctor_checks.check_extraction(plain, {"ANTHROPIC_API_KEY": "sk-secret"})
    assert "picks heuristic" in by_others.detail
    assert "ANTHROPIC_API_KEY counts with extraction.provider claude only" in by_others.detail
    with_key = doctor_checks.check_extraction(
        settings(tmp_path, claude={"api_key": "sk-secret", "model": "some-model"}), {}
    )
    assert with_key.status == "ok"
    assert "some-model by Anthropic" in with_key.detail
    assert "sk-secret" not in f"{by_others.detail}{with_key.detail}"
    chosen = settings(tmp_path, extraction={"provider": "heuristic"})
    assert "as configured" in doctor_checks.check_extraction(chosen, {}).detail


def test_claude_that_could_not_be_called_fails_before_the_service_does(tmp_path: Path) -> None:
    asked = settings(tmp_path, extraction={"provider": "claude"})
    without_key = doctor_checks.check_extraction(asked, {})
    assert without_key.status == "fail"
    assert "claude.api_key" in without_key.detail
    assert doctor_checks.check_extraction(asked, {"ANTHROPIC_API_KEY": "k"}).status == "ok"
    missing = {"base_url": "http://127.0.0.1:9", "prompts_directory": str(tmp_path / "none")}
    without_prompts = doctor_checks.check_extraction(settings(tmp_path, claude=missing), {})
    assert without_prompts.status == "fail"
    assert "prompts_directory" in without_prompts.detail


def test_without_a_server_the_ports_are_looked_at(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        server = {"http": f"127.0.0.1:{port}", "grpc": "127.0.0.1:0"}
        checks = by_name(doctor_checks.check_server(settings(tmp_path, server=server)))
    assert checks["server"].status == "warn"
    assert "remanence serve" in checks["server"].hint
    assert checks["http port"].status == "fail"
    assert "server.http" in checks["http port"].hint
    assert checks["grpc port"].status == "ok"


def test_a_running_server_is_asked_how_it_is(cli: Any, memory: Any) -> None:
    cli.publish_server(memory.address)
    (check,) = doctor_checks.check_server(settings(cli.root))
    assert check.status == "ok"
    assert memory.address in check.detail
    memory.health.status = "degraded"
    memory.health.reasons.append("the disk is full")
    (check,) = doctor_checks.check_server(settings(cli.root))
    assert check.status == "warn"
    assert "the disk is full" in check.detail


def test_a_server_that_takes_no_messages_fails(cli: Any, memory: Any) -> None:
    cli.publish_server(memory.address)
    memory.health.status = "unavailable"
    memory.health.reasons[:] = ["messages cannot be accepted: storage is full"]
    (check,) = doctor_checks.check_server(settings(cli.root))
    assert check.status == "fail"
    assert "storage is full" in check.detail


def test_a_server_that_does_not_answer_fails(cli: Any) -> None:
    cli.publish_server("127.0.0.1:1")
    (check,) = doctor_checks.check_server(settings(cli.root))
    assert check.status == "fail"


def an_episode() -> Episode:
    return Episode(
        owner=Owner(Scope(), Track.USER, "alice"),
        entry_id="ep_20260528_00000001",
        session_id="s1",
        timestamp_ms=int(datetime(2026, 5, 28, 12, tzinfo=UTC).timestamp() * 1000),
        sender_ids=("alice",),
        subject="Climbing",
        summary="Alice climbs.",
        content="Alice climbs in Yosemite.",
    )


def test_markdown_that_can_be_read_is_counted(tmp_path: Path) -> None:
    plain = settings(tmp_path)
    assert doctor_checks.check_markdown(settings(tmp_path / "none"))[0].detail == "no files yet"
    DailyFiles(MemoryPaths(tmp_path), UTC).append([an_episode()])
    (check,) = doctor_checks.check_markdown(plain)
    assert (check.status, check.detail) == ("ok", "1 files, all of them readable")


def test_an_entry_that_is_broken_is_named_with_its_line(tmp_path: Path) -> None:
    (written,) = DailyFiles(MemoryPaths(tmp_path), UTC).append([an_episode()])
    (file,) = tmp_path.rglob("*.md")
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("<!-- /entry:", "<!-- gone:"), encoding="utf-8")
    (check,) = doctor_checks.check_markdown(settings(tmp_path))
    assert check.status == "warn"
    assert check.detail.startswith(f"{file.relative_to(tmp_path)}:")
    assert "closing marker" in check.detail
    assert check.hint
    assert written


def test_doctor_prints_a_table_or_json_and_fails_if_anything_does(
    cli: Any, monkeypatch: Any
) -> None:
    for name in ("check_lexical", "check_dense", "check_embeddings"):
        monkeypatch.setattr(doctor_checks, name, lambda *_, name=name: Check(name, "ok", "loads"))
    monkeypatch.setenv("REMANENCE_SERVER__HTTP", "127.0.0.1:0")
    monkeypatch.setenv("REMANENCE_SERVER__GRPC", "127.0.0.1:0")
    done = cli("doctor", "--json")
    assert done.code == 0
    assert done.json["healthy"] is True
    names = [check["name"] for check in done.json["checks"]]
    assert names == [
        "python",
        "settings",
        "root",
        "check_lexical",
        "check_dense",
        "check_embeddings",
        "extraction",
        "server",
        "http port",
        "grpc port",
        "markdown",
    ]
    broken = Check("embeddings", "fail", "no model", "get one")
    monkeypatch.setattr(doctor_checks, "check_embeddings", lambda *_: broken)
    done = cli("doctor")
    assert done.code == 1
    assert done.err == ""
    (line,) = [line for line in done.out.splitlines() if "no model" in line]
    assert line.split() == ["fail", "embeddings", "no", "model", "get", "one"]


def test_settings_that_cannot_be_read_are_a_finding(cli: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("REMANENCE_LOG__LEVEL", "loud")
    done = cli("doctor", "--json")
    assert done.code == 1
    (check,) = [check for check in done.json["checks"] if check["status"] == "fail"]
    assert check["name"] == "settings"
    assert "REMANENCE_LOG__LEVEL" in check["detail"]
