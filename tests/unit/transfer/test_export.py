from __future__ import annotations

import json
import os
from typing import Any

import pytest
from tests.support.workshop import ALICE, CODER, Workshop, episode, said, transcript

from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.domain.records import AgentSkill
from remanence_server.memory.stages import FIRST_STAGES
from remanence_server.runtime.clock import ManualClock
from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.state.unextracted import UnextractedMessages
from remanence_server.transfer.export import ExportSource, export_owner
from remanence_server.transfer.pieces import PIECE_BYTES


async def _export(workshop: Workshop, owner: Owner = ALICE) -> dict[str, bytes]:
    """The files of an export, with the rules of the stream checked."""
    messages = UnextractedMessages(workshop.state, FIRST_STAGES)
    source = ExportSource(workshop.markdown, messages, ManualClock(), "1.2.3")
    files: dict[str, bytes] = {}
    name: str | None = None
    async for piece in export_owner(source, owner):
        assert (piece.path is None) == (name is not None)
        assert len(piece.data) <= PIECE_BYTES
        name = piece.path or name
        assert name is not None
        files[name] = files.get(name, b"") + piece.data
        if piece.last:
            name = None
    assert name is None
    assert list(files)[-1] == "manifest.json"
    return files


def _manifest(files: dict[str, bytes]) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads(files["manifest.json"])
    return manifest


async def test_an_export_says_whose_it_is_and_counts(workshop: Workshop) -> None:
    await workshop.publisher.publish((episode(1), episode(2), transcript("hi")))
    await workshop.sessions.append(ALICE.scope, "s", [said("later", "m1")], 1)
    files = await _export(workshop)
    assert _manifest(files) == {
        "format": "remanence-owner",
        "format_version": 1,
        "server_version": "1.2.3",
        "exported_at": "2026-01-01T00:00:00Z",
        "exported_at_ms": 1_767_225_600_000,
        "user_id": "alice",
        "agent_id": None,
        "app_id": "default",
        "project_id": "default",
        "counts": {
            "episode": 2, "transcript": 1, "atomic_fact": 0, "profile": 0,
            "messages": 1, "files": 2,
        },
        "problems": [],
    }  # fmt: skip
    kinds = [json.loads(line)["kind"] for line in files["memories.jsonl"].splitlines()]
    assert kinds == ["episode", "episode", "transcript"]
    assert json.loads(files["messages.jsonl"]) == {
        "session_id": "s",
        "message_id": "m1",
        "sender_id": "alice",
        "sender_name": None,
        "role": "user",
        "timestamp": said("").timestamp_ms,
        "content": "later",
    }
    assert "markdown/episodes/episode-2026-05-28.md" in files


async def test_the_truth_is_exported_and_not_what_the_catalogue_happens_to_have(
    workshop: Workshop,
) -> None:
    await workshop.publisher.publish((episode(1, "It was red."),))
    await workshop.settle()
    (file,) = workshop.markdown.owner_files(ALICE)
    file.path.write_text(file.path.read_text().replace("It was red", "It was blue"))
    files = await _export(workshop)
    assert b"blue" in files["memories.jsonl"]
    assert b"red" not in files["memories.jsonl"]


async def test_large_files_and_files_of_a_persons_own_come_as_they_are(workshop: Workshop) -> None:
    skill = AgentSkill(CODER, "fix imports", "d", "c", 0.5, 0.5, (), 1)
    await workshop.publisher.publish_skill(skill)
    (page,) = workshop.markdown.owner_files(CODER)
    script = page.path.parent / "scripts" / "run.sh"
    script.parent.mkdir()
    script.write_bytes(bytes(range(256)) * 40_000)
    odd = page.path.parent / os.fsdecode(b"caf\xe9.txt")
    odd.write_bytes(b"")
    (page.path.parent / "link").symlink_to("/etc/hostname")
    files = await _export(workshop, CODER)
    folder = f"markdown/skills/{page.path.parent.name}"
    assert sorted(name for name in files if name.startswith("markdown")) == [
        f"{folder}/SKILL.md",
        f"{folder}/caf\\xe9.txt",
        f"{folder}/scripts/run.sh",
    ]
    assert files[f"{folder}/scripts/run.sh"] == script.read_bytes()
    assert _manifest(files)["counts"] == {
        "agent_case": 0, "agent_skill": 1, "messages": 0, "files": 3,
    }  # fmt: skip


async def test_an_entry_that_is_there_twice_is_one_record_and_a_problem(
    workshop: Workshop,
) -> None:
    await workshop.publisher.publish((episode(1, "first"),))
    (file,) = workshop.markdown.owner_files(ALICE)
    copy = file.path.with_name("episode-2026-05-28.2.md")
    text = file.path.read_text().replace("first", "second")
    copy.write_text(text.replace("id: alice_episode_2026-05-28", "id: alice_episode_2026-05-28.2"))
    files = await _export(workshop)
    (line,) = files["memories.jsonl"].splitlines()
    assert json.loads(line)["content"] == "first"
    (problem,) = _manifest(files)["problems"]
    assert problem["file"] == "markdown/episodes/episode-2026-05-28.2.md"
    assert problem["id"] == "ep_20260528_00000001"


async def test_a_folder_that_another_disk_named_is_the_same_owner(workshop: Workshop) -> None:
    bob = Owner(Scope(), Track.USER, "Bob")
    await workshop.publisher.publish((episode(1, "one", owner=bob),))
    (folder,) = workshop.markdown.owner_folders(bob)
    twin = folder.with_name("Bob~1")
    folder.rename(twin)
    assert workshop.markdown.owner_folders(bob) == (twin,)
    assert workshop.markdown.owner_folders(Owner(Scope(), Track.USER, "bob")) == ()
    await workshop.publisher.publish((episode(2, "two", owner=bob),))
    files = await _export(workshop, bob)
    assert _manifest(files)["counts"]["episode"] == 2
    assert {name.split("/")[0] for name in files if "/" in name} == {"markdown", "markdown-2"}


async def test_a_missing_root_is_no_owner_without_memories(workshop: Workshop) -> None:
    workshop.root.rename(workshop.root.with_name("unmounted"))
    with pytest.raises(ServiceError) as refused:
        await _export(workshop)
    assert refused.value.code is ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE
    workshop.root.with_name("unmounted").rename(workshop.root)
