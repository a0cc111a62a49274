"""The filter language as a tree. Built and checked in one place, compiled to SQL and to Lucene.

Values are already coerced: text for the string fields and `sender_id`, epoch milliseconds for
`timestamp`. A tree that exists is valid: an unknown field or operator never gets this far.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FilterField(StrEnum):
    """What may be filtered on. `sender_id` asks whether the record's senders hold the value."""

    SESSION_ID = "session_id"
    PARENT_TYPE = "parent_type"
    PARENT_ID = "parent_id"
    TIMESTAMP = "timestamp"
    SENDER_ID = "sender_id"


class FilterOperator(StrEnum):
    """How a field is compared."""

    EQ = "eq"
    NE = "ne"
    GT = "gt"
    GTE = "gte"
    LT = "lt"
    LTE = "lte"
    IN = "in"


@dataclass(frozen=True, slots=True)
class Comparison:
    """One condition. `value` is text or epoch milliseconds; for IN, a tuple of texts.

    EQ and IN on `sender_id` mean membership. NE holds only for records that have the field.
    """

    field: FilterField
    operator: FilterOperator
    value: str | int | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every child holds; without children, everything does."""

    children: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one child holds; without children, nothing does."""

    children: tuple[Filter, ...]


Filter = Comparison | AllOf | AnyOf
