"""MemoryService."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import tzinfo
from functools import partial

from remanence.v2 import memory_pb2 as pb
from remanence.v2 import memory_pb2_grpc
from remanence_server.api import records
from remanence_server.api.answer_budget import fit_get, fit_search
from remanence_server.api.filters import read_filter, session_shorthand
from remanence_server.api.idempotency import Idempotency, MakeReceipt
from remanence_server.api.messages import read_message, unprocessed_message
from remanence_server.api.request_ids import current_request_id
from remanence_server.api.transcoding import CallContext
from remanence_server.domain.filters import Filter
from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.domain.records import AgentCase, AgentSkill, Episode, Kind, Profile
from remanence_server.index.catalogue.interface import SortBy
from remanence_server.memory.delete import (
    ByIds,
    DeletePath,
    Everything,
    Matching,
    OfSession,
    Target,
    delete_memories,
)
from remanence_server.memory.delivery import add_entry, flush_entry
from remanence_server.memory.queue import MemorizeQueue
from remanence_server.memory.read import Listing, ReadPath, list_memories, search_memories
from remanence_server.memory.write import (
    AddBatch,
    Added,
    WritePath,
    WriteStatus,
    add_messages,
    flush_session,
)
from remanence_server.retrieval.results import Method, Query
from remanence_server.runtime.errors import invalid_input

_METHODS: Mapping[int, Method] = {
    pb.SEARCH_METHOD_KEYWORD: Method.KEYWORD,
    pb.SEARCH_METHOD_VECTOR: Method.VECTOR,
    pb.SEARCH_METHOD_HYBRID: Method.HYBRID,
    pb.SEARCH_METHOD_AGENTIC: Method.AGENTIC,
    # A legacy name of the same loop.
    pb.SEARCH_METHOD_LLM_MULTIROUND: Method.AGENTIC,
}
_KINDS: Mapping[int, Kind] = {
    pb.MEMORY_TYPE_EPISODE: Kind.EPISODE,
    pb.MEMORY_TYPE_PROFILE: Kind.PROFILE,
    pb.MEMORY_TYPE_AGENT_CASE: Kind.AGENT_CASE,
    pb.MEMORY_TYPE_AGENT_SKILL: Kind.AGENT_SKILL,
}
_ADD_STATUS: Mapping[WriteStatus, pb.AddStatus] = {
    WriteStatus.ACCUMULATED: pb.ADD_STATUS_ACCUMULATED,
    WriteStatus.EXTRACTED: pb.ADD_STATUS_EXTRACTED,
}
_FLUSH_STATUS: Mapping[WriteStatus, pb.FlushStatus] = {
    WriteStatus.EXTRACTED: pb.FLUSH_STATUS_EXTRACTED,
    WriteStatus.NO_EXTRACTION: pb.FLUSH_STATUS_NO_EXTRACTION,
}
_SORT_BY: Mapping[int, SortBy] = {
    pb.SORT_BY_TIMESTAMP: SortBy.TIMESTAMP,
    pb.SORT_BY_UPDATED_AT: SortBy.UPDATED_AT,
}
_SERVER_DEFAULT_TOP_K = -1


class MemoryServicer(memory_pb2_grpc.MemoryServiceServicer):
    """Messages in, memories out."""

    def __init__(
        self,
        write_path: WritePath,
        read_path: ReadPath,
        delete_path: DeletePath,
        queue: MemorizeQueue,
        idempotency: Idempotency,
        zone: tzinfo,
    ) -> None:
        self._idempotency = idempotency
        self._write_path = write_path
        self._queue = queue
        self._read_path = read_path
        self._delete_path = delete_path
        self._zone = zone

    async def Add(self, request: pb.AddRequest, context: CallContext) -> pb.AddResponse:
        """Appends a batch to a session."""
        act = partial(self._add, request, context)
        return await self._idempotency.answer(request, context, pb.AddResponse, act)

    async def _add(
        self, request: pb.AddRequest, context: CallContext, make_receipt: MakeReceipt
    ) -> pb.AddResponse:
        batch = AddBatch(
            scope=Scope(request.app_id, request.project_id),
            session_id=request.session_id,
            messages=[read_message(item) for item in request.messages],
            defer_extraction=request.defer_extraction,
        )
        count = len(batch.messages)

        def queued(pending: int) -> pb.AddResponse:
            return pb.AddResponse(message_count=count, status=pb.ADD_STATUS_QUEUED, pending=pending)

        def kept(new_count: int) -> pb.AddResponse:
            return _added(count, Added(WriteStatus.ACCUMULATED, count - new_count))

        pending = await self._queue.offer(
            lambda: add_entry(batch, current_request_id()),
            asynchronous=request.async_mode,
            receipt=make_receipt(queued),
        )
        if pending is not None:
            return queued(pending)
        added = await add_messages(
            self._write_path,
            batch,
            receipt=make_receipt(kept),
            remaining_seconds=context.time_remaining(),
        )
        return _added(count, added)

    async def Flush(self, request: pb.FlushRequest, context: CallContext) -> pb.FlushResponse:
        """Extracts what a session has buffered."""
        act = partial(self._flush, request, context)
        return await self._idempotency.answer(request, context, pb.FlushResponse, act)

    async def _flush(
        self, request: pb.FlushRequest, context: CallContext, make_receipt: MakeReceipt
    ) -> pb.FlushResponse:
        scope = Scope(request.app_id, request.project_id)

        def queued(pending: int) -> pb.FlushResponse:
            return pb.FlushResponse(status=pb.FLUSH_STATUS_QUEUED, message_count=0, pending=pending)

        pending = await self._queue.offer(
            lambda: flush_entry(
                scope, request.session_id, current_request_id(), wait_until_visible=request.wait
            ),
            asynchronous=False,
            receipt=make_receipt(queued),
        )
        if pending is not None:
            return queued(pending)
        status = await flush_session(
            self._write_path,
            scope,
            request.session_id,
            wait_until_visible=request.wait,
            remaining_seconds=context.time_remaining(),
        )
        return pb.FlushResponse(status=_FLUSH_STATUS[status])

    async def Search(self, request: pb.SearchRequest, context: CallContext) -> pb.SearchResponse:
        """Ranks the memories of one owner."""
        owner = _owner(request)
        query = Query(
            owner=owner,
            text=request.query,
            method=_METHODS[request.method],
            top_k=None if request.top_k == _SERVER_DEFAULT_TOP_K else request.top_k,
            radius=request.radius if request.HasField("radius") else None,
            minimum_score=request.min_score if request.HasField("min_score") else None,
            where=self._where(request),
        )
        session_id = session_shorthand(request.filters) if request.HasField("filters") else None
        found = await search_memories(
            self._read_path,
            query,
            include_profile=request.include_profile,
            unprocessed_session=session_id,
        )
        response = pb.SearchResponse(
            episodes=[records.search_episode(hit) for hit in found.episodes],
            profiles=[records.search_profile(profile) for profile in found.profiles],
            agent_cases=[records.search_case(hit) for hit in found.cases],
            agent_skills=[records.search_skill(hit) for hit in found.skills],
            unprocessed_messages=[
                unprocessed_message(owner.scope, session_id or "", message)
                for message in found.unprocessed
            ],
        )
        return fit_search(request, response, context)

    async def Get(self, request: pb.GetRequest, context: CallContext) -> pb.GetResponse:
        """Lists the memories of one owner."""
        listing = Listing(
            owner=_owner(request),
            kind=_KINDS[request.memory_type],
            page=request.page,
            page_size=request.page_size,
            sort_by=_SORT_BY[request.sort_by],
            descending=request.sort_order == pb.SORT_ORDER_DESC,
            where=self._where(request),
        )
        page = await list_memories(self._read_path, listing)
        response = pb.GetResponse(total_count=page.total_count, count=len(page.records))
        for record in page.records:
            match record:
                case Episode():
                    response.episodes.append(records.get_episode(record))
                case Profile():
                    response.profiles.append(records.get_profile(record))
                case AgentCase():
                    response.agent_cases.append(records.get_case(record))
                case AgentSkill():
                    response.agent_skills.append(records.get_skill(record))
        return fit_get(request, response, context)

    async def Delete(self, request: pb.DeleteRequest, context: CallContext) -> pb.DeleteResponse:
        """Removes memories for good."""
        # Deleting twice is harmless: the receipt need not be written with the deletion.
        act = partial(self._delete, request)
        return await self._idempotency.answer(request, context, pb.DeleteResponse, act)

    async def _delete(self, request: pb.DeleteRequest, _: MakeReceipt) -> pb.DeleteResponse:
        scope, owner = Scope(request.app_id, request.project_id), None
        if request.HasField("user_id") or request.HasField("agent_id"):
            owner = _owner(request)
        target = self._target(request)
        if owner is None and not isinstance(target, OfSession):
            raise invalid_input("exactly one of user_id / agent_id must be provided")
        done = await delete_memories(self._delete_path, scope, owner, target)
        counts = dataclasses.asdict(done)
        return pb.DeleteResponse(deleted=sum(counts.values()), **counts)

    def _target(self, request: pb.DeleteRequest) -> Target:
        targets: list[Target] = []
        if request.ids:
            targets.append(ByIds(tuple(request.ids)))
        if request.HasField("session_id"):
            targets.append(OfSession(request.session_id))
        if request.HasField("filters"):
            targets.append(Matching(self._where(request)))
        if request.everything:
            targets.append(Everything())
        if len(targets) != 1:
            raise invalid_input(
                "say what to delete: exactly one of ids, session_id, filters, everything"
            )
        return targets[0]

    def _where(self, request: pb.SearchRequest | pb.GetRequest | pb.DeleteRequest) -> Filter | None:
        return read_filter(request.filters, self._zone) if request.HasField("filters") else None


def _added(message_count: int, added: Added) -> pb.AddResponse:
    response = pb.AddResponse(message_count=message_count, status=_ADD_STATUS[added.status])
    if added.known_count:
        response.known_count = added.known_count
    return response


def _owner(request: pb.SearchRequest | pb.GetRequest | pb.DeleteRequest) -> Owner:
    scope = Scope(request.app_id, request.project_id)
    if request.HasField("user_id"):
        return Owner(scope, Track.USER, request.user_id)
    return Owner(scope, Track.AGENT, request.agent_id)
