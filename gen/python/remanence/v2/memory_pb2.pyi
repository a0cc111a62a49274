import datetime

from google.api import annotations_pb2 as _annotations_pb2
from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from remanence.v2 import options_pb2 as _options_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Role(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ROLE_UNSPECIFIED: _ClassVar[Role]
    ROLE_USER: _ClassVar[Role]
    ROLE_ASSISTANT: _ClassVar[Role]
    ROLE_TOOL: _ClassVar[Role]

class ContentType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONTENT_TYPE_UNSPECIFIED: _ClassVar[ContentType]
    CONTENT_TYPE_TEXT: _ClassVar[ContentType]
    CONTENT_TYPE_IMAGE: _ClassVar[ContentType]
    CONTENT_TYPE_AUDIO: _ClassVar[ContentType]
    CONTENT_TYPE_DOC: _ClassVar[ContentType]
    CONTENT_TYPE_PDF: _ClassVar[ContentType]
    CONTENT_TYPE_HTML: _ClassVar[ContentType]
    CONTENT_TYPE_EMAIL: _ClassVar[ContentType]

class AddStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ADD_STATUS_UNSPECIFIED: _ClassVar[AddStatus]
    ADD_STATUS_ACCUMULATED: _ClassVar[AddStatus]
    ADD_STATUS_EXTRACTED: _ClassVar[AddStatus]
    ADD_STATUS_QUEUED: _ClassVar[AddStatus]

class FlushStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FLUSH_STATUS_UNSPECIFIED: _ClassVar[FlushStatus]
    FLUSH_STATUS_EXTRACTED: _ClassVar[FlushStatus]
    FLUSH_STATUS_NO_EXTRACTION: _ClassVar[FlushStatus]
    FLUSH_STATUS_QUEUED: _ClassVar[FlushStatus]

class FilterOperator(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FILTER_OPERATOR_UNSPECIFIED: _ClassVar[FilterOperator]
    FILTER_OPERATOR_EQ: _ClassVar[FilterOperator]
    FILTER_OPERATOR_NE: _ClassVar[FilterOperator]
    FILTER_OPERATOR_GT: _ClassVar[FilterOperator]
    FILTER_OPERATOR_GTE: _ClassVar[FilterOperator]
    FILTER_OPERATOR_LT: _ClassVar[FilterOperator]
    FILTER_OPERATOR_LTE: _ClassVar[FilterOperator]
    FILTER_OPERATOR_IN: _ClassVar[FilterOperator]

class SearchMethod(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SEARCH_METHOD_UNSPECIFIED: _ClassVar[SearchMethod]
    SEARCH_METHOD_KEYWORD: _ClassVar[SearchMethod]
    SEARCH_METHOD_VECTOR: _ClassVar[SearchMethod]
    SEARCH_METHOD_HYBRID: _ClassVar[SearchMethod]
    SEARCH_METHOD_AGENTIC: _ClassVar[SearchMethod]
    SEARCH_METHOD_LLM_MULTIROUND: _ClassVar[SearchMethod]

class MemoryType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MEMORY_TYPE_UNSPECIFIED: _ClassVar[MemoryType]
    MEMORY_TYPE_EPISODE: _ClassVar[MemoryType]
    MEMORY_TYPE_PROFILE: _ClassVar[MemoryType]
    MEMORY_TYPE_AGENT_CASE: _ClassVar[MemoryType]
    MEMORY_TYPE_AGENT_SKILL: _ClassVar[MemoryType]

class SortBy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SORT_BY_UNSPECIFIED: _ClassVar[SortBy]
    SORT_BY_TIMESTAMP: _ClassVar[SortBy]
    SORT_BY_UPDATED_AT: _ClassVar[SortBy]

class SortOrder(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SORT_ORDER_UNSPECIFIED: _ClassVar[SortOrder]
    SORT_ORDER_ASC: _ClassVar[SortOrder]
    SORT_ORDER_DESC: _ClassVar[SortOrder]
ROLE_UNSPECIFIED: Role
ROLE_USER: Role
ROLE_ASSISTANT: Role
ROLE_TOOL: Role
CONTENT_TYPE_UNSPECIFIED: ContentType
CONTENT_TYPE_TEXT: ContentType
CONTENT_TYPE_IMAGE: ContentType
CONTENT_TYPE_AUDIO: ContentType
CONTENT_TYPE_DOC: ContentType
CONTENT_TYPE_PDF: ContentType
CONTENT_TYPE_HTML: ContentType
CONTENT_TYPE_EMAIL: ContentType
ADD_STATUS_UNSPECIFIED: AddStatus
ADD_STATUS_ACCUMULATED: AddStatus
ADD_STATUS_EXTRACTED: AddStatus
ADD_STATUS_QUEUED: AddStatus
FLUSH_STATUS_UNSPECIFIED: FlushStatus
FLUSH_STATUS_EXTRACTED: FlushStatus
FLUSH_STATUS_NO_EXTRACTION: FlushStatus
FLUSH_STATUS_QUEUED: FlushStatus
FILTER_OPERATOR_UNSPECIFIED: FilterOperator
FILTER_OPERATOR_EQ: FilterOperator
FILTER_OPERATOR_NE: FilterOperator
FILTER_OPERATOR_GT: FilterOperator
FILTER_OPERATOR_GTE: FilterOperator
FILTER_OPERATOR_LT: FilterOperator
FILTER_OPERATOR_LTE: FilterOperator
FILTER_OPERATOR_IN: FilterOperator
SEARCH_METHOD_UNSPECIFIED: SearchMethod
SEARCH_METHOD_KEYWORD: SearchMethod
SEARCH_METHOD_VECTOR: SearchMethod
SEARCH_METHOD_HYBRID: SearchMethod
SEARCH_METHOD_AGENTIC: SearchMethod
SEARCH_METHOD_LLM_MULTIROUND: SearchMethod
MEMORY_TYPE_UNSPECIFIED: MemoryType
MEMORY_TYPE_EPISODE: MemoryType
MEMORY_TYPE_PROFILE: MemoryType
MEMORY_TYPE_AGENT_CASE: MemoryType
MEMORY_TYPE_AGENT_SKILL: MemoryType
SORT_BY_UNSPECIFIED: SortBy
SORT_BY_TIMESTAMP: SortBy
SORT_BY_UPDATED_AT: SortBy
SORT_ORDER_UNSPECIFIED: SortOrder
SORT_ORDER_ASC: SortOrder
SORT_ORDER_DESC: SortOrder

class ContentItem(_message.Message):
    __slots__ = ("type", "text", "uri", "base64", "ext", "name", "extras")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    URI_FIELD_NUMBER: _ClassVar[int]
    BASE64_FIELD_NUMBER: _ClassVar[int]
    EXT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    EXTRAS_FIELD_NUMBER: _ClassVar[int]
    type: ContentType
    text: str
    uri: str
    base64: str
    ext: str
    name: str
    extras: _struct_pb2.Struct
    def __init__(self, type: _Optional[_Union[ContentType, str]] = ..., text: _Optional[str] = ..., uri: _Optional[str] = ..., base64: _Optional[str] = ..., ext: _Optional[str] = ..., name: _Optional[str] = ..., extras: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class ContentItemList(_message.Message):
    __slots__ = ("items",)
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[ContentItem]
    def __init__(self, items: _Optional[_Iterable[_Union[ContentItem, _Mapping]]] = ...) -> None: ...

class ToolFunction(_message.Message):
    __slots__ = ("name", "arguments")
    NAME_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    name: str
    arguments: str
    def __init__(self, name: _Optional[str] = ..., arguments: _Optional[str] = ...) -> None: ...

class ToolCall(_message.Message):
    __slots__ = ("id", "type", "function")
    ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    FUNCTION_FIELD_NUMBER: _ClassVar[int]
    id: str
    type: str
    function: ToolFunction
    def __init__(self, id: _Optional[str] = ..., type: _Optional[str] = ..., function: _Optional[_Union[ToolFunction, _Mapping]] = ...) -> None: ...

class MessageItem(_message.Message):
    __slots__ = ("sender_id", "sender_name", "role", "timestamp", "text", "items", "tool_calls", "tool_call_id", "message_id")
    SENDER_ID_FIELD_NUMBER: _ClassVar[int]
    SENDER_NAME_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    sender_id: str
    sender_name: str
    role: Role
    timestamp: int
    text: str
    items: ContentItemList
    tool_calls: _containers.RepeatedCompositeFieldContainer[ToolCall]
    tool_call_id: str
    message_id: str
    def __init__(self, sender_id: _Optional[str] = ..., sender_name: _Optional[str] = ..., role: _Optional[_Union[Role, str]] = ..., timestamp: _Optional[int] = ..., text: _Optional[str] = ..., items: _Optional[_Union[ContentItemList, _Mapping]] = ..., tool_calls: _Optional[_Iterable[_Union[ToolCall, _Mapping]]] = ..., tool_call_id: _Optional[str] = ..., message_id: _Optional[str] = ...) -> None: ...

class AddRequest(_message.Message):
    __slots__ = ("session_id", "app_id", "project_id", "messages", "defer_extraction", "async_mode")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    APP_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    DEFER_EXTRACTION_FIELD_NUMBER: _ClassVar[int]
    ASYNC_MODE_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    app_id: str
    project_id: str
    messages: _containers.RepeatedCompositeFieldContainer[MessageItem]
    defer_extraction: bool
    async_mode: bool
    def __init__(self, session_id: _Optional[str] = ..., app_id: _Optional[str] = ..., project_id: _Optional[str] = ..., messages: _Optional[_Iterable[_Union[MessageItem, _Mapping]]] = ..., defer_extraction: _Optional[bool] = ..., async_mode: _Optional[bool] = ...) -> None: ...

class AddResponse(_message.Message):
    __slots__ = ("message_count", "status", "pending", "known_count")
    MESSAGE_COUNT_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    PENDING_FIELD_NUMBER: _ClassVar[int]
    KNOWN_COUNT_FIELD_NUMBER: _ClassVar[int]
    message_count: int
    status: AddStatus
    pending: int
    known_count: int
    def __init__(self, message_count: _Optional[int] = ..., status: _Optional[_Union[AddStatus, str]] = ..., pending: _Optional[int] = ..., known_count: _Optional[int] = ...) -> None: ...

class FlushRequest(_message.Message):
    __slots__ = ("session_id", "app_id", "project_id", "wait")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    APP_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    WAIT_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    app_id: str
    project_id: str
    wait: bool
    def __init__(self, session_id: _Optional[str] = ..., app_id: _Optional[str] = ..., project_id: _Optional[str] = ..., wait: _Optional[bool] = ...) -> None: ...

class FlushResponse(_message.Message):
    __slots__ = ("status", "message_count", "pending")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_COUNT_FIELD_NUMBER: _ClassVar[int]
    PENDING_FIELD_NUMBER: _ClassVar[int]
    status: FlushStatus
    message_count: int
    pending: int
    def __init__(self, status: _Optional[_Union[FlushStatus, str]] = ..., message_count: _Optional[int] = ..., pending: _Optional[int] = ...) -> None: ...

class FilterValueList(_message.Message):
    __slots__ = ("values",)
    VALUES_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedCompositeFieldContainer[FilterValue]
    def __init__(self, values: _Optional[_Iterable[_Union[FilterValue, _Mapping]]] = ...) -> None: ...

class FilterValue(_message.Message):
    __slots__ = ("text", "integer", "number", "flag", "list", "time")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    INTEGER_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    FLAG_FIELD_NUMBER: _ClassVar[int]
    LIST_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    text: str
    integer: int
    number: float
    flag: bool
    list: FilterValueList
    time: _timestamp_pb2.Timestamp
    def __init__(self, text: _Optional[str] = ..., integer: _Optional[int] = ..., number: _Optional[float] = ..., flag: _Optional[bool] = ..., list: _Optional[_Union[FilterValueList, _Mapping]] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class FilterCondition(_message.Message):
    __slots__ = ("operator", "value")
    OPERATOR_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    operator: FilterOperator
    value: FilterValue
    def __init__(self, operator: _Optional[_Union[FilterOperator, str]] = ..., value: _Optional[_Union[FilterValue, _Mapping]] = ...) -> None: ...

class FilterPredicate(_message.Message):
    __slots__ = ("field", "conditions", "shorthand")
    FIELD_FIELD_NUMBER: _ClassVar[int]
    CONDITIONS_FIELD_NUMBER: _ClassVar[int]
    SHORTHAND_FIELD_NUMBER: _ClassVar[int]
    field: str
    conditions: _containers.RepeatedCompositeFieldContainer[FilterCondition]
    shorthand: bool
    def __init__(self, field: _Optional[str] = ..., conditions: _Optional[_Iterable[_Union[FilterCondition, _Mapping]]] = ..., shorthand: _Optional[bool] = ...) -> None: ...

class FilterNodeList(_message.Message):
    __slots__ = ("nodes",)
    NODES_FIELD_NUMBER: _ClassVar[int]
    nodes: _containers.RepeatedCompositeFieldContainer[FilterNode]
    def __init__(self, nodes: _Optional[_Iterable[_Union[FilterNode, _Mapping]]] = ...) -> None: ...

class FilterNode(_message.Message):
    __slots__ = ("predicates",)
    AND_FIELD_NUMBER: _ClassVar[int]
    OR_FIELD_NUMBER: _ClassVar[int]
    PREDICATES_FIELD_NUMBER: _ClassVar[int]
    predicates: _containers.RepeatedCompositeFieldContainer[FilterPredicate]
    def __init__(self, predicates: _Optional[_Iterable[_Union[FilterPredicate, _Mapping]]] = ..., **kwargs) -> None: ...

class SearchRequest(_message.Message):
    __slots__ = ("user_id", "agent_id", "app_id", "project_id", "query", "method", "top_k", "radius", "min_score", "include_profile", "enable_llm_rerank", "filters", "page_token", "with_readable_episode")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    APP_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    TOP_K_FIELD_NUMBER: _ClassVar[int]
    RADIUS_FIELD_NUMBER: _ClassVar[int]
    MIN_SCORE_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_PROFILE_FIELD_NUMBER: _ClassVar[int]
    ENABLE_LLM_RERANK_FIELD_NUMBER: _ClassVar[int]
    FILTERS_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    WITH_READABLE_EPISODE_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    agent_id: str
    app_id: str
    project_id: str
    query: str
    method: SearchMethod
    top_k: int
    radius: float
    min_score: float
    include_profile: bool
    enable_llm_rerank: bool
    filters: FilterNode
    page_token: str
    with_readable_episode: bool
    def __init__(self, user_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., app_id: _Optional[str] = ..., project_id: _Optional[str] = ..., query: _Optional[str] = ..., method: _Optional[_Union[SearchMethod, str]] = ..., top_k: _Optional[int] = ..., radius: _Optional[float] = ..., min_score: _Optional[float] = ..., include_profile: _Optional[bool] = ..., enable_llm_rerank: _Optional[bool] = ..., filters: _Optional[_Union[FilterNode, _Mapping]] = ..., page_token: _Optional[str] = ..., with_readable_episode: _Optional[bool] = ...) -> None: ...

class SearchResponse(_message.Message):
    __slots__ = ("episodes", "profiles", "agent_cases", "agent_skills", "unprocessed_messages", "truncated", "next_page_token")
    EPISODES_FIELD_NUMBER: _ClassVar[int]
    PROFILES_FIELD_NUMBER: _ClassVar[int]
    AGENT_CASES_FIELD_NUMBER: _ClassVar[int]
    AGENT_SKILLS_FIELD_NUMBER: _ClassVar[int]
    UNPROCESSED_MESSAGES_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    episodes: _containers.RepeatedCompositeFieldContainer[SearchEpisodeItem]
    profiles: _containers.RepeatedCompositeFieldContainer[SearchProfileItem]
    agent_cases: _containers.RepeatedCompositeFieldContainer[SearchAgentCaseItem]
    agent_skills: _containers.RepeatedCompositeFieldContainer[SearchAgentSkillItem]
    unprocessed_messages: _containers.RepeatedCompositeFieldContainer[UnprocessedMessage]
    truncated: bool
    next_page_token: str
    def __init__(self, episodes: _Optional[_Iterable[_Union[SearchEpisodeItem, _Mapping]]] = ..., profiles: _Optional[_Iterable[_Union[SearchProfileItem, _Mapping]]] = ..., agent_cases: _Optional[_Iterable[_Union[SearchAgentCaseItem, _Mapping]]] = ..., agent_skills: _Optional[_Iterable[_Union[SearchAgentSkillItem, _Mapping]]] = ..., unprocessed_messages: _Optional[_Iterable[_Union[UnprocessedMessage, _Mapping]]] = ..., truncated: _Optional[bool] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class SearchAtomicFactItem(_message.Message):
    __slots__ = ("id", "content", "score")
    ID_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    id: str
    content: str
    score: float
    def __init__(self, id: _Optional[str] = ..., content: _Optional[str] = ..., score: _Optional[float] = ...) -> None: ...

class SearchEpisodeItem(_message.Message):
    __slots__ = ("id", "user_id", "app_id", "project_id", "session_id", "timestamp", "sender_ids", "summary", "subject", "episode", "type", "score", "atomic_facts")
    ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    APP_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    SENDER_IDS_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    EPISODE_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    ATOMIC_FACTS_FIELD_NUMBER: _ClassVar[int]
    id: str
    user_id: str
    app_id: str
    project_id: str
    session_id: str
    timestamp: _timestamp_pb2.Timestamp
    sender_ids: _containers.RepeatedScalarFieldContainer[str]
    summary: str
    subject: str
    episode: str
    type: str
    score: float
    atomic_facts: _containers.RepeatedCompositeFieldContainer[SearchAtomicFactItem]
    def __init__(self, id: _Optional[str] = ..., user_id: _Optional[str] = ..., app_id: _Optional[str] = ..., project_id: _Optional[str] = ..., session_id: _Optional[str] = ..., timestamp: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., sender_ids: _Optional[_Iterable[str]] = ..., summary: _Optional[str] = ..., subject: _Optional[str] = ..., episode: _Optional[str] = ..., type: _Optional[str] = ..., score: _Optional[float] = ..., atomic_facts: _Optional[_Iterable[_Union[SearchAtomicFactItem, _Mapping]]] = ...) -> None: ...

class SearchProfileItem(_message.Message):
    __slots__ = ("id", "user_id", "app_id", "project_id", "profile_data", "score")
    ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    APP_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    PROFILE_DATA_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    id: str
    user_id: str
    app_id: str
    project_id: str
    profile_data: _struct_pb2.Struct
    score: float
    def __init__(self, id: _Optional[str] = ..., user_id: _Optional[str] = ..., app_id: _Optional[str] = ..., project_id: _Optional[str] = ..., profile_data: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., score: _Optional[float] = ...) -> None: ...

class SearchAgentCaseItem(_message.Message):
    __slots__ = ("id", "agent_id", "app_id", "project_id", "session_id", "task_intent", "approach", "quality_score", "key_insight", "timestamp", "score")
    ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    APP_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TASK_INTENT_FIELD_NUMBER: _ClassVar[int]
    APPROACH_FIELD_NUMBER: _ClassVar[int]
    QUALITY_SCORE_FIELD_NUMBER: _ClassVar[int]
    KEY_INSIGHT_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    id: str
    agent_id: str
    app_id: str
    project_id: str
    session_id: str
    task_intent: str
    approach: str
    quality_score: float
    key_insight: str
    timestamp: _timestamp_pb2.Timestamp
    score: float
    def __init__(self, id: _Optional[str] = ..., agent_id: _Optional[str] = ..., app_id: _Optional[str] = ..., project_id: _Optional[str] = ..., session_id: _Optional[str] = ..., task_intent: _Optional[str] = ..., approach: _Optional[str] = ..., quality_score: _Optional[float] = ..., key_insight: _Optional[str] = ..., timestamp: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., score: _Optional[float] = ...) -> None: ...

class SearchAgentSkillItem(_message.Message):
    __slots__ = ("id", "agent_id", "app_id", "project_id", "name", "description", "content", "confidence", "maturity_score", "source_case_ids", "score")
    ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    APP_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    MATURITY_SCORE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_CASE_IDS_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    id: str
    agent_id: str
    app_id: str
    project_id: str
    name: str
    description: str
    content: str
    confidence: float
    maturity_score: float
    source_case_ids: _containers.RepeatedScalarFieldContainer[str]
    score: float
    def __init__(self, id: _Optional[str] = ..., agent_id: _Optional[str] = ..., app_id: _Optional[str] = ..., project_id: _Optional[str] = ..., name: _Optional[str] = ..., description: _Optional[str] = ..., content: _Optional[str] = ..., confidence: _Optional[float] = ..., maturity_score: _Optional[float] = ..., source_case_ids: _Optional[_Iterable[str]] = ..., score: _Optional[float] = ...) -> None: ...

class UnprocessedMessage(_message.Message):
    __slots__ = ("id", "app_id", "project_id", "session_id", "sender_id", "sender_name", "role", "text", "items", "timestamp", "tool_calls", "tool_call_id")
    ID_FIELD_NUMBER: _ClassVar[int]
    APP_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    SENDER_ID_FIELD_NUMBER: _ClassVar[int]
    SENDER_NAME_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    app_id: str
    project_id: str
    session_id: str
    sender_id: str
    sender_name: str
    role: Role
    text: str
    items: ContentItemList
    timestamp: _timestamp_pb2.Timestamp
    tool_calls: _containers.RepeatedCompositeFieldContainer[ToolCall]
    tool_call_id: str
    def __init__(self, id: _Optional[str] = ..., app_id: _Optional[str] = ..., project_id: _Optional[str] = ..., session_id: _Optional[str] = ..., sender_id: _Optional[str] = ..., sender_name: _Optional[str] = ..., role: _Optional[_Union[Role, str]] = ..., text: _Optional[str] = ..., items: _Optional[_Union[ContentItemList, _Mapping]] = ..., timestamp: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., tool_calls: _Optional[_Iterable[_Union[ToolCall, _Mapping]]] = ..., tool_call_id: _Optional[str] = ...) -> None: ...

class GetRequest(_message.Message):
    __slots__ = ("user_id", "agent_id", "app_id", "project_id", "memory_type", "page", "page_size", "sort_by", "sort_order", "filters", "page_token", "with_readable_episode")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    APP_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    MEMORY_TYPE_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    SORT_BY_FIELD_NUMBER: _ClassVar[int]
    SORT_ORDER_FIELD_NUMBER: _ClassVar[int]
    FILTERS_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    WITH_READABLE_EPISODE_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    agent_id: str
    app_id: str
    project_id: str
    memory_type: MemoryType
    page: int
    page_size: int
    sort_by: SortBy
    sort_order: SortOrder
    filters: FilterNode
    page_token: str
    with_readable_episode: bool
    def __init__(self, user_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., app_id: _Optional[str] = ..., project_id: _Optional[str] = ..., memory_type: _Optional[_Union[MemoryType, str]] = ..., page: _Optional[int] = ..., page_size: _Optional[int] = ..., sort_by: _Optional[_Union[SortBy, str]] = ..., sort_order: _Optional[_Union[SortOrder, str]] = ..., filters: _Optional[_Union[FilterNode, _Mapping]] = ..., page_token: _Optional[str] = ..., with_readable_episode: _Optional[bool] = ...) -> None: ...

class GetResponse(_message.Message):
    __slots__ = ("episodes", "profiles", "agent_cases", "agent_skills", "total_count", "count", "truncated", "next_page_token")
    EPISODES_FIELD_NUMBER: _ClassVar[int]
    PROFILES_FIELD_NUMBER: _ClassVar[int]
    AGENT_CASES_FIELD_NUMBER: _ClassVar[int]
    AGENT_SKILLS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_COUNT_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    episodes: _containers.RepeatedCompositeFieldContainer[GetEpisodeItem]
    profiles: _containers.RepeatedCompositeFieldContainer[GetProfileItem]
    agent_cases: _containers.RepeatedCompositeFieldContainer[GetAgentCaseItem]
    agent_skills: _containers.RepeatedCompositeFieldContainer[GetAgentSkillItem]
    total_count: int
    count: int
    truncated: bool
    next_page_token: str
    def __init__(self, episodes: _Optional[_Iterable[_Union[GetEpisodeItem, _Mapping]]] = ..., profiles: _Optional[_Iterable[_Union[GetProfileItem, _Mapping]]] = ..., agent_cases: _Optional[_Iterable[_Union[GetAgentCaseItem, _Mapping]]] = ..., agent_skills: _Optional[_Iterable[_Union[GetAgentSkillItem, _Mapping]]] = ..., total_count: _Optional[int] = ..., count: _Optional[int] = ..., truncated: _Optional[bool] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetEpisodeItem(_message.Message):
    __slots__ = ("id", "user_id", "app_id", "project_id", "session_id", "timestamp", "sender_ids", "summary", "subject", "episode", "type")
    ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    APP_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    SENDER_IDS_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    EPISODE_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    id: str
    user_id: str
    app_id: str
    project_id: str
    session_id: str
    timestamp: _timestamp_pb2.Timestamp
    sender_ids: _containers.RepeatedScalarFieldContainer[str]
    summary: str
    subject: str
    episode: str
    type: str
    def __init__(self, id: _Optional[str] = ..., user_id: _Optional[str] = ..., app_id: _Optional[str] = ..., project_id: _Optional[str] = ..., session_id: _Optional[str] = ..., timestamp: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., sender_ids: _Optional[_Iterable[str]] = ..., summary: _Optional[str] = ..., subject: _Optional[str] = ..., episode: _Optional[str] = ..., type: _Optional[str] = ...) -> None: ...

class GetProfileItem(_message.Message):
    __slots__ = ("id", "user_id", "app_id", "project_id", "profile_data")
    ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    APP_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    PROFILE_DATA_FIELD_NUMBER: _ClassVar[int]
    id: str
    user_id: str
    app_id: str
    project_id: str
    profile_data: _struct_pb2.Struct
    def __init__(self, id: _Optional[str] = ..., user_id: _Optional[str] = ..., app_id: _Optional[str] = ..., project_id: _Optional[str] = ..., profile_data: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class GetAgentCaseItem(_message.Message):
    __slots__ = ("id", "agent_id", "app_id", "project_id", "session_id", "task_intent", "approach", "quality_score", "key_insight", "timestamp")
    ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    APP_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TASK_INTENT_FIELD_NUMBER: _ClassVar[int]
    APPROACH_FIELD_NUMBER: _ClassVar[int]
    QUALITY_SCORE_FIELD_NUMBER: _ClassVar[int]
    KEY_INSIGHT_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    id: str
    agent_id: str
    app_id: str
    project_id: str
    session_id: str
    task_intent: str
    approach: str
    quality_score: float
    key_insight: str
    timestamp: _timestamp_pb2.Timestamp
    def __init__(self, id: _Optional[str] = ..., agent_id: _Optional[str] = ..., app_id: _Optional[str] = ..., project_id: _Optional[str] = ..., session_id: _Optional[str] = ..., task_intent: _Optional[str] = ..., approach: _Optional[str] = ..., quality_score: _Optional[float] = ..., key_insight: _Optional[str] = ..., timestamp: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class GetAgentSkillItem(_message.Message):
    __slots__ = ("id", "agent_id", "app_id", "project_id", "name", "description", "content", "confidence", "maturity_score", "source_case_ids")
    ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    APP_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    MATURITY_SCORE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_CASE_IDS_FIELD_NUMBER: _ClassVar[int]
    id: str
    agent_id: str
    app_id: str
    project_id: str
    name: str
    description: str
    content: str
    confidence: float
    maturity_score: float
    source_case_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, id: _Optional[str] = ..., agent_id: _Optional[str] = ..., app_id: _Optional[str] = ..., project_id: _Optional[str] = ..., name: _Optional[str] = ..., description: _Optional[str] = ..., content: _Optional[str] = ..., confidence: _Optional[float] = ..., maturity_score: _Optional[float] = ..., source_case_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class DeleteRequest(_message.Message):
    __slots__ = ("user_id", "agent_id", "app_id", "project_id", "ids", "session_id", "filters", "everything")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    APP_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    IDS_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    FILTERS_FIELD_NUMBER: _ClassVar[int]
    EVERYTHING_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    agent_id: str
    app_id: str
    project_id: str
    ids: _containers.RepeatedScalarFieldContainer[str]
    session_id: str
    filters: FilterNode
    everything: bool
    def __init__(self, user_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., app_id: _Optional[str] = ..., project_id: _Optional[str] = ..., ids: _Optional[_Iterable[str]] = ..., session_id: _Optional[str] = ..., filters: _Optional[_Union[FilterNode, _Mapping]] = ..., everything: _Optional[bool] = ...) -> None: ...

class DeleteResponse(_message.Message):
    __slots__ = ("deleted", "episodes", "atomic_facts", "agent_cases", "agent_skills", "profile_items", "messages")
    DELETED_FIELD_NUMBER: _ClassVar[int]
    EPISODES_FIELD_NUMBER: _ClassVar[int]
    ATOMIC_FACTS_FIELD_NUMBER: _ClassVar[int]
    AGENT_CASES_FIELD_NUMBER: _ClassVar[int]
    AGENT_SKILLS_FIELD_NUMBER: _ClassVar[int]
    PROFILE_ITEMS_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    deleted: int
    episodes: int
    atomic_facts: int
    agent_cases: int
    agent_skills: int
    profile_items: int
    messages: int
    def __init__(self, deleted: _Optional[int] = ..., episodes: _Optional[int] = ..., atomic_facts: _Optional[int] = ..., agent_cases: _Optional[int] = ..., agent_skills: _Optional[int] = ..., profile_items: _Optional[int] = ..., messages: _Optional[int] = ...) -> None: ...
