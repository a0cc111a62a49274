"""Facts: verbatim, attributed, dated, and only what tells something."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from remanence_server.domain.messages import MemoryCell, Message, Role
from remanence_server.domain.owners import Scope
from remanence_server.extraction.heuristic import HeuristicExtractor


async def test_a_fact_is_the_sentence_with_its_speaker_and_its_source(say, extractor, user):
    cell = say(("Alice", "Hi there! I love climbing in Yosemite every spring."))
    (fact,) = await extractor.extract_facts(cell, user("alice"))
    assert fact.content == "Alice: I love climbing in Yosemite every spring."
    assert fact.message_ids == ("m0",)
    assert fact.sender_ids == ("alice",)
    assert fact.timestamp_ms == cell.messages[0].timestamp_ms


async def test_a_relative_date_is_shown_beside_the_words(say, facts_of):
    cell = say(("Mel", "I ran a charity race last Saturday."))
    assert await facts_of(cell, "mel") == [
        "Mel: I ran a charity race last Saturday. [last Saturday = 23 May 2026]"
    ]


async def test_dates_are_those_of_the_zone(say, user):
    late = int(datetime(2026, 5, 28, 20, 0, tzinfo=UTC).timestamp() * 1000)
    cell = say(("Mei", "The parcel from Osaka arrives tomorrow."), start_ms=late)
    shanghai = HeuristicExtractor(ZoneInfo("Asia/Shanghai"))
    (fact,) = await shanghai.extract_facts(cell, user("mei"))
    assert fact.content.endswith("[tomorrow = 30 May 2026]")


@pytest.mark.parametrize(
    "text",
    [
        "Hey! How are you?",
        "Thanks so much, Bob!",
        "Wow, that's awesome!",
        "You're so kind!",
        "lol 😂",
        "👍🏽",
        "",
        "你好！最近怎么样？",
        "ありがとうございます！",
        "안녕하세요!",
    ],
)
async def test_small_talk_is_no_fact(say, facts_of, text):
    assert await facts_of(say(("Alice", text), ("Bob", "ok")), "alice") == []


@pytest.mark.parametrize(
    "text",
    [
        "I am a nurse.",
        "I have two cats.",
        "My PIN is 9931",
        "我对花生过敏",
        "今天我们玩成语接龙游戏，我养了一只叫豆包的橘猫",
        "猫を二匹飼っています。",
        "오늘 끝말잇기 게임을 했다",
        "Compramos naranjas y pescado fresco.",
        "أعمل مهندسًا منذ خمس سنوات.",
        "fact number 07",
    ],
)
async def test_short_statements_in_any_language_are_facts(say, facts_of, text):
    (fact,) = await facts_of(say(("Alice", text)), "alice")
    assert text in fact


@pytest.mark.parametrize(
    "text",
    [
        "I do not like mushrooms, not even in soup.",
        "We never went to the opera in Vienna, though the tickets were cheap.",
        "I can't eat peanuts or I end up in hospital.",
    ],
)
async def test_a_negation_stays_in_its_sentence(say, facts_of, text):
    assert await facts_of(say(("Alice", text)), "alice") == [f"Alice: {text}"]


async def test_a_sentence_that_points_back_is_kept_with_what_it_points_to(say, facts_of):
    cell = say(("Alice", "We adopted a cat from the shelter. His name is Miso and he is shy."))
    assert await facts_of(cell, "alice") == [
        "Alice: We adopted a cat from the shelter. His name is Miso and he is shy."
    ]


async def test_a_bare_answer_is_kept_with_its_question(say, extractor, user):
    cell = say(
        ("helper", "Nice to meet you. Where do you live?"),
        ("Ada", "Graz"),
        ("helper", "Are you allergic to anything?"),
        ("Ada", "No."),
    )
    facts = await extractor.extract_facts(cell, user("ada"))
    assert [fact.content for fact in facts] == [
        "Ada, asked “Where do you live?”: Graz",
        "Ada, asked “Are you allergic to anything?”: No.",
    ]
    assert facts[0].message_ids == ("m0", "m1")
    assert facts[0].sender_ids == ("ada", "helper")


async def test_an_answer_to_small_talk_is_no_fact(say, facts_of):
    assert await facts_of(say(("Bob", "How are you?"), ("Ada", "Fine.")), "ada") == []


async def test_people_come_before_the_assistant_whose_best_sentences_are_enough(say, facts_of):
    advice = " ".join(
        f"Day {day}: walk from station {day} to the old bridge near Coimbra." for day in range(20)
    )
    cell = say(("helper", advice), ("Alice", "I want to walk the Rota Vicentina in September."))
    facts = await facts_of(cell, "alice")
    assert facts[0].startswith("Alice: ")
    assert len(facts) == 7
    assert all(fact.startswith("helper: ") for fact in facts[1:])


async def test_the_same_words_twice_are_one_fact(say, facts_of):
    cell = say(("Alice", "I like plums from Wachau."), ("Alice", "i like plums from wachau."))
    assert await facts_of(cell, "alice") == ["Alice: I like plums from Wachau."]


async def test_each_speaker_of_a_shared_id_is_named(user, extractor):
    messages = (
        Message("m0", "conv", Role.USER, 1_700_000_000_000, "I teach physics in Leeds.", "Ann"),
        Message("m1", "conv", Role.USER, 1_700_000_060_000, "I repair violins in York.", "Ben"),
    )
    facts = await extractor.extract_facts(MemoryCell("c", Scope(), "s", messages), user("conv"))
    assert [fact.content for fact in facts] == [
        "Ann: I teach physics in Leeds.",
        "Ben: I repair violins in York.",
    ]


async def test_in_a_group_only_what_concerns_the_owner_is_theirs(say, facts_of):
    cell = say(
        ("Bea", "My van with six seats is at the garage in Hallein until Friday."),
        ("Chen", "I twisted my ankle on the stairs of the museum."),
        ("Dario", "Bea, your van needs new brakes before the tour to Graz."),
        ("Chen", "My doctor in Vienna prescribed two weeks of rest."),
    )
    bea = await facts_of(cell, "bea")
    assert [fact.split(":")[0] for fact in bea] == ["Bea", "Dario"]
    assert not any("doctor" in fact for fact in bea)
    chen = await facts_of(cell, "chen")
    assert {fact.split(":")[0] for fact in chen} == {"Chen"}


async def test_between_two_people_both_are_heard(say, facts_of):
    cell = say(("Ann", "I teach physics in Leeds."), ("Ben", "I repair violins in York."))
    assert len(await facts_of(cell, "ann")) == len(await facts_of(cell, "ben")) == 2


async def test_code_quotes_and_tool_rows_are_no_facts(say, run, facts_of):
    cell = say(("Alice", "```\nI live in Rome and love Java.\n```\n> My dog is called Rex."))
    assert await facts_of(cell, "alice") == []
    tool_cell = (
        run.user("Please look up the flight to Lisbon on Tuesday.")
        .step("c1", "flights", {}, "TP 1273 leaves Vienna at 07:10 from gate F12.")
        .cell()
    )
    assert all("TP 1273" not in fact for fact in await facts_of(tool_cell, "maya"))


async def test_a_very_long_message_loses_neither_head_nor_tail(say, facts_of):
    words = " ".join(f"lorem{number % 977} ipsum{number % 1013}" for number in range(20_000))
    text = f"My locker code is 4417. {words} My blood type is B negative."
    facts = await facts_of(say(("Tomas", text)), "tomas")
    assert len(facts) == 200
    assert facts[0] == "Tomas: My locker code is 4417."
    assert "My blood type is B negative." in facts[-1]
    assert max(map(len, facts)) <= 620
