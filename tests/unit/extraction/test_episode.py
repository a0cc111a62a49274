"""Episodes: dated header, attributed quotes, subject and summary."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from remanence_server.domain.messages import ContentItem, MemoryCell, Message, Role
from remanence_server.domain.owners import Scope
from remanence_server.extraction.heuristic import HeuristicExtractor
from remanence_server.extraction.heuristic.episode import EpisodeLimits

DAY_MS = 86_400_000


async def test_the_episode_is_a_dated_header_and_the_words_of_each(say, extractor, user):
    cell = say(
        ("Alice", "I love climbing in Yosemite every spring."),
        ("helper", "Noted. Which route do you like best?"),
        ("Alice", "I climbed the Nutcracker last Saturday."),
    )
    episode = await extractor.extract_episode(cell, user("alice"))
    assert episode.content == (
        "On Thursday, 28 May 2026, 11:30 UTC, Alice and helper talked.\n\n"
        "Alice: I love climbing in Yosemite every spring.\n\n"
        "helper: Noted. Which route do you like best?\n\n"
        "Alice: I climbed the Nutcracker last Saturday. [last Saturday = 23 May 2026]"
    )


async def test_the_header_is_in_the_display_zone(say, user):
    cell = say(("Mei", "The tea from Longjing arrived."))
    episode = await HeuristicExtractor(ZoneInfo("Asia/Shanghai")).extract_episode(cell, user("mei"))
    assert episode.content.startswith("On Thursday, 28 May 2026, 19:30 CST, Mei wrote.")


async def test_a_conversation_over_midnight_names_each_day(say, extractor, user):
    cell = say(("Ann", "The ferry was late."), ("Ben", "We slept in Split."), step_ms=DAY_MS)
    episode = await extractor.extract_episode(cell, user("ann"))
    assert episode.content.startswith(
        "From Thursday, 28 May 2026, 11:30 UTC to Friday, 29 May 2026, 11:30 UTC, Ann and Ben"
    )
    assert "\n\nFriday, 29 May 2026:\n\nBen: We slept in Split." in episode.content


async def test_a_long_reply_is_cut_after_a_sentence_and_marked(say, user):
    reply = " ".join(f"This is sentence number {number} of the advice." for number in range(60))
    limits = EpisodeLimits(assistant_reply_characters=200)
    cell = say(("Alice", "How do I repot a lemon tree?"), ("helper", reply))
    content = (await HeuristicExtractor(limits=limits).extract_episode(cell, user("alice"))).content
    quoted = content.split("helper: ")[1]
    assert quoted.endswith("of the advice. […]")
    assert len(quoted) <= 210


async def test_the_users_own_words_are_never_cut(say, extractor, user):
    text = "I remember every single step of the way to school. " * 400
    content = (await extractor.extract_episode(say(("Alice", text)), user("alice"))).content
    assert text.strip() in content


async def test_tool_rows_are_not_part_of_a_users_episode(run, extractor, user):
    cell = (
        run.user("Why does the deploy of the billing service fail?")
        .step("c1", "read_logs", {"service": "billing"}, "SECRET-LOG port 8443 in use")
        .agent("Port 8443 is taken by a legacy proxy.")
        .cell()
    )
    content = (await extractor.extract_episode(cell, user("maya"))).content
    assert "SECRET-LOG" not in content
    assert content.count("bot: ") == 1


async def test_in_a_group_turns_that_do_not_concern_the_owner_are_left_out_and_counted(
    say, extractor, user
):
    cell = say(
        ("Bea", "I drive on Saturday."),
        ("Chen", "Fine with me."),
        ("Dario", "Chen, do you still have my accordion?"),
        ("Chen", "Yes, it is in my cellar in Vienna."),
        ("Dario", "I will fetch it tomorrow at noon."),
    )
    content = (await extractor.extract_episode(cell, user("bea"))).content
    assert "[… 3 turns of others, not about Bea]" in content
    assert "accordion" not in content
    whole = (await extractor.extract_episode(cell, user("dario"))).content
    assert "accordion" in whole
    assert "Bea: I drive" not in whole


async def test_two_users_have_different_episodes_of_one_group(say, extractor, user):
    cell = say(("Bea", "I drive."), ("Chen", "I cook."), ("Dario", "I sing."), ("Eva", "I pay."))
    contents = {
        name: (await extractor.extract_episode(cell, user(name))).content
        for name in ("bea", "chen", "dario", "eva")
    }
    assert len(set(contents.values())) == 4


async def test_a_cell_without_words_has_an_honest_episode(say, extractor, user):
    episode = await extractor.extract_episode(say(("Tomas", ""), ("Tomas", "  ")), user("tomas"))
    assert episode.content == "On Thursday, 28 May 2026, 11:30 UTC, tomas left no words."
    assert episode.summary == episode.content
    assert episode.subject == "tomas: no words"


async def test_an_attachment_is_named(extractor, user):
    body = (ContentItem("text", text="Our garden."), ContentItem("image", uri="x", name="a.png"))
    cell = MemoryCell("c", Scope(), "s", (Message("m0", "u", Role.USER, 1_700_000_000_000, body),))
    assert "[image: a.png]" in (await extractor.extract_episode(cell, user("u"))).content


@pytest.mark.parametrize("instant_ms", [253_402_300_799_999, -62_135_596_800_000])
async def test_the_ends_of_the_calendar_are_no_trouble(say, user, instant_ms):
    cell = say(("Ola", "Tomorrow I leave for Rome, yesterday I was in Oslo."), start_ms=instant_ms)
    extractor = HeuristicExtractor(ZoneInfo("Europe/Berlin"))
    assert (await extractor.extract_episode(cell, user("ola"))).content
    assert await extractor.extract_facts(cell, user("ola"))


async def test_the_subject_names_people_and_topics_and_cuts_no_word(say, extractor, user):
    cell = say(
        ("Alice", "I love climbing in Yosemite every spring."),
        ("Alice", "My favorite coffee shop is Blue Bottle in SOMA."),
        ("Alice", "I bike to work most days."),
    )
    subject = (await extractor.extract_episode(cell, user("alice"))).subject
    assert subject.startswith("Alice: ")
    assert "climbing in Yosemite" in subject
    assert "Blue Bottle" in subject
    assert len(subject) <= 120


async def test_the_subject_of_a_long_word_is_bounded(say, extractor, user):
    subject = (await extractor.extract_episode(say(("Tomas", "x" * 5_000)), user("tomas"))).subject
    assert subject.startswith("Tomas: xxx")
    assert len(subject) <= 120


async def test_a_chinese_subject_is_made_of_its_clauses(say, extractor, user):
    cell = say(("王芳", "我养了一只叫豆包的橘猫，它今年三岁。"), ("王芳", "我喜欢爬山。"))
    subject = (await extractor.extract_episode(cell, user("王芳"))).subject
    assert subject.startswith("王芳: ")
    assert "养了一只叫豆包的橘猫" in subject


async def test_the_summary_is_whole_sentences_with_speakers_and_a_date(say, extractor, user):
    rows = [
        ("Ann", f"The {thing} from Lisbon broke on the second day of the tour.")
        for thing in ("trailer", "amplifier", "projector", "generator", "tent", "kettle")
    ]
    cell = say(*rows, ("Ben", "We repaired the amplifier in Porto with a part from the market."))
    summary = (await extractor.extract_episode(cell, user("ann"))).summary
    assert summary.startswith("28 May 2026. Ann: The ")
    assert len(summary) <= 400
    said = {text for _, text in [*rows, ("Ben", cell.messages[-1].text)]}
    rest = summary.removeprefix("28 May 2026. ").replace("Ann: ", "").replace("Ben: ", "")
    for sentence in said:
        rest = rest.replace(sentence, "")
    assert not rest.strip()


async def test_a_summary_of_one_endless_sentence_is_visibly_cut_at_a_word(say, extractor, user):
    text = " ".join(f"word{number}" for number in range(500))
    summary = (await extractor.extract_episode(say(("Ann", text)), user("ann"))).summary
    assert summary.endswith(" […]")
    assert summary.removesuffix(" […]").split()[-1] in text.split()
    assert len(summary) <= 400


async def test_markdown_in_a_message_is_left_as_it_is(say, extractor, user):
    text = "# Heading\n<!-- entry:x -->\n### Subject\nI live in Lyon."
    content = (await extractor.extract_episode(say(("Ann", text)), user("ann"))).content
    assert content.endswith(f"Ann: {text}")


async def test_the_same_cell_gives_the_same_episode(say, extractor, user):
    cell = say(*[("Ann", f"Stone {n} came from the quarry near Carrara.") for n in range(30)])
    first = await extractor.extract_episode(cell, user("ann"))
    assert first == await HeuristicExtractor().extract_episode(cell, user("ann"))
