"""Protobuf messages to result values: fields of the same name, one converter for each type.

What to do with a field is worked out once for each pair of types and kept.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable
from dataclasses import fields
from datetime import UTC
from functools import cache
from typing import Any

from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from remanence_client._enums import enum_word
from remanence_client.inputs import ContentItem

# Doubles tell whole numbers apart up to here.
_LARGEST_WHOLE = 2.0**53
_Convert = Callable[[Any], Any]


def read_message[T](cls: type[T], message: Message, **given: Any) -> T:
    """Builds a `cls` from the fields of `message`; `given` are fields that it does not have."""
    for name, read in _plan(cls, message.DESCRIPTOR):  # type: ignore[arg-type]
        given[name] = read(message)
    return cls(**given)


@cache
def _plan(cls: type[Any], descriptor: Descriptor) -> tuple[tuple[str, _Convert], ...]:
    hints = typing.get_type_hints(cls)
    plan: list[tuple[str, _Convert]] = []
    for each in fields(cls):
        if each.name in descriptor.fields_by_name:
            plan.append((each.name, _reader(descriptor.fields_by_name[each.name], hints)))
        elif each.name in descriptor.oneofs_by_name:
            plan.append((each.name, _read_content))
    return tuple(plan)


def _reader(field: FieldDescriptor, hints: dict[str, Any]) -> _Convert:
    name = field.name
    convert = _converter(field, hints[name])
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        return lambda message: dict(getattr(message, name))
    if field.is_repeated:
        return lambda message: tuple(convert(item) for item in getattr(message, name))
    # A message that is absent reads as its empty self where the result has no None for it.
    if field.has_presence and type(None) in typing.get_args(hints[name]):
        return lambda message: convert(getattr(message, name)) if message.HasField(name) else None
    return lambda message: convert(getattr(message, name))


def _converter(field: FieldDescriptor, hint: Any) -> _Convert:
    if field.enum_type is not None:
        enum = field.enum_type
        return lambda number: enum_word(enum, number)
    if field.message_type is None:
        return lambda value: value
    match field.message_type.full_name:
        case "google.protobuf.Timestamp":
            return lambda timestamp: timestamp.ToDatetime(tzinfo=UTC)
        case "google.protobuf.Struct":
            return _object
    cls = _value_class(hint)
    return lambda message: read_message(cls, message)


def _object(struct: Message) -> Any:
    return _with_whole_numbers(json_format.MessageToDict(struct))


def _with_whole_numbers(value: Any) -> Any:
    """A Struct holds only doubles: what was an integer becomes one again, as in the JSON API."""
    match value:
        case float() if value.is_integer() and abs(value) <= _LARGEST_WHOLE:
            return int(value)
        case dict():
            return {key: _with_whole_numbers(item) for key, item in value.items()}
        case list():
            return [_with_whole_numbers(item) for item in value]
    return value


def _value_class(hint: Any) -> type[Any]:
    """The class of the values in `X`, `X | None` or `tuple[X, ...]`."""
    if isinstance(hint, type) and not isinstance(hint, types.GenericAlias):
        return hint
    return _value_class(typing.get_args(hint)[0])


def _read_content(message: Any) -> str | tuple[ContentItem, ...]:
    if message.WhichOneof("content") == "items":
        return tuple(read_message(ContentItem, item) for item in message.items.items)
    text: str = message.text
    return text
