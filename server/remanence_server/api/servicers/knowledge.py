"""KnowledgeService: comes with the knowledge subsystem."""

from __future__ import annotations

from collections.abc import AsyncIterator

from remanence.v2 import knowledge_pb2 as pb
from remanence_server.api.servicers.unavailable import unavailable
from remanence_server.api.transcoding import CallContext

_FEATURE = "knowledge"


class KnowledgeServicer:
    """Every method refuses: there are no documents yet."""

    async def CreateDocument(  # noqa: N802
        self, request_iterator: AsyncIterator[pb.CreateDocumentRequest], context: CallContext
    ) -> pb.CreateDocumentResponse:
        """Refuses."""
        raise unavailable(_FEATURE)

    async def ReplaceDocument(  # noqa: N802
        self, request_iterator: AsyncIterator[pb.ReplaceDocumentRequest], context: CallContext
    ) -> pb.ReplaceDocumentResponse:
        """Refuses."""
        raise unavailable(_FEATURE)

    async def ListDocuments(  # noqa: N802
        self, request: pb.ListDocumentsRequest, context: CallContext
    ) -> pb.ListDocumentsResponse:
        """Refuses."""
        raise unavailable(_FEATURE)

    async def GetDocument(  # noqa: N802
        self, request: pb.GetDocumentRequest, context: CallContext
    ) -> pb.GetDocumentResponse:
        """Refuses."""
        raise unavailable(_FEATURE)

    async def UpdateDocument(  # noqa: N802
        self, request: pb.UpdateDocumentRequest, context: CallContext
    ) -> pb.UpdateDocumentResponse:
        """Refuses."""
        raise unavailable(_FEATURE)

    async def DeleteDocument(  # noqa: N802
        self, request: pb.DeleteDocumentRequest, context: CallContext
    ) -> pb.DeleteDocumentResponse:
        """Refuses."""
        raise unavailable(_FEATURE)

    async def GetTopic(  # noqa: N802
        self, request: pb.GetTopicRequest, context: CallContext
    ) -> pb.GetTopicResponse:
        """Refuses."""
        raise unavailable(_FEATURE)

    async def SearchTopics(  # noqa: N802
        self, request: pb.SearchTopicsRequest, context: CallContext
    ) -> pb.SearchTopicsResponse:
        """Refuses."""
        raise unavailable(_FEATURE)

    async def ListCategories(  # noqa: N802
        self, request: pb.ListCategoriesRequest, context: CallContext
    ) -> pb.ListCategoriesResponse:
        """Refuses."""
        raise unavailable(_FEATURE)
