"""Validation, the same for both surfaces: a model, and the first error it finds as public text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from google.protobuf.message import Message
from pydantic import BaseModel, ValidationError

from remanence_server.runtime.errors import ServiceError, invalid_input

# Keys that a client made up are shown back to it; no more of them than says which one.
_LONGEST_SHOWN_KEY = 100


@dataclass(frozen=True, slots=True)
class MessageBinding:
    """How one request message is validated: its model, and the way there and back."""

    model: type[BaseModel]
    to_proto: Callable[[Any], Message]
    to_input: Callable[[Any], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class UploadBinding:
    """How one message of an upload stream is validated: a description of the file, or a chunk."""

    metadata_field: str
    metadata: MessageBinding


Registry = Mapping[str, MessageBinding | UploadBinding]


def validate[ModelT: BaseModel](
    model: type[ModelT], data: object, places: Mapping[str, str] | None = None
) -> ModelT:
    """The validated model of JSON-like input.

    `places` says of fields that are not in the body where they came from (`query`, `path`). Fails
    with ServiceError INVALID_INPUT, which tells the first error and names its field.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        # The chain would carry the refused values, which are memory text, into a log.
        raise refusal(error, places or {}) from None


def validate_with[MessageT: Message](registry: Registry, message: MessageT) -> MessageT:
    """The message with defaults filled in and instants in milliseconds.

    Fails like `validate`. A message that the registry does not know has no rules.
    """
    binding = registry.get(message.DESCRIPTOR.full_name)
    if isinstance(binding, UploadBinding):
        return _validate_upload(binding, message)
    if binding is None:
        return message
    return _normalised(binding, message)


def refusal(error: ValidationError, places: Mapping[str, str]) -> ServiceError:
    """The public error of a failed validation."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    location = [str(part)[:_LONGEST_SHOWN_KEY] for part in first["loc"]]
    if location and location[0] in places:
        location.insert(0, places[location[0]])
    return invalid_input(first["msg"], ".".join(location) or None)


def _normalised[MessageT: Message](binding: MessageBinding, message: MessageT) -> MessageT:
    model = validate(binding.model, binding.to_input(message))
    return cast("MessageT", binding.to_proto(model))


def _validate_upload[MessageT: Message](binding: UploadBinding, message: MessageT) -> MessageT:
    field = binding.metadata_field
    if message.HasField(field):
        metadata = _normalised(binding.metadata, getattr(message, field))
        return type(message)(**{field: metadata})
    if not message.ListFields():
        raise invalid_input("Field required", field)
    return message
