"""Claude's provider against a model on loopback: the real SDK, the real protocol."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from prometheus_client import CollectorRegistry
from tests.support.scripted_model import (
    Cut,
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

from remanence_server.providers.models import (
    FailureReason,
    ModelAnswer,
    ModelError,
    ModelRequest,
    TokenUsage,
)
from remanence_server.providers.models.claude import ClaudeModel, ClaudeOptions
from remanence_server.providers.models.metered import MeteredModel
from remanence_server.providers.models.reading import objects_in
from remanence_server.runtime.metrics import ProviderMetrics

SCHEMA = {"type": "object", "properties": {"facts": {"type": "array"}}, "required": ["facts"]}
REQUEST = ModelRequest("facts", "Take facts.", "Ada lives in Porto.", "record_facts", SCHEMA)
OPTIONS = ClaudeOptions(
    api_key="test-key",
    base_url="",
    model="test-model",
    maximum_output_tokens=1_000,
    maximum_input_characters=10_000,
    temperature=None,
    timeout_seconds=5.0,
    maximum_concurrency=2,
)


@pytest.fixture
def scripted() -> Iterator[ScriptedModel]:
    with ScriptedModel() as model:
        yield model


@asynccontextmanager
async def claude(scripted: ScriptedModel, **changes: object) -> AsyncIterator[ClaudeModel]:
    model = ClaudeModel(replace(OPTIONS, base_url=scripted.base_url, **changes))  # type: ignore[arg-type]
    try:
        yield model
    finally:
        await model.close()


async def ask(scripted: ScriptedModel, reply: Reply, **changes: object) -> ModelAnswer:
    scripted.add(Rule("facts", reply))
    async with claude(scripted, **changes) as model:
        return await model.fill_in(REQUEST)


async def test_the_form_comes_back_filled_in_and_the_fixed_part_is_marked_for_the_cache(
    scripted: ScriptedModel,
) -> None:
    answer = await ask(scripted, Tool({"facts": ["a"]}))
    assert answer.candidates == ({"facts": ["a"]},)
    assert answer.usage == TokenUsage(input=4 + 2, cached_input=2, output=4)
    (call,) = scripted.calls
    assert call.prompt == "Ada lives in Porto."
    assert call.instructions == "Take facts."
    assert call.body["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert call.body["tool_choice"] == {"type": "tool", "name": "record_facts"}
    assert call.body["tools"][0]["input_schema"] == SCHEMA
    assert call.body["model"] == "test-model"
    assert call.body["max_tokens"] == 1_000
    assert "temperature" not in call.body
    assert "test-key" in call.headers["Authorization"]


async def test_a_temperature_is_sent_when_it_is_set(scripted: ScriptedModel) -> None:
    await ask(scripted, Tool({"facts": []}), temperature=0.25)
    assert scripted.calls[0].body["temperature"] == 0.25


@pytest.mark.parametrize(
    ("reply", "candidates"),
    [
        (Raw('```json\n{"facts": [1]}\n```'), ({"facts": [1]},)),
        (Text('Sure! Here you go:\n{"facts": [1]}\nAnything else?'), ({"facts": [1]},)),
        (Raw('{}{"facts": [1]}'), ({}, {"facts": [1]})),
        (Raw('{"facts": ["C:\\\\new\\\\table {a}"]}'), ({"facts": ["C:\\new\\table {a}"]},)),
        (Text('{"broken": {"facts": [1]}'), ({"facts": [1]},)),
        (Raw('{"facts": ["two\nlines"]}'), ({"facts": ["two\nlines"]},)),
    ],
)
async def test_a_form_in_wrapping_is_unwrapped(
    scripted: ScriptedModel, reply: Reply, candidates: tuple[object, ...]
) -> None:
    assert (await ask(scripted, reply)).candidates == candidates
    assert scripted.count("facts") == 1


@pytest.mark.parametrize(
    ("reply", "reason", "retry_after_seconds"),
    [
        (Raw(""), FailureReason.EMPTY_OUTPUT, None),
        (Text("  \n"), FailureReason.EMPTY_OUTPUT, None),
        (Text("I would rather not."), FailureReason.SCHEMA_MISMATCH, None),
        (Raw("[]"), FailureReason.SCHEMA_MISMATCH, None),
        (Raw("null"), FailureReason.SCHEMA_MISMATCH, None),
        (Raw('{"facts": "\\u12"}'), FailureReason.SCHEMA_MISMATCH, None),
        (Stop("refusal", text="I can't help with that."), FailureReason.REFUSED, None),
        (Stop("max_tokens", raw='{"facts": []}'), FailureReason.TRUNCATED, None),
        (Stop("max_tokens", raw='{"fac'), FailureReason.TRUNCATED, None),
        (Http(429, {"retry-after": "2"}), FailureReason.RATE_LIMITED, 2.0),
        (Http(529), FailureReason.OVERLOADED, None),
        (SseError("overloaded_error"), FailureReason.OVERLOADED, None),
        (SseError("rate_limit_error"), FailureReason.RATE_LIMITED, None),
        (SseError("api_error"), FailureReason.UNREACHABLE, None),
        (Http(500), FailureReason.UNREACHABLE, None),
        (Http(503, {"retry-after": "7"}), FailureReason.UNREACHABLE, 7.0),
        (Http(401), FailureReason.CONFIGURATION, None),
        (Http(403), FailureReason.CONFIGURATION, None),
        (Http(404), FailureReason.CONFIGURATION, None),
        (Http(400), FailureReason.REQUEST_REFUSED, None),
        (Http(413), FailureReason.REQUEST_REFUSED, None),
        (Cut(300), FailureReason.UNREACHABLE, None),
    ],
)
async def test_each_failure_has_its_reason_and_is_not_tried_again(
    scripted: ScriptedModel, reply: Reply, reason: FailureReason, retry_after_seconds: float | None
) -> None:
    with pytest.raises(ModelError) as caught:
        await ask(scripted, reply)
    assert caught.value.failure is reason
    assert caught.value.retry_after_seconds == retry_after_seconds
    assert scripted.count("facts") == 1


async def test_a_model_that_hangs_is_given_up_at_the_deadline(scripted: ScriptedModel) -> None:
    started = time.monotonic()
    with pytest.raises(ModelError) as caught:
        await ask(scripted, Hang(30), timeout_seconds=0.3)
    assert caught.value.failure is FailureReason.TIMEOUT
    assert time.monotonic() - started < 5


async def test_nobody_at_the_address_is_unreachable() -> None:
    with ScriptedModel() as gone:
        address = gone.base_url
    model = ClaudeModel(replace(OPTIONS, base_url=address))
    with pytest.raises(ModelError) as caught:
        await model.fill_in(REQUEST)
    assert caught.value.failure is FailureReason.UNREACHABLE
    await model.close()


async def test_the_address_of_another_program_in_the_environment_is_not_called(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    model = ClaudeModel(OPTIONS)
    assert model._client.base_url.host == "api.anthropic.com"
    await model.close()


async def test_no_more_calls_run_at_once_than_are_allowed(scripted: ScriptedModel) -> None:
    scripted.add(Rule("facts", Hang(0.3), times=2))
    async with claude(scripted) as model:
        calls = [asyncio.create_task(model.fill_in(REQUEST)) for _ in range(3)]
        await asyncio.gather(*calls, return_exceptions=True)
    first, second, third = sorted(call.at_seconds for call in scripted.calls)
    assert second - first < 0.25
    assert third - first >= 0.25


async def test_calls_tokens_and_failures_are_counted(scripted: ScriptedModel) -> None:
    registry = CollectorRegistry()
    scripted.add(
        Rule("facts", Tool({"facts": []})), Rule("facts", Http(529)), Rule("facts", Text("No."))
    )
    client = ClaudeModel(replace(OPTIONS, base_url=scripted.base_url))
    model = MeteredModel(client, "claude", ProviderMetrics.of(registry))
    await model.fill_in(REQUEST)
    for _ in range(2):
        with pytest.raises(ModelError):
            await model.fill_in(REQUEST)
    await model.close()

    def value(name: str, **labels: str) -> float | None:
        labels = {"provider": "claude", "operation": "facts", **labels}
        return registry.get_sample_value(f"remanence_provider_{name}", labels)

    assert value("calls_total", outcome="succeeded") == 1
    assert value("calls_total", outcome="overloaded") == 1
    assert value("calls_total", outcome="schema_mismatch") == 1
    assert value("tokens_total", kind="input") == 4 + 4
    assert value("tokens_total", kind="cached_input") == 2 + 2
    assert value("tokens_total", kind="output") == 3
    assert value("call_duration_seconds_count") == 3


def test_text_without_an_object_has_none_however_long_it_is() -> None:
    assert objects_in("{" * 100_000) == ()
    assert objects_in("no braces") == ()
