"""Two profiles of one person as one."""

from __future__ import annotations

from typing import Any

from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.domain.records import Profile
from remanence_server.extraction.heuristic.profile.merge import merged_profile
from remanence_server.extraction.heuristic.profile.update import render_summary

_ALICE = Owner(Scope(), Track.USER, "alice")


def item(category: str, description: str, at_ms: int, **more: Any) -> dict[str, Any]:
    return {"category": category, "description": description, "timestamp_ms": at_ms, **more}


def profile(*items: Any, at_ms: int = 1, **data: Any) -> Profile:
    summary = {"summary": render_summary(items)} if items else {}
    return Profile(_ALICE, {**summary, "explicit_info": list(items), **data}, at_ms)


def described(merged: Profile | None) -> list[str]:
    assert merged is not None
    return [each["description"] for each in merged.data["explicit_info"]]


def history(merged: Profile | None, description: str) -> list[str]:
    assert merged is not None
    (found,) = [e for e in merged.data["explicit_info"] if e["description"] == description]
    return [past["description"] for past in found.get("superseded", [])]


PORTO = item("home", "Lives in Porto", 10, evidence="I live in Porto.")
BERLIN = item("home", "Lives in Berlin", 20)
CHESS = item("likes", "Likes chess", 15)


def test_the_newer_of_two_counts_whichever_profile_has_it() -> None:
    for current, incoming in ((profile(PORTO), profile(BERLIN)), (profile(BERLIN), profile(PORTO))):
        merged = merged_profile(current, incoming)
        assert described(merged) == ["Lives in Berlin"]
        assert history(merged, "Lives in Berlin") == ["Lives in Porto"]
        assert merged is not None
        assert merged.data["summary"] == "Lives in Berlin."


def test_merging_again_is_nothing_new() -> None:
    current = profile(PORTO, implicit_traits=[{"trait": "calm"}])
    incoming = profile({**BERLIN, "superseded": [item("", "Lives in Rome", 5)]}, CHESS, own=1)
    merged = merged_profile(current, incoming)
    assert described(merged) == ["Lives in Berlin", "Likes chess"]
    assert history(merged, "Lives in Berlin") == ["Lives in Rome", "Lives in Porto"]
    assert merged is not None
    assert merged.data["own"] == 1
    assert merged.data["implicit_traits"] == [{"trait": "calm"}]
    assert merged_profile(merged, incoming) is None
    assert merged_profile(merged, merged) is None
    assert merged_profile(merged, profile(PORTO)) is None


def test_what_is_over_does_not_come_back() -> None:
    quit_job = item("work", "Quit their job", 30)
    quit_job["superseded"] = [item("", "Works at Acme", 10)]
    works = item("work", "Works at Acme", 10)
    assert described(merged_profile(profile(works), profile(quit_job))) == ["Quit their job"]
    assert merged_profile(profile(quit_job), profile(works)) is None


def test_a_summary_and_items_of_a_persons_own_stay() -> None:
    current = profile("free text", PORTO, at_ms=9)
    current = Profile(_ALICE, {**current.data, "summary": "My own words."}, 9)
    merged = merged_profile(current, profile("other text", CHESS, at_ms=7))
    assert merged is not None
    assert merged.data["summary"] == "My own words."
    assert [each for each in merged.data["explicit_info"] if isinstance(each, str)] == [
        "free text",
        "other text",
    ]
    assert merged.timestamp_ms == 9


def test_an_empty_profile_takes_everything() -> None:
    empty = Profile(_ALICE, {}, 0)
    merged = merged_profile(empty, profile(PORTO, at_ms=5, implicit_traits=[]))
    assert described(merged) == ["Lives in Porto"]
    assert merged is not None
    assert (merged.timestamp_ms, merged.data["summary"]) == (5, "Lives in Porto.")
    assert merged_profile(empty, Profile(_ALICE, {"explicit_info": [], "summary": ""}, 3)) is None
