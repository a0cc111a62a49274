"""HOST:PORT texts."""

from __future__ import annotations

import pytest

from remanence_server.runtime.addresses import Address, parse_address


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("127.0.0.1:8000", "127.0.0.1", 8000),
        ("localhost:0", "localhost", 0),
        ("[::1]:50051", "::1", 50051),
    ],
)
def test_an_address_reads_and_writes_as_the_same_text(text: str, host: str, port: int) -> None:
    assert parse_address(text) == Address(host, port)
    assert str(parse_address(text)) == text


@pytest.mark.parametrize("text", ["", "localhost", ":80", "host:", "::1", "h:65536", "h:-1", "h:x"])
def test_what_is_no_address_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="for example"):
        parse_address(text)
