"""Claude through the Anthropic SDK, or anything that speaks the same protocol.

The answer is forced into a tool call whose input has the schema asked for. It is streamed, so that
a long answer is not taken for a dead connection, and read as raw text, so that a malformed one is
ours to judge.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import anthropic
import httpx2
from anthropic import AsyncAnthropic
from anthropic.types import RawMessageStreamEvent

from remanence_server.providers.models.interface import (
    FailureReason,
    ModelAnswer,
    ModelError,
    ModelRequest,
    TokenUsage,
)
from remanence_server.providers.models.reading import objects_in

_ANTHROPIC_URL = "https://api.anthropic.com"
_CONNECT_TIMEOUT_SECONDS = 10.0
_SERVER_ERRORS = 500
_BY_TYPE: Mapping[str, FailureReason] = {
    "overloaded_error": FailureReason.OVERLOADED,
    "rate_limit_error": FailureReason.RATE_LIMITED,
    "timeout_error": FailureReason.TIMEOUT,
    "api_error": FailureReason.UNREACHABLE,
    "authentication_error": FailureReason.CONFIGURATION,
    "permission_error": FailureReason.CONFIGURATION,
    "billing_error": FailureReason.CONFIGURATION,
    "not_found_error": FailureReason.CONFIGURATION,
}
# For gateways that answer in a form of their own.
_BY_STATUS: Mapping[int, FailureReason] = {
    401: FailureReason.CONFIGURATION,
    402: FailureReason.CONFIGURATION,
    403: FailureReason.CONFIGURATION,
    404: FailureReason.CONFIGURATION,
    408: FailureReason.TIMEOUT,
    429: FailureReason.RATE_LIMITED,
    504: FailureReason.TIMEOUT,
    529: FailureReason.OVERLOADED,
}


@dataclass(frozen=True, slots=True)
class ClaudeOptions:
    """How Claude is called.

    `base_url` empty: Anthropic's own. `temperature` None: the provider's default.
    `timeout_seconds` bounds a whole call, the wait for a free place not included.
    """

    api_key: str
    base_url: str
    model: str
    maximum_output_tokens: int
    maximum_input_characters: int
    temperature: float | None
    timeout_seconds: float
    maximum_concurrency: int


@dataclass(slots=True)
class _Output:
    """What the stream has brought so far."""

    tool_input: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    stop_reason: str | None = None
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0

    def take(self, event: RawMessageStreamEvent) -> None:
        match event.type:
            case "message_start":
                usage = event.message.usage
                self.cached_tokens = usage.cache_read_input_tokens or 0
                self.input_tokens = (
                    usage.input_tokens
                    + self.cached_tokens
                    + (usage.cache_creation_input_tokens or 0)
                )
            case "content_block_delta" if event.delta.type == "input_json_delta":
                self.tool_input.append(event.delta.partial_json)
            case "content_block_delta" if event.delta.type == "text_delta":
                self.text.append(event.delta.text)
            case "message_delta":
                self.stop_reason = event.delta.stop_reason
                self.output_tokens = event.usage.output_tokens
            case _:
                pass

    @property
    def form(self) -> str:
        return "".join(self.tool_input)

    @property
    def words(self) -> str:
        return "".join(self.text)

    @property
    def usage(self) -> TokenUsage:
        return TokenUsage(self.input_tokens, self.cached_tokens, self.output_tokens)


class ClaudeModel:
    """See `Model`."""

    def __init__(self, options: ClaudeOptions) -> None:
        self._options = options
        self._places = asyncio.Semaphore(options.maximum_concurrency)
        self._client = AsyncAnthropic(
            api_key=options.api_key,
            # Never None: the SDK would ask the environment, and what is said would go where another
            # program's settings point.
            base_url=options.base_url or _ANTHROPIC_URL,
            # One owner of retries, and it is not the SDK: see the interface.
            max_retries=0,
            timeout=anthropic.Timeout(options.timeout_seconds, connect=_CONNECT_TIMEOUT_SECONDS),
        )

    @property
    def name(self) -> str:
        """The model's name."""
        return self._options.model

    @property
    def maximum_input_characters(self) -> int:
        """The longest content of a request, in characters."""
        return self._options.maximum_input_characters

    async def fill_in(self, request: ModelRequest) -> ModelAnswer:
        """Asks once. Raises ModelError."""
        output = _Output()
        try:
            async with self._places, asyncio.timeout(self._options.timeout_seconds):
                await self._stream(request, output)
        except (TimeoutError, httpx2.TimeoutException):
            raise ModelError(FailureReason.TIMEOUT, usage=output.usage) from None
        except (httpx2.HTTPError, ValueError):
            # Within the stream the SDK lets through what the connection does, and what is no event.
            raise ModelError(FailureReason.UNREACHABLE, usage=output.usage) from None
        except anthropic.APIError as error:
            reason, after = _reported(error)
            raise ModelError(reason, after, output.usage) from None
        return _answer(output)

    async def close(self) -> None:
        """Closes connections."""
        await self._client.close()

    async def _stream(self, request: ModelRequest, output: _Output) -> None:
        options = self._options
        # The SDK has no parameter for it; models that take none refuse it themselves.
        sampling = {} if options.temperature is None else {"temperature": options.temperature}
        stream = await self._client.messages.create(
            model=options.model,
            max_tokens=options.maximum_output_tokens,
            # The fixed part comes first and is marked, so that the provider reads it from a cache.
            system=[
                {
                    "type": "text",
                    "text": request.instructions,
                    "cache_control": {"type": "ephemeral"},
                }
            ],
            messages=[{"role": "user", "content": request.content}],
            tools=[
                {
                    "name": request.schema_name,
                    "description": "Records the answer.",
                    "input_schema": dict(request.schema),
                }
            ],
            tool_choice={"type": "tool", "name": request.schema_name},
            stream=True,
            extra_body=sampling,
        )
        async with stream:
            async for event in stream:
                output.take(event)


def _answer(output: _Output) -> ModelAnswer:
    candidates = (*objects_in(output.form), *objects_in(output.words))
    failure = _failure(output, candidates)
    if failure is not None:
        raise ModelError(failure, usage=output.usage)
    return ModelAnswer(candidates, output.usage)


def _failure(output: _Output, candidates: tuple[Mapping[str, Any], ...]) -> FailureReason | None:
    if output.stop_reason is None:
        # The stream ended before the message did.
        return FailureReason.UNREACHABLE
    if output.stop_reason == "refusal":
        return FailureReason.REFUSED
    if output.stop_reason == "max_tokens":
        # What was cut may still read as JSON, and would be half of an answer.
        return FailureReason.TRUNCATED
    if not output.form.strip() and not output.words.strip():
        return FailureReason.EMPTY_OUTPUT
    return None if candidates else FailureReason.SCHEMA_MISMATCH


def _reported(error: anthropic.APIError) -> tuple[FailureReason, float | None]:
    """Why the provider does not answer, and when it says to come back, in seconds."""
    if isinstance(error, anthropic.APITimeoutError):
        return FailureReason.TIMEOUT, None
    if not isinstance(error, anthropic.APIStatusError):
        return FailureReason.UNREACHABLE, None
    # An error within a stream has status 200 and says in its type what it is.
    kind, status = _error_type(error.body), error.status_code
    reason = _BY_TYPE.get(kind) or _BY_STATUS.get(status)
    if reason is None:
        server_fault = status >= _SERVER_ERRORS
        reason = FailureReason.UNREACHABLE if server_fault else FailureReason.REQUEST_REFUSED
    return reason, _retry_after_seconds(error.response.headers)


def _error_type(body: object) -> str:
    inner = body.get("error") if isinstance(body, Mapping) else None
    kind = inner.get("type") if isinstance(inner, Mapping) else None
    return kind if isinstance(kind, str) else ""


def _retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    value = headers.get("retry-after")
    try:
        return None if value is None else max(0.0, float(value))
    except ValueError:
        return None
