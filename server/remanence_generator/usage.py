"""Which messages of a file are requests and which are responses."""

from __future__ import annotations

from collections.abc import Iterable

from remanence_generator.model import (
    Contract,
    Field,
    File,
    GenerationError,
    Kind,
    Message,
    Method,
    Union,
)


def upload_metadata(contract: Contract, method: Method) -> Field:
    """The field of an upload's request message that describes the file.

    Fails with GenerationError when the message is not a description and a `chunk` of bytes.
    """
    message = contract.message(method.input)
    described = [field for field in message.fields if field.kind is Kind.MESSAGE]
    if len(described) != 1 or message.field("chunk").kind is not Kind.BYTES:
        raise GenerationError(f"{message.name}: an upload is one message field and bytes `chunk`")
    return described[0]


def request_roots(file: File, contract: Contract) -> tuple[Message, ...]:
    """The messages that the file's methods validate: inputs, and the description of an upload."""
    names: dict[str, None] = {}
    for service in file.services:
        for method in service.methods:
            if method.client_streaming:
                if method.routes and not method.multipart:
                    raise GenerationError(f"{method.name}: over HTTP only multipart is streamed")
                names[upload_metadata(contract, method).type_name] = None
            else:
                names[method.input] = None
    return tuple(contract.message(name) for name in names)


def requests(file: File, contract: Contract) -> tuple[Message, ...]:
    """Every request message of the file's methods, a message after those it holds."""
    return _closure(request_roots(file, contract), file, contract)


def responses(file: File, contract: Contract) -> tuple[Message, ...]:
    """Every response that is written as JSON, a message after those it holds."""
    roots = [
        contract.message(method.output)
        for service in file.services
        for method in service.methods
        if method.routes
    ]
    return _closure(roots, file, contract)


def used_enums(messages: Iterable[Message]) -> set[str]:
    """Full names of the enums that fields of these messages have."""
    return {
        field.type_name
        for message in messages
        for field in message.fields
        if field.kind is Kind.ENUM
    }


def _closure(roots: Iterable[Message], file: File, contract: Contract) -> tuple[Message, ...]:
    ordered: dict[str, Message] = {}
    open_names: set[str] = set()

    def visit(message: Message) -> None:
        if message.full_name in ordered:
            return
        if message.full_name in open_names:
            raise GenerationError(f"{message.full_name} holds itself")
        if message not in file.messages:
            raise GenerationError(f"{message.full_name} is used in {file.path}, declared elsewhere")
        open_names.add(message.full_name)
        for member in message.members:
            inner = member.list_field if isinstance(member, Union) else member
            if inner.kind is Kind.MESSAGE:
                visit(contract.message(inner.type_name))
        ordered[message.full_name] = message

    for root in roots:
        visit(root)
    return tuple(ordered.values())
