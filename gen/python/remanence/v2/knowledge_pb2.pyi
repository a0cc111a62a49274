import datetime

from google.api import annotations_pb2 as _annotations_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from remanence.v2 import options_pb2 as _options_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DocumentSortBy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DOCUMENT_SORT_BY_UNSPECIFIED: _ClassVar[DocumentSortBy]
    DOCUMENT_SORT_BY_CREATED_AT: _ClassVar[DocumentSortBy]
    DOCUMENT_SORT_BY_UPDATED_AT: _ClassVar[DocumentSortBy]
    DOCUMENT_SORT_BY_TITLE: _ClassVar[DocumentSortBy]

class DocumentSortOrder(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DOCUMENT_SORT_ORDER_UNSPECIFIED: _ClassVar[DocumentSortOrder]
    DOCUMENT_SORT_ORDER_ASC: _ClassVar[DocumentSortOrder]
    DOCUMENT_SORT_ORDER_DESC: _ClassVar[DocumentSortOrder]

class TopicSearchMethod(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TOPIC_SEARCH_METHOD_UNSPECIFIED: _ClassVar[TopicSearchMethod]
    TOPIC_SEARCH_METHOD_KEYWORD: _ClassVar[TopicSearchMethod]
    TOPIC_SEARCH_METHOD_VECTOR: _ClassVar[TopicSearchMethod]
    TOPIC_SEARCH_METHOD_HYBRID: _ClassVar[TopicSearchMethod]
DOCUMENT_SORT_BY_UNSPECIFIED: DocumentSortBy
DOCUMENT_SORT_BY_CREATED_AT: DocumentSortBy
DOCUMENT_SORT_BY_UPDATED_AT: DocumentSortBy
DOCUMENT_SORT_BY_TITLE: DocumentSortBy
DOCUMENT_SORT_ORDER_UNSPECIFIED: DocumentSortOrder
DOCUMENT_SORT_ORDER_ASC: DocumentSortOrder
DOCUMENT_SORT_ORDER_DESC: DocumentSortOrder
TOPIC_SEARCH_METHOD_UNSPECIFIED: TopicSearchMethod
TOPIC_SEARCH_METHOD_KEYWORD: TopicSearchMethod
TOPIC_SEARCH_METHOD_VECTOR: TopicSearchMethod
TOPIC_SEARCH_METHOD_HYBRID: TopicSearchMethod

class DocumentMetadata(_message.Message):
    __slots__ = ("title", "source_type", "category_id", "app_id", "project_id", "file_name", "media_type", "doc_id")
    TITLE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_TYPE_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_ID_FIELD_NUMBER: _ClassVar[int]
    APP_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    FILE_NAME_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    DOC_ID_FIELD_NUMBER: _ClassVar[int]
    title: str
    source_type: str
    category_id: str
    app_id: str
    project_id: str
    file_name: str
    media_type: str
    doc_id: str
    def __init__(self, title: _Optional[str] = ..., source_type: _Optional[str] = ..., category_id: _Optional[str] = ..., app_id: _Optional[str] = ..., project_id: _Optional[str] = ..., file_name: _Optional[str] = ..., media_type: _Optional[str] = ..., doc_id: _Optional[str] = ...) -> None: ...

class CreateDocumentRequest(_message.Message):
    __slots__ = ("metadata", "chunk")
    METADATA_FIELD_NUMBER: _ClassVar[int]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    metadata: DocumentMetadata
    chunk: bytes
    def __init__(self, metadata: _Optional[_Union[DocumentMetadata, _Mapping]] = ..., chunk: _Optional[bytes] = ...) -> None: ...

class CreateDocumentResponse(_message.Message):
    __slots__ = ("doc_id", "category_id", "topic_count", "source_name", "md_path", "original_file_path")
    DOC_ID_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_ID_FIELD_NUMBER: _ClassVar[int]
    TOPIC_COUNT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_NAME_FIELD_NUMBER: _ClassVar[int]
    MD_PATH_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_FILE_PATH_FIELD_NUMBER: _ClassVar[int]
    doc_id: str
    category_id: str
    topic_count: int
    source_name: str
    md_path: str
    original_file_path: str
    def __init__(self, doc_id: _Optional[str] = ..., category_id: _Optional[str] = ..., topic_count: _Optional[int] = ..., source_name: _Optional[str] = ..., md_path: _Optional[str] = ..., original_file_path: _Optional[str] = ...) -> None: ...

class ReplaceDocumentRequest(_message.Message):
    __slots__ = ("metadata", "chunk")
    METADATA_FIELD_NUMBER: _ClassVar[int]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    metadata: DocumentMetadata
    chunk: bytes
    def __init__(self, metadata: _Optional[_Union[DocumentMetadata, _Mapping]] = ..., chunk: _Optional[bytes] = ...) -> None: ...

class ReplaceDocumentResponse(_message.Message):
    __slots__ = ("doc_id", "category_id", "topic_count", "source_name", "md_path", "original_file_path")
    DOC_ID_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_ID_FIELD_NUMBER: _ClassVar[int]
    TOPIC_COUNT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_NAME_FIELD_NUMBER: _ClassVar[int]
    MD_PATH_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_FILE_PATH_FIELD_NUMBER: _ClassVar[int]
    doc_id: str
    category_id: str
    topic_count: int
    source_name: str
    md_path: str
    original_file_path: str
    def __init__(self, doc_id: _Optional[str] = ..., category_id: _Optional[str] = ..., topic_count: _Optional[int] = ..., source_name: _Optional[str] = ..., md_path: _Optional[str] = ..., original_file_path: _Optional[str] = ...) -> None: ...

class ListDocumentsRequest(_message.Message):
    __slots__ = ("app_id", "project_id", "category_id", "page", "page_size", "sort_by", "sort_order")
    APP_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    SORT_BY_FIELD_NUMBER: _ClassVar[int]
    SORT_ORDER_FIELD_NUMBER: _ClassVar[int]
    app_id: str
    project_id: str
    category_id: str
    page: int
    page_size: int
    sort_by: DocumentSortBy
    sort_order: DocumentSortOrder
    def __init__(self, app_id: _Optional[str] = ..., project_id: _Optional[str] = ..., category_id: _Optional[str] = ..., page: _Optional[int] = ..., page_size: _Optional[int] = ..., sort_by: _Optional[_Union[DocumentSortBy, str]] = ..., sort_order: _Optional[_Union[DocumentSortOrder, str]] = ...) -> None: ...

class ListDocumentsResponse(_message.Message):
    __slots__ = ("documents", "total", "page", "page_size")
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    documents: _containers.RepeatedCompositeFieldContainer[DocumentOverview]
    total: int
    page: int
    page_size: int
    def __init__(self, documents: _Optional[_Iterable[_Union[DocumentOverview, _Mapping]]] = ..., total: _Optional[int] = ..., page: _Optional[int] = ..., page_size: _Optional[int] = ...) -> None: ...

class DocumentOverview(_message.Message):
    __slots__ = ("doc_id", "category_id", "title", "topic_count", "created_at")
    DOC_ID_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    TOPIC_COUNT_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    doc_id: str
    category_id: str
    title: str
    topic_count: int
    created_at: _timestamp_pb2.Timestamp
    def __init__(self, doc_id: _Optional[str] = ..., category_id: _Optional[str] = ..., title: _Optional[str] = ..., topic_count: _Optional[int] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class GetDocumentRequest(_message.Message):
    __slots__ = ("doc_id", "app_id", "project_id")
    DOC_ID_FIELD_NUMBER: _ClassVar[int]
    APP_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    doc_id: str
    app_id: str
    project_id: str
    def __init__(self, doc_id: _Optional[str] = ..., app_id: _Optional[str] = ..., project_id: _Optional[str] = ...) -> None: ...

class GetDocumentResponse(_message.Message):
    __slots__ = ("doc_id", "category_id", "title", "summary", "source_name", "source_type", "original_file_path", "topics", "created_at", "updated_at")
    DOC_ID_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    SOURCE_NAME_FIELD_NUMBER: _ClassVar[int]
    SOURCE_TYPE_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_FILE_PATH_FIELD_NUMBER: _ClassVar[int]
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    doc_id: str
    category_id: str
    title: str
    summary: str
    source_name: str
    source_type: str
    original_file_path: str
    topics: _containers.RepeatedCompositeFieldContainer[TopicOverview]
    created_at: _timestamp_pb2.Timestamp
    updated_at: _timestamp_pb2.Timestamp
    def __init__(self, doc_id: _Optional[str] = ..., category_id: _Optional[str] = ..., title: _Optional[str] = ..., summary: _Optional[str] = ..., source_name: _Optional[str] = ..., source_type: _Optional[str] = ..., original_file_path: _Optional[str] = ..., topics: _Optional[_Iterable[_Union[TopicOverview, _Mapping]]] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., updated_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class TopicOverview(_message.Message):
    __slots__ = ("topic_id", "topic_name", "topic_path", "depth", "summary")
    TOPIC_ID_FIELD_NUMBER: _ClassVar[int]
    TOPIC_NAME_FIELD_NUMBER: _ClassVar[int]
    TOPIC_PATH_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    topic_id: str
    topic_name: str
    topic_path: str
    depth: int
    summary: str
    def __init__(self, topic_id: _Optional[str] = ..., topic_name: _Optional[str] = ..., topic_path: _Optional[str] = ..., depth: _Optional[int] = ..., summary: _Optional[str] = ...) -> None: ...

class UpdateDocumentRequest(_message.Message):
    __slots__ = ("doc_id", "title", "category_id", "app_id", "project_id")
    DOC_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_ID_FIELD_NUMBER: _ClassVar[int]
    APP_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    doc_id: str
    title: str
    category_id: str
    app_id: str
    project_id: str
    def __init__(self, doc_id: _Optional[str] = ..., title: _Optional[str] = ..., category_id: _Optional[str] = ..., app_id: _Optional[str] = ..., project_id: _Optional[str] = ...) -> None: ...

class UpdateDocumentResponse(_message.Message):
    __slots__ = ("doc_id", "updated_fields", "updated_at")
    DOC_ID_FIELD_NUMBER: _ClassVar[int]
    UPDATED_FIELDS_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    doc_id: str
    updated_fields: _containers.RepeatedScalarFieldContainer[str]
    updated_at: _timestamp_pb2.Timestamp
    def __init__(self, doc_id: _Optional[str] = ..., updated_fields: _Optional[_Iterable[str]] = ..., updated_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class DeleteDocumentRequest(_message.Message):
    __slots__ = ("doc_id", "app_id", "project_id")
    DOC_ID_FIELD_NUMBER: _ClassVar[int]
    APP_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    doc_id: str
    app_id: str
    project_id: str
    def __init__(self, doc_id: _Optional[str] = ..., app_id: _Optional[str] = ..., project_id: _Optional[str] = ...) -> None: ...

class DeleteDocumentResponse(_message.Message):
    __slots__ = ("doc_id", "deleted_topics")
    DOC_ID_FIELD_NUMBER: _ClassVar[int]
    DELETED_TOPICS_FIELD_NUMBER: _ClassVar[int]
    doc_id: str
    deleted_topics: int
    def __init__(self, doc_id: _Optional[str] = ..., deleted_topics: _Optional[int] = ...) -> None: ...

class GetTopicRequest(_message.Message):
    __slots__ = ("topic_id", "app_id", "project_id")
    TOPIC_ID_FIELD_NUMBER: _ClassVar[int]
    APP_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    topic_id: str
    app_id: str
    project_id: str
    def __init__(self, topic_id: _Optional[str] = ..., app_id: _Optional[str] = ..., project_id: _Optional[str] = ...) -> None: ...

class GetTopicResponse(_message.Message):
    __slots__ = ("topic_id", "doc_id", "category_id", "topic_name", "topic_path", "depth", "summary", "content", "content_labels", "parent_topic_id", "children_topic_ids", "created_at", "updated_at")
    TOPIC_ID_FIELD_NUMBER: _ClassVar[int]
    DOC_ID_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_ID_FIELD_NUMBER: _ClassVar[int]
    TOPIC_NAME_FIELD_NUMBER: _ClassVar[int]
    TOPIC_PATH_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    CONTENT_LABELS_FIELD_NUMBER: _ClassVar[int]
    PARENT_TOPIC_ID_FIELD_NUMBER: _ClassVar[int]
    CHILDREN_TOPIC_IDS_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    topic_id: str
    doc_id: str
    category_id: str
    topic_name: str
    topic_path: str
    depth: int
    summary: str
    content: str
    content_labels: _containers.RepeatedScalarFieldContainer[str]
    parent_topic_id: str
    children_topic_ids: _containers.RepeatedScalarFieldContainer[str]
    created_at: _timestamp_pb2.Timestamp
    updated_at: _timestamp_pb2.Timestamp
    def __init__(self, topic_id: _Optional[str] = ..., doc_id: _Optional[str] = ..., category_id: _Optional[str] = ..., topic_name: _Optional[str] = ..., topic_path: _Optional[str] = ..., depth: _Optional[int] = ..., summary: _Optional[str] = ..., content: _Optional[str] = ..., content_labels: _Optional[_Iterable[str]] = ..., parent_topic_id: _Optional[str] = ..., children_topic_ids: _Optional[_Iterable[str]] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., updated_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class SearchTopicsRequest(_message.Message):
    __slots__ = ("query", "method", "top_k", "score_threshold", "include_content", "app_id", "project_id")
    QUERY_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    TOP_K_FIELD_NUMBER: _ClassVar[int]
    SCORE_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_CONTENT_FIELD_NUMBER: _ClassVar[int]
    APP_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    query: str
    method: TopicSearchMethod
    top_k: int
    score_threshold: float
    include_content: bool
    app_id: str
    project_id: str
    def __init__(self, query: _Optional[str] = ..., method: _Optional[_Union[TopicSearchMethod, str]] = ..., top_k: _Optional[int] = ..., score_threshold: _Optional[float] = ..., include_content: _Optional[bool] = ..., app_id: _Optional[str] = ..., project_id: _Optional[str] = ...) -> None: ...

class SearchTopicsResponse(_message.Message):
    __slots__ = ("hits", "total", "took_ms")
    HITS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    TOOK_MS_FIELD_NUMBER: _ClassVar[int]
    hits: _containers.RepeatedCompositeFieldContainer[TopicHit]
    total: int
    took_ms: float
    def __init__(self, hits: _Optional[_Iterable[_Union[TopicHit, _Mapping]]] = ..., total: _Optional[int] = ..., took_ms: _Optional[float] = ...) -> None: ...

class TopicHit(_message.Message):
    __slots__ = ("topic_id", "category_id", "topic_name", "topic_path", "depth", "summary", "content", "score", "retrieval_method", "source", "document")
    TOPIC_ID_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_ID_FIELD_NUMBER: _ClassVar[int]
    TOPIC_NAME_FIELD_NUMBER: _ClassVar[int]
    TOPIC_PATH_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    RETRIEVAL_METHOD_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    topic_id: str
    category_id: str
    topic_name: str
    topic_path: str
    depth: int
    summary: str
    content: str
    score: float
    retrieval_method: str
    source: str
    document: DocumentContext
    def __init__(self, topic_id: _Optional[str] = ..., category_id: _Optional[str] = ..., topic_name: _Optional[str] = ..., topic_path: _Optional[str] = ..., depth: _Optional[int] = ..., summary: _Optional[str] = ..., content: _Optional[str] = ..., score: _Optional[float] = ..., retrieval_method: _Optional[str] = ..., source: _Optional[str] = ..., document: _Optional[_Union[DocumentContext, _Mapping]] = ...) -> None: ...

class DocumentContext(_message.Message):
    __slots__ = ("doc_id", "title", "summary")
    DOC_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    doc_id: str
    title: str
    summary: str
    def __init__(self, doc_id: _Optional[str] = ..., title: _Optional[str] = ..., summary: _Optional[str] = ...) -> None: ...

class ListCategoriesRequest(_message.Message):
    __slots__ = ("app_id", "project_id")
    APP_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    app_id: str
    project_id: str
    def __init__(self, app_id: _Optional[str] = ..., project_id: _Optional[str] = ...) -> None: ...

class ListCategoriesResponse(_message.Message):
    __slots__ = ("categories",)
    CATEGORIES_FIELD_NUMBER: _ClassVar[int]
    categories: _containers.RepeatedCompositeFieldContainer[CategoryItem]
    def __init__(self, categories: _Optional[_Iterable[_Union[CategoryItem, _Mapping]]] = ...) -> None: ...

class CategoryItem(_message.Message):
    __slots__ = ("category_id", "description", "document_count")
    CATEGORY_ID_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_COUNT_FIELD_NUMBER: _ClassVar[int]
    category_id: str
    description: str
    document_count: int
    def __init__(self, category_id: _Optional[str] = ..., description: _Optional[str] = ..., document_count: _Optional[int] = ...) -> None: ...
