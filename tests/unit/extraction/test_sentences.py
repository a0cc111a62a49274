"""Sentences in any script, and what is no sentence."""

from __future__ import annotations

import pytest

from remanence_server.extraction.heuristic.sentences import (
    UnitKind,
    clip,
    pieces,
    split_sentences,
    split_units,
)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("i moved to porto. it's great", ["i moved to porto.", "it's great"]),
        ("See Dr. Okafor at 5 p.m. on Monday.", ["See Dr. Okafor at 5 p.m. on Monday."]),
        ("It costs 3.50 and v1.2 is out.", ["It costs 3.50 and v1.2 is out."]),
        ("Read https://example.org/a.b?c=d now.", ["Read https://example.org/a.b?c=d now."]),
        ("Well... maybe not. Fine.", ["Well... maybe not.", "Fine."]),
        ("我喜欢爬山。你呢？好的！", ["我喜欢爬山。", "你呢？", "好的！"]),
        ("猫が好きです。「本当？」と聞いた。", ["猫が好きです。", "「本当？」", "と聞いた。"]),
        ("저는 민수예요. 서울에 살아요.", ["저는 민수예요.", "서울에 살아요."]),
        ("كيف حالك؟ أنا بخير.", ["كيف حالك؟", "أنا بخير."]),
        ("मैं दिल्ली में हूँ। ठीक है।", ["मैं दिल्ली में हूँ।", "ठीक है।"]),
        ("So happy! 🎉🎉 We won.", ["So happy! 🎉🎉", "We won."]),
        ("- milk\n- eggs\n1. bread", ["milk", "eggs", "bread"]),
        ("", []),
        (" \n\t ", []),
    ],
)
def test_text_splits_into_sentences(text: str, sentences: list[str]) -> None:
    assert list(split_sentences(text)) == sentences


def test_a_bracket_stays_with_the_sentence_it_is_about() -> None:
    assert split_sentences("I painted it. [shares a photo: a lake]") == (
        "I painted it. [shares a photo: a lake]",
    )


def test_a_wrapped_line_is_one_sentence() -> None:
    text = "We went to the lake with the children and\nthe dog swam across."
    assert len(split_sentences(text)) == 1


def test_code_quotes_and_recalled_text_are_no_sentences() -> None:
    text = (
        "Look:\n```python\nname = 'Bob'. I love it.\n```\n> My name is Zed.\n"
        "<system-reminder>I live in Rome.</system-reminder>\nI use Debian."
    )
    kinds = [unit.kind for unit in split_units(text)]
    assert kinds == [
        UnitKind.SENTENCE,
        UnitKind.CODE,
        UnitKind.QUOTE,
        UnitKind.CONTEXT,
        UnitKind.SENTENCE,
    ]
    assert split_sentences(text) == ("Look:", "I use Debian.")


def test_pieces_hold_every_word_and_break_none() -> None:
    words = [f"word{number}" for number in range(2_000)]
    parts = pieces(" ".join(words))
    assert max(map(len, parts)) <= 600
    assert " ".join(parts).split() == words


def test_pieces_of_text_without_spaces_join_to_the_text() -> None:
    text = "我喜欢爬山和游泳" * 500
    parts = pieces(text)
    assert max(map(len, parts)) <= 600
    assert "".join(parts) == text


def test_pieces_do_not_part_a_letter_from_its_mark() -> None:
    text = "e\u0301" * 500
    assert all(not part.startswith("\u0301") for part in pieces(text))


def test_clipped_text_ends_with_a_whole_word_and_a_mark() -> None:
    shown = clip("I would like to eat, but not meat or fish or anything else", 30)
    assert shown == "I would like to eat […]"
    assert clip("short", 30) == "short"


@pytest.mark.parametrize("text", ["<system" * 20_000, "``` " * 20_000, "[(" * 20_000, "." * 50_000])
def test_hostile_text_is_split_in_linear_time(text: str) -> None:
    # Quadratic behaviour would take minutes: the test's own time limit is the check.
    assert "".join(unit.text for unit in split_units(text)).count(text[0]) == text.count(text[0])
