"""Enumerations appear as the words of the JSON API: `ROLE_USER` of `Role` is `user`."""

from __future__ import annotations

import re
from typing import Any

from google.protobuf.descriptor import EnumDescriptor

from remanence_client.errors import invalid_input


def enum_number(enum: Any, word: str, where: str) -> Any:
    """The number of a word, for example `enum_number(Role, "user", "role")`.

    Raises:
        InvalidInputError: the enumeration has no such word; the message lists those it has.
    """
    descriptor: EnumDescriptor = enum.DESCRIPTOR
    words = {enum_word(descriptor, value.number): value.number for value in descriptor.values}
    words.pop("unspecified")
    if not isinstance(word, str) or word not in words:
        raise invalid_input(f"Input should be one of {', '.join(words)}", where)
    return words[word]


def enum_word(descriptor: EnumDescriptor, number: int) -> str:
    """The word of a number; one that this build does not know stays a number, as text."""
    value = descriptor.values_by_number.get(number)
    if value is None:
        return str(number)
    prefix = re.sub(r"(?<!^)(?=[A-Z])", "_", descriptor.name).upper() + "_"
    return value.name.removeprefix(prefix).lower()
