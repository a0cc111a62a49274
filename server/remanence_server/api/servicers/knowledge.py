"""KnowledgeService: comes with the knowledge subsystem."""

from __future__ import annotations

from collections.abc import AsyncIterator

from remanence.v2 import knowledge_pb2 as pb
from remanence.v2 import knowledge_pb2_grpc
from remanence_server.api.servicers.unavailable import unavailable

_FEATURE = "knowledge"


class KnowledgeServicer(knowledge_pb2_grpc.KnowledgeServiceServicer):
    """Every method refuses: there are no documents yet."""

    async def CreateDocument(
        self, request_iterator: AsyncIterator[pb.CreateDocumentRequest], context: object
    ) -> pb.CreateDocumentResponse:
        """Refuses."""
        raise unavailable(_FEATURE)

    async def ReplaceDocument(
        self, request_iterator: AsyncIterator[pb.ReplaceDocumentRequest], context: object
    ) -> pb.ReplaceDocumentResponse:
        """Refuses."""
        raise unavailable(_FEATURE)

    async def ListDocuments(
        self, request: pb.ListDocumentsRequest, context: object
    ) -> pb.ListDocumentsResponse:
        """Refuses."""
        raise unavailable(_FEATURE)

    async def GetDocument(
        self, request: pb.GetDocumentRequest, context: object
    ) -> pb.GetDocumentResponse:
        """Refuses."""
        raise unavailable(_FEATURE)

    async def UpdateDocument(
        self, request: pb.UpdateDocumentRequest, context: object
    ) -> pb.UpdateDocumentResponse:
        """Refuses."""
        raise unavailable(_FEATURE)

    async def DeleteDocument(
        self, request: pb.DeleteDocumentRequest, context: object
    ) -> pb.DeleteDocumentResponse:
        """Refuses."""
        raise unavailable(_FEATURE)

    async def GetTopic(self, request: pb.GetTopicRequest, context: object) -> pb.GetTopicResponse:
        """Refuses."""
        raise unavailable(_FEATURE)

    async def SearchTopics(
        self, request: pb.SearchTopicsRequest, context: object
    ) -> pb.SearchTopicsResponse:
        """Refuses."""
        raise unavailable(_FEATURE)

    async def ListCategories(
        self, request: pb.ListCategoriesRequest, context: object
    ) -> pb.ListCategoriesResponse:
        """Refuses."""
        raise unavailable(_FEATURE)
