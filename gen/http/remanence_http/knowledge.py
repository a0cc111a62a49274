# Generated from remanence/v2/knowledge.proto by remanence_generator. Do not edit.
"""Requests, responses and routes of remanence/v2/knowledge.proto."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import tzinfo
from typing import Annotated, Any, Literal, Protocol

from fastapi import APIRouter, Request, Response
from pydantic import Field
from remanence.v2 import knowledge_pb2
from remanence_server.api.transcoding.bindings import HttpBinding, add_routes
from remanence_server.api.transcoding.context import CallContext
from remanence_server.api.transcoding.fields import WHOLE, RequestModel, refused
from remanence_server.api.transcoding.texts import TextReaders, integer_from_text, query_fields
from remanence_server.api.transcoding.validation import (
    MessageBinding,
    Registry,
    UploadBinding,
    validate,
)
from remanence_server.api.transcoding.values import timestamp_text

_DOCUMENT_SORT_BY_NUMBERS = {
    "created_at": knowledge_pb2.DOCUMENT_SORT_BY_CREATED_AT,
    "updated_at": knowledge_pb2.DOCUMENT_SORT_BY_UPDATED_AT,
    "title": knowledge_pb2.DOCUMENT_SORT_BY_TITLE,
}
_DOCUMENT_SORT_BY_NAMES = {number: name for name, number in _DOCUMENT_SORT_BY_NUMBERS.items()}


_DOCUMENT_SORT_ORDER_NUMBERS = {
    "asc": knowledge_pb2.DOCUMENT_SORT_ORDER_ASC,
    "desc": knowledge_pb2.DOCUMENT_SORT_ORDER_DESC,
}
_DOCUMENT_SORT_ORDER_NAMES = {number: name for name, number in _DOCUMENT_SORT_ORDER_NUMBERS.items()}


_TOPIC_SEARCH_METHOD_NUMBERS = {
    "keyword": knowledge_pb2.TOPIC_SEARCH_METHOD_KEYWORD,
    "vector": knowledge_pb2.TOPIC_SEARCH_METHOD_VECTOR,
    "hybrid": knowledge_pb2.TOPIC_SEARCH_METHOD_HYBRID,
}
_TOPIC_SEARCH_METHOD_NAMES = {number: name for name, number in _TOPIC_SEARCH_METHOD_NUMBERS.items()}


class DocumentMetadata(RequestModel):
    """What an upload says about its file."""

    title: Annotated[str, Field(strict=True, min_length=1, pattern="\\w")]
    source_type: Annotated[str, Field(strict=True)] | None = None
    category_id: Annotated[str, Field(strict=True)] | None = None
    app_id: Annotated[
        str,
        Field(strict=True, min_length=1, max_length=128, pattern="^[a-zA-Z0-9_.@+-]+$"),
        refused(".", "..", "default_app"),
    ] = "default"
    project_id: Annotated[
        str,
        Field(strict=True, min_length=1, max_length=128, pattern="^[a-zA-Z0-9_.@+-]+$"),
        refused(".", "..", "default_project"),
    ] = "default"
    # Name of the file; over HTTP it comes from the part itself.
    file_name: Annotated[str, Field(strict=True, max_length=255)] | None = None
    # Media type of the file; over HTTP it comes from the part itself.
    media_type: Annotated[str, Field(strict=True)] | None = None
    # Id of the document to replace; over HTTP it comes from the path.
    doc_id: Annotated[str, Field(strict=True, pattern="^d_[a-f0-9]{12,32}$")] | None = None


def document_metadata_to_proto(model: DocumentMetadata) -> knowledge_pb2.DocumentMetadata:
    return knowledge_pb2.DocumentMetadata(
        title=model.title,
        source_type=model.source_type,
        category_id=model.category_id,
        app_id=model.app_id,
        project_id=model.project_id,
        file_name=model.file_name,
        media_type=model.media_type,
        doc_id=model.doc_id,
    )


def document_metadata_input(pb: knowledge_pb2.DocumentMetadata) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if pb.title:
        data["title"] = pb.title
    if pb.HasField("source_type"):
        data["source_type"] = pb.source_type
    if pb.HasField("category_id"):
        data["category_id"] = pb.category_id
    if pb.HasField("app_id"):
        data["app_id"] = pb.app_id
    if pb.HasField("project_id"):
        data["project_id"] = pb.project_id
    if pb.HasField("file_name"):
        data["file_name"] = pb.file_name
    if pb.HasField("media_type"):
        data["media_type"] = pb.media_type
    if pb.HasField("doc_id"):
        data["doc_id"] = pb.doc_id
    return data


class ListDocumentsRequest(RequestModel):
    """Request message remanence.v2.ListDocumentsRequest."""

    app_id: Annotated[str, Field(strict=True)] = "default"
    project_id: Annotated[str, Field(strict=True)] = "default"
    category_id: Annotated[str, Field(strict=True)] | None = None
    page: Annotated[int, Field(strict=True, ge=1, le=2147483647), WHOLE] = 1
    page_size: Annotated[int, Field(strict=True, ge=1, le=100), WHOLE] = 20
    sort_by: Literal["created_at", "updated_at", "title"] = "created_at"
    sort_order: Literal["asc", "desc"] = "desc"


def list_documents_request_to_proto(
    model: ListDocumentsRequest
) -> knowledge_pb2.ListDocumentsRequest:
    return knowledge_pb2.ListDocumentsRequest(
        app_id=model.app_id,
        project_id=model.project_id,
        category_id=model.category_id,
        page=model.page,
        page_size=model.page_size,
        sort_by=_DOCUMENT_SORT_BY_NUMBERS[model.sort_by],
        sort_order=_DOCUMENT_SORT_ORDER_NUMBERS[model.sort_order],
    )


def list_documents_request_input(pb: knowledge_pb2.ListDocumentsRequest) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if pb.HasField("app_id"):
        data["app_id"] = pb.app_id
    if pb.HasField("project_id"):
        data["project_id"] = pb.project_id
    if pb.HasField("category_id"):
        data["category_id"] = pb.category_id
    if pb.HasField("page"):
        data["page"] = pb.page
    if pb.HasField("page_size"):
        data["page_size"] = pb.page_size
    if pb.sort_by:
        data["sort_by"] = _DOCUMENT_SORT_BY_NAMES.get(pb.sort_by, pb.sort_by)
    if pb.sort_order:
        data["sort_order"] = _DOCUMENT_SORT_ORDER_NAMES.get(pb.sort_order, pb.sort_order)
    return data


class GetDocumentRequest(RequestModel):
    """Request message remanence.v2.GetDocumentRequest."""

    # The contract says `d_` and 12 to 32 hex digits; any other id is simply not found.
    doc_id: Annotated[str, Field(strict=True)]
    app_id: Annotated[str, Field(strict=True)] = "default"
    project_id: Annotated[str, Field(strict=True)] = "default"


def get_document_request_to_proto(model: GetDocumentRequest) -> knowledge_pb2.GetDocumentRequest:
    return knowledge_pb2.GetDocumentRequest(
        doc_id=model.doc_id,
        app_id=model.app_id,
        project_id=model.project_id,
    )


def get_document_request_input(pb: knowledge_pb2.GetDocumentRequest) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if pb.doc_id:
        data["doc_id"] = pb.doc_id
    if pb.HasField("app_id"):
        data["app_id"] = pb.app_id
    if pb.HasField("project_id"):
        data["project_id"] = pb.project_id
    return data


class UpdateDocumentRequest(RequestModel):
    """Request message remanence.v2.UpdateDocumentRequest."""

    doc_id: Annotated[str, Field(strict=True)]
    title: Annotated[str, Field(strict=True, min_length=1, pattern="\\w")] | None = None
    category_id: Annotated[str, Field(strict=True, min_length=1)] | None = None
    app_id: Annotated[
        str,
        Field(strict=True, min_length=1, max_length=128, pattern="^[a-zA-Z0-9_.@+-]+$"),
        refused(".", "..", "default_app"),
    ] = "default"
    project_id: Annotated[
        str,
        Field(strict=True, min_length=1, max_length=128, pattern="^[a-zA-Z0-9_.@+-]+$"),
        refused(".", "..", "default_project"),
    ] = "default"


def update_document_request_to_proto(
    model: UpdateDocumentRequest
) -> knowledge_pb2.UpdateDocumentRequest:
    return knowledge_pb2.UpdateDocumentRequest(
        doc_id=model.doc_id,
        title=model.title,
        category_id=model.category_id,
        app_id=model.app_id,
        project_id=model.project_id,
    )


def update_document_request_input(pb: knowledge_pb2.UpdateDocumentRequest) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if pb.doc_id:
        data["doc_id"] = pb.doc_id
    if pb.HasField("title"):
        data["title"] = pb.title
    if pb.HasField("category_id"):
        data["category_id"] = pb.category_id
    if pb.HasField("app_id"):
        data["app_id"] = pb.app_id
    if pb.HasField("project_id"):
        data["project_id"] = pb.project_id
    return data


class DeleteDocumentRequest(RequestModel):
    """Request message remanence.v2.DeleteDocumentRequest."""

    doc_id: Annotated[str, Field(strict=True)]
    app_id: Annotated[str, Field(strict=True)] = "default"
    project_id: Annotated[str, Field(strict=True)] = "default"


def delete_document_request_to_proto(
    model: DeleteDocumentRequest
) -> knowledge_pb2.DeleteDocumentRequest:
    return knowledge_pb2.DeleteDocumentRequest(
        doc_id=model.doc_id,
        app_id=model.app_id,
        project_id=model.project_id,
    )


def delete_document_request_input(pb: knowledge_pb2.DeleteDocumentRequest) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if pb.doc_id:
        data["doc_id"] = pb.doc_id
    if pb.HasField("app_id"):
        data["app_id"] = pb.app_id
    if pb.HasField("project_id"):
        data["project_id"] = pb.project_id
    return data


class GetTopicRequest(RequestModel):
    """Request message remanence.v2.GetTopicRequest."""

    topic_id: Annotated[str, Field(strict=True)]
    app_id: Annotated[str, Field(strict=True)] = "default"
    project_id: Annotated[str, Field(strict=True)] = "default"


def get_topic_request_to_proto(model: GetTopicRequest) -> knowledge_pb2.GetTopicRequest:
    return knowledge_pb2.GetTopicRequest(
        topic_id=model.topic_id,
        app_id=model.app_id,
        project_id=model.project_id,
    )


def get_topic_request_input(pb: knowledge_pb2.GetTopicRequest) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if pb.topic_id:
        data["topic_id"] = pb.topic_id
    if pb.HasField("app_id"):
        data["app_id"] = pb.app_id
    if pb.HasField("project_id"):
        data["project_id"] = pb.project_id
    return data


class SearchTopicsRequest(RequestModel):
    """Request message remanence.v2.SearchTopicsRequest."""

    query: Annotated[str, Field(strict=True, min_length=1, max_length=2000)]
    method: Literal["keyword", "vector", "hybrid"] = "hybrid"
    top_k: Annotated[int, Field(strict=True, ge=1, le=100), WHOLE] = 10
    score_threshold: Annotated[float, Field(strict=True, allow_inf_nan=False)] | None = None
    include_content: Annotated[bool, Field(strict=True)] = False
    app_id: Annotated[
        str,
        Field(strict=True, min_length=1, pattern="^[a-zA-Z0-9_.@+-]+$"),
        refused(".", "..", "default_app"),
    ] = "default"
    project_id: Annotated[
        str,
        Field(strict=True, min_length=1, pattern="^[a-zA-Z0-9_.@+-]+$"),
        refused(".", "..", "default_project"),
    ] = "default"


def search_topics_request_to_proto(model: SearchTopicsRequest) -> knowledge_pb2.SearchTopicsRequest:
    return knowledge_pb2.SearchTopicsRequest(
        query=model.query,
        method=_TOPIC_SEARCH_METHOD_NUMBERS[model.method],
        top_k=model.top_k,
        score_threshold=model.score_threshold,
        include_content=model.include_content,
        app_id=model.app_id,
        project_id=model.project_id,
    )


def search_topics_request_input(pb: knowledge_pb2.SearchTopicsRequest) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if pb.query:
        data["query"] = pb.query
    if pb.method:
        data["method"] = _TOPIC_SEARCH_METHOD_NAMES.get(pb.method, pb.method)
    if pb.HasField("top_k"):
        data["top_k"] = pb.top_k
    if pb.HasField("score_threshold"):
        data["score_threshold"] = pb.score_threshold
    data["include_content"] = pb.include_content
    if pb.HasField("app_id"):
        data["app_id"] = pb.app_id
    if pb.HasField("project_id"):
        data["project_id"] = pb.project_id
    return data


class ListCategoriesRequest(RequestModel):
    """Request message remanence.v2.ListCategoriesRequest."""

    app_id: Annotated[str, Field(strict=True)] = "default"
    project_id: Annotated[str, Field(strict=True)] = "default"


def list_categories_request_to_proto(
    model: ListCategoriesRequest
) -> knowledge_pb2.ListCategoriesRequest:
    return knowledge_pb2.ListCategoriesRequest(
        app_id=model.app_id,
        project_id=model.project_id,
    )


def list_categories_request_input(pb: knowledge_pb2.ListCategoriesRequest) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if pb.HasField("app_id"):
        data["app_id"] = pb.app_id
    if pb.HasField("project_id"):
        data["project_id"] = pb.project_id
    return data


def create_document_response_json(
    pb: knowledge_pb2.CreateDocumentResponse, zone: tzinfo
) -> dict[str, Any]:
    return {
        "doc_id": pb.doc_id,
        "category_id": pb.category_id,
        "topic_count": pb.topic_count,
        "source_name": pb.source_name if pb.HasField("source_name") else None,
        "md_path": pb.md_path,
        "original_file_path": pb.original_file_path if pb.HasField("original_file_path") else None,
    }


def replace_document_response_json(
    pb: knowledge_pb2.ReplaceDocumentResponse, zone: tzinfo
) -> dict[str, Any]:
    return {
        "doc_id": pb.doc_id,
        "category_id": pb.category_id,
        "topic_count": pb.topic_count,
        "source_name": pb.source_name if pb.HasField("source_name") else None,
        "md_path": pb.md_path,
        "original_file_path": pb.original_file_path if pb.HasField("original_file_path") else None,
    }


def document_overview_json(pb: knowledge_pb2.DocumentOverview, zone: tzinfo) -> dict[str, Any]:
    return {
        "doc_id": pb.doc_id,
        "category_id": pb.category_id,
        "title": pb.title,
        "topic_count": pb.topic_count,
        "created_at": timestamp_text(pb.created_at, zone) if pb.HasField("created_at") else None,
    }


def list_documents_response_json(
    pb: knowledge_pb2.ListDocumentsResponse, zone: tzinfo
) -> dict[str, Any]:
    return {
        "documents": [document_overview_json(item, zone) for item in pb.documents],
        "total": pb.total,
        "page": pb.page,
        "page_size": pb.page_size,
    }


def topic_overview_json(pb: knowledge_pb2.TopicOverview, zone: tzinfo) -> dict[str, Any]:
    return {
        "topic_id": pb.topic_id,
        "topic_name": pb.topic_name,
        "topic_path": pb.topic_path,
        "depth": pb.depth,
        "summary": pb.summary,
    }


def get_document_response_json(
    pb: knowledge_pb2.GetDocumentResponse, zone: tzinfo
) -> dict[str, Any]:
    return {
        "doc_id": pb.doc_id,
        "category_id": pb.category_id,
        "title": pb.title,
        "summary": pb.summary,
        "source_name": pb.source_name if pb.HasField("source_name") else None,
        "source_type": pb.source_type if pb.HasField("source_type") else None,
        "original_file_path": pb.original_file_path if pb.HasField("original_file_path") else None,
        "topics": [topic_overview_json(item, zone) for item in pb.topics],
        "created_at": timestamp_text(pb.created_at, zone) if pb.HasField("created_at") else None,
        "updated_at": timestamp_text(pb.updated_at, zone) if pb.HasField("updated_at") else None,
    }


def update_document_response_json(
    pb: knowledge_pb2.UpdateDocumentResponse, zone: tzinfo
) -> dict[str, Any]:
    return {
        "doc_id": pb.doc_id,
        "updated_fields": list(pb.updated_fields),
        "updated_at": timestamp_text(pb.updated_at, zone) if pb.HasField("updated_at") else None,
    }


def delete_document_response_json(
    pb: knowledge_pb2.DeleteDocumentResponse, zone: tzinfo
) -> dict[str, Any]:
    return {
        "doc_id": pb.doc_id,
        "deleted_topics": pb.deleted_topics,
    }


def get_topic_response_json(pb: knowledge_pb2.GetTopicResponse, zone: tzinfo) -> dict[str, Any]:
    return {
        "topic_id": pb.topic_id,
        "doc_id": pb.doc_id,
        "category_id": pb.category_id,
        "topic_name": pb.topic_name,
        "topic_path": pb.topic_path,
        "depth": pb.depth,
        "summary": pb.summary,
        "content": pb.content,
        "content_labels": list(pb.content_labels),
        "parent_topic_id": pb.parent_topic_id if pb.HasField("parent_topic_id") else None,
        "children_topic_ids": list(pb.children_topic_ids),
        "created_at": timestamp_text(pb.created_at, zone) if pb.HasField("created_at") else None,
        "updated_at": timestamp_text(pb.updated_at, zone) if pb.HasField("updated_at") else None,
    }


def document_context_json(pb: knowledge_pb2.DocumentContext, zone: tzinfo) -> dict[str, Any]:
    return {
        "doc_id": pb.doc_id,
        "title": pb.title,
        "summary": pb.summary,
    }


def topic_hit_json(pb: knowledge_pb2.TopicHit, zone: tzinfo) -> dict[str, Any]:
    return {
        "topic_id": pb.topic_id,
        "category_id": pb.category_id,
        "topic_name": pb.topic_name,
        "topic_path": pb.topic_path,
        "depth": pb.depth,
        "summary": pb.summary,
        "content": pb.content if pb.HasField("content") else None,
        "score": pb.score,
        "retrieval_method": pb.retrieval_method,
        "source": pb.source if pb.HasField("source") else None,
        "document": document_context_json(pb.document, zone) if pb.HasField("document") else None,
    }


def search_topics_response_json(
    pb: knowledge_pb2.SearchTopicsResponse, zone: tzinfo
) -> dict[str, Any]:
    return {
        "hits": [topic_hit_json(item, zone) for item in pb.hits],
        "total": pb.total,
        "took_ms": pb.took_ms,
    }


def category_item_json(pb: knowledge_pb2.CategoryItem, zone: tzinfo) -> dict[str, Any]:
    return {
        "category_id": pb.category_id,
        "description": pb.description,
        "document_count": pb.document_count,
    }


def list_categories_response_json(
    pb: knowledge_pb2.ListCategoriesResponse, zone: tzinfo
) -> dict[str, Any]:
    return {
        "categories": [category_item_json(item, zone) for item in pb.categories],
    }


class KnowledgeServiceProtocol(Protocol):
    """Documents become topics that can be read, edited and found.

    Every method is bounded by (app_id, project_id): a document of another scope does not exist.
    """

    async def CreateDocument(
        self,
        request_iterator: AsyncIterator[knowledge_pb2.CreateDocumentRequest],
        context: CallContext,
    ) -> knowledge_pb2.CreateDocumentResponse:
        """Uploads a document, extracts its topics and files it under a category.

        Over gRPC the first message carries `metadata`, the following ones the bytes of the file.

        Fails with INVALID_ARGUMENT (UNSUPPORTED_FORMAT) for a format that cannot be read,
        RESOURCE_EXHAUSTED (PAYLOAD_TOO_LARGE) over the upload limit, and FAILED_PRECONDITION
        (EXTRACTION_EMPTY) when the document yields no topic.
        """
        ...

    async def ReplaceDocument(
        self,
        request_iterator: AsyncIterator[knowledge_pb2.ReplaceDocumentRequest],
        context: CallContext,
    ) -> knowledge_pb2.ReplaceDocumentResponse:
        """Replaces the file and the topics of a document; its id and creation time stay.

        Fails with NOT_FOUND, and like CreateDocument.
        """
        ...

    async def ListDocuments(
        self, request: knowledge_pb2.ListDocumentsRequest, context: CallContext
    ) -> knowledge_pb2.ListDocumentsResponse:
        """Lists the documents of a scope, page by page."""
        ...

    async def GetDocument(
        self, request: knowledge_pb2.GetDocumentRequest, context: CallContext
    ) -> knowledge_pb2.GetDocumentResponse:
        """Returns a document with its topics. Fails with NOT_FOUND."""
        ...

    async def UpdateDocument(
        self, request: knowledge_pb2.UpdateDocumentRequest, context: CallContext
    ) -> knowledge_pb2.UpdateDocumentResponse:
        """Changes the title or the category of a document; absent fields stay. Fails with
        NOT_FOUND."""
        ...

    async def DeleteDocument(
        self, request: knowledge_pb2.DeleteDocumentRequest, context: CallContext
    ) -> knowledge_pb2.DeleteDocumentResponse:
        """Deletes a document with its topics and its original. What does not exist is a success
        (204)."""
        ...

    async def GetTopic(
        self, request: knowledge_pb2.GetTopicRequest, context: CallContext
    ) -> knowledge_pb2.GetTopicResponse:
        """Returns one topic with its text. Fails with NOT_FOUND."""
        ...

    async def SearchTopics(
        self, request: knowledge_pb2.SearchTopicsRequest, context: CallContext
    ) -> knowledge_pb2.SearchTopicsResponse:
        """Finds the topics of a scope that bear on a query, best first."""
        ...

    async def ListCategories(
        self, request: knowledge_pb2.ListCategoriesRequest, context: CallContext
    ) -> knowledge_pb2.ListCategoriesResponse:
        """Lists the categories of a scope with the number of documents in each."""
        ...


_CREATE_DOCUMENT_TEXTS: TextReaders = {
    "title": str,
    "source_type": str,
    "category_id": str,
    "app_id": str,
    "project_id": str,
}
_REPLACE_DOCUMENT_TEXTS: TextReaders = {
    "title": str,
    "source_type": str,
    "category_id": str,
    "app_id": str,
    "project_id": str,
}
_REPLACE_DOCUMENT_PLACES = {
    "doc_id": "path",
}
_LIST_DOCUMENTS_TEXTS: TextReaders = {
    "app_id": str,
    "project_id": str,
    "category_id": str,
    "page": integer_from_text,
    "page_size": integer_from_text,
    "sort_by": str,
    "sort_order": str,
}
_LIST_DOCUMENTS_PLACES = {
    "app_id": "query",
    "project_id": "query",
    "category_id": "query",
    "page": "query",
    "page_size": "query",
    "sort_by": "query",
    "sort_order": "query",
}
_GET_DOCUMENT_TEXTS: TextReaders = {
    "app_id": str,
    "project_id": str,
}
_GET_DOCUMENT_PLACES = {
    "doc_id": "path",
    "app_id": "query",
    "project_id": "query",
}
_UPDATE_DOCUMENT_PLACES = {
    "doc_id": "path",
}
_DELETE_DOCUMENT_TEXTS: TextReaders = {
    "app_id": str,
    "project_id": str,
}
_DELETE_DOCUMENT_PLACES = {
    "doc_id": "path",
    "app_id": "query",
    "project_id": "query",
}
_GET_TOPIC_TEXTS: TextReaders = {
    "app_id": str,
    "project_id": str,
}
_GET_TOPIC_PLACES = {
    "topic_id": "path",
    "app_id": "query",
    "project_id": "query",
}
_LIST_CATEGORIES_TEXTS: TextReaders = {
    "app_id": str,
    "project_id": str,
}
_LIST_CATEGORIES_PLACES = {
    "app_id": "query",
    "project_id": "query",
}


def knowledge_service_router(servicer: KnowledgeServiceProtocol, binding: HttpBinding) -> APIRouter:
    """HTTP routes of remanence.v2.KnowledgeService, which call its servicer in process."""
    router = APIRouter()

    async def create_document(request: Request) -> Response:
        async with binding.read_upload(request, _CREATE_DOCUMENT_TEXTS) as upload:
            model = validate(DocumentMetadata, upload.fields)
            first = knowledge_pb2.CreateDocumentRequest(metadata=document_metadata_to_proto(model))
            context = binding.context(request)
            messages = upload.messages(
                first, lambda chunk: knowledge_pb2.CreateDocumentRequest(chunk=chunk)
            )
            reply = await servicer.CreateDocument(messages, context)
        body = create_document_response_json(reply, binding.zone)
        return binding.enveloped(context, body, status=201)

    add_routes(
        router,
        "POST",
        create_document,
        "/api/v2/knowledge/documents",
        "/api/v1/knowledge/documents",
    )

    async def replace_document(request: Request) -> Response:
        async with binding.read_upload(request, _REPLACE_DOCUMENT_TEXTS) as upload:
            upload.fields["doc_id"] = request.path_params["doc_id"]
            model = validate(DocumentMetadata, upload.fields, _REPLACE_DOCUMENT_PLACES)
            first = knowledge_pb2.ReplaceDocumentRequest(metadata=document_metadata_to_proto(model))
            context = binding.context(request)
            messages = upload.messages(
                first, lambda chunk: knowledge_pb2.ReplaceDocumentRequest(chunk=chunk)
            )
            reply = await servicer.ReplaceDocument(messages, context)
        body = replace_document_response_json(reply, binding.zone)
        return binding.enveloped(context, body, status=200)

    add_routes(
        router,
        "PUT",
        replace_document,
        "/api/v2/knowledge/documents/{doc_id}",
        "/api/v1/knowledge/documents/{doc_id}",
    )

    async def list_documents(request: Request) -> Response:
        data = query_fields(request, _LIST_DOCUMENTS_TEXTS)
        model = validate(ListDocumentsRequest, data, _LIST_DOCUMENTS_PLACES)
        context = binding.context(request)
        reply = await servicer.ListDocuments(list_documents_request_to_proto(model), context)
        body = list_documents_response_json(reply, binding.zone)
        return binding.enveloped(context, body, status=200)

    add_routes(
        router, "GET", list_documents, "/api/v2/knowledge/documents", "/api/v1/knowledge/documents"
    )

    async def get_document(request: Request) -> Response:
        data = query_fields(request, _GET_DOCUMENT_TEXTS)
        data["doc_id"] = request.path_params["doc_id"]
        model = validate(GetDocumentRequest, data, _GET_DOCUMENT_PLACES)
        context = binding.context(request)
        reply = await servicer.GetDocument(get_document_request_to_proto(model), context)
        body = get_document_response_json(reply, binding.zone)
        return binding.enveloped(context, body, status=200)

    add_routes(
        router,
        "GET",
        get_document,
        "/api/v2/knowledge/documents/{doc_id}",
        "/api/v1/knowledge/documents/{doc_id}",
    )

    async def update_document(request: Request) -> Response:
        data = await binding.read_object(request)
        data["doc_id"] = request.path_params["doc_id"]
        model = validate(UpdateDocumentRequest, data, _UPDATE_DOCUMENT_PLACES)
        context = binding.context(request)
        reply = await servicer.UpdateDocument(update_document_request_to_proto(model), context)
        body = update_document_response_json(reply, binding.zone)
        return binding.enveloped(context, body, status=200)

    add_routes(
        router,
        "PATCH",
        update_document,
        "/api/v2/knowledge/documents/{doc_id}",
        "/api/v1/knowledge/documents/{doc_id}",
    )

    async def delete_document(request: Request) -> Response:
        data = query_fields(request, _DELETE_DOCUMENT_TEXTS)
        data["doc_id"] = request.path_params["doc_id"]
        model = validate(DeleteDocumentRequest, data, _DELETE_DOCUMENT_PLACES)
        context = binding.context(request)
        reply = await servicer.DeleteDocument(delete_document_request_to_proto(model), context)
        body = delete_document_response_json(reply, binding.zone)
        return binding.enveloped(context, body, status=204 if body["deleted_topics"] == 0 else 200)

    add_routes(
        router,
        "DELETE",
        delete_document,
        "/api/v2/knowledge/documents/{doc_id}",
        "/api/v1/knowledge/documents/{doc_id}",
    )

    async def get_topic(request: Request) -> Response:
        data = query_fields(request, _GET_TOPIC_TEXTS)
        data["topic_id"] = request.path_params["topic_id"]
        model = validate(GetTopicRequest, data, _GET_TOPIC_PLACES)
        context = binding.context(request)
        reply = await servicer.GetTopic(get_topic_request_to_proto(model), context)
        body = get_topic_response_json(reply, binding.zone)
        return binding.enveloped(context, body, status=200)

    add_routes(
        router,
        "GET",
        get_topic,
        "/api/v2/knowledge/topics/{topic_id}",
        "/api/v1/knowledge/topics/{topic_id}",
    )

    async def search_topics(request: Request) -> Response:
        data = await binding.read_object(request)
        model = validate(SearchTopicsRequest, data)
        context = binding.context(request)
        reply = await binding.while_connected(
            request, servicer.SearchTopics(search_topics_request_to_proto(model), context)
        )
        body = search_topics_response_json(reply, binding.zone)
        return binding.enveloped(context, body, status=200)

    add_routes(
        router, "POST", search_topics, "/api/v2/knowledge/search", "/api/v1/knowledge/search"
    )

    async def list_categories(request: Request) -> Response:
        data = query_fields(request, _LIST_CATEGORIES_TEXTS)
        model = validate(ListCategoriesRequest, data, _LIST_CATEGORIES_PLACES)
        context = binding.context(request)
        reply = await servicer.ListCategories(list_categories_request_to_proto(model), context)
        body = list_categories_response_json(reply, binding.zone)
        return binding.enveloped(context, body, status=200)

    add_routes(
        router,
        "GET",
        list_categories,
        "/api/v2/knowledge/categories",
        "/api/v1/knowledge/categories",
    )

    return router


MESSAGES: Registry = {
    "remanence.v2.DocumentMetadata": MessageBinding(
        DocumentMetadata, document_metadata_to_proto, document_metadata_input
    ),
    "remanence.v2.ListDocumentsRequest": MessageBinding(
        ListDocumentsRequest, list_documents_request_to_proto, list_documents_request_input
    ),
    "remanence.v2.GetDocumentRequest": MessageBinding(
        GetDocumentRequest, get_document_request_to_proto, get_document_request_input
    ),
    "remanence.v2.UpdateDocumentRequest": MessageBinding(
        UpdateDocumentRequest, update_document_request_to_proto, update_document_request_input
    ),
    "remanence.v2.DeleteDocumentRequest": MessageBinding(
        DeleteDocumentRequest, delete_document_request_to_proto, delete_document_request_input
    ),
    "remanence.v2.GetTopicRequest": MessageBinding(
        GetTopicRequest, get_topic_request_to_proto, get_topic_request_input
    ),
    "remanence.v2.SearchTopicsRequest": MessageBinding(
        SearchTopicsRequest, search_topics_request_to_proto, search_topics_request_input
    ),
    "remanence.v2.ListCategoriesRequest": MessageBinding(
        ListCategoriesRequest, list_categories_request_to_proto, list_categories_request_input
    ),
    "remanence.v2.CreateDocumentRequest": UploadBinding(
        "metadata",
        MessageBinding(DocumentMetadata, document_metadata_to_proto, document_metadata_input),
    ),
    "remanence.v2.ReplaceDocumentRequest": UploadBinding(
        "metadata",
        MessageBinding(DocumentMetadata, document_metadata_to_proto, document_metadata_input),
    ),
}
