"""A model that is watched: its calls, their time, tokens and failures, and a span for each."""

from __future__ import annotations

import time

from remanence_server.providers.models.interface import (
    Model,
    ModelAnswer,
    ModelError,
    ModelRequest,
    TokenUsage,
)
from remanence_server.runtime.metrics import ProviderMetrics
from remanence_server.runtime.tracing import span


class MeteredModel:
    """Implements `Model` by another one. `provider` is its name in the metrics."""

    def __init__(self, model: Model, provider: str, metrics: ProviderMetrics) -> None:
        self._model = model
        self._provider = provider
        self._metrics = metrics

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name

    @property
    def maximum_input_characters(self) -> int:
        """The longest content of a request, in characters."""
        return self._model.maximum_input_characters

    async def fill_in(self, request: ModelRequest) -> ModelAnswer:
        """Asks once. Raises ModelError."""
        outcome = "failed"
        usage = TokenUsage()
        started_seconds = time.perf_counter()
        with span(f"model {request.stage}", {"gen_ai.request.model": self.name}):
            try:
                answer = await self._model.fill_in(request)
            except ModelError as error:
                outcome, usage = error.failure.value.lower(), error.usage
                raise
            else:
                outcome, usage = "succeeded", answer.usage
                return answer
            finally:
                seconds = time.perf_counter() - started_seconds
                self._count(request.stage, outcome, usage, seconds)

    async def close(self) -> None:
        """Closes the other one."""
        await self._model.close()

    def _count(self, stage: str, outcome: str, usage: TokenUsage, seconds: float) -> None:
        metrics, provider = self._metrics, self._provider
        metrics.calls.labels(provider, stage, outcome).inc()
        metrics.duration_seconds.labels(provider, stage).observe(seconds)
        for kind, tokens in (
            ("input", usage.input - usage.cached_input),
            ("cached_input", usage.cached_input),
            ("output", usage.output),
        ):
            metrics.tokens.labels(provider, stage, kind).inc(max(0, tokens))
