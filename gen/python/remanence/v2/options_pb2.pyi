from google.protobuf import descriptor_pb2 as _descriptor_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor
FIELD_FIELD_NUMBER: _ClassVar[int]
field: _descriptor.FieldDescriptor
MESSAGE_FIELD_NUMBER: _ClassVar[int]
message: _descriptor.FieldDescriptor
ONEOF_FIELD_NUMBER: _ClassVar[int]
oneof: _descriptor.FieldDescriptor
METHOD_FIELD_NUMBER: _ClassVar[int]
method: _descriptor.FieldDescriptor

class FieldRules(_message.Message):
    __slots__ = ("required", "min_length", "max_length", "pattern", "refused", "min_items", "max_items", "minimum", "maximum", "exclusive_minimum", "exception", "default_json", "epoch", "omit_absent", "null_when_empty", "outside_form")
    REQUIRED_FIELD_NUMBER: _ClassVar[int]
    MIN_LENGTH_FIELD_NUMBER: _ClassVar[int]
    MAX_LENGTH_FIELD_NUMBER: _ClassVar[int]
    PATTERN_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    MIN_ITEMS_FIELD_NUMBER: _ClassVar[int]
    MAX_ITEMS_FIELD_NUMBER: _ClassVar[int]
    MINIMUM_FIELD_NUMBER: _ClassVar[int]
    MAXIMUM_FIELD_NUMBER: _ClassVar[int]
    EXCLUSIVE_MINIMUM_FIELD_NUMBER: _ClassVar[int]
    EXCEPTION_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_JSON_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    OMIT_ABSENT_FIELD_NUMBER: _ClassVar[int]
    NULL_WHEN_EMPTY_FIELD_NUMBER: _ClassVar[int]
    OUTSIDE_FORM_FIELD_NUMBER: _ClassVar[int]
    required: bool
    min_length: int
    max_length: int
    pattern: str
    refused: _containers.RepeatedScalarFieldContainer[str]
    min_items: int
    max_items: int
    minimum: float
    maximum: float
    exclusive_minimum: float
    exception: float
    default_json: str
    epoch: bool
    omit_absent: bool
    null_when_empty: bool
    outside_form: bool
    def __init__(self, required: _Optional[bool] = ..., min_length: _Optional[int] = ..., max_length: _Optional[int] = ..., pattern: _Optional[str] = ..., refused: _Optional[_Iterable[str]] = ..., min_items: _Optional[int] = ..., max_items: _Optional[int] = ..., minimum: _Optional[float] = ..., maximum: _Optional[float] = ..., exclusive_minimum: _Optional[float] = ..., exception: _Optional[float] = ..., default_json: _Optional[str] = ..., epoch: _Optional[bool] = ..., omit_absent: _Optional[bool] = ..., null_when_empty: _Optional[bool] = ..., outside_form: _Optional[bool] = ...) -> None: ...

class Requirement(_message.Message):
    __slots__ = ("field", "when_field", "when_values", "message")
    FIELD_FIELD_NUMBER: _ClassVar[int]
    WHEN_FIELD_FIELD_NUMBER: _ClassVar[int]
    WHEN_VALUES_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    field: str
    when_field: str
    when_values: _containers.RepeatedScalarFieldContainer[str]
    message: str
    def __init__(self, field: _Optional[str] = ..., when_field: _Optional[str] = ..., when_values: _Optional[_Iterable[str]] = ..., message: _Optional[str] = ...) -> None: ...

class FieldGroup(_message.Message):
    __slots__ = ("fields", "message")
    FIELDS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    fields: _containers.RepeatedScalarFieldContainer[str]
    message: str
    def __init__(self, fields: _Optional[_Iterable[str]] = ..., message: _Optional[str] = ...) -> None: ...

class MessageRules(_message.Message):
    __slots__ = ("refuse_unknown_fields", "exactly_one_of", "at_most_one_of", "requirements", "inline_list", "filter_language", "omit_absent")
    REFUSE_UNKNOWN_FIELDS_FIELD_NUMBER: _ClassVar[int]
    EXACTLY_ONE_OF_FIELD_NUMBER: _ClassVar[int]
    AT_MOST_ONE_OF_FIELD_NUMBER: _ClassVar[int]
    REQUIREMENTS_FIELD_NUMBER: _ClassVar[int]
    INLINE_LIST_FIELD_NUMBER: _ClassVar[int]
    FILTER_LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    OMIT_ABSENT_FIELD_NUMBER: _ClassVar[int]
    refuse_unknown_fields: bool
    exactly_one_of: _containers.RepeatedCompositeFieldContainer[FieldGroup]
    at_most_one_of: _containers.RepeatedCompositeFieldContainer[FieldGroup]
    requirements: _containers.RepeatedCompositeFieldContainer[Requirement]
    inline_list: bool
    filter_language: bool
    omit_absent: bool
    def __init__(self, refuse_unknown_fields: _Optional[bool] = ..., exactly_one_of: _Optional[_Iterable[_Union[FieldGroup, _Mapping]]] = ..., at_most_one_of: _Optional[_Iterable[_Union[FieldGroup, _Mapping]]] = ..., requirements: _Optional[_Iterable[_Union[Requirement, _Mapping]]] = ..., inline_list: _Optional[bool] = ..., filter_language: _Optional[bool] = ..., omit_absent: _Optional[bool] = ...) -> None: ...

class OneofRules(_message.Message):
    __slots__ = ("union", "required")
    UNION_FIELD_NUMBER: _ClassVar[int]
    REQUIRED_FIELD_NUMBER: _ClassVar[int]
    union: bool
    required: bool
    def __init__(self, union: _Optional[bool] = ..., required: _Optional[bool] = ...) -> None: ...

class StatusRule(_message.Message):
    __slots__ = ("field", "equals", "status")
    FIELD_FIELD_NUMBER: _ClassVar[int]
    EQUALS_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    field: str
    equals: str
    status: int
    def __init__(self, field: _Optional[str] = ..., equals: _Optional[str] = ..., status: _Optional[int] = ...) -> None: ...

class MethodRules(_message.Message):
    __slots__ = ("bare", "status", "status_rules", "multipart", "error_statuses", "idempotent", "read_only")
    BARE_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    STATUS_RULES_FIELD_NUMBER: _ClassVar[int]
    MULTIPART_FIELD_NUMBER: _ClassVar[int]
    ERROR_STATUSES_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENT_FIELD_NUMBER: _ClassVar[int]
    READ_ONLY_FIELD_NUMBER: _ClassVar[int]
    bare: bool
    status: int
    status_rules: _containers.RepeatedCompositeFieldContainer[StatusRule]
    multipart: bool
    error_statuses: _containers.RepeatedScalarFieldContainer[int]
    idempotent: bool
    read_only: bool
    def __init__(self, bare: _Optional[bool] = ..., status: _Optional[int] = ..., status_rules: _Optional[_Iterable[_Union[StatusRule, _Mapping]]] = ..., multipart: _Optional[bool] = ..., error_statuses: _Optional[_Iterable[int]] = ..., idempotent: _Optional[bool] = ..., read_only: _Optional[bool] = ...) -> None: ...
