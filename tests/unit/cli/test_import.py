"""`import`: formats, times, ids, going on after a stop, and problems that name file and line."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from remanence_server.cli.conversations.messages import instant_ms


def message(text: str, second: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "sender_id": "alice",
        "role": "user",
        "timestamp": 1_779_967_836_000 + 1000 * second,
        "content": text,
        **more,
    }


def conversation(session_id: str, *texts: str) -> dict[str, Any]:
    messages = [message(text, second) for second, text in enumerate(texts)]
    return {"session_id": session_id, "messages": messages}


def write(path: Path, *lines: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts), encoding="utf-8")
    return path


def texts(memory: Any, session_id: str) -> list[str]:
    return [item.text for item in memory.sessions[session_id].values()]


def test_a_folder_of_conversations_is_imported_with_its_own_times(
    connected: Any, memory: Any, tmp_path: Path
) -> None:
    write(tmp_path / "in" / "a.json", {**conversation("s1", "one", "two"), "app_id": "work"})
    write(
        tmp_path / "in" / "deep" / "b.jsonl", conversation("s2", "x"), "", conversation("s3", "y")
    )
    write(tmp_path / "in" / "c.json", [conversation("s4", "z")])
    write(tmp_path / "in" / ".hidden" / "d.json", conversation("s5", "no"))
    write(tmp_path / "in" / "notes.txt", "no conversation")
    done = connected("import", tmp_path / "in", "--project=home")
    assert (done.code, done.err) == (0, "")
    assert done.out == "imported 4 conversations with 5 messages\n"
    assert sorted(memory.sessions) == ["s1", "s2", "s3", "s4"]
    assert memory.flushed == ["s1", "s4", "s2", "s3"]
    first = memory.adds[0]
    assert (first.app_id, first.project_id) == ("work", "home")
    assert first.defer_extraction
    assert [item.timestamp for item in first.messages] == [1_779_967_836_000, 1_779_967_837_000]


def test_messages_line_by_line_go_to_their_sessions_in_order(
    connected: Any, memory: Any, tmp_path: Path
) -> None:
    file = write(
        tmp_path / "log.jsonl",
        message("a1", session_id="a"),
        message("b1", session_id="b"),
        message("a2", session_id="a"),
        message("loose"),
    )
    assert connected("import", file).code == 0
    assert texts(memory, "a") == ["a1", "a2"]
    assert texts(memory, "b") == ["b1"]
    assert texts(memory, "log") == ["loose"]


def test_a_chat_export_needs_only_a_user(connected: Any, memory: Any, tmp_path: Path) -> None:
    file = write(
        tmp_path / "chat.json",
        [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "hi", "timestamp": "2026-05-28T11:30:36Z"},
            {"role": "assistant", "content": None, "timestamp": 1_779_967_837.5},
        ],
    )
    assert connected("import", file, "--user=alice", "--assistant=bot").code == 0
    first, second = memory.sessions["chat"].values()
    assert (first.sender_id, first.timestamp) == ("alice", 1_779_967_836_000)
    assert (second.sender_id, second.text, second.timestamp) == ("bot", "", 1_779_967_837_500)


def test_importing_twice_stores_every_message_once(
    connected: Any, memory: Any, tmp_path: Path
) -> None:
    file = write(tmp_path / "a.json", conversation("s1", "same", "same"))
    assert connected("import", file).out == "imported 1 conversations with 2 messages\n"
    again = connected("import", file)
    assert (again.code, len(memory.adds)) == (0, 2)
    assert again.out == "imported 0 conversations with 0 messages, 1 were there already\n"
    assert texts(memory, "s1") == ["same", "same"]


def test_a_message_keeps_the_id_it_has(connected: Any, memory: Any, tmp_path: Path) -> None:
    messages = [message("x", message_id="mine")]
    connected("import", write(tmp_path / "a.json", {"session_id": "s", "messages": messages}))
    assert list(memory.sessions["s"]) == ["mine"]


def test_long_conversations_are_sent_in_batches_and_flushed_once(
    connected: Any, memory: Any, tmp_path: Path
) -> None:
    file = write(tmp_path / "a.json", conversation("s", *(f"t{n}" for n in range(1203))))
    assert connected("import", file).code == 0
    assert [len(request.messages) for request in memory.adds] == [500, 500, 203]
    assert memory.flushed == ["s"]
    assert len(memory.sessions["s"]) == 1203


def test_an_import_that_was_cut_off_goes_on_where_it_stopped(
    connected: Any, memory: Any, tmp_path: Path
) -> None:
    file = write(tmp_path / "a.jsonl", *(conversation(f"s{n}", f"t{n}") for n in range(5)))
    memory.adds_until_unreachable = 2
    done = connected("import", file)
    assert done.code == 1
    assert "No server can be reached" in done.err
    assert memory.flushed == ["s0", "s1"]

    memory.adds_until_unreachable = 1_000_000
    done = connected("import", file)
    assert done.code == 0
    assert done.out == "imported 3 conversations with 3 messages, 2 were there already\n"
    assert memory.flushed == ["s0", "s1", "s2", "s3", "s4"]
    # All is done: the next run knows of nothing to skip.
    assert connected("import", file).out == (
        "imported 0 conversations with 0 messages, 5 were there already\n"
    )


def test_restart_forgets_what_was_done(connected: Any, memory: Any, tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", conversation("s0", "t"), "{")
    assert connected("import", file).code == 1
    assert connected("import", file, "--json").json["skipped"] == 1
    assert connected("import", file, "--json", "--restart").json["skipped"] == 0


def test_a_conversation_that_changed_is_sent_again(
    connected: Any, memory: Any, tmp_path: Path
) -> None:
    file = write(tmp_path / "a.jsonl", conversation("s", "one"), "{")
    connected("import", file)
    write(file, conversation("s", "one", "two"), "{")
    assert connected("import", file, "--json").json["imported"] == 1
    assert texts(memory, "s") == ["one", "two"]


def test_one_bad_conversation_does_not_stop_the_others(
    connected: Any, memory: Any, tmp_path: Path
) -> None:
    memory.refused_session = "refused"
    file = write(
        tmp_path / "a.jsonl",
        conversation("good", "x"),
        {"session_id": "bad", "messages": [message("x"), {"role": "user", "content": "y"}]},
        "not json",
        conversation("refused", "1", "2", "3"),
        {"session_id": "role", "messages": [message("x", role="narrator")]},
        conversation("last", "x"),
    )
    done = connected("import", file)
    assert done.code == 1
    assert memory.flushed == ["good", "last"]
    assert done.out == "imported 2 conversations with 2 messages, 4 problems\n"
    lines = [line.removeprefix(f"remanence: {file}") for line in done.err.splitlines()]
    assert lines == [
        ":2, message 2: sender_id is missing; say whose messages these are with --user",
        ":3: not JSON",
        ":4, message 3: String should match pattern",
        ":5, message 1: Input should be one of user, assistant, tool: messages[0].role",
    ]


def test_problems_are_there_for_machines_too(connected: Any, tmp_path: Path) -> None:
    file = write(tmp_path / "a.json", "{\n\n oops")
    done = connected("import", file, tmp_path / "absent", "--json")
    assert done.code == 1
    assert done.json == {
        "imported": 0,
        "skipped": 0,
        "known": 0,
        "messages": 0,
        "problems": [
            {"source": str(tmp_path / "absent"), "reason": "no such file or folder"},
            {"source": f"{file}:3", "reason": "not JSON"},
        ],
    }


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"session_id": 5, "messages": []}, "session_id should be text"),
        ({"session_id": "s", "messages": "x"}, "messages a list"),
        ({"session_id": "s", "messages": []}, "without messages"),
        ([5], "a message should be an object"),
        ([{**message("x"), "timestamp": None}], "timestamp is missing"),
        ([{**message("x"), "timestamp": "soon"}], "a timestamp is"),
        ([{**message("x"), "session_id": 5}], "session_id should be text"),
    ],
)
def test_what_is_no_conversation_is_a_problem_with_a_reason(
    connected: Any, memory: Any, tmp_path: Path, content: Any, reason: str
) -> None:
    done = connected("import", write(tmp_path / "a.json", content))
    assert done.code == 1
    assert reason in done.err
    assert memory.adds == []


def test_a_file_in_another_encoding_is_a_problem(connected: Any, tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_bytes('{"session_id": "é"}'.encode("utf-16"))
    assert "not UTF-8" in connected("import", file).err


def test_a_cache_that_cannot_be_written_does_not_stop_an_import(
    connected: Any, memory: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    blocker = write(tmp_path / "blocker", "a file, not a folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocker))
    assert connected("import", write(tmp_path / "a.json", conversation("s", "x"))).code == 0


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1_779_967_836_000, 1_779_967_836_000),
        (1_779_967_836, 1_779_967_836_000),
        (1_779_967_836.25, 1_779_967_836_250),
        (1_779_967_836_000.0, 1_779_967_836_000),
        ("1779967836", 1_779_967_836_000),
        ("1779967836.5", 1_779_967_836_500),
        ("2026-05-28T11:30:36Z", 1_779_967_836_000),
        ("2026-05-28T13:30:36+02:00", 1_779_967_836_000),
        ("2026-05-28 11:30:36", 1_779_967_836_000),
        ("2026-05-28", int(datetime(2026, 5, 28, tzinfo=UTC).timestamp()) * 1000),
    ],
)
def test_instants_are_read_from_what_exports_write(value: Any, expected: int) -> None:
    assert instant_ms(value) == expected


@pytest.mark.parametrize("value", [True, None, "", "soon", [], float("nan"), float("inf"), -1.5e20])
def test_what_is_no_instant_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="ISO-8601"):
        instant_ms(value)
