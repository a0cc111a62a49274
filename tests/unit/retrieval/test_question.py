"""What is looked for: by words, by meaning, by date."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remanence_server.retrieval.dates import NamedDate
from remanence_server.retrieval.question import Question, ubiquitous_names, understand

NAMES = frozenset({"Caroline", "Melanie", "Mary Ann Lee", "Mary"})


@pytest.mark.parametrize(
    ("text", "lexical", "dense"),
    [
        ("Where did Caroline's brother go?", "brother go?", "Where did brother go?"),
        ("where did caroline’s brother go", "brother go", "where did brother go"),
        ("Did (Caroline) or Melanie win?", "win?", "Did or win?"),
        ("What did Mary Ann Lee's cat eat?", "cat eat?", "What did cat eat?"),
        ("What did Mary cook?", "cook?", "What did cook?"),
        ("What did Mélanie eat?", "Mélanie eat?", "What did Mélanie eat?"),
        ("What's it they're telling?", "telling?", "What's it they're telling?"),
        ("Did Ann win?", "Ann win?", "Did Ann win?"),
        ("What did Carolines do?", "Carolines", "What did Carolines do?"),
        ("carpool with the car pool", "carpool car pool", "carpool with the car pool"),
    ],
)
def test_names_go_from_both_texts_and_stop_words_from_the_lexical_one(
    text: str, lexical: str, dense: str
) -> None:
    assert understand(text, NAMES) == Question(lexical, dense, ())


@pytest.mark.parametrize(
    ("text", "lexical"),
    [
        ("what does rm -rf do", "rm -rf"),
        ("Is C++ or C# better?", "C++ C# better?"),
        ("the mail of caroline@example.org?", "mail caroline@example.org?"),
        ("don't you know?", "don't know?"),
        ("where is /home/caroline/to-do.txt", "/home/caroline/to-do.txt"),
        ('who said "to be or not to be"?', 'said "to be or not to be" ?'),
        ('who said "Caroline, it is 7 May 2023"', 'said "Caroline, it is 7 May 2023"'),
        ("what is `it will  be`", "`it will  be`"),
        ("Что сказала Анна?", "Что сказала Анна?"),
        ("我和Caroline去了哪里?", "我和Caroline去了哪里?"),
        ("어디에 갔어", "어디에 갔어"),
        ("vitamin D dose", "vitamin D dose"),
    ],
)
def test_what_stays_is_as_it_was_written(text: str, lexical: str) -> None:
    assert understand(text, NAMES).lexical_text == lexical


@pytest.mark.parametrize(
    ("text", "lexical"),
    [
        ("What's IT doing in the US?", "IT US?"),
        ("What did Will say?", "Will say?"),
        ("Will they marry?", "marry?"),
        ("And then. Will they marry?", "marry?"),
        ("they will marry", "marry"),
        ("Which of May's books?", "May's books?"),
        ("WHAT DID IT COST US", "COST"),
    ],
)
def test_a_capital_can_turn_a_stop_word_into_a_name(text: str, lexical: str) -> None:
    assert understand(text, ()).lexical_text == lexical


def test_a_word_is_not_a_name_where_the_name_is_spelled_otherwise() -> None:
    assert understand("What mark did Mark get?", {"Mark"}).dense_text == "What mark did get?"
    assert understand("what did mark get?", {"Mark"}).dense_text == "what did get?"


@pytest.mark.parametrize(
    "text", ["Who are you?", "Who is Caroline?", "On 7 May 2023?", "Caroline", "", "  ", "???"]
)
def test_if_nothing_is_left_the_whole_text_is_the_question(text: str) -> None:
    assert understand(text, NAMES).lexical_text == text


def test_a_question_of_names_alone_is_embedded_whole() -> None:
    assert understand("Caroline, Melanie?", NAMES).dense_text == "Caroline, Melanie?"
    assert understand("Who is Caroline?", NAMES).dense_text == "Who is ?"


def test_dates_go_from_both_texts() -> None:
    question = understand("What did Caroline paint on 7 May 2023?", NAMES)
    assert question == Question("paint ?", "What did paint ?", (NamedDate(2023, 5, 7),))


def test_relative_dates_are_read_when_the_clock_is_given() -> None:
    now_ms = 1_775_908_800_000  # 2026-04-11
    question = understand("What did I paint yesterday?", NAMES, now_ms)
    assert question == Question("paint ?", "What did I paint ?", (NamedDate(2026, 4, 10),))
    assert understand("What did I paint yesterday?", NAMES).lexical_text == "paint yesterday?"


@pytest.mark.parametrize(
    "unit",
    [
        "What did Caroline do in May 2023? ",
        "a",
        '"',
        "“a",
        "7 ",
        "Mary Ann ",
        "\n",
        "2023年",
        "it's ",
    ],
)
def test_a_pasted_document_takes_no_longer_than_a_search(unit: str) -> None:
    text = (unit * 40_000)[:40_000]
    # The quickest of three, and ten times what it takes: this guards against a quadratic step.
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        understand(text, NAMES, 1_775_908_800_000)
        seconds.append(time.perf_counter() - start)
    assert min(seconds) < 0.5


@given(
    st.lists(
        st.sampled_from(["Caroline", "it", "what", "plum", "7 May", "'", "?", " ", "\n", "C++"])
    )
)
def test_no_text_is_lost_wholly_and_every_piece_is_of_the_question(pieces: list[str]) -> None:
    text = "".join(pieces)
    question = understand(text, NAMES)
    for part in (question.lexical_text, question.dense_text):
        assert part.strip() or not text.strip()
        assert all(piece in text for piece in part.split())


def test_a_speaker_heard_in_half_of_the_episodes_is_ubiquitous() -> None:
    counts = {"Ann": 10, "Bob Lee": 5, "Cid": 4}
    assert ubiquitous_names(counts, 10) == {"Ann", "Bob Lee", "Bob"}
    assert ubiquitous_names(counts, 10, share=0.4) == {"Ann", "Bob Lee", "Bob", "Cid"}


def test_one_episode_of_several_is_not_everywhere() -> None:
    assert ubiquitous_names({"Ann": 2, "Bob": 1}, 2) == {"Ann"}
    assert ubiquitous_names({"Ann": 1, "Bob": 1}, 1) == {"Ann", "Bob"}
    assert ubiquitous_names({}, 0) == frozenset()


def test_a_title_or_an_initial_is_no_first_name() -> None:
    assert ubiquitous_names({"Dr. Who": 3, "J Doe": 3, " ": 3}, 3) == {"Dr. Who", "J Doe", " "}
    assert understand("a b", {" ", ""}).dense_text == "a b"
