"""Well-known protobuf values as JSON, and back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import tzinfo
from functools import lru_cache
from typing import Any

from google.protobuf.struct_pb2 import ListValue, NullValue, Struct, Value
from google.protobuf.timestamp_pb2 import Timestamp

from remanence_server.runtime.instants import render_iso

# Doubles tell whole numbers apart up to here; beyond, a number is shown as the double it is.
_LARGEST_WHOLE = 2.0**53


def timestamp_text(moment: Timestamp, zone: tzinfo) -> str:
    """ISO-8601 text with offset, in a zone."""
    return _instant_text(moment.seconds * 1000 + moment.nanos // 1_000_000, zone)


# Rendering an instant costs as much as the rest of an episode, and answers repeat their episodes.
_instant_text = lru_cache(maxsize=16_384)(render_iso)


def struct_json(struct: Struct) -> dict[str, Any]:
    """The object that a Struct holds."""
    return {key: value_json(value) for key, value in struct.fields.items()}


def value_json(value: Value) -> Any:
    """What a Value holds. Whole numbers are integers, as they were before they became doubles."""
    kind = value.WhichOneof("kind")
    if kind == "string_value":
        return value.string_value
    if kind == "number_value":
        number = value.number_value
        return int(number) if number.is_integer() and abs(number) <= _LARGEST_WHOLE else number
    if kind == "bool_value":
        return value.bool_value
    if kind == "struct_value":
        return struct_json(value.struct_value)
    if kind == "list_value":
        return [value_json(item) for item in value.list_value.values]
    return None


def struct_to_proto(data: Mapping[str, Any]) -> Struct:
    """A JSON object as a Struct."""
    return Struct(fields={key: value_to_proto(value) for key, value in data.items()})


def value_to_proto(value: Any) -> Value:
    """A JSON value as a Value."""
    if value is None:
        return Value(null_value=NullValue.NULL_VALUE)
    if isinstance(value, bool):
        return Value(bool_value=value)
    if isinstance(value, str):
        return Value(string_value=value)
    if isinstance(value, int | float):
        return Value(number_value=value)
    if isinstance(value, Mapping):
        return Value(struct_value=struct_to_proto(value))
    return Value(list_value=ListValue(values=[value_to_proto(item) for item in value]))
