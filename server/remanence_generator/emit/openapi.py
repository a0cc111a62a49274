"""The OpenAPI 3.1 document: every route, what it takes and what it answers, errors included."""

from __future__ import annotations

import json
from typing import Any

from remanence_generator import usage
from remanence_generator.emit.schemas import FILTER_NODE, Schema, Schemas, filter_node
from remanence_generator.model import Contract, Method, Route, Service
from remanence_generator.naming import snake_case

_REQUEST_ID = {"type": "string", "pattern": "^[0-9a-f]{32}$"}
_REQUEST_ID_HEADER = {"X-Request-Id": {"$ref": "#/components/headers/X-Request-Id"}}
_RETRY_AFTER_HEADER = {"Retry-After": {"$ref": "#/components/headers/Retry-After"}}
_DESCRIPTION = (
    "Long-term memory for AI agents. Successes are {request_id, data} unless an operation says "
    "otherwise; failures are {request_id, error}."
)
# `ErrorCode` of the server by HTTP status, which the contract promises to clients.
_ERROR_CODES = {
    400: ("BAD_REQUEST",),
    401: ("UNAUTHENTICATED",),
    403: ("PERMISSION_DENIED",),
    404: ("NOT_FOUND",),
    405: ("METHOD_NOT_ALLOWED",),
    409: ("CONFLICT",),
    413: ("PAYLOAD_TOO_LARGE",),
    415: ("UNSUPPORTED_FORMAT",),
    422: ("INVALID_INPUT", "EXTRACTION_EMPTY"),
    429: ("QUEUE_SATURATED",),
    500: ("INTERNAL_ERROR", "CONFIGURATION_ERROR"),
    503: ("EXTERNAL_SERVICE_UNAVAILABLE", "CAPABILITY_UNAVAILABLE"),
}
_IDEMPOTENCY_KEY: Schema = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "The same request with the same key gets the first answer again, byte for byte; "
    "another request with it is a conflict.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 256, "pattern": "^[!-~]+$"},
}
# A 503 for want of a capability does not say when to retry, all others do.
_MAYBE_RETRYABLE = (429, 503)
_NO_CONTENT = 204


def document_text(contract: Contract) -> str:
    """The document as JSON text."""
    return json.dumps(document(contract), indent=2, ensure_ascii=False) + "\n"


def document(contract: Contract) -> Schema:
    """The document. A method is shown at its first route, which tells of the others."""
    requests = {m.full_name: m for file in contract.files for m in usage.requests(file, contract)}
    responses = {m.full_name: m for file in contract.files for m in usage.responses(file, contract)}
    schemas = Schemas(contract, frozenset(requests) & frozenset(responses))
    known: Schema = {"ErrorEnvelope": _error_envelope(), FILTER_NODE: filter_node()}
    known |= {m.name: schemas.request(m) for m in requests.values() if not m.inline_list}
    known |= {
        schemas.response_name(m.full_name): schemas.response(m)
        for m in responses.values()
        if not m.inline_list
    }
    writer = _Writer(contract, schemas)
    paths: Schema = {}
    services = [service for file in contract.files for service in file.services]
    for service in services:
        for method in (method for method in service.methods if method.routes):
            path = paths.setdefault(method.routes[0].path, {})
            path[method.routes[0].verb.lower()] = writer.operation(service, method)
    failures = {f"Error{status}": _failure(status) for status in _ERROR_CODES}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Remanence", "version": "2", "description": _DESCRIPTION},
        "tags": [{"name": service.name, "description": service.comment} for service in services],
        "paths": paths,
        "components": {
            "schemas": _reached(known, [paths, failures]),
            "responses": failures,
            "headers": _headers(),
            "parameters": {"Idempotency-Key": _IDEMPOTENCY_KEY},
        },
    }


class _Writer:
    """Writes operations."""

    def __init__(self, contract: Contract, schemas: Schemas) -> None:
        self._contract = contract
        self._schemas = schemas

    def operation(self, service: Service, method: Method) -> Schema:
        """The operation at a method's first route."""
        route, *aliases = method.routes
        description = "\n\n".join(
            [method.comment, *(f"Also {alias.verb} {alias.path}." for alias in aliases)]
        )
        operation: Schema = {
            "operationId": snake_case(method.name),
            "tags": [service.name],
            "summary": method.comment.split("\n")[0],
            "description": description.strip(),
        }
        parameters = self._parameters(method, route)
        if method.idempotent:
            parameters.append({"$ref": "#/components/parameters/Idempotency-Key"})
        if parameters:
            operation["parameters"] = parameters
        if method.multipart:
            operation["requestBody"] = self._form(method)
        elif route.has_body:
            message = self._contract.message(method.input)
            schema = (
                self._schemas.request(message, frozenset(route.path_fields))
                if route.path_fields
                else {"$ref": f"#/components/schemas/{message.name}"}
            )
            operation["requestBody"] = {"required": True, "content": _json_content(schema)}
        operation["responses"] = self._responses(method, bool(parameters), route.has_body)
        return operation

    def _parameters(self, method: Method, route: Route) -> list[Schema]:
        if method.multipart:
            field = usage.upload_metadata(self._contract, method)
            message = self._contract.message(field.type_name)
        else:
            message = self._contract.message(method.input)
        in_query = not (method.multipart or route.has_body)
        return [
            {
                "name": field.name,
                "in": "path" if field.name in route.path_fields else "query",
                "required": field.name in route.path_fields or field.rules.required,
                "schema": self._schemas.request_member(field, nullable=False),
            }
            for field in message.fields
            if field.name in route.path_fields or in_query
        ]

    def _form(self, method: Method) -> Schema:
        field = usage.upload_metadata(self._contract, method)
        message = self._contract.message(field.type_name)
        texts = [field for field in message.fields if not field.rules.outside_form]
        file = {"type": "string", "contentMediaType": "application/octet-stream"}
        properties: Schema = {"file": file}
        for text in texts:
            properties[text.name] = self._schemas.request_member(text, nullable=False)
        required = ["file", *(text.name for text in texts if text.rules.required)]
        schema = {"type": "object", "properties": properties, "required": required}
        return {"required": True, "content": {"multipart/form-data": {"schema": schema}}}

    def _responses(self, method: Method, has_parameters: bool, has_body: bool) -> Schema:
        data = {"$ref": f"#/components/schemas/{self._schemas.response_name(method.output)}"}
        envelope = {
            "type": "object",
            "properties": {"request_id": _REQUEST_ID, "data": data},
            "required": ["request_id", "data"],
        }
        content = _json_content(data if method.bare else envelope)
        responses: Schema = {}
        for status in (method.status, *(rule.status for rule in method.status_rules)):
            responses[str(status)] = {
                "description": "Success, with nothing to say."
                if status == _NO_CONTENT
                else "Success.",
                "headers": _REQUEST_ID_HEADER,
                **({} if status == _NO_CONTENT else {"content": content}),
            }
        failures = {500, *method.error_statuses}
        if has_parameters or has_body or method.multipart:
            failures.add(422)
        if has_body or method.multipart:
            failures |= {400, 413, 415}
        if method.idempotent:
            failures.add(409)
        for status in sorted(failures):
            responses[str(status)] = {"$ref": f"#/components/responses/Error{status}"}
        return responses


def _failure(status: int) -> Schema:
    headers: dict[str, Any] = dict(_REQUEST_ID_HEADER)
    if status in _MAYBE_RETRYABLE:
        headers |= _RETRY_AFTER_HEADER
    return {
        "description": f"The error code is {' or '.join(_ERROR_CODES[status])}.",
        "headers": headers,
        "content": _json_content({"$ref": "#/components/schemas/ErrorEnvelope"}),
    }


def _headers() -> Schema:
    return {
        "X-Request-Id": {"description": "The request_id of the body.", "schema": _REQUEST_ID},
        "Retry-After": {
            "description": "Seconds after which the call may succeed.",
            "schema": {"type": "integer", "minimum": 1},
        },
    }


def _error_envelope() -> Schema:
    codes = [code for codes in _ERROR_CODES.values() for code in codes]
    error = {
        "type": "object",
        "properties": {
            "code": {"type": "string", "enum": codes},
            "message": {"type": "string"},
            "timestamp": {"type": "string", "format": "date-time"},
            "path": {"type": "string"},
        },
        "required": ["code", "message", "timestamp", "path"],
    }
    return {
        "type": "object",
        "properties": {"request_id": _REQUEST_ID, "error": error},
        "required": ["request_id", "error"],
    }


def _reached(schemas: Schema, roots: list[Any]) -> Schema:
    """The schemas that these parts of the document refer to, also through each other."""
    reached: set[str] = set()
    waiting = list(roots)
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            name = str(part.get("$ref", "")).removeprefix("#/components/schemas/")
            if name in schemas and name not in reached:
                reached.add(name)
                waiting.append(schemas[name])
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
    return {name: schema for name, schema in schemas.items() if name in reached}


def _json_content(schema: Schema) -> Schema:
    return {"application/json": {"schema": schema}}
