"""`delete` against a server."""

from __future__ import annotations

from typing import Any

import pytest


def test_what_is_deleted_is_sent_and_counted(connected: Any, memory: Any) -> None:
    done = connected("delete", "--user=alice", "--id=a", "--id=b", "--yes", "--app=work")

    assert (done.code, done.err) == (0, "")
    assert done.out == "deleted: 1 episode, 2 facts\n"
    (request,) = memory.requests
    assert (request.user_id, list(request.ids), request.app_id) == ("alice", ["a", "b"], "work")
    assert not request.everything


def test_a_session_needs_no_owner(connected: Any, memory: Any) -> None:
    done = connected("delete", "--session=s1", "--yes", "--json")

    assert done.json["deleted"] == 3
    (request,) = memory.requests
    assert request.session_id == "s1"
    assert not request.HasField("user_id")


def test_it_asks_and_takes_no_for_an_answer(connected: Any, memory: Any) -> None:
    done = connected("delete", "--agent=coder", "--everything", stdin="n\n")

    assert done.code != 0
    assert "Delete everything of coder for good?" in done.err
    assert memory.requests == []
    assert connected("delete", "--agent=coder", "--everything", stdin="y\n").code == 0
    assert memory.requests[0].everything


@pytest.mark.parametrize(
    "arguments",
    [
        ("--user=a",),
        ("--user=a", "--session=s", "--everything"),
        ("--everything",),
        ("--user=a", "--agent=b", "--everything"),
        ("--user=a", "--filter={"),
    ],
)
def test_a_call_that_does_not_say_what_is_refused(
    connected: Any, memory: Any, arguments: tuple[str, ...]
) -> None:
    done = connected("delete", *arguments, "--yes")

    assert done.code == 2
    assert memory.requests == []
