"""Bodies that are not what they should be."""

from __future__ import annotations

import pytest

from remanence_server.api.transcoding.bodies import parse_json
from remanence_server.runtime.errors import ErrorCode, ServiceError


def refusal(body: bytes) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        parse_json(body)
    return caught.value


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b'{"session_id": ', "JSON decode error: 15"),
        (b"{'a': 1}", "JSON decode error: 1"),
        (b"{} {}", "JSON decode error: 3"),
        (b'{"a": NaN}', "JSON decode error: NaN is not a JSON number"),
        (b'{"a": -Infinity}', "JSON decode error: -Infinity is not a JSON number"),
        (b"[" * 2000 + b"]" * 2000, "JSON is nested too deep"),
        (b"[" * 1_000_000, "JSON is nested too deep"),
        (b'{"a":' * 500_000, "JSON is nested too deep"),
    ],
)
def test_what_is_not_json_is_refused_with_its_position(body: bytes, text: str) -> None:
    error = refusal(body)
    assert (error.code, error.message) == (ErrorCode.INVALID_INPUT, text)


@pytest.mark.parametrize(
    ("body", "place"),
    [
        (rb'{"messages":[{"content":"ok"},{"content":"bad \ud83d end"}]}', ": messages.1.content"),
        (rb'{"a":"\udc00","b":"\ud800"}', ": a"),
        (rb'{"a":{"\ud83d":1}}', ": a"),
        (rb'"\ud83d"', ""),
    ],
)
def test_a_lone_surrogate_is_refused_by_the_field_that_holds_it(body: bytes, place: str) -> None:
    error = refusal(body)
    assert error.code is ErrorCode.INVALID_INPUT
    assert error.message == f"Input should be a valid string without lone surrogates{place}"


def test_a_pair_of_surrogates_is_a_character() -> None:
    assert parse_json(rb'{"a": "\ud83d\ude00"}') == {"a": "\U0001f600"}


@pytest.mark.parametrize("body", [b'{"a":"\xff\xfe"}', b"\xff\xfe{}", b'{"a":"\xed\xa0\xbd"}'])
def test_bytes_that_are_not_utf8_are_a_bad_request(body: bytes) -> None:
    assert refusal(body).code is ErrorCode.BAD_REQUEST


def test_a_number_of_five_thousand_digits_is_refused() -> None:
    assert refusal(b'{"a": %s}' % (b"1" * 5000)).message.startswith("JSON decode error: ")


def test_of_a_key_given_twice_the_last_one_counts() -> None:
    assert parse_json(b'{"a": 1, "a": 2}') == {"a": 2}
