"""The parts of `demo`; the whole of it runs in the blackbox tests, against the real service."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from remanence.v2 import memory_pb2 as pb
from remanence_client import Client
from remanence_server.cli import demo_questions
from remanence_server.cli.conversations.files import find_files, read_file
from remanence_server.cli.conversations.messages import Senders
from remanence_server.cli.demo_questions import Question, read_questions, search_until_expected
from remanence_server.cli.demo_server import running_demo_server
from remanence_server.cli.output import CommandError

EXAMPLES = Path(__file__).parents[3] / "examples"


def test_the_examples_can_be_imported_and_asked_about() -> None:
    files, problems = find_files([EXAMPLES])
    owners = set()
    for file in files:
        conversations, wrong = read_file(file, Senders())
        problems += wrong
        owners |= {item["sender_id"] for each in conversations for item in each.messages}
    assert problems == []
    questions = read_questions(EXAMPLES / "questions.json")
    assert {question.owner for question in questions} <= owners
    words = "".join(file.read_text(encoding="utf-8") for file in files)
    assert all(question.expects in words for question in questions)


@pytest.mark.parametrize(
    "content",
    [
        "{",
        [{"question": "q", "user_id": "a"}],
        [{"question": "q", "expects": "x"}],
        [{"question": "q", "expects": "x", "user_id": "a", "agent_id": "b"}],
        ["q"],
    ],
)
def test_questions_that_cannot_be_asked_are_refused(tmp_path: Path, content: Any) -> None:
    path = tmp_path / "questions.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    with pytest.raises(CommandError, match="questions"):
        read_questions(path)


def test_a_question_is_asked_until_the_expected_words_are_found(
    memory: Any, stamp: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(demo_questions, "_PATIENCE_SECONDS", 10.0)
    monkeypatch.setattr(demo_questions, "_PAUSE_SECONDS", 0.0)
    episode = pb.SearchEpisodeItem(summary="Her dog is BISCUIT.", timestamp=stamp)
    found = pb.SearchResponse(episodes=[episode])
    memory.search_responses = [pb.SearchResponse(), pb.SearchResponse(), found]
    question = Question("dog?", "alice", None, "Biscuit")
    with Client(memory.address) as client:
        result, holds = search_until_expected(client, question)
        assert (len(memory.requests), holds) == (3, True)
        assert result.episodes[0].summary == "Her dog is BISCUIT."
        monkeypatch.setattr(demo_questions, "_PATIENCE_SECONDS", 0.0)
        _, holds = search_until_expected(client, Question("cat?", "alice", None, "Tom"))
    assert not holds


def test_a_service_that_does_not_start_is_reported_with_its_last_words(
    tmp_path: Path, monkeypatch: Any
) -> None:
    real_popen = subprocess.Popen
    script = "import sys; sys.stderr.write('first\\nremanence: no room\\n'); sys.exit(1)"

    def failing(command: list[str], **options: Any) -> Any:
        assert command[3] == "serve"
        assert "REMANENCE_LOG__LEVEL" not in options["env"]
        return real_popen([sys.executable, "-c", script], **options)

    monkeypatch.setenv("REMANENCE_LOG__LEVEL", "debug")
    monkeypatch.setattr(subprocess, "Popen", failing)
    starting = running_demo_server(tmp_path, tmp_path / "log", os.environ)
    with pytest.raises(CommandError, match="did not start: remanence: no room"), starting:
        raise AssertionError


def test_a_folder_without_questions_and_a_root_that_is_not_new_are_refused(
    cli: Any, tmp_path: Path
) -> None:
    done = cli("demo", "--examples", tmp_path)
    assert done.code == 1
    assert "questions.json" in done.err
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "file").write_text("x", encoding="utf-8")
    done = cli("demo", "--examples", EXAMPLES, "--keep", tmp_path / "used")
    assert done.code == 1
    assert "not empty" in done.err
