"""JSON schemas of requests and responses, from the rules that the models enforce."""

from __future__ import annotations

import json
from typing import Any

from remanence_generator.emit.values import whole
from remanence_generator.model import Contract, Enum, Field, Kind, Message, Union
from remanence_generator.naming import short_name

type Schema = dict[str, Any]

FILTER_NODE = "FilterNode"
_INT32 = (-(2**31), 2**31 - 1)
_INT64 = (-(2**63), 2**63 - 1)
# The last millisecond of the year 9999.
_LATEST_EPOCH_MS = 253_402_300_799_999
_SCALARS: dict[Kind, Schema] = {
    Kind.TEXT: {"type": "string"},
    Kind.FLAG: {"type": "boolean"},
    Kind.INT32: {"type": "integer", "format": "int32"},
    Kind.INT64: {"type": "integer", "format": "int64"},
    Kind.DOUBLE: {"type": "number", "format": "double"},
    Kind.STRUCT: {"type": "object", "additionalProperties": True},
    Kind.TIMESTAMP: {"type": "string", "format": "date-time"},
}


class Schemas:
    """Writes schemas; `both` are messages that are requests and responses, named apart."""

    def __init__(self, contract: Contract, both: frozenset[str]) -> None:
        self._contract = contract
        self._both = both

    def response_name(self, full_name: str) -> str:
        """The name of a message's response schema."""
        name = short_name(full_name)
        return f"{name}Output" if full_name in self._both else name

    def request(self, message: Message, without: frozenset[str] = frozenset()) -> Schema:
        """The schema of a request; `without` are fields that come from elsewhere."""
        members = [member for member in message.members if member.name not in without]
        schema: Schema = {
            "type": "object",
            "properties": {member.name: self.request_member(member) for member in members},
        }
        required = [member.name for member in members if _is_required(member)]
        if required:
            schema["required"] = required
        if message.refuse_unknown_fields:
            schema["additionalProperties"] = False
        rules = _rules(message)
        if rules:
            schema["allOf"] = rules
        return _described(schema, message.comment)

    def response(self, message: Message) -> Schema:
        """The schema of a response: every key is there unless the contract omits it."""
        schema: Schema = {"type": "object", "properties": {}}
        required: list[str] = []
        for member in message.members:
            if isinstance(member, Union):
                schema["properties"][member.name] = self._union(member, self._response_value)
                required.append(member.name)
                continue
            omitted = member.rules.omit_absent or (message.omit_absent and member.presence)
            value = self._response_field(member)
            if member.optional and not omitted:
                value = _nullable(value)
            schema["properties"][member.name] = _described(value, member.comment)
            if not omitted:
                required.append(member.name)
        if required:
            schema["required"] = required
        return _described(schema, message.comment)

    def request_member(self, member: Field | Union, *, nullable: bool = True) -> Schema:
        """The schema of one request key. A parameter of a path or a query cannot be null."""
        if isinstance(member, Union):
            schema = self._union(member, self._request_value)
            return schema if member.required else _nullable(schema)
        schema = self._request_value(member)
        if member.repeated:
            schema = {"type": "array", "items": schema}
            schema |= _present(minItems=member.rules.min_items, maxItems=member.rules.max_items)
        if nullable and member.nullable:
            schema = _nullable(schema)
        if member.rules.default_json is not None:
            schema = {**schema, "default": json.loads(member.rules.default_json)}
        return _described(schema, member.comment)

    def _union(self, union: Union, value: Any) -> Schema:
        items = value(union.list_field)
        return {"anyOf": [{"type": "string"}, {"type": "array", "items": items}]}

    def _request_value(self, field: Field) -> Schema:
        match field.kind:
            case Kind.ENUM:
                return _enum(self._contract.enum(field.type_name))
            case Kind.FILTER:
                return _reference(FILTER_NODE)
            case Kind.MESSAGE:
                return _reference(short_name(field.type_name))
        return _constrained(field)

    def _response_field(self, field: Field) -> Schema:
        schema = self._response_value(field)
        if field.mapped:
            return {"type": "object", "additionalProperties": schema}
        if not field.repeated:
            return schema
        array = {"type": "array", "items": schema}
        return _nullable(array) if field.rules.null_when_empty else array

    def _response_value(self, field: Field) -> Schema:
        match field.kind:
            case Kind.ENUM:
                return _enum(self._contract.enum(field.type_name))
            case Kind.FILTER:
                return _reference(FILTER_NODE)
            case Kind.MESSAGE:
                return _reference(self.response_name(field.type_name))
        return dict(_SCALARS[field.kind])


def filter_node() -> Schema:
    """The schema of the filter language, which no descriptor tells."""
    text: Schema = {"type": "string"}
    instant: Schema = {
        "anyOf": [
            {"type": "integer", "minimum": -_LATEST_EPOCH_MS, "maximum": _LATEST_EPOCH_MS},
            {"type": "string", "format": "date-time"},
        ],
        "description": "A Unix epoch as in messages, or ISO-8601; the display zone if it has none.",
    }
    nodes: Schema = {"type": ["array", "null"], "items": _reference(FILTER_NODE)}
    texts = _predicate(text, "eq", "ne", "in")
    return {
        "type": "object",
        "properties": {
            "AND": nodes,
            "OR": nodes,
            "session_id": texts,
            "parent_type": texts,
            "parent_id": texts,
            "timestamp": _predicate(instant, "eq", "ne", "gt", "gte", "lt", "lte"),
            "sender_id": _predicate(text, "eq", "in"),
        },
        "additionalProperties": False,
        "description": "A node of the filter language: everything in one node holds together.",
    }


def _predicate(value: Schema, *operators: str) -> Schema:
    """A bare value, or a map of operators; `in` takes a list of values."""
    operands = {
        operator: {"type": "array", "items": value} if operator == "in" else value
        for operator in operators
    }
    operator_map: Schema = {
        "type": "object",
        "properties": operands,
        "additionalProperties": False,
        "minProperties": 1,
    }
    return {"anyOf": [value, operator_map]}


def _constrained(field: Field) -> Schema:
    rules = field.rules
    schema = dict(_SCALARS[field.kind])
    schema |= _present(
        minLength=rules.min_length, maxLength=rules.max_length, pattern=rules.pattern
    )
    if rules.refused:
        schema["not"] = {"enum": list(rules.refused)}
    lower, upper = {Kind.INT32: _INT32, Kind.INT64: _INT64}.get(field.kind, (None, None))
    if rules.epoch:
        upper = _LATEST_EPOCH_MS
    if rules.exclusive_minimum is not None:
        schema["exclusiveMinimum"], lower = whole(rules.exclusive_minimum), None
    minimum = rules.minimum if rules.minimum is not None else lower
    maximum = rules.maximum if rules.maximum is not None else upper
    bounds = _present(minimum=minimum, maximum=maximum)
    bounds = {name: whole(value) for name, value in bounds.items()}
    if rules.exception is None:
        return schema | bounds
    return {**schema, "anyOf": [{"const": whole(rules.exception)}, bounds]}


def _rules(message: Message) -> list[Schema]:
    rules: list[Schema] = [
        {"oneOf": [_sent(name) for name in group.fields], "description": group.message}
        for group in message.exactly_one_of
    ]
    for group in message.at_most_one_of:
        one = [_sent(name) for name in group.fields]
        rules.append({"oneOf": [{"not": {"anyOf": one}}, *one], "description": group.message})
    for rule in message.requirements:
        condition = {
            "properties": {rule.when_field: {"enum": list(rule.when_values)}},
            "required": [rule.when_field],
        }
        needed = _present_unless(rule.field, None, "")
        rules.append({"if": condition, "then": needed, "description": rule.message})
    return rules


def _sent(name: str) -> Schema:
    return _present_unless(name, None)


def _present_unless(name: str, *refused: str | None) -> Schema:
    return {"required": [name], "properties": {name: {"not": {"enum": list(refused)}}}}


def _is_required(member: Field | Union) -> bool:
    return member.required if isinstance(member, Union) else member.rules.required


def _enum(enum: Enum) -> Schema:
    return {"type": "string", "enum": [value.json_name for value in enum.values]}


def _nullable(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _reference(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _present(**keywords: Any) -> Schema:
    return {name: value for name, value in keywords.items() if value is not None}


def _described(schema: Schema, comment: str) -> Schema:
    return {**schema, "description": comment} if comment else schema
