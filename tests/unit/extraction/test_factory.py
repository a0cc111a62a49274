"""Which extractor the settings ask for, and what they need for it."""

from __future__ import annotations

from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from tests.support.scripted_model import ScriptedModel

from remanence_server.extraction.factory import KEY_VARIABLE, create_extraction
from remanence_server.providers.models import ModelRequest
from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.runtime.metrics import ProviderMetrics
from remanence_server.runtime.settings_loader import load_settings

UTC = ZoneInfo("UTC")


async def chosen(tmp_path: Path, settings: dict[str, str], **environment: str) -> str:
    loaded = load_settings(tmp_path, {f"REMANENCE_{key}": v for key, v in settings.items()})
    made = create_extraction(
        loaded.extraction, loaded.claude, environment, UTC, ProviderMetrics.of()
    )
    if made.model is not None:
        await made.model.close()
    return made.extractor.name


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({}, "heuristic"),
        ({"CLAUDE__API_KEY": "k"}, "claude"),
        ({"CLAUDE__BASE_URL": "http://127.0.0.1:9"}, "claude"),
        ({"CLAUDE__API_KEY": "k", "EXTRACTION__PROVIDER": "heuristic"}, "heuristic"),
        ({"CLAUDE__API_KEY": "k", "EXTRACTION__PROVIDER": "claude"}, "claude"),
    ],
)
async def test_claude_extracts_when_there_is_a_key_or_an_address(
    tmp_path: Path, settings: dict[str, str], name: str
) -> None:
    assert await chosen(tmp_path, settings) == name


async def test_a_key_set_for_other_programs_is_taken_only_when_claude_is_asked_for(
    tmp_path: Path,
) -> None:
    assert await chosen(tmp_path, {}, **{KEY_VARIABLE: "k"}) == "heuristic"
    asked = {"EXTRACTION__PROVIDER": "claude"}
    assert await chosen(tmp_path, asked, **{KEY_VARIABLE: "k"}) == "claude"


async def test_claude_without_a_key_is_refused_saying_what_to_set(tmp_path: Path) -> None:
    with pytest.raises(ServiceError) as caught:
        await chosen(tmp_path, {"EXTRACTION__PROVIDER": "claude"})
    assert caught.value.code is ErrorCode.CONFIGURATION_ERROR
    assert "claude.api_key" in caught.value.message


async def test_each_setting_of_claude_reaches_the_call(tmp_path: Path) -> None:
    (tmp_path / "facts.md").write_text("Only facts about bees.")
    with ScriptedModel() as scripted:
        values = {
            "API_KEY": "secret-key",
            "BASE_URL": scripted.base_url,
            "MODEL": "some-model",
            "TEMPERATURE": "0.5",
            "MAX_OUTPUT_TOKENS": "300",
            "MAX_INPUT_CHARACTERS": "4000",
            "PROMPTS_DIRECTORY": str(tmp_path),
        }
        loaded = load_settings(
            tmp_path, {f"REMANENCE_CLAUDE__{key}": value for key, value in values.items()}
        )
        made = create_extraction(loaded.extraction, loaded.claude, {}, UTC, ProviderMetrics.of())
        assert made.model is not None
        assert made.model.maximum_input_characters == 4000
        await made.model.fill_in(ModelRequest("facts", "i", "c", "record_facts", {}))
        await made.model.close()
    (call,) = scripted.calls
    assert "secret-key" in call.headers["Authorization"]
    assert (call.body["model"], call.body["temperature"]) == ("some-model", 0.5)
    assert call.body["max_tokens"] == 300
