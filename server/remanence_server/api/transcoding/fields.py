"""The vocabulary of the generated request models: what Pydantic does not say by itself.

Texts follow Pydantic's own, which the API reference shows to clients.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from remanence_server.runtime.instants import LATEST_INSTANT_MS, to_milliseconds

# Protobuf libraries read at most 100 nested messages, and an object in a Struct costs three.
MAXIMUM_OBJECT_DEPTH = 24

# Up to here a double holds every integer; beyond, it may not be the number that was written.
_LARGEST_WHOLE = 2.0**53
_DIGITS = re.compile(r"-?[0-9]{1,19}")


class RequestModel(BaseModel):
    """A request message. Unknown keys are ignored unless the message refuses them."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)


def count_set(*values: object) -> int:
    """How many of these fields were given something."""
    return sum(value is not None and value != [] for value in values)


def _read_whole(value: object) -> object:
    if isinstance(value, float) and value.is_integer() and abs(value) <= _LARGEST_WHOLE:
        return int(value)
    return value


def _read_whole_or_digits(value: object) -> object:
    if isinstance(value, str):
        if _DIGITS.fullmatch(value) is None:
            raise PydanticCustomError("int_type", "Input should be a valid integer")
        return int(value)
    return _read_whole(value)


# JSON has one kind of number: 5.0 is the integer 5.
WHOLE = BeforeValidator(_read_whole)
# 64-bit integers may also come as text of digits, as proto3 JSON writes them.
WHOLE_OR_DIGITS = BeforeValidator(_read_whole_or_digits)


def _epoch_milliseconds(value: int) -> int:
    instant_ms = to_milliseconds(value)
    if instant_ms > LATEST_INSTANT_MS:
        raise PydanticCustomError("epoch_range", "Input should be an instant before the year 10000")
    return instant_ms


# A Unix epoch in milliseconds or seconds; the model holds milliseconds.
EPOCH = AfterValidator(_epoch_milliseconds)


def refused(*texts: str) -> AfterValidator:
    """Refuses these literal texts."""

    def check(value: str) -> str:
        if value in texts:
            raise PydanticCustomError("refused", "Input should not be '{text}'", {"text": value})
        return value

    return AfterValidator(check)


def between(minimum: float, maximum: float, *, exception: float) -> AfterValidator:
    """Asks for a number within inclusive bounds, or for the one exception outside them."""
    told = {"exception": exception, "minimum": minimum, "maximum": maximum}

    def check(value: float) -> float:
        if value == exception or minimum <= value <= maximum:
            return value
        raise PydanticCustomError(
            "between", "Input should be {exception} or between {minimum} and {maximum}", told
        )

    return AfterValidator(check)


def _check_object_depth(value: dict[str, Any]) -> dict[str, Any]:
    level: list[Any] = [value]
    for _ in range(MAXIMUM_OBJECT_DEPTH):
        level = [
            child
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, dict | list)
        ]
        if not level:
            return value
    raise PydanticCustomError(
        "object_depth",
        "Input should be nested at most {levels} levels deep",
        {"levels": MAXIMUM_OBJECT_DEPTH},
    )


# A free-form object, of a depth that every protobuf library can read back.
JsonObject = Annotated[dict[str, Any], Field(strict=True), AfterValidator(_check_object_depth)]


class _TextOrList:
    """A union of a text and a list in which errors name the item, not the member of the union."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        (list_type,) = (member for member in get_args(source) if member is not str)

        def choose(value: Any, validate_list: core_schema.ValidatorFunctionWrapHandler) -> Any:
            if isinstance(value, str):
                return value
            if isinstance(value, list):
                return validate_list(value)
            raise PydanticCustomError("text_or_list", "Input should be a valid string or list")

        return core_schema.no_info_wrap_validator_function(
            choose, handler.generate_schema(list_type)
        )


TEXT_OR_LIST = _TextOrList()
