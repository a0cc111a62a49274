"""One Python module per proto file, and the package around them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from remanence_generator import usage
from remanence_generator.emit import converters, models, replies, routes
from remanence_generator.emit.layout import LINE_LENGTH, laid_out
from remanence_generator.emit.text import HEADER, quoted
from remanence_generator.model import Contract, File
from remanence_generator.naming import snake_case

PACKAGE = "remanence_http"
RUNTIME = "remanence_server.api.transcoding"

_RUNTIME_NAMES = {
    "bindings": ("HttpBinding", "add_routes"),
    "context": ("CallContext",),
    "fields": (
        "EPOCH",
        "TEXT_OR_LIST",
        "WHOLE",
        "WHOLE_OR_DIGITS",
        "JsonObject",
        "RequestModel",
        "between",
        "count_set",
        "refused",
    ),
    "filters": ("Filters", "filter_node_json"),
    "texts": (
        "TextReaders",
        "flag_from_text",
        "integer_from_text",
        "number_from_text",
        "query_fields",
    ),
    "validation": ("MessageBinding", "Registry", "UploadBinding", "validate"),
    "values": ("struct_json", "struct_to_proto", "timestamp_text"),
}
_LIBRARY_NAMES = {
    "collections.abc": ("AsyncIterator",),
    "datetime": ("tzinfo",),
    "typing": ("Annotated", "Any", "Literal", "Protocol", "Self"),
}
_THIRD_PARTY_NAMES = {
    "fastapi": ("APIRouter", "Request", "Response"),
    "pydantic": ("ConfigDict", "Field", "model_validator"),
}


def module_text(file: File, contract: Contract) -> str:
    """The generated module of a proto file."""
    pb2 = f"{file.module}_pb2"
    requests = usage.requests(file, contract)
    responses = usage.responses(file, contract)
    enum_names = usage.used_enums([*requests, *responses])
    parts: list[list[str]] = [
        converters.enum_lines(enum, pb2) for enum in file.enums if enum.full_name in enum_names
    ]
    for message in requests:
        if message.inline_list:
            continue
        parts.append(models.model_lines(message, contract))
        parts.append(converters.to_proto_lines(message, contract, pb2))
        parts.append(converters.input_lines(message, pb2))
    parts += [replies.json_lines(m, pb2) for m in responses if not m.inline_list]
    for service in file.services:
        parts.append(routes.protocol_lines(service, pb2))
        parts.append(routes.table_lines(service, contract))
        if any(method.routes for method in service.methods):
            parts.append(routes.router_lines(service, contract, pb2))
    parts.append(_registry(file, contract, pb2))
    body = "\n\n\n".join("\n".join(laid_out(part)) for part in parts if part)
    return "\n".join([*_head(file, body, pb2), "", body, ""])


def package_text(contract: Contract) -> str:
    """The package: every message that a surface validates, and how to validate one."""
    names = sorted(file.module for file in contract.files)
    return "\n".join(
        [
            HEADER.format(source="the protos"),
            '"""The HTTP surface of the contract, and the validation that both surfaces share."""',
            "",
            "from __future__ import annotations",
            "",
            f"from {PACKAGE} import {', '.join(names)}",
            f"from {RUNTIME}.validation import Registry",
            "",
            "# Every request message by its full name.",
            "REGISTRY: Registry = {",
            *(f"    **{name}.MESSAGES," for name in names),
            "}",
            "",
            f"__all__ = [{', '.join(map(quoted, ['REGISTRY', *names]))}]",
            "",
        ]
    )


def _registry(file: File, contract: Contract, pb2: str) -> list[str]:
    lines = ["MESSAGES: Registry = {"]
    for message in usage.request_roots(file, contract):
        name = snake_case(message.name)
        lines += [
            f"    {quoted(message.full_name)}: "
            f"MessageBinding({message.name}, {name}_to_proto, {name}_input),",
        ]
    for service in file.services:
        for method in service.methods:
            if method.client_streaming:
                field = usage.upload_metadata(contract, method)
                described = contract.message(field.type_name)
                name = snake_case(described.name)
                lines += [
                    f"    {quoted(method.input)}: UploadBinding(",
                    f"        {quoted(field.name)},",
                    f"        MessageBinding({described.name}, {name}_to_proto, {name}_input),",
                    "    ),",
                ]
    return [*lines, "}"]


def _head(file: File, body: str, pb2: str) -> list[str]:
    words = set(re.findall(r"\w+", body))
    package = file.package
    return [
        HEADER.format(source=file.path),
        f'"""Requests, responses and routes of {file.path}."""',
        "",
        "from __future__ import annotations",
        "",
        *_imports(_LIBRARY_NAMES, words),
        "",
        *_imports(_THIRD_PARTY_NAMES, words),
        f"from {package} import {pb2}",
        *_imports({f"{RUNTIME}.{name}": names for name, names in _RUNTIME_NAMES.items()}, words),
    ]


def _imports(names: Mapping[str, tuple[str, ...]], words: Iterable[str]) -> list[str]:
    present = set(words)
    lines: list[str] = []
    for module, candidates in names.items():
        used = [name for name in candidates if name in present]
        line = f"from {module} import {', '.join(used)}"
        if len(line) > LINE_LENGTH:
            lines += [f"from {module} import (", *(f"    {name}," for name in used), ")"]
        elif used:
            lines.append(line)
    return lines
