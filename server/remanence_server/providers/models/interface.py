"""What the rest of the service knows of a language model: it fills in a form.

A call is one attempt. Nothing below retries: whoever asks owns the retries (for the pipeline that
is the job runner), so that a count of attempts is a count of calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from remanence_server.runtime.errors import ErrorCode, Retrying, ServiceError


class FailureReason(StrEnum):
    """Why a call brought nothing usable. Stable: jobs, logs and metrics show it."""

    # The model answered, and the answer is of no use; another call may bring a better one.
    EMPTY_OUTPUT = "EMPTY_OUTPUT"
    TRUNCATED = "TRUNCATED"
    SCHEMA_MISMATCH = "SCHEMA_MISMATCH"
    # It answered that it will not; the same question again is the same answer.
    REFUSED = "REFUSED"
    # The provider does not take the request: too long, malformed.
    REQUEST_REFUSED = "REQUEST_REFUSED"
    # Key, model name or base URL are wrong.
    CONFIGURATION = "CONFIGURATION"
    # It cannot answer now.
    RATE_LIMITED = "RATE_LIMITED"
    OVERLOADED = "OVERLOADED"
    TIMEOUT = "TIMEOUT"
    UNREACHABLE = "UNREACHABLE"


# A trouble of the provider, which says nothing against the request.
OUTAGES = frozenset(
    {
        FailureReason.RATE_LIMITED,
        FailureReason.OVERLOADED,
        FailureReason.TIMEOUT,
        FailureReason.UNREACHABLE,
    }
)
# Another attempt at the same would end the same.
FINAL = frozenset(
    {FailureReason.REFUSED, FailureReason.REQUEST_REFUSED, FailureReason.CONFIGURATION}
)

_TEXTS: Mapping[FailureReason, str] = {
    FailureReason.EMPTY_OUTPUT: "the model answered nothing",
    FailureReason.TRUNCATED: "the model's answer was cut off at its token limit",
    FailureReason.SCHEMA_MISMATCH: "the model's answer does not have the shape asked for",
    FailureReason.REFUSED: "the model refused to answer",
    FailureReason.REQUEST_REFUSED: "the model provider refused the request",
    FailureReason.CONFIGURATION: "the model provider does not accept the key, model or address",
    FailureReason.RATE_LIMITED: "the model provider's rate limit is reached",
    FailureReason.OVERLOADED: "the model provider is overloaded",
    FailureReason.TIMEOUT: "the model did not answer in time",
    FailureReason.UNREACHABLE: "the model provider cannot be reached",
}


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens of one call; `cached_input` of `input` were read from the provider's cache."""

    input: int = 0
    cached_input: int = 0
    output: int = 0


class ModelError(ServiceError):
    """A call that brought nothing usable. The text is fixed for each reason: no model output."""

    def __init__(
        self,
        reason: FailureReason,
        retry_after_seconds: float | None = None,
        usage: TokenUsage | None = None,
    ) -> None:
        configuration = reason is FailureReason.CONFIGURATION
        super().__init__(
            ErrorCode.CONFIGURATION_ERROR
            if configuration
            else ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE,
            _TEXTS[reason],
            retry_after_seconds=retry_after_seconds,
            details={"reason": reason.value},
        )
        self.failure = reason
        # What the call cost all the same.
        self.usage = usage or TokenUsage()

    @property
    def retrying(self) -> Retrying:
        """An outage passes, a refusal does not, and bad output may be better the next time."""
        if self.failure in OUTAGES:
            return Retrying.WAITS
        return Retrying.NEVER if self.failure in FINAL else Retrying.COUNTS

    @property
    def reason(self) -> str:
        """The reason of the failure."""
        return self.failure.value


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A form to fill in.

    `instructions` are the same for all requests of a stage (a provider may cache them); `content`
    is what they are about, and data throughout. `schema` is the JSON schema of the answer.
    """

    stage: str
    instructions: str
    content: str
    schema_name: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What may be the answer, best guess first: objects read from the output, not yet checked."""

    candidates: tuple[Mapping[str, Any], ...]
    usage: TokenUsage


class Model(Protocol):
    """A language model."""

    @property
    def name(self) -> str:
        """The model's name, for health."""
        ...

    @property
    def maximum_input_characters(self) -> int:
        """The longest `content` of a request, in characters; callers split what is longer."""
        ...

    async def fill_in(self, request: ModelRequest) -> ModelAnswer:
        """Asks once. Raises ModelError."""
        ...

    async def close(self) -> None:
        """Closes connections."""
        ...
