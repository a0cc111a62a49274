"""What a content item must be to be accepted: readable text, or something a parser can take."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence

from remanence_server.domain.messages import ContentItem, Message
from remanence_server.runtime.errors import ErrorCode, ServiceError, invalid_input


def check_contents(messages: Sequence[Message]) -> None:
    """Refuses a batch that holds an item this build cannot read.

    Raises ServiceError: INVALID_INPUT for an item that contradicts itself, UNSUPPORTED_FORMAT for a
    payload that cannot be decoded or reached, CAPABILITY_UNAVAILABLE for one that a parser would
    read if this build had it.
    """
    for number, message in enumerate(messages):
        if isinstance(message.content, str):
            continue
        for index, item in enumerate(message.content):
            field = f"messages.{number}.content.{index}"
            if item.type == "text":
                _check_text_item(item, field)
            else:
                _check_binary_item(item, field)


def _check_text_item(item: ContentItem, field: str) -> None:
    if item.text is None:
        raise invalid_input("text is required when type is 'text'", f"{field}.text")
    if item.uri is not None or item.base64 is not None:
        raise invalid_input("uri and base64 do not go with type 'text'", field)


def _check_binary_item(item: ContentItem, field: str) -> None:
    if item.uri is None and item.base64 is None:
        raise _unsupported(f"an item of type '{item.type}' needs uri or base64", field)
    if item.base64 is not None:
        if not item.ext:
            raise _unsupported("base64 needs ext, the file extension", field)
        try:
            base64.b64decode(item.base64, validate=True)
        except (binascii.Error, ValueError):
            raise _unsupported("base64 cannot be decoded", field) from None
    elif item.uri is not None:
        scheme = item.uri.partition("://")[0].lower()
        # Reading local files for whoever can reach the port is a gift to an attacker. There is no
        # allow-list of safe folders yet, so every file:// is refused, be the file there or not.
        if scheme == "file":
            raise _unsupported("file:// is not allowed here; send the content as base64", field)
        if scheme not in ("http", "https"):
            raise _unsupported("uri must start with http:// or https://", field)
    raise ServiceError(
        ErrorCode.CAPABILITY_UNAVAILABLE,
        f"this build has no parser for content of type '{item.type}'; "
        f"send its text as an item of type 'text': {field}",
        field=field,
    )


def _unsupported(reason: str, field: str) -> ServiceError:
    return ServiceError(ErrorCode.UNSUPPORTED_FORMAT, f"{reason}: {field}", field=field)
