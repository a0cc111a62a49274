"""Servicers that record what they are asked."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta, timezone

from remanence.v2 import knowledge_pb2, memory_pb2, tasks_pb2
from remanence_server.api.transcoding import CallContext
from remanence_server.runtime.errors import ErrorCode, ServiceError

SHANGHAI = timezone(timedelta(hours=8))
MAX_BODY_BYTES = 256 * 1024


class RecordingServicer:
    """Answers what a test sets up; keeps the requests and contexts it saw."""

    def __init__(self) -> None:
        self.requests: list[object] = []
        self.contexts: list[CallContext] = []
        self.failure: Exception | None = None
        self.search_response = memory_pb2.SearchResponse()
        self.deleted_topics = 0

    def _saw(self, request: object, context: CallContext) -> None:
        self.requests.append(request)
        self.contexts.append(context)
        if self.failure is not None:
            raise self.failure

    async def Add(
        self, request: memory_pb2.AddRequest, context: CallContext
    ) -> memory_pb2.AddResponse:
        self._saw(request, context)
        count = len(request.messages)
        if request.async_mode:
            status = memory_pb2.ADD_STATUS_QUEUED
            return memory_pb2.AddResponse(message_count=count, status=status, pending=1)
        return memory_pb2.AddResponse(message_count=count, status=memory_pb2.ADD_STATUS_ACCUMULATED)

    async def Flush(
        self, request: memory_pb2.FlushRequest, context: CallContext
    ) -> memory_pb2.FlushResponse:
        self._saw(request, context)
        return memory_pb2.FlushResponse(status=memory_pb2.FLUSH_STATUS_NO_EXTRACTION)

    async def Search(
        self, request: memory_pb2.SearchRequest, context: CallContext
    ) -> memory_pb2.SearchResponse:
        self._saw(request, context)
        return self.search_response

    async def Get(
        self, request: memory_pb2.GetRequest, context: CallContext
    ) -> memory_pb2.GetResponse:
        self._saw(request, context)
        return memory_pb2.GetResponse(total_count=0)

    async def Delete(
        self, request: memory_pb2.DeleteRequest, context: CallContext
    ) -> memory_pb2.DeleteResponse:
        self._saw(request, context)
        return memory_pb2.DeleteResponse()

    async def GetTask(
        self, request: tasks_pb2.GetTaskRequest, context: CallContext
    ) -> tasks_pb2.GetTaskResponse:
        self._saw(request, context)
        raise ServiceError(ErrorCode.NOT_FOUND, f"task {request.task_id} not found or expired")

    async def ListTasks(
        self, request: tasks_pb2.ListTasksRequest, context: CallContext
    ) -> tasks_pb2.ListTasksResponse:
        self._saw(request, context)
        return tasks_pb2.ListTasksResponse(page=request.page, page_size=request.page_size)

    async def CreateDocument(
        self,
        request_iterator: AsyncIterator[knowledge_pb2.CreateDocumentRequest],
        context: CallContext,
    ) -> knowledge_pb2.CreateDocumentResponse:
        async for request in request_iterator:
            self._saw(request, context)
        return knowledge_pb2.CreateDocumentResponse(doc_id="d_0123456789ab", topic_count=2)

    async def ReplaceDocument(
        self,
        request_iterator: AsyncIterator[knowledge_pb2.ReplaceDocumentRequest],
        context: CallContext,
    ) -> knowledge_pb2.ReplaceDocumentResponse:
        async for request in request_iterator:
            self._saw(request, context)
        return knowledge_pb2.ReplaceDocumentResponse(doc_id="d_0123456789ab")

    async def ListDocuments(
        self, request: knowledge_pb2.ListDocumentsRequest, context: CallContext
    ) -> knowledge_pb2.ListDocumentsResponse:
        self._saw(request, context)
        return knowledge_pb2.ListDocumentsResponse()

    async def GetDocument(
        self, request: knowledge_pb2.GetDocumentRequest, context: CallContext
    ) -> knowledge_pb2.GetDocumentResponse:
        self._saw(request, context)
        return knowledge_pb2.GetDocumentResponse(doc_id=request.doc_id)

    async def UpdateDocument(
        self, request: knowledge_pb2.UpdateDocumentRequest, context: CallContext
    ) -> knowledge_pb2.UpdateDocumentResponse:
        self._saw(request, context)
        return knowledge_pb2.UpdateDocumentResponse(doc_id=request.doc_id)

    async def DeleteDocument(
        self, request: knowledge_pb2.DeleteDocumentRequest, context: CallContext
    ) -> knowledge_pb2.DeleteDocumentResponse:
        self._saw(request, context)
        return knowledge_pb2.DeleteDocumentResponse(
            doc_id=request.doc_id, deleted_topics=self.deleted_topics
        )

    async def GetTopic(
        self, request: knowledge_pb2.GetTopicRequest, context: CallContext
    ) -> knowledge_pb2.GetTopicResponse:
        self._saw(request, context)
        return knowledge_pb2.GetTopicResponse(topic_id=request.topic_id)

    async def SearchTopics(
        self, request: knowledge_pb2.SearchTopicsRequest, context: CallContext
    ) -> knowledge_pb2.SearchTopicsResponse:
        self._saw(request, context)
        return knowledge_pb2.SearchTopicsResponse()

    async def ListCategories(
        self, request: knowledge_pb2.ListCategoriesRequest, context: CallContext
    ) -> knowledge_pb2.ListCategoriesResponse:
        self._saw(request, context)
        return knowledge_pb2.ListCategoriesResponse()
