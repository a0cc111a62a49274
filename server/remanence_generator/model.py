"""What the emitters know of a contract: descriptors and options, read once into plain values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class GenerationError(Exception):
    """The protos say something that the generator cannot or must not write down."""


class Kind(StrEnum):
    """What a field holds, as far as the emitters tell fields apart."""

    TEXT = "text"
    BYTES = "bytes"
    FLAG = "flag"
    INT32 = "int32"
    INT64 = "int64"
    DOUBLE = "double"
    ENUM = "enum"
    MESSAGE = "message"
    STRUCT = "struct"
    TIMESTAMP = "timestamp"
    FILTER = "filter"


NUMBERS = frozenset({Kind.INT32, Kind.INT64, Kind.DOUBLE})


@dataclass(frozen=True, slots=True)
class Rules:
    """`FieldRules` of options.proto; None where the option is not set."""

    required: bool = False
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    refused: tuple[str, ...] = ()
    min_items: int | None = None
    max_items: int | None = None
    minimum: float | None = None
    maximum: float | None = None
    exclusive_minimum: float | None = None
    exception: float | None = None
    default_json: str | None = None
    epoch: bool = False
    omit_absent: bool = False
    null_when_empty: bool = False
    outside_form: bool = False


@dataclass(frozen=True, slots=True)
class EnumValue:
    """One value of an enum, and its name in JSON."""

    name: str
    number: int
    json_name: str
    comment: str


@dataclass(frozen=True, slots=True)
class Enum:
    """An enum without its UNSPECIFIED value, which never appears in JSON."""

    name: str
    full_name: str
    values: tuple[EnumValue, ...]
    comment: str


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a message. `type_name` is the full name of its enum or message, else empty."""

    name: str
    kind: Kind
    type_name: str
    repeated: bool
    # A map from text to `kind`.
    mapped: bool
    # Whether the message knows the field as absent …
    presence: bool
    # … because the contract says `optional`, not because every message field can be absent.
    optional: bool
    rules: Rules
    comment: str

    @property
    def nullable(self) -> bool:
        """Whether a request may send null: only where no default takes the place of absence."""
        absent = self.presence or self.rules.null_when_empty
        return absent and not self.rules.required and self.rules.default_json is None


@dataclass(frozen=True, slots=True)
class Union:
    """A oneof that is one key in JSON: a text, or the array inside a list message."""

    name: str
    required: bool
    text: Field
    # The member whose message is an inline list …
    items: Field
    # … and the single repeated field of that message.
    list_field: Field


@dataclass(frozen=True, slots=True)
class FieldGroup:
    """Fields of which exactly or at most one may be set, and what is said otherwise."""

    fields: tuple[str, ...]
    message: str


@dataclass(frozen=True, slots=True)
class Requirement:
    """`field` must be set when `when_field` holds one of `when_values`."""

    field: str
    when_field: str
    when_values: tuple[str, ...]
    message: str


@dataclass(frozen=True, slots=True)
class Message:
    """A message. `members` are its JSON keys in the order of declaration."""

    name: str
    full_name: str
    members: tuple[Field | Union, ...]
    refuse_unknown_fields: bool
    exactly_one_of: tuple[FieldGroup, ...]
    at_most_one_of: tuple[FieldGroup, ...]
    requirements: tuple[Requirement, ...]
    inline_list: bool
    filter_language: bool
    omit_absent: bool
    comment: str

    @property
    def fields(self) -> tuple[Field, ...]:
        """The members that are plain fields."""
        return tuple(member for member in self.members if isinstance(member, Field))

    def field(self, name: str) -> Field:
        """The plain field of that name. Fails with GenerationError when there is none."""
        for field in self.fields:
            if field.name == name:
                return field
        raise GenerationError(f"{self.full_name} has no field {name!r}")


@dataclass(frozen=True, slots=True)
class Route:
    """One HTTP binding of a method."""

    verb: str
    path: str
    # Fields bound by the path, in its order.
    path_fields: tuple[str, ...]
    # Whether the other fields come from a JSON body, else from the query.
    has_body: bool


@dataclass(frozen=True, slots=True)
class StatusRule:
    """The HTTP status when a response field has a value."""

    field: str
    equals: str
    status: int


@dataclass(frozen=True, slots=True)
class Method:
    """A method with its HTTP bindings. `input` and `output` are full message names."""

    name: str
    input: str
    output: str
    client_streaming: bool
    server_streaming: bool
    routes: tuple[Route, ...]
    bare: bool
    status: int
    status_rules: tuple[StatusRule, ...]
    multipart: bool
    error_statuses: tuple[int, ...]
    # Whether the request may carry an idempotency key.
    idempotent: bool
    # Whether the call may end when its client has left.
    read_only: bool
    comment: str


@dataclass(frozen=True, slots=True)
class Service:
    """A service of a proto file."""

    name: str
    full_name: str
    methods: tuple[Method, ...]
    comment: str


@dataclass(frozen=True, slots=True)
class File:
    """One proto file."""

    # As protoc names it, for example `remanence/v2/memory.proto`.
    path: str
    # Name of the generated Python module, for example `memory`.
    module: str
    package: str
    enums: tuple[Enum, ...]
    messages: tuple[Message, ...]
    services: tuple[Service, ...]


@dataclass(frozen=True, slots=True)
class Contract:
    """All files that code is generated for."""

    files: tuple[File, ...]

    def message(self, full_name: str) -> Message:
        """The message of that full name. Fails with GenerationError when there is none."""
        for file in self.files:
            for message in file.messages:
                if message.full_name == full_name:
                    return message
        raise GenerationError(f"message {full_name} is not in the files to generate")

    def enum(self, full_name: str) -> Enum:
        """The enum of that full name. Fails with GenerationError when there is none."""
        for file in self.files:
            for enum in file.enums:
                if enum.full_name == full_name:
                    return enum
        raise GenerationError(f"enum {full_name} is not in the files to generate")
