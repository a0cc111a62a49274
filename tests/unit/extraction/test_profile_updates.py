"""A profile over time: newer supersedes older, history stays, hand edits are respected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from remanence_server.domain.messages import MemoryCell, Message, Role
from remanence_server.domain.owners import Scope
from remanence_server.domain.records import Profile

GRAZ_MS = 1_767_225_600_000
PORTO_MS = 1_770_714_000_000
BETWEEN_MS = 1_769_904_000_000


@pytest.fixture
def profile_of(say, extractor, user):
    """The profile of Ada after cells given as (instant, text, …) tuples."""

    async def build(*cells: tuple[Any, ...], current: Profile | None = None) -> Profile | None:
        for start_ms, *texts in cells:
            cell = say(*[("Ada", text) for text in texts], start_ms=start_ms)
            current = await extractor.update_profile(cell, user("ada"), current) or current
        return current

    return build


def described(profile: Profile, category: str) -> list[str]:
    items = profile.data["explicit_info"]
    return [item["description"] for item in items if item["category"] == category]


def item_of(profile: Profile, category: str) -> Mapping[str, Any]:
    (item,) = [item for item in profile.data["explicit_info"] if item["category"] == category]
    return item


async def test_a_statement_is_kept_with_its_words_and_source(profile_of):
    profile = await profile_of((GRAZ_MS, "Hello there.", "I live in Graz."))
    assert profile.data == {
        "summary": "Lives in Graz.",
        "explicit_info": [
            {
                "category": "home",
                "description": "Lives in Graz",
                "evidence": "I live in Graz.",
                "message_id": "m1",
                "timestamp_ms": GRAZ_MS + 60_000,
            }
        ],
        "implicit_traits": [],
        "profile_timestamp_ms": GRAZ_MS + 60_000,
    }
    assert profile.timestamp_ms == GRAZ_MS + 60_000


async def test_the_newer_home_supersedes_the_older_which_becomes_history(profile_of):
    profile = await profile_of(
        (GRAZ_MS, "I live in Graz"), (PORTO_MS, "I moved to Porto last week")
    )
    home = item_of(profile, "home")
    assert home["description"] == "Lives in Porto"
    assert home["superseded"] == [
        {
            "description": "Lives in Graz",
            "evidence": "I live in Graz",
            "message_id": "m0",
            "timestamp_ms": GRAZ_MS,
        }
    ]
    assert profile.data["summary"] == "Lives in Porto."


async def test_an_older_statement_that_arrives_late_only_enters_history(profile_of):
    profile = await profile_of(
        (PORTO_MS, "I moved to Porto last week"), (BETWEEN_MS, "I live in Graz")
    )
    home = item_of(profile, "home")
    assert home["description"] == "Lives in Porto"
    assert [past["description"] for past in home["superseded"]] == ["Lives in Graz"]
    assert profile.timestamp_ms == PORTO_MS


async def test_a_late_remark_without_statement_changes_nothing(say, extractor, user, profile_of):
    current = await profile_of(
        (GRAZ_MS, "I live in Graz"), (PORTO_MS, "I moved to Porto last week")
    )
    late = say(("Ada", "Still in Graz, packing boxes"), start_ms=BETWEEN_MS)
    assert await extractor.update_profile(late, user("ada"), current) is None


async def test_nothing_new_is_none(say, extractor, user, profile_of):
    current = await profile_of((GRAZ_MS, "I live in Graz", "I love plums"))
    again = say(("Ada", "I live in Graz."), ("Ada", "I like plums!"), start_ms=PORTO_MS)
    assert await extractor.update_profile(again, user("ada"), current) is None
    assert await extractor.update_profile(say(("Ada", "Hi!")), user("ada"), None) is None


async def test_lists_grow_without_repeats(profile_of):
    profile = await profile_of(
        (GRAZ_MS, "I love plums", "I have a dog named Max."),
        (PORTO_MS, "I love plums.", "I love figs", "I have a cat named Miso."),
    )
    assert described(profile, "likes") == ["Loves plums", "Loves figs"]
    assert described(profile, "pets") == ["Has a dog named Max", "Has a cat named Miso"]


async def test_a_taste_that_changes_is_one_item_with_history(profile_of):
    profile = await profile_of((GRAZ_MS, "I love techno"), (PORTO_MS, "I no longer like techno"))
    assert described(profile, "likes") == []
    item = item_of(profile, "dislikes")
    assert item["description"] == "No longer likes techno"
    assert [past["description"] for past in item["superseded"]] == ["Loves techno"]


async def test_role_and_employer_are_two_things_until_the_job_ends(profile_of):
    profile = await profile_of((GRAZ_MS, "I work as a nurse", "I work at Siemens"))
    assert described(profile, "work") == ["Works as a nurse", "Works at Siemens"]
    profile = await profile_of((PORTO_MS, "I quit my job"), current=profile)
    item = item_of(profile, "work")
    assert item["description"] == "Quit their job"
    assert {past["description"] for past in item["superseded"]} == {
        "Works as a nurse",
        "Works at Siemens",
    }


async def test_leaving_a_place_one_was_not_known_to_live_in_says_nothing(profile_of):
    profile = await profile_of((GRAZ_MS, "I live in Porto"), (PORTO_MS, "I moved out of Berlin"))
    assert item_of(profile, "home")["description"] == "Lives in Porto"


async def test_who_has_moved_no_longer_plans_to(profile_of):
    profile = await profile_of(
        (GRAZ_MS, "I'm moving to Porto next month"), (PORTO_MS, "I moved to Porto last week")
    )
    assert described(profile, "plans") == []
    assert (
        item_of(profile, "home")["superseded"][0]["description"] == "Is moving to Porto next month"
    )


async def test_bare_answers_count(say, extractor, user):
    cell = say(
        ("helper", "What's your name?"),
        ("Ada", "Ada"),
        ("helper", "Where do you live?"),
        ("Ada", "In Graz."),
        ("helper", "Any allergies?"),
        ("Ada", "No."),
    )
    profile = await extractor.update_profile(cell, user("ada"), None)
    assert profile.data["summary"] == "Name: Ada. Lives in Graz."


async def test_a_name_is_told_from_an_adjective(profile_of):
    assert (await profile_of((GRAZ_MS, "Hi! I'm Ada."))).data["summary"] == "Name: Ada."
    assert await profile_of((GRAZ_MS, "Well, who knows.", "I'm Catholic.")) is None


async def test_the_name_of_an_animal_joins_it(profile_of):
    profile = await profile_of((GRAZ_MS, "We adopted a cat on Sunday. His name is Miso!"))
    assert item_of(profile, "pets")["description"].startswith("Has a cat")
    assert item_of(profile, "pets")["description"].endswith("named Miso")


async def test_only_the_owner_speaks_for_the_owner(say, extractor, user):
    cell = say(
        ("helper", "I live in a data centre and I love logs."),
        ("Bob", "I live in Rome."),
        ("Ada", "> I live in Oslo.\nI live in Graz."),
    )
    profile = await extractor.update_profile(cell, user("ada"), None)
    assert [item["description"] for item in profile.data["explicit_info"]] == ["Lives in Graz"]


async def test_several_people_under_one_id_are_told_apart(extractor, user):
    messages = (
        Message("m0", "conv", Role.USER, GRAZ_MS, "I live in Leeds.", "Ann"),
        Message("m1", "conv", Role.USER, GRAZ_MS + 1, "I live in York.", "Ben"),
    )
    cell = MemoryCell("c", Scope(), "s", messages)
    profile = await extractor.update_profile(cell, user("conv"), None)
    items = profile.data["explicit_info"]
    assert {item["speaker"]: item["description"] for item in items} == {
        "Ann": "Lives in Leeds",
        "Ben": "Lives in York",
    }
    assert profile.data["summary"] == "Ann: Lives in Leeds. Ben: Lives in York."


async def test_codes_and_addresses_are_kept_but_not_summed_up(profile_of):
    profile = await profile_of((GRAZ_MS, "My PIN is 9931", "I live in Graz"))
    assert described(profile, "details") == ["PIN: 9931"]
    assert "9931" not in profile.data["summary"]


async def test_a_hand_edited_profile_keeps_what_the_hand_wrote(user, profile_of):
    current = Profile(
        user("ada"),
        {
            "summary": "My own words about Ada.",
            "mood": "happy",
            "implicit_traits": ["curious"],
            "explicit_info": [
                "plays chess on Sundays",
                {"category": "home", "description": "Lives in Graz", "colour": "green"},
                {"description": 42},
                None,
            ],
        },
        GRAZ_MS,
    )
    profile = await profile_of((PORTO_MS, "I live in Porto"), current=current)
    data = profile.data
    assert data["summary"] == "My own words about Ada."
    assert data["mood"] == "happy"
    assert data["implicit_traits"] == ["curious"]
    assert data["explicit_info"][0] == "plays chess on Sundays"
    assert data["explicit_info"][2:] == [{"description": 42}, None]
    home = data["explicit_info"][1]
    assert home["description"] == "Lives in Porto"
    assert home["colour"] == "green"
    assert home["superseded"] == [{"description": "Lives in Graz"}]
    # What was handed in is as it was.
    assert current.data["explicit_info"][1]["description"] == "Lives in Graz"


@pytest.mark.parametrize(
    "explicit_info",
    [
        None,
        7,
        "Lives in a tent",
        {"category": "home"},
        [[1], {"superseded": "x", "timestamp_ms": "y"}],
    ],
)
async def test_odd_types_are_borne_with(user, profile_of, explicit_info):
    current = Profile(user("ada"), {"explicit_info": explicit_info, "summary": None}, 0)
    profile = await profile_of((PORTO_MS, "I live in Porto"), current=current)
    descriptions = [
        item.get("description")
        for item in profile.data["explicit_info"]
        if isinstance(item, Mapping)
    ]
    assert "Lives in Porto" in descriptions
