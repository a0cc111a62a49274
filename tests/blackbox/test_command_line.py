"""The command line and the Python client against the real service."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from remanence_client import AsyncClient, Client, InvalidInputError, Message
from tests.blackbox.conftest import eventually
from tests.support.server_process import ServerProcess

pytestmark = pytest.mark.blackbox


def remanence(
    root: Path, *arguments: str, stdin: str | None = None
) -> subprocess.CompletedProcess[str]:
    clean = {key: value for key, value in os.environ.items() if not key.startswith("REMANENCE_")}
    return subprocess.run(
        [sys.executable, "-m", "remanence_server.cli", *arguments],
        env={**clean, "REMANENCE_ROOT": str(root), "XDG_CACHE_HOME": str(root.parent / "cache")},
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )


def test_what_is_added_by_hand_is_found_by_hand(server: ServerProcess, tag: str) -> None:
    words = f"My greyhound is called Biscuit{tag} and he is nine."
    session, user = f"s{tag}", f"u{tag}"
    added = remanence(server.root, "add", "--session", session, "--sender", user, stdin=words)
    assert (added.returncode, added.stderr) == (0, "")
    assert "1 message kept" in added.stdout

    waiting = remanence(server.root, "search", "dog", "--user", user, "--session", session)
    assert words in waiting.stdout

    assert remanence(server.root, "flush", session).stdout == f"{session}: extracted\n"
    found = remanence(server.root, "search", "What is the dog called?", "--user", user, "--json")
    assert f"Biscuit{tag}" in json.loads(found.stdout)["episodes"][0]["episode"]
    listed = remanence(server.root, "get", "--user", user)
    assert "page 1 of 1, 1 in all" in listed.stdout


def test_an_import_twice_remembers_once(server: ServerProcess, tag: str, tmp_path: Path) -> None:
    said = {"role": "user", "sender_id": f"u{tag}", "timestamp": "2026-05-28T11:30:36Z"}
    conversation = {
        "session_id": f"s{tag}",
        "messages": [{**said, "content": f"I collect barometers, number {n}."} for n in range(3)],
    }
    file = tmp_path / "conversation.json"
    file.write_text(json.dumps(conversation), encoding="utf-8")
    for _ in range(2):
        done = remanence(server.root, "import", str(file))
        assert (done.returncode, done.stderr) == (0, "")
    listed = remanence(server.root, "get", "--user", f"u{tag}", "--json")
    page = json.loads(listed.stdout)
    assert page["total_count"] == 1
    assert page["episodes"][0]["timestamp"] == "2026-05-28T11:30:36Z"


def test_a_refusal_of_the_service_is_one_line(server: ServerProcess) -> None:
    done = remanence(server.root, "add", "hi", "--session", "s", "--sender", "not a name")
    assert done.returncode == 1
    assert done.stderr.startswith("remanence: ")
    assert done.stderr.count("\n") == 1
    assert "sender_id" in done.stderr


def test_doctor_finds_the_service_healthy(server: ServerProcess) -> None:
    done = remanence(server.root, "doctor", "--json")
    checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    assert done.returncode == 0, checks
    assert checks["server"]["status"] == "ok", checks["server"]
    assert server.grpc in checks["server"]["detail"]


async def test_both_clients_add_and_find(server: ServerProcess, tag: str) -> None:
    with Client(server.grpc) as client:
        result = client.add(f"s{tag}", [Message(f"u{tag}", "The lighthouse keeper is Inés.")])
        assert result.message_count == 1
        assert len(result.request_id or "") == 32
        with pytest.raises(InvalidInputError) as raised:
            client.search("q", user_id="u", top_k=0)
    assert raised.value.code == "INVALID_INPUT"
    assert raised.value.field == "top_k"
    assert len(raised.value.request_id or "") == 32
    async with AsyncClient(server.grpc) as client:
        assert (await client.flush(f"s{tag}")).status == "extracted"
        found = await client.search("Who keeps the lighthouse?", user_id=f"u{tag}")
        assert "Inés" in found.episodes[0].episode
        assert (await client.health()).version


def test_facts_come_to_the_typed_client(server: ServerProcess, tag: str) -> None:
    with Client(server.grpc) as client:
        client.add(f"s{tag}", [Message(f"u{tag}", "I moved to Porto and I play the bassoon.")])
        client.flush(f"s{tag}")
        facts = eventually(
            lambda: [
                fact.content
                for episode in client.search("bassoon", user_id=f"u{tag}").episodes
                for fact in episode.atomic_facts
            ]
        )
    assert any("bassoon" in fact for fact in facts)


@pytest.mark.slow
def test_the_demo_finds_what_it_expects_and_leaves_readable_files(tmp_path: Path) -> None:
    root = tmp_path / "kept"
    done = remanence(tmp_path / "unused", "demo", "--keep", str(root))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Porto" in done.stdout
    assert ".md" in done.stdout
    assert list(root.rglob("*.md"))
    assert not (tmp_path / "unused").exists()
