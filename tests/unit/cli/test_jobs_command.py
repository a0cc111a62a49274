"""`jobs list`, `show`, `retry` and `drop` against a server with some jobs."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2

from remanence.v2 import jobs_pb2 as pb
from remanence.v2 import jobs_pb2_grpc

_FIRST = 1_779_967_836_000


class JobServer(jobs_pb2_grpc.JobServiceServicer):
    """Jobs 1 to 250 of session s, all of them dead letters, and what became of them."""

    def __init__(self) -> None:
        self.address = ""
        self.requests: list[Any] = []
        self.jobs = {number: self._job(number) for number in range(1, 251)}

    def ListJobs(
        self, request: pb.ListJobsRequest, context: grpc.ServicerContext
    ) -> pb.ListJobsResponse:
        self.requests.append(request)
        found = [
            job
            for job in sorted(self.jobs.values(), key=lambda job: -job.id)
            if not request.HasField("status") or job.status == request.status
        ]
        page, size = request.page or 1, request.page_size or 20
        items = found[(page - 1) * size : page * size]
        return pb.ListJobsResponse(total=len(found), page=page, page_size=size, items=items)

    def GetJob(self, request: pb.GetJobRequest, context: grpc.ServicerContext) -> pb.GetJobResponse:
        return pb.GetJobResponse(job=self._found(request, context))

    def RetryJob(
        self, request: pb.RetryJobRequest, context: grpc.ServicerContext
    ) -> pb.RetryJobResponse:
        job = self._found(request, context)
        job.status, job.attempts = pb.JOB_STATUS_QUEUED, 0
        job.ClearField("error")
        return pb.RetryJobResponse(job=job)

    def DropJob(
        self, request: pb.DropJobRequest, context: grpc.ServicerContext
    ) -> pb.DropJobResponse:
        job = self._found(request, context)
        job.status = pb.JOB_STATUS_CANCELLED
        return pb.DropJobResponse(job=job)

    def of_status(self, status: pb.JobStatus) -> list[int]:
        return [job.id for job in self.jobs.values() if job.status == status]

    def _found(self, request: Any, context: grpc.ServicerContext) -> pb.Job:
        self.requests.append(request)
        if request.job_id not in self.jobs:
            text = f"job {request.job_id} not found"
            status = status_pb2.Status(code=5, message=text)
            status.details.add().Pack(error_details_pb2.ErrorInfo(reason="NOT_FOUND"))
            details = status.SerializeToString()
            context.set_trailing_metadata((("grpc-status-details-bin", details),))
            context.abort(grpc.StatusCode.NOT_FOUND, text)
        return self.jobs[request.job_id]

    @staticmethod
    def _job(number: int) -> pb.Job:
        job = pb.Job(
            id=number,
            stage="facts",
            status=pb.JOB_STATUS_DEAD_LETTER,
            app_id="default",
            project_id="default",
            session_id="s\x1b[2J",
            user_id="alice",
            attempts=5,
            maximum_attempts=5,
            error_code="RuntimeError",
            error="an internal error",
        )
        job.created_at.FromMilliseconds(_FIRST)
        job.finished_at.FromMilliseconds(_FIRST + 60_000)
        return job


@pytest.fixture
def server() -> Iterator[JobServer]:
    service = JobServer()
    running = grpc.server(ThreadPoolExecutor(2))
    jobs_pb2_grpc.add_JobServiceServicer_to_server(service, running)
    service.address = f"127.0.0.1:{running.add_insecure_port('127.0.0.1:0')}"
    running.start()
    yield service
    running.stop(grace=None).wait()


@pytest.fixture
def jobs(cli: Any, server: JobServer) -> Callable[..., Any]:
    cli.publish_server(server.address)
    return lambda *arguments, **options: cli("jobs", *arguments, **options)


def test_jobs_are_listed_as_a_table_with_their_reasons(jobs: Any, server: JobServer) -> None:
    done = jobs("list", "--status", "dead_letter", "--stage=facts", "--session=s", "--app=a")
    assert done.code == 0
    assert "250  dead letter  facts  user alice" in done.out
    assert "5/5    2026-05-28 11:30  an internal error" in done.out
    assert done.out.splitlines()[-1] == "page 1 of 13, 250 in all"
    assert "\x1b" not in done.out
    (request,) = server.requests
    assert (request.status, request.stage, request.session_id, request.app_id) == (
        pb.JOB_STATUS_DEAD_LETTER,
        "facts",
        "s",
        "a",
    )


def test_a_list_without_jobs_says_so(jobs: Any, server: JobServer) -> None:
    server.jobs.clear()
    assert jobs("list").out == "page 1 of 1, 0 in all\n"


def test_one_job_is_shown_with_all_there_is(jobs: Any, server: JobServer) -> None:
    shown = jobs("show", 7).out
    for line in (
        "status    dead letter",
        "scope     default / default",
        "owner     user alice",
        "error     an internal error (RuntimeError)",
        "finished  2026-05-28 11:31",
    ):
        assert line in shown
    assert "next attempt" not in shown
    assert jobs("show", 7, "--json").json["session_id"] == "s\x1b[2J"


def test_a_job_that_there_is_not_is_said_in_a_line(jobs: Any) -> None:
    done = jobs("show", 999)
    assert (done.code, done.err) == (1, "remanence: job 999 not found\n")


def test_jobs_are_retried_by_id_and_one_that_refuses_keeps_no_other_from_it(
    jobs: Any, server: JobServer
) -> None:
    done = jobs("retry", 3, 999, 5, 3, "--json")
    assert done.code == 1
    assert [(job["id"], job["status"]) for job in done.json] == [(3, "queued"), (5, "queued")]
    assert done.err.splitlines() == [
        "remanence: job 999 not found",
        "remanence: 1 of 3 jobs could not be changed",
    ]
    assert server.of_status(pb.JOB_STATUS_QUEUED) == [3, 5]


def test_all_dead_letters_are_retried_oldest_first(jobs: Any, server: JobServer) -> None:
    assert jobs("retry", "--all", "--yes").code == 0
    assert server.of_status(pb.JOB_STATUS_DEAD_LETTER) == []
    retried = [request.job_id for request in server.requests if hasattr(request, "job_id")]
    assert retried == list(range(1, 251))
    assert jobs("retry", "--all").out == "there are no such jobs\n"


@pytest.mark.parametrize(
    ("arguments", "question"),
    [
        (("retry", "--all"), "Retry 250 jobs?"),
        (("drop", "--all"), "Drop 250 jobs? What was not extracted is lost."),
        (("drop", "7"), "Drop 1 job? What was not extracted is lost."),
    ],
)
def test_a_question_that_is_not_answered_with_yes_changes_nothing(
    arguments: tuple[str, ...],
    question: str,
    jobs: Any,
    server: JobServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for answer in ("n\n", ""):
        monkeypatch.setattr("sys.stdin", io.StringIO(answer))
        done = jobs(*arguments)
        assert (done.code, done.out.strip()) == (130, "")
        assert question in done.err
    assert len(server.of_status(pb.JOB_STATUS_DEAD_LETTER)) == 250


def test_a_question_that_is_answered_with_yes_is_acted_on(jobs: Any, server: JobServer) -> None:
    assert jobs("drop", 7, 8, stdin="y\n").code == 0
    assert server.of_status(pb.JOB_STATUS_CANCELLED) == [7, 8]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("retry",), "give the ids of jobs, or --all"),
        (("drop", "7", "--all"), "give the ids of jobs, or --all"),
        (("retry", "7", "--stage=facts"), "choose among --all"),
        (("retry", "--all", "--status=succeeded"), "one of dead_letter, waiting_retry"),
        (("drop", "--all", "--status=running"), "one of dead_letter, waiting_retry, queued"),
    ],
)
def test_wrong_usage_is_told_and_asks_nobody(
    arguments: tuple[str, ...], message: str, jobs: Any, server: JobServer
) -> None:
    done = jobs(*arguments)
    assert done.code == 2
    assert message in done.err
    assert server.requests == []
