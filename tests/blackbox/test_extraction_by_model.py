"""The service with a model: scripted, on loopback, behind the real SDK and the real pipeline."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.blackbox.conftest import eventually, said
from tests.blackbox.surfaces import GrpcSurface, HttpSurface, Surface
from tests.support.scripted_model import (
    Hang,
    Http,
    Raw,
    Reply,
    Rule,
    ScriptedModel,
    SseError,
    Stop,
    Text,
    Tool,
)
from tests.support.server_process import ServerProcess, start_server

_BUDGET = 3
_ENVIRONMENT = {
    "REMANENCE_EXTRACTION__PROVIDER": "claude",
    "REMANENCE_CLAUDE__API_KEY": "test-key",
    "REMANENCE_CLAUDE__TIMEOUT_SECONDS": "3",
    "REMANENCE_EMBEDDINGS__PROVIDER": "hashing",
    "REMANENCE_JOBS__MAXIMUM_ATTEMPTS": str(_BUDGET),
    "REMANENCE_JOBS__RETRY_BACKOFF_SECONDS": "0.05",
}


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as scripted:
        yield scripted


@pytest.fixture(scope="module")
def server(
    model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerProcess]:
    root = tmp_path_factory.mktemp("model") / "root"
    started = start_server(root, REMANENCE_CLAUDE__BASE_URL=model.base_url, **_ENVIRONMENT)
    yield started
    assert started.stop() == 0


@pytest.fixture(scope="module")
def http(server: ServerProcess) -> HttpSurface:
    return HttpSurface(server.http)


@pytest.fixture(scope="module")
def grpc_surface(server: ServerProcess) -> GrpcSurface:
    return GrpcSurface(server.grpc)


@pytest.fixture
def root(server: ServerProcess) -> Path:
    return server.root


def _add(surface: Surface, user: str, *texts: str) -> None:
    messages = [said(text, user, offset) for offset, text in enumerate(texts)]
    surface.call("add", {"session_id": user, "messages": messages, "defer_extraction": True}).ok  # noqa: B018


def _flush(surface: Surface, user: str) -> Any:
    return surface.call("flush", {"session_id": user})


def _search(surface: Surface, user: str, query: str, **extra: Any) -> Mapping[str, Any]:
    body = {"user_id": user, "query": query, "method": "keyword", "top_k": 10, **extra}
    return surface.call("search", body).ok


def _facts(surface: Surface, user: str, query: str) -> list[str]:
    return [
        fact["content"]
        for episode in _search(surface, user, query)["episodes"]
        for fact in episode["atomic_facts"]
    ]


def _calls(model: ScriptedModel, stage: str, user: str) -> int:
    return sum(call.stage == stage and f"owner is {user}." in call.prompt for call in model.calls)


def _jobs(surface: Surface, user: str, stage: str) -> list[Mapping[str, Any]]:
    items: list[Mapping[str, Any]] = surface.jobs(session_id=user, stage=stage).ok["items"]
    return items


def _status(job: Mapping[str, Any]) -> str:
    return str(job["status"]).removeprefix("JOB_STATUS_").lower()


def test_health_says_that_there_is_a_model(grpc_surface: GrpcSurface) -> None:
    assert grpc_surface.health().capabilities.llm


_RIGHT = '{"facts": [{"text": "Wen moved to Lisbon in March", "message_ids": ["m1"]}]}'


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(Raw(f"```json\n{_RIGHT}\n```"), id="fenced"),
        pytest.param(Text(f"Sure! Here you go:\n{_RIGHT}\nAnything else?"), id="in-prose"),
        pytest.param(
            Raw(_RIGHT.replace("]}]}", '],"confidence":"high","note":null}],"note":null}')),
            id="extra-keys",
        ),
        pytest.param(Raw("{}\n" + _RIGHT), id="two-objects"),
        pytest.param(Raw(_RIGHT.replace("in March", r"in March C:\\new\\table {x}")), id="escapes"),
    ],
)
def test_decorated_answers_are_read(
    surface: Surface, model: ScriptedModel, root: Path, tag: str, reply: Reply
) -> None:
    user = f"wen-{tag}"
    _add(surface, user, "I moved to Lisbon in March")
    model.add(Rule("facts", reply, contains=user))
    assert _flush(surface, user).ok
    facts = eventually(lambda: _facts(surface, user, "Lisbon"))
    assert len(facts) == 1
    assert facts[0].startswith("Wen moved to Lisbon in March")
    assert _calls(model, "facts", user) == 1
    written = "".join(path.read_text() for path in root.rglob(f"{user}/**/*.md"))
    assert "confidence" not in written


@pytest.mark.parametrize(
    ("reply", "reason", "calls"),
    [
        pytest.param(Raw(""), "EMPTY_OUTPUT", _BUDGET, id="empty"),
        pytest.param(
            Stop("refusal", text="I'm sorry, I can't help with that."), "REFUSED", 1, id="refusal"
        ),
        pytest.param(Stop("max_tokens", raw='{"subject":"Den'), "TRUNCATED", _BUDGET, id="cut"),
        pytest.param(
            Tool({"subject": 42, "episode": ["x"]}), "SCHEMA_MISMATCH", _BUDGET, id="other-types"
        ),
        pytest.param(Raw("[]"), "SCHEMA_MISMATCH", _BUDGET, id="array"),
        pytest.param(Raw("null"), "SCHEMA_MISMATCH", _BUDGET, id="null"),
        pytest.param(Raw('{"subject":"\\u12"}'), "SCHEMA_MISMATCH", _BUDGET, id="bad-escape"),
    ],
)
def test_rubbish_is_tried_again_then_told_and_nothing_is_lost(
    surface: Surface,
    model: ScriptedModel,
    root: Path,
    tag: str,
    reply: Reply,
    reason: str,
    calls: int,
) -> None:
    user = f"petra-{tag}"
    _add(surface, user, "My dentist is Dr. Okafor")
    model.add(Rule("episode", reply, contains=user, times=calls))
    assert _flush(surface, user).code == "EXTERNAL_SERVICE_UNAVAILABLE"
    eventually(lambda: _status(_jobs(surface, user, "episode")[0]) == "dead_letter")
    (job,) = _jobs(surface, user, "episode")
    assert job["error_code"] == reason
    assert _calls(model, "episode", user) == calls
    # Told as not yet a memory, and nothing of it on disk.
    waiting = _search(surface, user, "dentist", filters={"session_id": user})
    assert [_text(message) for message in waiting["unprocessed_messages"]] == [
        "My dentist is Dr. Okafor"
    ]
    assert waiting["episodes"] == []
    assert not list(root.rglob(f"{user}/**/*.md"))
    assert surface.job("retry", int(job["id"])).ok
    found = eventually(lambda: _facts(surface, user, "dentist"))
    assert found == ["My dentist is Dr. Okafor"]
    assert len(_search(surface, user, "dentist")["episodes"]) == 1
    assert "can't help" not in "".join(p.read_text() for p in root.rglob(f"{user}/**/*.md"))


def _text(message: Mapping[str, Any]) -> Any:
    return message.get("content", message.get("text"))


def test_a_bad_answer_followed_by_a_good_one_is_no_trouble(
    surface: Surface, model: ScriptedModel, tag: str
) -> None:
    user = f"once-{tag}"
    _add(surface, user, "My dentist is Dr. Okafor")
    model.add(Rule("episode", Raw("not json"), contains=user))
    _flush(surface, user)
    assert eventually(lambda: _facts(surface, user, "dentist")) == ["My dentist is Dr. Okafor"]
    assert _calls(model, "episode", user) == 2


def test_outages_are_waited_out_and_finished_stages_are_not_repeated(
    surface: Surface, http: HttpSurface, model: ScriptedModel, tag: str
) -> None:
    user = f"lars-{tag}"
    faults: list[Reply] = [
        Http(429, {"retry-after": "2"}),
        SseError("overloaded_error"),
        Http(529),
        Hang(20),
    ]
    model.add(*(Rule("facts", fault, contains=user) for fault in faults))
    _add(surface, user, "I sail a boat", "I bake rye bread", "I live in Malmö")
    assert _flush(surface, user).ok
    (job,) = eventually(
        lambda: [j for j in _jobs(surface, user, "facts") if _status(j) == "waiting_retry"]
    )
    assert job["error_code"] == "RATE_LIMITED"
    assert job["next_attempt_at"]
    for _ in range(20):
        started = time.monotonic()
        assert _search(surface, user, "boat")["episodes"]
        assert time.monotonic() - started < 1
    other = f"other-{tag}"
    _add(surface, other, "I keep bees")
    assert _flush(surface, other).ok
    assert eventually(lambda: _facts(surface, other, "bees")) == ["I keep bees"]
    assert http.client.get("/health").status_code == 200
    facts = eventually(lambda: _all_facts(surface, user), seconds=30)
    assert facts == {"I sail a boat", "I bake rye bread", "I live in Malmö"}
    assert _calls(model, "episode", user) == 1
    assert _calls(model, "facts", user) == len(faults) + 1
    times = [
        call.at_seconds for call in model.calls if call.stage == "facts" and user in call.prompt
    ]
    assert times[1] - times[0] >= 2


def _all_facts(surface: Surface, user: str) -> set[str]:
    found = {fact for query in ("boat", "bread", "Malmö") for fact in _facts(surface, user, query)}
    return found if len(found) == 3 else set()


def test_a_wrong_key_is_not_tried_again_and_a_restart_tries_anew(
    model: ScriptedModel, tmp_path: Path, tag: str
) -> None:
    user = f"key-{tag}"
    environment = {**_ENVIRONMENT, "REMANENCE_CLAUDE__BASE_URL": model.base_url}
    model.add(Rule("episode", Http(401), contains=user))
    server = start_server(tmp_path / "root", **environment)
    surface = HttpSurface(server.http)
    _add(surface, user, "I play the oboe")
    assert _flush(surface, user).code == "EXTERNAL_SERVICE_UNAVAILABLE"
    (job,) = _jobs(surface, user, "episode")
    assert (_status(job), job["error_code"], job["attempts"]) == ("dead_letter", "CONFIGURATION", 1)
    assert _calls(model, "episode", user) == 1
    assert server.stop() == 0
    server = start_server(tmp_path / "root", **environment)
    surface = HttpSurface(server.http)
    assert eventually(lambda: _facts(surface, user, "oboe")) == ["I play the oboe"]
    assert server.stop() == 0


def test_an_extractor_that_was_killed_in_a_call_asks_again_and_writes_once(
    model: ScriptedModel, tmp_path: Path, tag: str
) -> None:
    import signal

    user = f"sena-{tag}"
    environment = {**_ENVIRONMENT, "REMANENCE_CLAUDE__BASE_URL": model.base_url}
    model.add(Rule("facts", Hang(20), contains=user))
    server = start_server(tmp_path / "root", **environment)
    surface = HttpSurface(server.http)
    _add(surface, user, "My sister Elif studies geology in Ankara")
    assert surface.call("flush", {"session_id": user, "wait": False}).ok
    eventually(lambda: _calls(model, "facts", user))
    server.stop(signal.SIGKILL)
    server = start_server(tmp_path / "root", **environment)
    surface = HttpSurface(server.http)
    assert eventually(lambda: _facts(surface, user, "geology")) == [
        "My sister Elif studies geology in Ankara"
    ]
    (job,) = _jobs(surface, user, "facts")
    assert job["attempts"] == 2
    assert _calls(model, "episode", user) == 1
    assert server.stop() == 0


def test_nothing_of_prompts_or_answers_reaches_the_log(
    surface: Surface, model: ScriptedModel, server: ServerProcess, tag: str
) -> None:
    user = f"quiet-{tag}"
    _add(surface, user, f"zebra-{tag} in the text")
    model.add(Rule("episode", Text(f"walrus-{tag} in the answer"), contains=user))
    _flush(surface, user)
    eventually(lambda: _facts(surface, user, f"zebra-{tag}"))
    assert f"zebra-{tag}" not in server.log
    assert f"walrus-{tag}" not in server.log
    assert "test-key" not in server.log
