"""The client for programs that block."""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self

import grpc
from google.protobuf.message import Message as ProtobufMessage

from remanence.v2 import transfer_pb2
from remanence_client import _calls, _job_calls, _transfers
from remanence_client._channel import channel_options
from remanence_client._reader import read_message
from remanence_client.errors import from_rpc_error, request_id_of
from remanence_client.filters import Filters
from remanence_client.folders import ArrivingFolder
from remanence_client.health import Health
from remanence_client.inputs import Message
from remanence_client.results import (
    AddResult,
    DeleteResult,
    FlushResult,
    ImportResult,
    Job,
    JobPage,
    Page,
    QuiesceResult,
    RebuildResult,
    ReceivedFiles,
    SearchResult,
    Task,
    TaskPage,
    TriggerResult,
)
from remanence_client.words import (
    JobStatus,
    MemoryType,
    SearchMethod,
    SortBy,
    SortOrder,
    TaskStatus,
)


class Client:
    """A connection to a Remanence server; use it from as many threads as you like.

    Every method raises a `RemanenceError`. Reads are tried again, a few times within the time
    allowed, while the server is unavailable; writes only with `retry_writes`.
    """

    def __init__(
        self,
        address: str = "127.0.0.1:50051",
        *,
        timeout_seconds: float = 30.0,
        retry_writes: bool = False,
        credentials: grpc.ChannelCredentials | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        """Prepares the connection; it is made at the first call.

        Args:
            address: `HOST:PORT` of the server's gRPC port.
            timeout_seconds: time allowed for a call, tries and pauses included.
            retry_writes: also send `add`, `flush` and `delete` again, each with an idempotency
                key; messages without a `message_id` get one. So all is done once.
            credentials: for TLS; plain text without.
            metadata: sent with every call, for example an `authorization` for a gateway.
        """
        options = channel_options(retry_writes=retry_writes)
        self._channel = (
            grpc.insecure_channel(address, options)
            if credentials is None
            else grpc.secure_channel(address, credentials, options)
        )
        self._address = address
        self._timeout_seconds = timeout_seconds
        self._retry_writes = retry_writes
        self._metadata = tuple((metadata or {}).items())
        self._methods: dict[str, Callable[..., Any]] = {}
        self._lock = threading.Lock()

    def close(self) -> None:
        """Ends the connection and every call under way."""
        self._channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def add(
        self,
        session_id: str,
        messages: Iterable[Message | Mapping[str, Any]],
        *,
        app_id: str | None = None,
        project_id: str | None = None,
        defer_extraction: bool = False,
        async_mode: bool = False,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> AddResult:
        """Appends up to 500 messages, in this order, to the buffer of a session.

        When it returns the messages are on disk. A segment that they complete is extracted first,
        unless `defer_extraction`; with `async_mode` the batch is queued and the result's
        `request_id` is the id for `get_task`. Mappings are messages in the JSON of the API. The
        same call with the same `idempotency_key` gets the first answer again, and does nothing.
        """
        call = _calls.add(
            session_id,
            messages,
            app_id=app_id,
            project_id=project_id,
            defer_extraction=defer_extraction,
            async_mode=async_mode,
            give_ids=self._retry_writes,
            idempotency_key=self._key(idempotency_key),
        )
        return self._run(call, timeout_seconds)

    def flush(
        self,
        session_id: str,
        *,
        app_id: str | None = None,
        project_id: str | None = None,
        wait: bool | None = None,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> FlushResult:
        """Closes the buffered segment of a session and extracts it now.

        Unless `wait` is False, it also waits, for a bounded time, until the memories can be found.
        """
        call = _calls.flush(
            session_id,
            app_id=app_id,
            project_id=project_id,
            wait=wait,
            idempotency_key=self._key(idempotency_key),
        )
        return self._run(call, timeout_seconds)

    def search(
        self,
        query: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        app_id: str | None = None,
        project_id: str | None = None,
        method: SearchMethod | None = None,
        top_k: int | None = None,
        radius: float | None = None,
        min_score: float | None = None,
        include_profile: bool = False,
        enable_llm_rerank: bool = False,
        filters: Filters | None = None,
        timeout_seconds: float | None = None,
    ) -> SearchResult:
        """Finds the memories of one user or one agent that bear on a query, best first.

        Args:
            query: what to look for.
            user_id: whose memory; exactly one of `user_id` and `agent_id`.
            agent_id: whose memory, for an agent's cases and skills.
            app_id: scope; "default" if absent.
            project_id: scope; "default" if absent.
            method: hybrid if absent.
            top_k: 1 to 100 of each kind; -1 or absent: the server's own cap and radius.
            radius: cosine floor of dense recall, 0 to 1.
            min_score: floor of the final score, 0 to 1.
            include_profile: also return the user's profile.
            enable_llm_rerank: let the model rerank cases and skills.
            filters: the filter language, such as `{"session_id": "s1"}`.
            timeout_seconds: instead of the client's.
        """
        call = _calls.search(
            query,
            user_id=user_id,
            agent_id=agent_id,
            app_id=app_id,
            project_id=project_id,
            method=method,
            top_k=top_k,
            radius=radius,
            min_score=min_score,
            include_profile=include_profile,
            enable_llm_rerank=enable_llm_rerank,
            filters=filters,
        )
        return self._run(call, timeout_seconds)

    def get(
        self,
        memory_type: MemoryType,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        app_id: str | None = None,
        project_id: str | None = None,
        page: int | None = None,
        page_size: int | None = None,
        sort_by: SortBy | None = None,
        sort_order: SortOrder | None = None,
        filters: Filters | None = None,
        timeout_seconds: float | None = None,
    ) -> Page:
        """Lists memories of one kind of one owner, newest first unless told otherwise.

        Pages count from 1 and hold 1 to 100 memories, 20 if absent.
        """
        call = _calls.get(
            memory_type,
            user_id=user_id,
            agent_id=agent_id,
            app_id=app_id,
            project_id=project_id,
            page=page,
            page_size=page_size,
            sort_by=sort_by,
            sort_order=sort_order,
            filters=filters,
        )
        return self._run(call, timeout_seconds)

    def delete(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        app_id: str | None = None,
        project_id: str | None = None,
        ids: Sequence[str] = (),
        session_id: str | None = None,
        filters: Filters | None = None,
        everything: bool = False,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> DeleteResult:
        """Removes memories of one owner for good: by ids, session or filter, or everything.

        A session without an owner is deleted for everybody in it.
        """
        call = _calls.delete(
            user_id=user_id,
            agent_id=agent_id,
            app_id=app_id,
            project_id=project_id,
            ids=ids,
            session_id=session_id,
            filters=filters,
            everything=everything,
            idempotency_key=self._key(idempotency_key),
        )
        return self._run(call, timeout_seconds)

    def get_task(self, task_id: str, *, timeout_seconds: float | None = None) -> Task:
        """The state of a queued request: `task_id` is the `request_id` of what was queued."""
        return self._run(_calls.get_task(task_id), timeout_seconds)

    def list_tasks(
        self,
        *,
        session_id: str | None = None,
        status: TaskStatus | None = None,
        page: int | None = None,
        page_size: int | None = None,
        app_id: str | None = None,
        project_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> TaskPage:
        """Queued requests of a scope, newest first."""
        call = _calls.list_tasks(
            session_id=session_id,
            status=status,
            page=page,
            page_size=page_size,
            app_id=app_id,
            project_id=project_id,
        )
        return self._run(call, timeout_seconds)

    def list_jobs(
        self,
        *,
        session_id: str | None = None,
        status: JobStatus | None = None,
        stage: str | None = None,
        page: int | None = None,
        page_size: int | None = None,
        app_id: str | None = None,
        project_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> JobPage:
        """The work behind add and flush, of a scope, newest first.

        `stage` is episode, facts, profile or case. Jobs that succeeded are kept for some days.
        """
        call = _job_calls.list_jobs(
            session_id=session_id,
            status=status,
            stage=stage,
            page=page,
            page_size=page_size,
            app_id=app_id,
            project_id=project_id,
        )
        return self._run(call, timeout_seconds)

    def get_job(
        self,
        job_id: int,
        *,
        app_id: str | None = None,
        project_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> Job:
        """One job of a scope."""
        call = _job_calls.get_job(job_id, app_id=app_id, project_id=project_id)
        return self._run(call, timeout_seconds)

    def retry_job(
        self,
        job_id: int,
        *,
        app_id: str | None = None,
        project_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> Job:
        """Gives a job that was given up, or waits for a retry, a fresh budget of attempts, now."""
        call = _job_calls.retry_job(job_id, app_id=app_id, project_id=project_id)
        return self._run(call, timeout_seconds)

    def drop_job(
        self,
        job_id: int,
        *,
        app_id: str | None = None,
        project_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> Job:
        """Gives a job up for good, with what only it needed; nothing follows from it."""
        call = _job_calls.drop_job(job_id, app_id=app_id, project_id=project_id)
        return self._run(call, timeout_seconds)

    def export_owner(
        self,
        directory: str | os.PathLike[str],
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        app_id: str | None = None,
        project_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> ReceivedFiles:
        """Writes all that one owner has into a new folder, or an empty one.

        `manifest.json`, `memories.jsonl`, `messages.jsonl` (what is not part of a memory yet) and
        the Markdown under `markdown/`. An interrupted export leaves no folder. The time allowed is
        an hour if absent. Raises OSError where the folder cannot be written.
        """
        call = _transfers.export_owner(
            user_id=user_id, agent_id=agent_id, app_id=app_id, project_id=project_id
        )
        return self._download(call, directory, timeout_seconds)

    def import_owner(
        self,
        source: str | os.PathLike[str],
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        app_id: str | None = None,
        project_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> ImportResult:
        """Takes the records of an export into an owner, who may have another name and scope.

        `source` is `memories.jsonl` or the folder it is in. Records whose id is there stay as they
        are: a repeat changes nothing. The time allowed is an hour if absent. Messages of the export
        are not sent; `remanence import` does both.
        """
        target = _transfers.import_target(
            user_id=user_id, agent_id=agent_id, app_id=app_id, project_id=project_id
        )
        records = _transfers.records_file(source)
        method = self._channel.stream_unary(
            _transfers.IMPORT_METHOD,
            request_serializer=transfer_pb2.ImportOwnerRequest.SerializeToString,
            response_deserializer=transfer_pb2.ImportOwnerResponse.FromString,
        )
        try:
            response = method(
                _transfers.import_messages(target, records),
                timeout=_transfers.allowed(timeout_seconds),
                metadata=self._metadata,
            )
        except grpc.RpcError as error:
            raise from_rpc_error(error, self._address) from None
        return read_message(ImportResult, response)

    def backup(
        self, directory: str | os.PathLike[str], *, timeout_seconds: float | None = None
    ) -> ReceivedFiles:
        """Writes a backup of the whole root into a new folder, or an empty one.

        To restore it, start a server with a copy of the folder as its root. An interrupted backup
        leaves no folder. The time allowed is an hour if absent. Raises OSError where the folder
        cannot be written.
        """
        return self._download(_transfers.backup(), directory, timeout_seconds)

    def trigger(
        self,
        name: str,
        *,
        wait_seconds: float | None = None,
        force: bool = False,
        timeout_seconds: float | None = None,
    ) -> TriggerResult:
        """Runs a strategy now and waits up to `wait_seconds` (120 if absent) for its runs.

        The waiting comes on top of the time allowed for the call.
        """
        call = _calls.trigger(name, wait_seconds=wait_seconds, force=force)
        return self._run(call, timeout_seconds)

    def health(self, *, timeout_seconds: float | None = None) -> Health:
        """What works, what does not, and how much is waiting."""
        return self._run(_calls.health(), timeout_seconds)

    def wait_until_ready(self, *, timeout_seconds: float | None = None) -> Health:
        """Waits until a server answers, at most the time allowed, and returns its health.

        Raises:
            DeadlineExceededError: none did.
        """
        return self._run(_calls.wait_until_ready(), timeout_seconds)

    def rebuild(self, *, timeout_seconds: float | None = None) -> RebuildResult:
        """Makes the index anew from the Markdown, in the background.

        Searches go on. `health().activities` tells how far it is.
        """
        return self._run(_calls.rebuild(), timeout_seconds)

    def quiesce(self, *, timeout_seconds: float | None = None) -> QuiesceResult:
        """Drains the Markdown-to-index queue and stops following Markdown, until a restart."""
        return self._run(_calls.quiesce(), timeout_seconds)

    def _download(
        self,
        call: _transfers.Download,
        directory: str | os.PathLike[str],
        timeout_seconds: float | None,
    ) -> ReceivedFiles:
        method = self._channel.unary_stream(
            call.method,
            request_serializer=type(call.request).SerializeToString,
            response_deserializer=call.response_type.FromString,
        )
        with ArrivingFolder(directory) as folder:
            pieces = method(
                call.request,
                timeout=_transfers.allowed(timeout_seconds),
                metadata=self._metadata,
            )
            try:
                for piece in pieces:
                    folder.take(piece)
            except grpc.RpcError as error:
                raise from_rpc_error(error, self._address) from None
            finally:
                # Where the disk has refused, the server need not go on.
                pieces.cancel()
            folder.finish()
            return ReceivedFiles(files=folder.files, size_bytes=folder.size_bytes)

    def _run[Result](self, call: _calls.Call[Result], timeout_seconds: float | None) -> Result:
        allowed = self._timeout_seconds if timeout_seconds is None else timeout_seconds
        deadline = time.monotonic() + allowed + call.extra_seconds
        response, request_id = self._send(call, call.request, deadline)
        part = response
        while (request := _calls.request_for_the_rest(call.request, part)) is not None:
            part, _ = self._send(call, request, deadline)
            _calls.join(response, part)
        return call.read(response, request_id)

    def _send(
        self, call: _calls.Call[Any], request: ProtobufMessage, deadline: float
    ) -> tuple[Any, str | None]:
        try:
            response, done = self._method(call).with_call(  # type: ignore[attr-defined]
                request,
                timeout=max(0.0, deadline - time.monotonic()),
                metadata=(*self._metadata, *call.metadata),
                wait_for_ready=call.wait_for_ready,
            )
        except grpc.RpcError as error:
            raise from_rpc_error(error, self._address) from None
        return response, request_id_of(done.trailing_metadata())

    def _key(self, given: str | None) -> str | None:
        """The idempotency key of a write: one that may be sent again needs one."""
        return uuid.uuid4().hex if given is None and self._retry_writes else given

    def _method(self, call: _calls.Call[Any]) -> Callable[..., Any]:
        with self._lock:
            if call.method not in self._methods:
                self._methods[call.method] = self._channel.unary_unary(
                    call.method,
                    request_serializer=type(call.request).SerializeToString,
                    response_deserializer=call.response_type.FromString,
                )
            return self._methods[call.method]
