"""The extractor that the settings ask for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import tzinfo

from remanence_server.extraction.claude import ModelExtractor, load_prompts
from remanence_server.extraction.heuristic import HeuristicExtractor
from remanence_server.extraction.interface import Extractor
from remanence_server.providers.models import Model
from remanence_server.providers.models.metered import MeteredModel
from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.runtime.metrics import ProviderMetrics
from remanence_server.runtime.settings import ClaudeSettings, ExtractionSettings

# Where the provider's own tools look for the key. It is read only by who asks for Claude by name: a
# variable that was set for another program must not send anybody's memories away.
KEY_VARIABLE = "ANTHROPIC_API_KEY"


@dataclass(frozen=True, slots=True)
class Extraction:
    """An extractor, and the model behind it, which is to be closed; None when there is none."""

    extractor: Extractor
    model: Model | None = None


def create_extraction(
    extraction: ExtractionSettings,
    claude: ClaudeSettings,
    environment: Mapping[str, str],
    zone: tzinfo,
    metrics: ProviderMetrics,
) -> Extraction:
    """Makes the configured extractor; no call is made yet.

    Raises ServiceError CONFIGURATION_ERROR when there is no key, or a prompt cannot be read.
    """
    if not asks_claude(extraction, claude):
        return Extraction(HeuristicExtractor(zone=zone))
    key = claude_key(extraction, claude, environment)
    prompts = load_prompts(claude.prompts_directory)
    # Half a second that only those pay who use it.
    from remanence_server.providers.models.claude import ClaudeModel, ClaudeOptions

    client = ClaudeModel(
        ClaudeOptions(
            # A gateway of one's own may need none, the SDK always does.
            api_key=key or "none",
            base_url=claude.base_url,
            model=claude.model,
            maximum_output_tokens=claude.max_output_tokens,
            maximum_input_characters=claude.max_input_characters,
            temperature=None if claude.temperature == "" else claude.temperature,
            timeout_seconds=claude.timeout_seconds,
            maximum_concurrency=claude.max_concurrency,
        )
    )
    model = MeteredModel(client, "claude", metrics)
    return Extraction(ModelExtractor(model, prompts, zone), model)


def asks_claude(extraction: ExtractionSettings, claude: ClaudeSettings) -> bool:
    """Whether a model extracts, rather than the built-in extractor."""
    if extraction.provider == "auto":
        return bool(claude.api_key.get_secret_value() or claude.base_url)
    return extraction.provider == "claude"


def claude_key(
    extraction: ExtractionSettings, claude: ClaudeSettings, environment: Mapping[str, str]
) -> str:
    """The key to call with; empty for a gateway of one's own that is given none.

    Raises ServiceError CONFIGURATION_ERROR when there is none and one is needed.
    """
    key = claude.api_key.get_secret_value()
    if not key and extraction.provider == "claude":
        key = environment.get(KEY_VARIABLE, "")
    if not key and not claude.base_url:
        raise ServiceError(
            ErrorCode.CONFIGURATION_ERROR,
            f"extraction.provider is 'claude' and there is no key: set claude.api_key or the"
            f" variable {KEY_VARIABLE}",
            field="claude.api_key",
        )
    return key
