"""How names of the contract are written in Python and JSON."""

from __future__ import annotations

import re

_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def snake_case(name: str) -> str:
    """`AddRequest` as `add_request`."""
    return _WORD_START.sub("_", name).lower()


def constant_case(name: str) -> str:
    """`AddRequest` as `ADD_REQUEST`."""
    return snake_case(name).upper()


def short_name(full_name: str) -> str:
    """`remanence.v2.AddRequest` as `AddRequest`."""
    return full_name.rpartition(".")[2]


def enum_json_name(enum_name: str, value_name: str) -> str:
    """`ROLE_USER` of `Role` as `user`."""
    return value_name.removeprefix(constant_case(enum_name) + "_").lower()
