"""Cases from the field over both surfaces: a huge message, filters, odd queries."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import pytest

from tests.blackbox.conftest import eventually, said
from tests.blackbox.surfaces import Surface

DAY_MS = 24 * 3600 * 1000


def _remember(
    surface: Surface, session: str, user: str, messages: list[dict[str, Any]], count: int = 1
) -> None:
    """Tells a session and waits until the user has so many episodes of it."""
    body = {"session_id": session, "messages": messages, "defer_extraction": True}
    surface.call("add", body).ok  # noqa: B018
    surface.call("flush", {"session_id": session}).ok  # noqa: B018
    listing = {"user_id": user, "memory_type": "episode", "filters": {"session_id": session}}
    eventually(lambda: surface.call("get", listing).ok["total_count"] == count, 60)


def _found(surface: Surface, ask: dict[str, Any]) -> list[dict[str, Any]]:
    return list(surface.call("search", ask).ok["episodes"])


# ------------------------------------------------------------------------------ one huge message


@pytest.mark.slow
def test_both_ends_of_one_huge_message_are_found_and_nothing_of_it_is_dropped(
    surface: Surface, tag: str
) -> None:
    user, filling = f"tomas{tag}", "lorem ipsum dolor " * 20_000
    text = f"My locker code is 4417. {filling}My blood type is B negative."
    _remember(surface, f"b03-{tag}", user, [said(text, user)])
    for method in ("keyword", "hybrid"):
        for query, expected in (("locker code", "4417"), ("blood type", "B negative")):
            ask = {"user_id": user, "query": query, "method": method, "top_k": 5}
            (episode,) = eventually(partial(_found, surface, ask), 60)
            assert expected in episode["episode"], (method, query)
    listed = surface.call("get", {"user_id": user, "memory_type": "episode"}).ok
    words = " ".join(episode["episode"] for episode in listed["episodes"]).split()
    assert words.count("lorem") == 20_000
    assert surface.tasks(session_id=f"b03-{tag}", status="failed").ok["total"] == 0


# ------------------------------------------------------------------------------------- filters

SESSIONS = ("s'1", 's"2', "s3")


def _deep(levels: int) -> dict[str, Any]:
    node: dict[str, Any] = {"session_id": "s3"}
    for _ in range(levels):
        node = {"AND": [node]}
    return node


# A filter, and how many of the three episodes it selects; None: it is refused.
FILTERS: list[tuple[Any, int | None]] = [
    ({}, 3),
    ({"AND": []}, 3),
    ({"OR": []}, 0),
    ({"AND": [], "OR": []}, 0),
    ({"session_id": "s'1"}, 1),
    ({"session_id": 's"2'}, 1),
    ({"session_id": {"in": []}}, 0),
    ({"session_id": {"in": ["s'1", "s'1"]}}, 1),
    ({"session_id": {"in": ["s'1", 's"2', "nope"]}}, 2),
    ({"session_id": {"ne": "s3"}}, 2),
    ({"session_id": {"ne": "s3", "in": ["s3", "s'1"]}}, 1),
    ({"session_id": "s3) OR (1=1"}, 0),
    ({"session_id": "s*"}, 0),
    ({"session_id": ""}, 0),
    ({"session_id": "S3"}, 0),
    ({"session_id": "s3 "}, 0),
    ({"sender_id": "gil$"}, 3),
    ({"sender_id": "gil"}, 0),
    ({"OR": [{"session_id": "s3"}, {"session_id": "s'1"}]}, 2),
    ({"OR": [{"AND": []}]}, 3),
    ({"AND": [{"OR": []}]}, 0),
    ({"timestamp": {"gte": 0}}, 3),
    ({"timestamp": {"lt": 0}}, 0),
    ({"timestamp": {"gt": -1, "lt": 1}}, 0),
    (_deep(25), 1),
    ({"sesion_id": "s3"}, None),
    ({"owner_id": "gil"}, None),
    ({"timestamp": {"like": "2026%"}}, None),
    ({"timestamp": "abc"}, None),
    ({"timestamp": ""}, None),
    ({"session_id": {"like": "s%"}}, None),
    ({"session_id": None}, None),
    ({"session_id": ["s3"]}, None),
    ({"": "x"}, None),
    ("s3", None),
]


def test_a_filter_means_the_same_in_search_and_get(surface: Surface, tag: str) -> None:
    user = f"gil{tag}"
    sessions = {name: f"{name}-{tag}" for name in SESSIONS}
    for session in sessions.values():
        _remember(surface, session, user, [said("I mend kayaks in the harbour.", user)])

    def named(node: Any) -> Any:
        if isinstance(node, dict):
            return {key: named(value) for key, value in node.items()}
        if isinstance(node, list):
            return [named(item) for item in node]
        if isinstance(node, str):
            return user if node == "gil$" else sessions.get(node, node)
        return node

    for template, count in FILTERS:
        filters = named(template)
        try:
            listed = surface.call(
                "get", {"user_id": user, "memory_type": "episode", "filters": filters}
            )
        except (TypeError, ValueError, AttributeError):
            # What typed messages cannot say cannot be sent.
            assert surface.name == "grpc"
            assert count is None
            continue
        if count is None:
            assert listed.code == "INVALID_INPUT", template
            assert "filter" in str(listed.error)
        else:
            assert listed.ok["total_count"] == count, template
        for method in ("keyword", "vector", "hybrid", "agentic"):
            ask = {"user_id": user, "query": "kayaks", "method": method, "filters": filters}
            found = surface.call("search", {**ask, "top_k": 10})
            if count is None:
                assert found.error == listed.error, (method, template)
            else:
                assert len(found.ok["episodes"]) == count, (method, template)


# --------------------------------------------------------------------------------- odd queries

FACTS = [
    "use rm -rf carefully",
    "C++ and C# both",
    "tier1-test AND unicode",
    "path /usr/local/bin",
    "email jo@example.org",
    'what? (maybe) [x] ~5 ^2 "quoted"',
    "don't panic",
]
FINDS = [
    ("rm -rf", 0),
    ("C++", 1),
    ("C#", 1),
    ("tier1-test", 2),
    ("/usr/local/bin", 3),
    ("jo@example.org", 4),
    ("quoted", 5),
    ("don't", 6),
]
# Words to nobody but a parser, and such as say nothing.
WORDLESS = [
    *('"', '"unclosed', "*", "?", ":", "/", "(", ")", "[", "{", "}", "~", "^", "\\"),
    *("&&", "||", "!", "+", "-", "\u200b", "，。", "...", "\u3000\u200b", "\x00", "\x7f"),
]
SYNTAX = [
    *("AND", "OR", "NOT", "a AND", "foo*", "field:value", "/regex/", "[a TO z]", "{a TO z}"),
    *("+a -b", "a~2", "a^5", "(a OR b", "_exists_:a", "*:*", "id:1 OR 1=1", "the of and", "%", "_"),
]


def test_every_query_is_data_and_no_query_matches_everything(surface: Surface, tag: str) -> None:
    user = f"jo{tag}"
    notes = [said(f"Note: {fact}.", user, n * DAY_MS) for n, fact in enumerate(FACTS)]
    _remember(surface, f"b29-{tag}", user, notes, len(FACTS))

    def search(query: str, method: str = "keyword") -> Any:
        return surface.call(
            "search", {"user_id": user, "query": query, "method": method, "top_k": 100}
        )

    for query, number in FINDS:
        for method in ("keyword", "hybrid"):
            assert FACTS[number] in search(query, method).ok["episodes"][0]["episode"], query
    for query in WORDLESS:
        assert search(query).ok["episodes"] == [], query
        assert search(query, "hybrid").data is not None, query
    for query in SYNTAX:
        assert len(search(query).ok["episodes"]) < len(FACTS), query
        assert search(query, "hybrid").data is not None, query
    assert search("foo*").ok["episodes"] == search("unico*").ok["episodes"] == []
    for query in ("", "   ", "\n\t\u3000"):
        for method in ("keyword", "vector", "hybrid", "agentic"):
            refused = search(query, method)
            assert (refused.code, "query" in refused.error) == ("INVALID_INPUT", True), query


@pytest.mark.parametrize(
    "query", ["kayak " * 10_000, "k" * 40_000, "好" * 20_000, "a\u0301" * 9_000]
)
def test_a_query_of_any_length_is_answered_soon(surface: Surface, tag: str, query: str) -> None:
    user = f"jo{tag}"
    _remember(surface, f"b29-{tag}", user, [said("I mend kayaks.", user)])
    for method in ("keyword", "hybrid"):
        began = time.monotonic()
        surface.call("search", {"user_id": user, "query": query, "method": method}).ok  # noqa: B018
        # A second where nothing else runs; what is looked for is a minute.
        assert time.monotonic() - began < 10
