"""Numbers of the contract, as people write them."""

from __future__ import annotations


def whole(value: float) -> int | float:
    """The number, as an integer where it is one."""
    return int(value) if value == int(value) else value
