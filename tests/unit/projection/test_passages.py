from __future__ import annotations

import itertools

import pytest
from tests.support.workshop import ALICE, CODER, T0, episode, transcript

from remanence_server.domain.records import AgentCase, AgentSkill, AtomicFact, Profile
from remanence_server.index.catalogue.changes import PassageDraft
from remanence_server.projection.chunks import chunk_text
from remanence_server.projection.passages import passages_of, turn_of


def _shown(passages: tuple[PassageDraft, ...]) -> list[tuple[str, int, str, str]]:
    return [
        (p.channel, p.ordinal, "".join(("d" * p.dense, "l" * p.lexical)), p.text) for p in passages
    ]


def test_an_episode_is_found_by_all_of_its_words_and_the_meaning_of_its_summary() -> None:
    assert _shown(passages_of(episode(content="Alice climbs. Every spring."))) == [
        ("episode", 0, "l", "Alice climbs\nAlice climbs. Every spring."),
        ("episode", 1_000_000, "d", "Alice climbs\nAlice climbs. Every spring."),
    ]


def test_a_fact_is_found_by_its_words() -> None:
    fact = AtomicFact(ALICE, "af_20260528_00000001", "s", T0, "Alice climbs.", "ep_1")
    assert _shown(passages_of(fact)) == [("fact", 0, "l", "Alice climbs.")]


def test_a_turn_is_found_by_its_meaning_alone_and_by_words_with_its_neighbours() -> None:
    assert _shown(passages_of(transcript("one", "two", "three", "four"))) == [
        ("window", 0, "l", "A: one\nB: two"),
        ("turn", 0, "d", "A: one"),
        ("window", 1_000_000, "l", "A: one\nB: two\nA: three"),
        ("turn", 1_000_000, "d", "B: two"),
        ("window", 2_000_000, "l", "A: one\nB: two\nA: three\nB: four"),
        ("turn", 2_000_000, "d", "A: three"),
        ("window", 3_000_000, "l", "B: two\nA: three\nB: four"),
        ("turn", 3_000_000, "d", "B: four"),
    ]


def test_a_long_neighbour_lends_only_what_is_next_to_the_turn() -> None:
    before, after = "x" * 1000 + "NEAR", "NEXT" + "y" * 1000
    windows = [p for p in passages_of(transcript(before, "middle", after)) if p.channel == "window"]
    (middle,) = (window for window in windows if window.ordinal == 1_000_000)
    assert "NEAR\nB: middle\nA: NEXT" in middle.text
    assert len(middle.text) < 900


def test_every_word_of_a_long_turn_is_in_some_passage_of_bounded_length() -> None:
    words = [f"word{number}" for number in range(5_000)]
    passages = passages_of(transcript("short", " ".join(words), "short"))
    for channel, limit in (("turn", 1_010), ("window", 4_900)):
        of_turn = [p for p in passages if p.channel == channel and turn_of(p.ordinal) == 1]
        assert max(len(p.text) for p in of_turn) <= limit
        assert set(words) <= set(" ".join(p.text for p in of_turn).split())
        assert len({p.ordinal for p in of_turn}) == len(of_turn)


def test_a_case_is_found_by_all_words_and_by_the_meaning_of_intent_and_insight() -> None:
    case = AgentCase(CODER, "ac_20260528_00000001", "s", T0, "Fix it", "1. Look", 0.9, "Stale lock")
    assert _shown(passages_of(case)) == [
        ("case", 0, "l", "Fix it\nStale lock\n1. Look"),
        ("case", 1_000_000, "d", "Fix it\nStale lock"),
    ]


def test_a_case_without_an_insight_has_no_blank_line() -> None:
    case = AgentCase(CODER, "ac_20260528_00000001", "s", T0, "Fix it", "1. Look", 0.9, None)
    assert passages_of(case)[0].text == "Fix it\n1. Look"


def test_a_skill_is_found_by_all_words_and_by_the_meaning_of_its_description() -> None:
    skill = AgentSkill(CODER, "release", "How to release", "1. Tag", 0.5, 0.5, (), T0)
    assert _shown(passages_of(skill)) == [
        ("skill", 0, "l", "release\nHow to release\n1. Tag"),
        ("skill", 1_000_000, "d", "release\nHow to release"),
    ]


def test_a_profile_is_looked_up_and_not_searched() -> None:
    assert passages_of(Profile(ALICE, {"summary": "Alice."}, T0)) == ()


@pytest.mark.parametrize("text", ["", "   ", "\n\n"])
def test_a_turn_of_blanks_has_no_passage_of_its_own(text: str) -> None:
    passages = passages_of(transcript("one", text, "three"))
    assert {turn_of(p.ordinal) for p in passages} == {0, 2}


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("aaaa bbbb.\n\ncccc dddd", ["aaaa bbbb.", "cccc dddd"]),
        ("aaaa bbbbbb\ncccc dddd", ["aaaa bbbbbb", "cccc dddd"]),
        ("aaaa bbbbbb. cccc dddd", ["aaaa bbbbbb.", "cccc dddd"]),
        (
            "我养了一只叫豆包的橘猫。今天我们玩成语接龙",
            ["我养了一只叫豆包的橘猫。", "今天我们玩成语接龙"],
        ),
        ("a" * 20, ["a" * 14, "a" * 6]),
    ],
)
def test_a_text_is_cut_where_a_reader_would_pause(text: str, pieces: list[str]) -> None:
    assert list(chunk_text(text, 14)) == pieces


def test_pieces_hold_all_of_the_text_and_are_half_full_at_least() -> None:
    text = " ".join("x" * (number * 7 % 23 + 1) for number in range(500))
    pieces = list(chunk_text(text, 100))
    assert "".join(itertools.chain(*(piece.split() for piece in pieces))) == text.replace(" ", "")
    assert all(50 <= len(piece) <= 100 for piece in pieces[:-1])
