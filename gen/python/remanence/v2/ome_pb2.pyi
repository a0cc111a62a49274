from google.api import annotations_pb2 as _annotations_pb2
from remanence.v2 import options_pb2 as _options_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TriggerStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TRIGGER_STATUS_UNSPECIFIED: _ClassVar[TriggerStatus]
    TRIGGER_STATUS_OK: _ClassVar[TriggerStatus]
    TRIGGER_STATUS_TIMEOUT: _ClassVar[TriggerStatus]
    TRIGGER_STATUS_NOT_DISPATCHED: _ClassVar[TriggerStatus]

class RunStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RUN_STATUS_UNSPECIFIED: _ClassVar[RunStatus]
    RUN_STATUS_RUNNING: _ClassVar[RunStatus]
    RUN_STATUS_SUCCESS: _ClassVar[RunStatus]
    RUN_STATUS_FAILED: _ClassVar[RunStatus]
    RUN_STATUS_DEAD_LETTER: _ClassVar[RunStatus]
    RUN_STATUS_CRASHED: _ClassVar[RunStatus]
TRIGGER_STATUS_UNSPECIFIED: TriggerStatus
TRIGGER_STATUS_OK: TriggerStatus
TRIGGER_STATUS_TIMEOUT: TriggerStatus
TRIGGER_STATUS_NOT_DISPATCHED: TriggerStatus
RUN_STATUS_UNSPECIFIED: RunStatus
RUN_STATUS_RUNNING: RunStatus
RUN_STATUS_SUCCESS: RunStatus
RUN_STATUS_FAILED: RunStatus
RUN_STATUS_DEAD_LETTER: RunStatus
RUN_STATUS_CRASHED: RunStatus

class TriggerRequest(_message.Message):
    __slots__ = ("name", "timeout", "force")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    FORCE_FIELD_NUMBER: _ClassVar[int]
    name: str
    timeout: float
    force: bool
    def __init__(self, name: _Optional[str] = ..., timeout: _Optional[float] = ..., force: _Optional[bool] = ...) -> None: ...

class RunSummary(_message.Message):
    __slots__ = ("run_id", "status", "error")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    status: RunStatus
    error: str
    def __init__(self, run_id: _Optional[str] = ..., status: _Optional[_Union[RunStatus, str]] = ..., error: _Optional[str] = ...) -> None: ...

class TriggerResponse(_message.Message):
    __slots__ = ("status", "name", "dispatched", "runs")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    DISPATCHED_FIELD_NUMBER: _ClassVar[int]
    RUNS_FIELD_NUMBER: _ClassVar[int]
    status: TriggerStatus
    name: str
    dispatched: int
    runs: _containers.RepeatedCompositeFieldContainer[RunSummary]
    def __init__(self, status: _Optional[_Union[TriggerStatus, str]] = ..., name: _Optional[str] = ..., dispatched: _Optional[int] = ..., runs: _Optional[_Iterable[_Union[RunSummary, _Mapping]]] = ...) -> None: ...
