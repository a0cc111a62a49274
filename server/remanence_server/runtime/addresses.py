"""Addresses to listen on or to call: `HOST:PORT`, with brackets around an IPv6 host."""

from __future__ import annotations

from typing import NamedTuple

_HIGHEST_PORT = 65_535


class Address(NamedTuple):
    """A host and a port; port 0 asks the system for a free one."""

    host: str
    port: int

    def __str__(self) -> str:
        """The text that `parse_address` reads."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def parse_address(text: str) -> Address:
    """Reads `HOST:PORT`, for example `127.0.0.1:8000` or `[::1]:8000`.

    Raises:
        ValueError: the text is not an address; the message says what is expected.
    """
    host, colon, port = text.strip().rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    if bracketed:
        host = host[1:-1]
    # Without brackets, `::1` would quietly become host `:` and port 1.
    plausible = colon and host and (bracketed or ":" not in host) and port.isascii()
    if not plausible or not port.isdigit() or int(port) > _HIGHEST_PORT:
        raise ValueError("an address is HOST:PORT, for example 127.0.0.1:8000, port 0 to 65535")
    return Address(host, int(port))
