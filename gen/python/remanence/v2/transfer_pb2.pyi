from remanence.v2 import options_pb2 as _options_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class FileChunk(_message.Message):
    __slots__ = ("path", "data", "last")
    PATH_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    path: str
    data: bytes
    last: bool
    def __init__(self, path: _Optional[str] = ..., data: _Optional[bytes] = ..., last: _Optional[bool] = ...) -> None: ...

class ExportOwnerRequest(_message.Message):
    __slots__ = ("user_id", "agent_id", "app_id", "project_id")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    APP_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    agent_id: str
    app_id: str
    project_id: str
    def __init__(self, user_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., app_id: _Optional[str] = ..., project_id: _Optional[str] = ...) -> None: ...

class ExportOwnerResponse(_message.Message):
    __slots__ = ("chunk",)
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    chunk: FileChunk
    def __init__(self, chunk: _Optional[_Union[FileChunk, _Mapping]] = ...) -> None: ...

class ImportOwnerRequest(_message.Message):
    __slots__ = ("target", "chunk")
    TARGET_FIELD_NUMBER: _ClassVar[int]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    target: ImportTarget
    chunk: bytes
    def __init__(self, target: _Optional[_Union[ImportTarget, _Mapping]] = ..., chunk: _Optional[bytes] = ...) -> None: ...

class ImportTarget(_message.Message):
    __slots__ = ("user_id", "agent_id", "app_id", "project_id")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    APP_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    agent_id: str
    app_id: str
    project_id: str
    def __init__(self, user_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., app_id: _Optional[str] = ..., project_id: _Optional[str] = ...) -> None: ...

class ImportOwnerResponse(_message.Message):
    __slots__ = ("imported", "present")
    IMPORTED_FIELD_NUMBER: _ClassVar[int]
    PRESENT_FIELD_NUMBER: _ClassVar[int]
    imported: int
    present: int
    def __init__(self, imported: _Optional[int] = ..., present: _Optional[int] = ...) -> None: ...

class BackupRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class BackupResponse(_message.Message):
    __slots__ = ("chunk",)
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    chunk: FileChunk
    def __init__(self, chunk: _Optional[_Union[FileChunk, _Mapping]] = ...) -> None: ...
