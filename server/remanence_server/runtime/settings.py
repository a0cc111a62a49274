"""What can be configured. Each key is said once, here: type, default, unit and meaning.

Values come from the file, the environment and flags: see `settings_loader`. `remanence init` writes
its commented file from these models, so the texts below are what a user reads.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr

from remanence_server.runtime.addresses import Address, parse_address


def _checked_address(text: str) -> str:
    return str(parse_address(text))


def _checked_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, OSError, ValueError) as error:  # not found, a folder of zones, not a name
        raise ValueError("not a time zone, for example UTC or Europe/Berlin") from error
    return name


def _checked_http_url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("not an http:// or https:// address")
    return text


AddressText = Annotated[str, AfterValidator(_checked_address)]
OptionalHttpUrlText = Annotated[
    str, AfterValidator(lambda text: _checked_http_url(text) if text else text)
]
ZoneName = Annotated[str, AfterValidator(_checked_zone)]
HttpUrlText = Annotated[str, AfterValidator(_checked_http_url)]


class Section(BaseModel):
    """A table of remanence.toml."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, hide_input_in_errors=True
    )


class ServerSettings(Section):
    """Where the service listens."""

    http: AddressText = Field("127.0.0.1:8000", description="HTTP address; port 0 takes a free one")
    grpc: AddressText = Field(
        "127.0.0.1:50051", description="gRPC address; port 0 takes a free one"
    )
    max_body_bytes: int = Field(
        64 * 1024 * 1024, ge=1024, description="Largest request that is read, in bytes"
    )
    shutdown_grace_seconds: float = Field(
        30.0, ge=0, description="How long running requests may go on after a stop signal"
    )
    http_keepalive_seconds: float = Field(
        75.0, ge=1, description="How long an HTTP connection without a request is kept open"
    )
    grpc_keepalive_seconds: float = Field(
        60.0, ge=1, description="A gRPC connection that is silent this long is asked for a sign"
    )
    grpc_keepalive_timeout_seconds: float = Field(
        20.0, ge=1, description="One that gives none within this time is closed"
    )
    grpc_max_connection_age_seconds: float = Field(
        0.0, ge=0, description="Then a gRPC client is asked to connect anew; 0: never"
    )
    grpc_max_concurrent_calls: int = Field(
        1000, ge=1, description="Calls at once on a gRPC connection; more wait at the client"
    )
    shutdown_delay_seconds: float = Field(
        0.0, ge=0, description="How long probes say unavailable, before calls are refused"
    )

    @property
    def http_address(self) -> Address:
        """The HTTP address, parsed."""
        return parse_address(self.http)

    @property
    def grpc_address(self) -> Address:
        """The gRPC address, parsed."""
        return parse_address(self.grpc)


class MemorySettings(Section):
    """How memory is shown."""

    timezone: ZoneName = Field(
        "UTC", description="Zone of rendered instants and of the daily files, such as Europe/Berlin"
    )

    @property
    def zone(self) -> ZoneInfo:
        """The display zone."""
        return ZoneInfo(self.timezone)


class BoundarySettings(Section):
    """When a buffered segment of a session is complete."""

    maximum_messages: int = Field(50, ge=1, description="Cut a segment at this many messages")
    maximum_tokens: int = Field(8192, ge=1, description="Cut a segment at about this many tokens")
    idle_gap_seconds: float = Field(
        21_600.0, gt=0, description="Cut where two messages are this far apart"
    )


class ExtractionSettings(Section):
    """Who turns conversations into memories."""

    provider: Literal["auto", "heuristic", "claude"] = Field(
        "auto",
        description="heuristic: built in, no key, no network; claude: a model; auto: claude if"
        " claude.api_key or claude.base_url is set, else heuristic",
    )


class ClaudeSettings(Section):
    """Claude, or another model behind the same protocol."""

    api_key: SecretStr = Field(
        SecretStr(""), description="Key; empty: ANTHROPIC_API_KEY, if extraction.provider is claude"
    )
    base_url: OptionalHttpUrlText = Field(
        "", description="Address of a provider that speaks the protocol; empty: Anthropic's"
    )
    model: str = Field("claude-haiku-5-5", min_length=1, description="Name of the model")
    temperature: Annotated[float, Field(ge=0, le=1)] | Literal[""] = Field(
        "", description="Sampling temperature, for models that take one; empty: the provider's"
    )
    max_output_tokens: int = Field(8192, ge=256, description="Longest answer of a call, in tokens")
    max_input_characters: int = Field(
        100_000, ge=1000, description="Longest material of a call; what is longer is asked in parts"
    )
    timeout_seconds: float = Field(
        120.0, gt=0, description="How long a call may take, its answer included"
    )
    max_concurrency: int = Field(4, ge=1, le=64, description="Calls at once")
    prompts_directory: str = Field(
        "", description="Folder whose episode.md, facts.md, profile.md, case.md replace the prompts"
    )


class EmbeddingsSettings(Section):
    """Who turns text into vectors."""

    provider: Literal["onnx", "hashing"] = Field(
        "onnx", description="onnx: a local model; hashing: no model, weaker recall"
    )
    model_directory: str = Field(
        "", description="Folder with model.onnx and tokenizer.json; empty: the bundled model"
    )
    batch_size: int = Field(32, ge=1, le=4096, description="Passages embedded at once")
    threads: int = Field(0, ge=0, description="Threads of the local model; 0: one for each core")


class LexicalSettings(Section):
    """The keyword index."""

    heap_megabytes: int = Field(128, ge=64, description="Largest heap of the Java VM")
    k1: float = Field(1.2, ge=0, description="BM25: how soon repeating a term stops to count")
    b: float = Field(0.75, ge=0, le=1, description="BM25: how much long texts are marked down")


class DenseSettings(Section):
    """The vector index."""

    memory_budget_megabytes: int = Field(
        256, ge=1, description="Vectors kept in memory; the least recently used leave first"
    )


class SearchSettings(Section):
    """Defaults of a search that does not say."""

    default_radius: float = Field(
        0.25, ge=0, le=1, description="Cosine floor of dense recall when top_k is -1"
    )
    default_top_k: int = Field(
        100, ge=1, le=100, description="Results for each kind of a user's memory when top_k is -1"
    )
    agent_default_top_k: int = Field(
        10, ge=1, le=100, description="Cases and skills returned when top_k is -1"
    )


class JobsSettings(Section):
    """The durable work behind add and flush."""

    workers: int = Field(2, ge=1, le=64, description="Jobs that run at once")
    lease_seconds: float = Field(
        60.0, gt=0, description="A job whose worker is silent this long is taken over"
    )
    maximum_attempts: int = Field(5, ge=1, description="Then a job is put aside as dead_letter")
    retry_backoff_seconds: float = Field(
        1.0, ge=0, description="Wait before the second attempt; doubles with each further one"
    )


class FlushSettings(Section):
    """What a flush waits for."""

    visibility_timeout_seconds: float = Field(
        2.0, ge=0, description="Longest wait until new entries can be found; then it answers anyway"
    )


class AsyncQueueSettings(Section):
    """The queue behind async_mode."""

    enabled: bool = Field(
        True, description="Accept async_mode; if false such calls run as if it were not set"
    )
    max_concurrency: int = Field(
        4, ge=1, le=64, description="Batches delivered at once, never two of one session"
    )
    max_pending_per_session: int = Field(
        50, ge=1, description="Unfinished batches of a session; more are refused with 429"
    )
    max_pending_total: int = Field(
        200, ge=1, description="Unfinished batches of all sessions; more are refused with 429"
    )
    max_payload_bytes: int = Field(
        4 * 1024 * 1024,
        ge=1,
        description="Largest batch, as JSON; a larger one is refused with 413",
    )
    scan_interval_seconds: float = Field(
        5.0, gt=0, description="Look for batches this often, whether or not one was announced"
    )
    max_attempts: int = Field(
        1, ge=1, description="Deliveries of a batch that fails, before it is marked as failed"
    )
    retry_backoff_seconds: float = Field(2.0, ge=0, description="Wait between two of them")
    max_replays: int = Field(
        3,
        ge=0,
        description="How often a batch that was running when the process died is delivered again",
    )
    row_retention_hours: float = Field(
        168.0, gt=0, le=8784, description="How long a batch and its task are kept, from acceptance"
    )


class MemorizeSettings(Section):
    """How messages are taken in."""

    message_id_retention_hours: float = Field(
        720.0,
        gt=0,
        le=87_840,
        description="How long a message_id is known after its message became part of a memory",
    )
    receipt_retention_hours: float = Field(
        168.0,
        gt=0,
        le=8784,
        description="How long a request with the same Idempotency-Key gets the first answer again",
    )
    async_queue: AsyncQueueSettings = AsyncQueueSettings()


class ProjectionSettings(Section):
    """How edits of the Markdown reach the index."""

    watch: bool = Field(True, description="Follow changes as they happen")
    scan_interval_seconds: float = Field(
        30.0, gt=0, description="Look for changes that the watcher missed this often"
    )


class LogSettings(Section):
    """What the service says on stderr."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="debug, info, warning or error"
    )
    format: Literal["console", "json"] = Field(
        "console", description="console for people, json for machines"
    )


class TracingSettings(Section):
    """Traces of requests and of the work behind them, by OpenTelemetry."""

    enabled: bool = Field(False, description="Send traces to a collector")
    endpoint: HttpUrlText = Field(
        "http://127.0.0.1:4318/v1/traces", description="Where the collector takes OTLP over HTTP"
    )
    service_name: str = Field(
        "remanence", min_length=1, description="The name of this service in the traces"
    )
    sample_ratio: float = Field(
        1.0, ge=0, le=1, description="Share of traces sent; a caller's own decision comes first"
    )


class Settings(Section):
    """All settings of one memory root."""

    root: Path
    server: ServerSettings = ServerSettings()
    memory: MemorySettings = MemorySettings()
    boundary: BoundarySettings = BoundarySettings()
    extraction: ExtractionSettings = ExtractionSettings()
    claude: ClaudeSettings = ClaudeSettings()
    embeddings: EmbeddingsSettings = EmbeddingsSettings()
    lexical: LexicalSettings = LexicalSettings()
    dense: DenseSettings = DenseSettings()
    search: SearchSettings = SearchSettings()
    jobs: JobsSettings = JobsSettings()
    flush: FlushSettings = FlushSettings()
    memorize: MemorizeSettings = MemorizeSettings()
    projection: ProjectionSettings = ProjectionSettings()
    log: LogSettings = LogSettings()
    tracing: TracingSettings = TracingSettings()
