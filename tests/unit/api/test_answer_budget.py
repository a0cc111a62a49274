from __future__ import annotations

from typing import Any

import pytest

from remanence.v2 import memory_pb2 as pb
from remanence_server.api.answer_budget import fit_get, fit_search
from remanence_server.api.transcoding import HttpCallContext
from remanence_server.runtime.errors import ErrorCode, ServiceError

MIB = 1024 * 1024
LIMIT = 4 * MIB
REQUEST = pb.SearchRequest(user_id="kim", app_id="default", project_id="default", query="kayak")
LISTING = pb.GetRequest(user_id="kim", app_id="default", project_id="default", page_size=100)


class GrpcContext:
    """A call over gRPC with some metadata."""

    def __init__(self, **metadata: str) -> None:
        self._metadata = tuple((key.replace("_", "-"), text) for key, text in metadata.items())

    def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
        return self._metadata

    def set_trailing_metadata(self, trailing_metadata: Any, /) -> None:
        raise AssertionError

    def time_remaining(self) -> None:
        return None


def found(*sizes: int, messages: int = 0) -> pb.SearchResponse:
    """An answer with episodes of about so many bytes, a profile, and open messages."""
    return pb.SearchResponse(
        episodes=[
            pb.SearchEpisodeItem(id=f"kim_ep_{number}", episode="k" * size)
            for number, size in enumerate(sizes)
        ],
        profiles=[pb.SearchProfileItem(id="kim")],
        unprocessed_messages=[
            pb.UnprocessedMessage(id=f"m{number}", text="m" * 1000) for number in range(messages)
        ],
    )


def ids(response: pb.SearchResponse) -> list[str]:
    lists = (response.episodes, response.profiles, response.unprocessed_messages)
    return [item.id for items in lists for item in items]


def page(response: pb.SearchResponse, token: str | None, context: Any = None) -> pb.SearchResponse:
    request = pb.SearchRequest()
    request.CopyFrom(REQUEST)
    if token is not None:
        request.page_token = token
    return fit_search(request, response, context or GrpcContext())


def refused(response: pb.SearchResponse, token: str | None, context: Any = None) -> ServiceError:
    with pytest.raises(ServiceError) as raised:
        page(response, token, context)
    return raised.value


def test_an_answer_that_fits_is_whole() -> None:
    response = page(found(1000, 1000), None)
    assert ids(response) == ["kim_ep_0", "kim_ep_1", "kim"]
    assert not response.HasField("truncated")
    assert not response.HasField("next_page_token")


def test_pages_within_the_limit_bring_every_record_once_in_order() -> None:
    whole = found(*[60_000] * 120, messages=3000)
    token, pages = None, []
    while True:
        response = page(found(*[60_000] * 120, messages=3000), token)
        assert response.ByteSize() <= LIMIT
        pages.append(response)
        assert response.truncated == response.HasField("next_page_token")
        if not response.truncated:
            break
        token = response.next_page_token
    assert [key for response in pages for key in ids(response)] == ids(whole)
    assert len(pages) == 3
    # The budget is used: the next record would not have fitted.
    assert all(response.ByteSize() > 3.4 * MIB for response in pages[:-1])


def test_over_http_nothing_is_cut_and_a_token_is_honoured() -> None:
    over_http = HttpCallContext({}, ())
    assert len(ids(page(found(*[60_000] * 120), None, over_http))) == 121
    first = page(found(*[60_000] * 120), None)
    rest = page(found(*[60_000] * 120), first.next_page_token, over_http)
    assert ids(first) + ids(rest) == ids(found(*[60_000] * 120))
    assert not rest.HasField("truncated")


def test_a_client_says_how_much_it_receives() -> None:
    large = GrpcContext(x_max_response_bytes=str(64 * MIB))
    assert not page(found(*[60_000] * 120), None, large).HasField("truncated")
    small = GrpcContext(x_max_response_bytes="65536")
    assert ids(page(found(30_000, 30_000), None, small)) == ["kim_ep_0"]


@pytest.mark.parametrize("limit", ["", "x", "-1", "65535", "2147483648", "1" * 30, "٣٣٣٣٣٣"])
def test_a_limit_that_is_none_is_refused(limit: str) -> None:
    error = refused(found(), None, GrpcContext(x_max_response_bytes=limit))
    assert error.code is ErrorCode.INVALID_INPUT
    assert error.field == "x-max-response-bytes"


def test_a_record_over_the_budget_comes_alone() -> None:
    sizes = (1000, LIMIT - 1000, 1000)
    first = page(found(*sizes), None)
    second = page(found(*sizes), first.next_page_token)
    third = page(found(*sizes), second.next_page_token)
    assert [ids(each) for each in (first, second, third)] == [
        ["kim_ep_0"],
        ["kim_ep_1"],
        ["kim_ep_2", "kim"],
    ]
    assert second.ByteSize() <= LIMIT


def test_a_record_over_the_limit_is_named_and_can_be_passed_over() -> None:
    sizes = (1000, LIMIT, 1000)
    token = page(found(*sizes), None).next_page_token
    error = refused(found(*sizes), token)
    assert error.code is ErrorCode.PAYLOAD_TOO_LARGE
    assert error.details["record_id"] == "kim_ep_1"
    assert ids(page(found(*sizes), error.details["next_page_token"])) == ["kim_ep_2", "kim"]
    raised = GrpcContext(x_max_response_bytes=str(8 * MIB))
    assert ids(page(found(*sizes), token, raised)) == ["kim_ep_1", "kim_ep_2", "kim"]


def test_behind_the_last_record_there_is_no_token() -> None:
    response = found()
    response.ClearField("profiles")
    response.unprocessed_messages.add(id="m", text="m" * LIMIT)
    assert set(refused(response, None).details) == {"record_id"}


def test_a_page_goes_on_behind_the_last_record_wherever_that_is_now() -> None:
    small = GrpcContext(x_max_response_bytes="65536")
    sizes = [20_000] * 5
    token = page(found(*sizes), None, small).next_page_token  # after 0 and 1
    grown = found(*sizes)
    grown.episodes.insert(0, pb.SearchEpisodeItem(id="new", episode="k"))
    assert ids(page(grown, token, small)) == ["kim_ep_2", "kim_ep_3"]
    shrunk = found(*sizes)
    del shrunk.episodes[1]
    assert ids(page(shrunk, token, small)) == ["kim_ep_2", "kim_ep_3"]
    assert ids(page(pb.SearchResponse(), token, small)) == []


def test_a_token_belongs_to_its_request() -> None:
    token = page(found(*[60_000] * 120), None).next_page_token
    for changed in (
        {"user_id": "tom"},
        {"app_id": "other"},
        {"query": "canoe"},
        {"top_k": 5},
        {"include_profile": True},
        {"min_score": 0.5},
    ):
        request = pb.SearchRequest(page_token=token)
        request.MergeFrom(REQUEST)
        request.MergeFrom(pb.SearchRequest(**changed))
        with pytest.raises(ServiceError) as raised:
            fit_search(request, found(*[60_000] * 120), GrpcContext())
        assert raised.value.field == "page_token"
    listing = pb.GetRequest(page_token=token)
    listing.MergeFrom(LISTING)
    with pytest.raises(ServiceError):
        fit_get(listing, pb.GetResponse(), GrpcContext())


def test_what_is_no_token_is_refused() -> None:
    token = page(found(*[60_000] * 120), None).next_page_token
    altered = token[:-1] + ("A" if token[-1] != "A" else "B")
    for text in ("x", "é", "%%%%", token[:-1], token[:-4], token + "AAAA", altered, " " + token):
        error = refused(found(1), text)
        assert error.code is ErrorCode.INVALID_INPUT
        assert error.message.endswith(": page_token")


def test_a_listing_counts_what_it_brings() -> None:
    def listed() -> pb.GetResponse:
        items = [pb.GetEpisodeItem(id=f"e{number}", episode="k" * 60_000) for number in range(100)]
        return pb.GetResponse(episodes=items, total_count=120)

    first = fit_get(LISTING, listed(), GrpcContext())
    request = pb.GetRequest(page_token=first.next_page_token)
    request.MergeFrom(LISTING)
    second = fit_get(request, listed(), GrpcContext())
    assert (first.count, second.count) == (len(first.episodes), len(second.episodes))
    assert first.count + second.count == 100
    assert (first.total_count, second.total_count) == (120, 120)
