import datetime

from google.api import annotations_pb2 as _annotations_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from remanence.v2 import options_pb2 as _options_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GetHealthRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetHealthResponse(_message.Message):
    __slots__ = ("status", "version", "capabilities", "disabled_features", "cascade", "memorize_queue", "reasons", "jobs", "activities")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
    DISABLED_FEATURES_FIELD_NUMBER: _ClassVar[int]
    CASCADE_FIELD_NUMBER: _ClassVar[int]
    MEMORIZE_QUEUE_FIELD_NUMBER: _ClassVar[int]
    REASONS_FIELD_NUMBER: _ClassVar[int]
    JOBS_FIELD_NUMBER: _ClassVar[int]
    ACTIVITIES_FIELD_NUMBER: _ClassVar[int]
    status: str
    version: str
    capabilities: HealthCapabilities
    disabled_features: _containers.RepeatedScalarFieldContainer[str]
    cascade: CascadeHealth
    memorize_queue: MemorizeQueueHealth
    reasons: _containers.RepeatedScalarFieldContainer[str]
    jobs: JobsHealth
    activities: _containers.RepeatedCompositeFieldContainer[Activity]
    def __init__(self, status: _Optional[str] = ..., version: _Optional[str] = ..., capabilities: _Optional[_Union[HealthCapabilities, _Mapping]] = ..., disabled_features: _Optional[_Iterable[str]] = ..., cascade: _Optional[_Union[CascadeHealth, _Mapping]] = ..., memorize_queue: _Optional[_Union[MemorizeQueueHealth, _Mapping]] = ..., reasons: _Optional[_Iterable[str]] = ..., jobs: _Optional[_Union[JobsHealth, _Mapping]] = ..., activities: _Optional[_Iterable[_Union[Activity, _Mapping]]] = ...) -> None: ...

class GetLivenessRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetLivenessResponse(_message.Message):
    __slots__ = ("status",)
    STATUS_FIELD_NUMBER: _ClassVar[int]
    status: str
    def __init__(self, status: _Optional[str] = ...) -> None: ...

class GetReadinessRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetReadinessResponse(_message.Message):
    __slots__ = ("status", "reasons")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    REASONS_FIELD_NUMBER: _ClassVar[int]
    status: str
    reasons: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, status: _Optional[str] = ..., reasons: _Optional[_Iterable[str]] = ...) -> None: ...

class Activity(_message.Message):
    __slots__ = ("name", "done", "total", "started_at")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    name: str
    done: int
    total: int
    started_at: _timestamp_pb2.Timestamp
    def __init__(self, name: _Optional[str] = ..., done: _Optional[int] = ..., total: _Optional[int] = ..., started_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class RebuildRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RebuildResponse(_message.Message):
    __slots__ = ("started",)
    STARTED_FIELD_NUMBER: _ClassVar[int]
    started: bool
    def __init__(self, started: _Optional[bool] = ...) -> None: ...

class HealthCapabilities(_message.Message):
    __slots__ = ("llm", "embed", "rerank", "multimodal_llm", "parser")
    LLM_FIELD_NUMBER: _ClassVar[int]
    EMBED_FIELD_NUMBER: _ClassVar[int]
    RERANK_FIELD_NUMBER: _ClassVar[int]
    MULTIMODAL_LLM_FIELD_NUMBER: _ClassVar[int]
    PARSER_FIELD_NUMBER: _ClassVar[int]
    llm: bool
    embed: bool
    rerank: bool
    multimodal_llm: bool
    parser: bool
    def __init__(self, llm: _Optional[bool] = ..., embed: _Optional[bool] = ..., rerank: _Optional[bool] = ..., multimodal_llm: _Optional[bool] = ..., parser: _Optional[bool] = ...) -> None: ...

class CascadeHealth(_message.Message):
    __slots__ = ("healthy", "reasons", "pending", "failed_permanent", "failed_retryable", "drain_consecutive_failures", "unrecoverable_total", "optimize_failure_streak", "prune_stale_seconds", "index_rows", "index_emptied", "problems")
    class IndexRowsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    HEALTHY_FIELD_NUMBER: _ClassVar[int]
    REASONS_FIELD_NUMBER: _ClassVar[int]
    PENDING_FIELD_NUMBER: _ClassVar[int]
    FAILED_PERMANENT_FIELD_NUMBER: _ClassVar[int]
    FAILED_RETRYABLE_FIELD_NUMBER: _ClassVar[int]
    DRAIN_CONSECUTIVE_FAILURES_FIELD_NUMBER: _ClassVar[int]
    UNRECOVERABLE_TOTAL_FIELD_NUMBER: _ClassVar[int]
    OPTIMIZE_FAILURE_STREAK_FIELD_NUMBER: _ClassVar[int]
    PRUNE_STALE_SECONDS_FIELD_NUMBER: _ClassVar[int]
    INDEX_ROWS_FIELD_NUMBER: _ClassVar[int]
    INDEX_EMPTIED_FIELD_NUMBER: _ClassVar[int]
    PROBLEMS_FIELD_NUMBER: _ClassVar[int]
    healthy: bool
    reasons: _containers.RepeatedScalarFieldContainer[str]
    pending: int
    failed_permanent: int
    failed_retryable: int
    drain_consecutive_failures: int
    unrecoverable_total: int
    optimize_failure_streak: int
    prune_stale_seconds: float
    index_rows: _containers.ScalarMap[str, int]
    index_emptied: bool
    problems: _containers.RepeatedCompositeFieldContainer[MarkdownProblem]
    def __init__(self, healthy: _Optional[bool] = ..., reasons: _Optional[_Iterable[str]] = ..., pending: _Optional[int] = ..., failed_permanent: _Optional[int] = ..., failed_retryable: _Optional[int] = ..., drain_consecutive_failures: _Optional[int] = ..., unrecoverable_total: _Optional[int] = ..., optimize_failure_streak: _Optional[int] = ..., prune_stale_seconds: _Optional[float] = ..., index_rows: _Optional[_Mapping[str, int]] = ..., index_emptied: _Optional[bool] = ..., problems: _Optional[_Iterable[_Union[MarkdownProblem, _Mapping]]] = ...) -> None: ...

class MarkdownProblem(_message.Message):
    __slots__ = ("path", "line", "reason")
    PATH_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    path: str
    line: int
    reason: str
    def __init__(self, path: _Optional[str] = ..., line: _Optional[int] = ..., reason: _Optional[str] = ...) -> None: ...

class MemorizeQueueHealth(_message.Message):
    __slots__ = ("healthy", "reasons", "loop_alive", "accepting", "pending", "oldest_pending_age_s", "failed", "loop_restarts", "last_loop_error_at")
    HEALTHY_FIELD_NUMBER: _ClassVar[int]
    REASONS_FIELD_NUMBER: _ClassVar[int]
    LOOP_ALIVE_FIELD_NUMBER: _ClassVar[int]
    ACCEPTING_FIELD_NUMBER: _ClassVar[int]
    PENDING_FIELD_NUMBER: _ClassVar[int]
    OLDEST_PENDING_AGE_S_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    LOOP_RESTARTS_FIELD_NUMBER: _ClassVar[int]
    LAST_LOOP_ERROR_AT_FIELD_NUMBER: _ClassVar[int]
    healthy: bool
    reasons: _containers.RepeatedScalarFieldContainer[str]
    loop_alive: bool
    accepting: bool
    pending: int
    oldest_pending_age_s: float
    failed: int
    loop_restarts: int
    last_loop_error_at: _timestamp_pb2.Timestamp
    def __init__(self, healthy: _Optional[bool] = ..., reasons: _Optional[_Iterable[str]] = ..., loop_alive: _Optional[bool] = ..., accepting: _Optional[bool] = ..., pending: _Optional[int] = ..., oldest_pending_age_s: _Optional[float] = ..., failed: _Optional[int] = ..., loop_restarts: _Optional[int] = ..., last_loop_error_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class JobsHealth(_message.Message):
    __slots__ = ("healthy", "pending", "running", "dead_letters")
    HEALTHY_FIELD_NUMBER: _ClassVar[int]
    PENDING_FIELD_NUMBER: _ClassVar[int]
    RUNNING_FIELD_NUMBER: _ClassVar[int]
    DEAD_LETTERS_FIELD_NUMBER: _ClassVar[int]
    healthy: bool
    pending: int
    running: int
    dead_letters: int
    def __init__(self, healthy: _Optional[bool] = ..., pending: _Optional[int] = ..., running: _Optional[int] = ..., dead_letters: _Optional[int] = ...) -> None: ...

class QuiesceRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class QuiesceResponse(_message.Message):
    __slots__ = ("quiesced", "drained", "pending_before", "pending_after", "failed_permanent")
    QUIESCED_FIELD_NUMBER: _ClassVar[int]
    DRAINED_FIELD_NUMBER: _ClassVar[int]
    PENDING_BEFORE_FIELD_NUMBER: _ClassVar[int]
    PENDING_AFTER_FIELD_NUMBER: _ClassVar[int]
    FAILED_PERMANENT_FIELD_NUMBER: _ClassVar[int]
    quiesced: bool
    drained: int
    pending_before: int
    pending_after: int
    failed_permanent: int
    def __init__(self, quiesced: _Optional[bool] = ..., drained: _Optional[int] = ..., pending_before: _Optional[int] = ..., pending_after: _Optional[int] = ..., failed_permanent: _Optional[int] = ...) -> None: ...
