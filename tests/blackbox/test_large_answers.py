"""The extremes of top_k, and answers beyond what a stock gRPC client receives."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2

import remanence_client as rc
from remanence.v2 import memory_pb2 as pb
from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.domain.records import Episode
from remanence_server.markdown.store import MarkdownStore
from tests.blackbox.conftest import T0, eventually, said
from tests.blackbox.surfaces import GrpcSurface, HttpSurface, Surface, build
from tests.support.server_process import ServerProcess, start_server

# What a gRPC client receives unless it was told otherwise.
STOCK_LIMIT_BYTES = 4_194_304
COUNT = 120
LENGTH = 60_000
SEARCH = {"user_id": "kim", "query": "kayak", "method": "keyword", "top_k": 100}
LISTING = {"user_id": "kim", "memory_type": "episode", "page_size": 100}


def _episode(owner: str, number: int, length: int) -> Episode:
    """So many characters about kayaks. No two are alike, and many bear on kayaks equally well."""
    words = f"Trip {number:06d}: " + "kayak " * (length // 6)
    return Episode(
        owner=Owner(Scope(), Track.USER, owner),
        entry_id=f"ep_20260528_{number:08d}",
        session_id=f"{owner}-{number % 3}",
        timestamp_ms=T0 + number,
        sender_ids=(owner,),
        subject=f"Trip {number}",
        summary=f"Kayak trip number {number}.",
        content=words[:length].strip(),
        parent_id=f"mc_{owner}_{number}",
    )


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server over long episodes that were written by hand."""
    root = tmp_path_factory.mktemp("lake") / "root"
    root.mkdir()
    markdown = MarkdownStore(root, UTC)
    markdown.append([_episode("kim", number, LENGTH) for number in range(1, COUNT + 1)])
    markdown.append([_episode("tom", number, LENGTH) for number in range(1, 6)])
    started = start_server(root, REMANENCE_EMBEDDINGS__PROVIDER="hashing")
    http = HttpSurface(started.http)

    def all_are_found() -> bool:
        counts = [
            http.call("get", LISTING | {"user_id": user}).ok["total_count"]
            for user in ("kim", "tom")
        ]
        return counts == [COUNT, 5] and len(_ids(http.call("search", SEARCH).ok)) == 100

    eventually(all_are_found, seconds=60)
    yield started
    assert started.stop() == 0


@pytest.fixture(scope="module")
def http_lake(lake: ServerProcess) -> HttpSurface:
    return HttpSurface(lake.http)


@pytest.fixture(scope="module")
def grpc_lake(lake: ServerProcess) -> GrpcSurface:
    return GrpcSurface(lake.grpc)


@pytest.fixture(params=["http", "grpc"])
def either(
    request: pytest.FixtureRequest, http_lake: HttpSurface, grpc_lake: GrpcSurface
) -> Surface:
    return http_lake if request.param == "http" else grpc_lake


def _ids(data: Any) -> list[str]:
    return [episode["id"] for episode in data["episodes"]]


def _parts(surface: GrpcSurface, method: str, body: dict[str, Any]) -> Iterator[Any]:
    """The answers that one request brings, token by token."""
    request: Any = build(getattr(pb, f"{method}Request"), body)
    while True:
        response = getattr(surface.memory, method)(request, timeout=60)
        yield response
        assert response.truncated == bool(response.next_page_token)
        if not response.next_page_token:
            return
        request.page_token = response.next_page_token


def test_the_default_is_as_many_as_the_server_may_return(either: Surface) -> None:
    unsaid = {"user_id": "tom", "query": "kayak", "method": "keyword"}
    for body in (unsaid, unsaid | {"top_k": -1}):
        assert len(_ids(either.call("search", body).ok)) == 5


def test_one_is_one_and_the_best(http_lake: HttpSurface, either: Surface) -> None:
    best = _ids(http_lake.call("search", SEARCH).ok)[0]
    assert _ids(either.call("search", SEARCH | {"top_k": 1}).ok) == [best]


def test_as_many_as_there_are_when_there_are_fewer(either: Surface) -> None:
    found = _ids(either.call("search", SEARCH | {"user_id": "tom"}).ok)
    assert sorted(found) == [f"tom_ep_20260528_{number:08d}" for number in range(1, 6)]


@pytest.mark.parametrize("top_k", [0, 101, 2_147_483_647, -2])
def test_a_top_k_out_of_its_range_is_refused(either: Surface, top_k: int) -> None:
    refused = either.call("search", SEARCH | {"top_k": top_k})
    assert refused.code == "INVALID_INPUT"
    assert "top_k" in str(refused.error)


@pytest.mark.parametrize("top_k", [1.5, "5"])
def test_a_top_k_that_is_no_integer_is_refused(http_lake: HttpSurface, top_k: Any) -> None:
    # A typed message cannot say these.
    assert http_lake.call("search", SEARCH | {"top_k": top_k}).code == "INVALID_INPUT"


def test_ranks_are_strict_and_ties_go_by_id(http_lake: HttpSurface) -> None:
    episodes = http_lake.call("search", SEARCH).ok["episodes"]
    order = [(-episode["score"], episode["id"]) for episode in episodes]
    assert order == sorted(set(order))
    assert len(order) == 100
    assert len({score for score, _ in order}) < 100  # there are ties


def test_a_stock_grpc_client_receives_a_large_search_part_by_part(
    http_lake: HttpSurface, grpc_lake: GrpcSurface
) -> None:
    whole = http_lake.call("search", SEARCH).ok
    assert "truncated" not in whole
    assert "next_page_token" not in whole
    parts = list(_parts(grpc_lake, "Search", SEARCH))
    assert [item.id for part in parts for item in part.episodes] == _ids(whole)
    texts = [item.episode for part in parts for item in part.episodes]
    assert texts == [episode["episode"] for episode in whole["episodes"]]
    assert len(parts) == 2
    assert all(part.ByteSize() < STOCK_LIMIT_BYTES for part in parts)


def test_a_stock_grpc_client_receives_a_large_page_part_by_part(
    http_lake: HttpSurface, grpc_lake: GrpcSurface
) -> None:
    for page, size in ((1, 100), (2, 20)):
        body = LISTING | {"page": page}
        whole = http_lake.call("get", body).ok
        parts = list(_parts(grpc_lake, "Get", body))
        assert [item.id for part in parts for item in part.episodes] == _ids(whole)
        assert sum(part.count for part in parts) == whole["count"] == size
        assert {part.total_count for part in parts} == {COUNT}


def test_messages_that_wait_count_too(lake: ServerProcess, grpc_lake: GrpcSurface) -> None:
    words = "still to be extracted " * 3000
    messages = [said(f"{number} {words}", "kim", number) for number in range(80)]
    body = {"session_id": "kim-open", "defer_extraction": True, "messages": messages}
    assert HttpSurface(lake.http).call("add", body).ok["message_count"] == 80
    search = {**SEARCH, "query": "canoe", "filters": {"session_id": "kim-open"}}
    parts = list(_parts(grpc_lake, "Search", search))
    received = [item.text for part in parts for item in part.unprocessed_messages]
    assert received == [message["content"] for message in messages]
    assert len(parts) == 2


def test_http_honours_a_token_and_cuts_nothing(
    http_lake: HttpSurface, grpc_lake: GrpcSurface
) -> None:
    first = next(_parts(grpc_lake, "Search", SEARCH))
    rest = http_lake.call("search", SEARCH | {"page_token": first.next_page_token}).ok
    whole = _ids(http_lake.call("search", SEARCH).ok)
    assert [item.id for item in first.episodes] + _ids(rest) == whole
    assert "truncated" not in rest


def test_a_token_of_another_request_is_refused(grpc_lake: GrpcSurface, either: Surface) -> None:
    token = next(_parts(grpc_lake, "Search", SEARCH)).next_page_token
    for method, body in (
        ("search", SEARCH | {"user_id": "tom", "page_token": token}),
        ("search", SEARCH | {"query": "canoe", "page_token": token}),
        ("search", SEARCH | {"page_token": "garbage"}),
        ("get", LISTING | {"page_token": token}),
    ):
        refused = either.call(method, body)
        assert refused.code == "INVALID_INPUT"
        assert str(refused.error).endswith(": page_token")


GIANTS = {"user_id": "ida", "query": "canoe", "filters": {"session_id": "ida-open"}}


def _giants(surface: GrpcSurface, token: str, limit: int | None = None) -> Any:
    """A part of the messages that wait in a session, as a client with this limit gets it."""
    request: Any = build(pb.SearchRequest, GIANTS | ({"page_token": token} if token else {}))
    if limit is None:
        return surface.memory.Search(request, timeout=60)
    options = [("grpc.max_receive_message_length", limit)]
    with grpc.insecure_channel(surface.address, options) as channel:
        stub = type(surface.memory)(channel)
        metadata = (("x-max-response-bytes", str(limit)),)
        return stub.Search(request, timeout=60, metadata=metadata)


def test_what_is_too_large_for_a_client_is_said_and_passed_over(
    grpc_lake: GrpcSurface, http_lake: HttpSurface
) -> None:
    sizes = (1000, STOCK_LIMIT_BYTES - 2000, STOCK_LIMIT_BYTES, 1000)
    messages = [
        said("x" * size, "ida", number, message_id=f"m{number}")
        for number, size in enumerate(sizes)
    ]
    body = {"session_id": "ida-open", "defer_extraction": True, "messages": messages}
    assert http_lake.call("add", body).ok["message_count"] == 4

    def ids(answer: Any) -> list[str]:
        return [message.id for message in answer.unprocessed_messages]

    first = _giants(grpc_lake, "")
    second = _giants(grpc_lake, first.next_page_token)
    assert (ids(first), ids(second)) == (["m0"], ["m1"])
    assert second.ByteSize() < STOCK_LIMIT_BYTES

    with pytest.raises(grpc.RpcError) as raised:
        _giants(grpc_lake, second.next_page_token)
    error: Any = raised.value
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    trailing = dict(error.trailing_metadata())
    status = status_pb2.Status.FromString(trailing["grpc-status-details-bin"])
    info = error_details_pb2.ErrorInfo()
    status.details[0].Unpack(info)
    assert (info.reason, info.metadata["record_id"]) == ("PAYLOAD_TOO_LARGE", "m2")
    last = _giants(grpc_lake, info.metadata["next_page_token"])
    assert (ids(last), last.truncated) == (["m3"], False)

    over_http = http_lake.call("search", GIANTS).ok["unprocessed_messages"]
    assert [message["id"] for message in over_http] == ["m0", "m1", "m2", "m3"]
    assert ids(_giants(grpc_lake, "", 16 * 1024 * 1024)) == ["m0", "m1", "m2", "m3"]


def test_the_python_clients_give_large_answers_whole(
    lake: ServerProcess, http_lake: HttpSurface
) -> None:
    whole = _ids(http_lake.call("search", SEARCH).ok)
    # One that is allowed little is sent parts, which it puts together.
    little = {"x-max-response-bytes": "1048576"}
    for metadata in ({}, little):
        with rc.Client(lake.grpc, metadata=metadata) as client:
            found = client.search("kayak", user_id="kim", method="keyword", top_k=100)
            page = client.get("episode", user_id="kim", page_size=100)
        assert [episode.id for episode in found.episodes] == whole
        assert (len(page.episodes), page.count, page.total_count) == (100, 100, COUNT)

    async def ask() -> list[str]:
        async with rc.AsyncClient(lake.grpc, metadata=little) as client:
            found = await client.search("kayak", user_id="kim", method="keyword", top_k=100)
            return [episode.id for episode in found.episodes]

    assert asyncio.run(ask()) == whole


def test_the_log_has_no_word_of_the_episodes(lake: ServerProcess) -> None:
    assert "kayak" not in lake.log
