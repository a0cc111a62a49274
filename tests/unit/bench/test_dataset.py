"""Datasets of the benchmark."""

from __future__ import annotations

import json
from pathlib import Path

from tests.bench.dataset import Dataset, Question, Session, load_examples, load_locomo
from tests.bench.dataset import locomo_instant_ms as instant_ms

EXAMPLES = Path(__file__).parents[3] / "examples"


def locomo(folder: Path) -> Dataset:
    """Two sessions and four questions, two of which count."""
    conversation = {
        "speaker_a": "Ann",
        "speaker_b": "Bo",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ann", "dia_id": "D1:1", "text": "Look!", "blip_caption": "a red boat"},
            {"speaker": "Bo", "dia_id": "D1:2", "text": "A boat."},
        ],
        "session_2_date_time": "12:09 am on 13 September, 2023",
        "session_2": [{"speaker": "Bo", "dia_id": "D2:1", "text": "I sold the boat."}],
        # A date without a session ends nothing.
        "session_4_date_time": "1:00 pm on 1 October, 2023",
    }
    questions = [
        {"question": "Who sold it?", "category": 1, "evidence": ["D1:1", "D2:1"]},
        {"question": "What colour?", "category": 4, "evidence": ["D1:1", "D9:9"]},
        {"question": "Not asked", "category": 5, "evidence": ["D1:1"]},
        {"question": "No evidence", "category": 2, "evidence": []},
    ]
    sample = {"sample_id": "conv-1", "conversation": conversation, "qa": questions}
    path = folder / "data.json"
    path.write_text(json.dumps([sample]), encoding="utf-8")
    return load_locomo(path)


def test_a_session_keeps_its_time_its_speakers_and_its_photos(tmp_path: Path) -> None:
    first, second = locomo(tmp_path).sessions
    assert (first.owner_id, first.session_id) == ("conv-1", "conv-1_s1")
    assert first.messages[0] == {
        "sender_id": "conv-1",
        "sender_name": "Ann",
        "role": "user",
        "timestamp": 1_683_554_160_000,
        "content": "Look! [shares a photo: a red boat]",
    }
    assert first.messages[1]["timestamp"] == 1_683_554_180_000
    assert len(second.messages) == 1


def test_questions_name_the_sessions_of_their_evidence(tmp_path: Path) -> None:
    assert locomo(tmp_path).questions == (
        Question("conv-1", "Who sold it?", "multi-hop", frozenset({"conv-1_s1", "conv-1_s2"})),
        Question("conv-1", "What colour?", "single-hop", frozenset({"conv-1_s1"})),
    )


def test_midnight_and_noon_are_told_apart() -> None:
    assert instant_ms("12:00 am on 1 January, 1970") == 0
    assert instant_ms("12:00 pm on 1 January, 1970") == 43_200_000


def test_the_examples_can_be_benchmarked_without_evidence() -> None:
    dataset = load_examples(EXAMPLES)
    assert dataset.message_count > 50
    assert not dataset.has_evidence
    assert len({(query.owner_id, query.text) for query in dataset.queries(40)}) == 40


def test_queries_are_distinct_first_and_repeat_when_there_is_no_more_text() -> None:
    session = Session("o", "s", ({"content": "one two"}, {"content": [{"type": "image"}]}))
    dataset = Dataset("d", (session,), (Question("o", "Which?"),))
    assert [query.text for query in dataset.queries(4)] == ["Which?", "one two"] * 2


def test_the_part_of_the_first_owner_is_complete(tmp_path: Path) -> None:
    dataset = locomo(tmp_path)
    other = Dataset(
        dataset.name,
        (*dataset.sessions, Session("later", "s", ())),
        (*dataset.questions, Question("later", "?")),
    )
    assert other.first(1) == dataset
    assert other.first(2) == other
