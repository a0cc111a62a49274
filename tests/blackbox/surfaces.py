"""One call, two surfaces: a case is written once and runs over HTTP/JSON and over gRPC."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import grpc
import httpx
from google.protobuf import json_format, message
from google.rpc import error_details_pb2, status_pb2

from remanence.v2 import (
    jobs_pb2,
    jobs_pb2_grpc,
    memory_pb2,
    memory_pb2_grpc,
    ops_pb2,
    ops_pb2_grpc,
    tasks_pb2,
    tasks_pb2_grpc,
)
from remanence_client.filters import filter_node


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: data of a success, or code and message of an error."""

    data: Mapping[str, Any] | None
    code: str | None = None
    error: str | None = None
    # HTTP status, or the name of the gRPC status.
    status: int | str = ""
    request_id: str = ""

    @property
    def ok(self) -> Mapping[str, Any]:
        """The data, when the call succeeded."""
        assert self.data is not None, (self.status, self.code, self.error)
        return self.data


class Surface(Protocol):
    """A way to call the memory service with the JSON body of the API reference."""

    name: str

    def call(self, method: str, body: Mapping[str, Any], key: str | None = None) -> Answer:
        """Calls `add`, `flush`, `search`, `get` or `delete`, with an idempotency key if given."""
        ...

    def task(self, task_id: str) -> Answer:
        """The task of a request that was queued."""
        ...

    def tasks(self, **query: Any) -> Answer:
        """A page of tasks."""
        ...

    def jobs(self, **query: Any) -> Answer:
        """A page of jobs."""
        ...

    def job(self, action: str, job_id: int, **scope: Any) -> Answer:
        """What became of one job: `get`, `retry` or `drop`."""
        ...


class HttpSurface:
    """JSON over HTTP."""

    name = "http"

    def __init__(self, address: str) -> None:
        self.client = httpx.Client(base_url=f"http://{address}", timeout=60)

    def call(self, method: str, body: Mapping[str, Any], key: str | None = None) -> Answer:
        """Posts the body."""
        headers = {} if key is None else {"Idempotency-Key": key}
        path = f"/api/v2/memory/{method}"
        return self._answer(self.client.post(path, json=body, headers=headers))

    def task(self, task_id: str) -> Answer:
        """The task of a request that was queued."""
        return self._answer(self.client.get(f"/api/v2/tasks/{task_id}"))

    def tasks(self, **query: Any) -> Answer:
        """A page of tasks."""
        return self._answer(self.client.get("/api/v2/tasks", params=query))

    def jobs(self, **query: Any) -> Answer:
        """A page of jobs."""
        return self._answer(self.client.get("/api/v2/jobs", params=query))

    def job(self, action: str, job_id: int, **scope: Any) -> Answer:
        """What became of one job."""
        path = f"/api/v2/jobs/{job_id}"
        if action == "retry":
            return self._answer(self.client.post(f"{path}/retry", json=scope))
        send = self.client.get if action == "get" else self.client.delete
        return self._answer(send(path, params=scope))

    def get_ready(self) -> tuple[int, str, list[str]]:
        """The status of the answer, and what readiness says."""
        response = self.client.get("/health/ready")
        return response.status_code, response.json()["status"], response.json()["reasons"]

    @staticmethod
    def _answer(response: httpx.Response) -> Answer:
        payload = response.json()
        assert response.headers["x-request-id"] == payload["request_id"]
        if response.is_success:
            return Answer(
                payload["data"], status=response.status_code, request_id=payload["request_id"]
            )
        error = payload["error"]
        return Answer(
            None, error["code"], error["message"], response.status_code, payload["request_id"]
        )


class GrpcSurface:
    """Protobuf over gRPC; the answer is shown in the field names of the contract."""

    name = "grpc"

    def __init__(self, address: str) -> None:
        self.address = address
        self.channel = grpc.insecure_channel(address)
        self.memory = memory_pb2_grpc.MemoryServiceStub(self.channel)
        self.ops = ops_pb2_grpc.OpsServiceStub(self.channel)
        self.task_service = tasks_pb2_grpc.TaskServiceStub(self.channel)
        self.job_service = jobs_pb2_grpc.JobServiceStub(self.channel)

    def call(self, method: str, body: Mapping[str, Any], key: str | None = None) -> Answer:
        """Sends the same content as typed messages."""
        name = method.capitalize()
        request = build(getattr(memory_pb2, f"{name}Request"), body)
        metadata = () if key is None else (("idempotency-key", key),)
        return self._answer(getattr(self.memory, name), request, metadata)

    def task(self, task_id: str) -> Answer:
        """The task of a request that was queued."""
        request = tasks_pb2.GetTaskRequest(task_id=task_id)
        return self._answer(self.task_service.GetTask, request)

    def tasks(self, **query: Any) -> Answer:
        """A page of tasks."""
        request = build(tasks_pb2.ListTasksRequest, query)
        return self._answer(self.task_service.ListTasks, request)

    def jobs(self, **query: Any) -> Answer:
        """A page of jobs."""
        request = build(jobs_pb2.ListJobsRequest, query)
        return self._answer(self.job_service.ListJobs, request)

    def job(self, action: str, job_id: int, **scope: Any) -> Answer:
        """What became of one job."""
        name = f"{action.capitalize()}Job"
        request = build(getattr(jobs_pb2, f"{name}Request"), {"job_id": job_id, **scope})
        return self._answer(getattr(self.job_service, name), request)

    @staticmethod
    def _answer(
        method: Any, request: message.Message, metadata: tuple[tuple[str, str], ...] = ()
    ) -> Answer:
        try:
            response, call = method.with_call(request, timeout=60, metadata=metadata)
        except grpc.RpcError as error:
            return _failure(error)
        trailing = dict(call.trailing_metadata())
        return Answer(
            show(response), status=call.code().name, request_id=str(trailing["x-request-id"])
        )

    def health(self) -> ops_pb2.GetHealthResponse:
        """The health report."""
        return self.ops.GetHealth(ops_pb2.GetHealthRequest(), timeout=10)

    def get_ready(self) -> tuple[str, str, list[str]]:
        """The status of the answer, and what readiness says."""
        answer = self.ops.GetReadiness(ops_pb2.GetReadinessRequest(), timeout=10)
        return "OK", answer.status, list(answer.reasons)

    def rebuild(self) -> ops_pb2.RebuildResponse:
        """Asks for a new index."""
        return self.ops.Rebuild(ops_pb2.RebuildRequest(), timeout=10)

    def quiesce(self) -> ops_pb2.QuiesceResponse:
        """Drains the projection and stops following hand edits."""
        return self.ops.Quiesce(ops_pb2.QuiesceRequest(), timeout=30)


def build(kind: type[message.Message], body: Mapping[str, Any]) -> message.Message:
    """A request message with the content of a JSON body. Raises for what types cannot say."""
    return json_format.ParseDict(_typed(kind.DESCRIPTOR, body), kind())


def _typed(descriptor: Any, body: Mapping[str, Any]) -> dict[str, Any]:
    """The body in protobuf's own JSON: full enum names, union members, typed filters."""
    out: dict[str, Any] = {}
    for key, value in body.items():
        if value is None:
            continue
        if key == "filters":
            out[key] = json_format.MessageToDict(
                filter_node(value), preserving_proto_field_name=True
            )
        elif key == "content":
            if isinstance(value, str):
                out["text"] = value
            else:
                item = descriptor.fields_by_name["items"].message_type.fields_by_name["items"]
                out["items"] = {"items": [_typed(item.message_type, part) for part in value]}
        else:
            out[key] = _value(descriptor.fields_by_name[key], value)
    return out


def _value(field: Any, value: Any) -> Any:
    if field.enum_type is not None:
        prefix = field.enum_type.values[0].name.removesuffix("UNSPECIFIED")
        return prefix + value.upper()
    if field.message_type is not None and field.message_type.full_name.startswith("remanence"):
        if isinstance(value, list):
            return [_typed(field.message_type, part) for part in value]
        return _typed(field.message_type, value)
    return value


def show(response: message.Message) -> dict[str, Any]:
    """A response with every field present and short enum names, as the JSON API shows it."""
    return json_format.MessageToDict(
        response, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )


def _failure(error: Any) -> Answer:
    trailing: dict[str, Any] = dict(error.trailing_metadata())
    status = status_pb2.Status.FromString(trailing["grpc-status-details-bin"])
    info = error_details_pb2.ErrorInfo()
    status.details[0].Unpack(info)
    code = error.code().name
    assert status.message == error.details()
    return Answer(None, info.reason, status.message, code, str(trailing["x-request-id"]))
