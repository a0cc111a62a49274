"""Which server a command talks to."""

from __future__ import annotations

from typing import Any

from remanence_server.cli.connection import find_server, reachable


def test_the_flag_wins_over_the_variable_and_the_variable_over_the_root(
    cli: Any, memory: Any, monkeypatch: Any
) -> None:
    cli.publish_server("127.0.0.1:1")
    monkeypatch.setenv("REMANENCE_SERVER", memory.address)
    assert cli("flush", "from-variable").code == 0
    monkeypatch.setenv("REMANENCE_SERVER", "127.0.0.1:1")
    assert cli("flush", "from-flag", "--server", memory.address).code == 0
    assert memory.flushed == ["from-variable", "from-flag"]


def test_the_server_of_the_root_is_found_by_its_note(cli: Any, memory: Any) -> None:
    cli.publish_server(memory.address)
    assert cli("flush", "s").code == 0
    assert memory.flushed == ["s"]


def test_the_note_of_a_process_that_is_gone_is_not_believed(cli: Any) -> None:
    # The largest pid there can be; no system gives it.
    cli.publish_server("127.0.0.1:9", pid=2**22 + 1)
    assert find_server(None, cli.root) == "127.0.0.1:50051"


def test_a_note_that_cannot_be_read_is_not_believed(cli: Any) -> None:
    cli.publish_server("127.0.0.1:9")
    (cli.root / ".run" / "server.json").write_text("{", encoding="utf-8")
    assert find_server(None, cli.root) == "127.0.0.1:50051"


def test_an_address_to_listen_everywhere_becomes_one_to_call() -> None:
    assert reachable("0.0.0.0:50051") == "127.0.0.1:50051"
    assert reachable("[::]:50051") == "[::1]:50051"
    assert reachable("10.0.0.1:50051") == "10.0.0.1:50051"
