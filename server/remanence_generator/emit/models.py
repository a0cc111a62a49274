"""Pydantic models of the request messages: where a rule of the contract becomes a check."""

from __future__ import annotations

import keyword

from remanence_generator.emit.text import (
    comment_lines,
    docstring,
    literal,
    number,
    quoted,
)
from remanence_generator.model import (
    NUMBERS,
    Contract,
    Field,
    GenerationError,
    Kind,
    Message,
    Union,
)
from remanence_generator.naming import short_name

_PYTHON_TYPES = {
    Kind.TEXT: "str",
    Kind.FLAG: "bool",
    Kind.INT32: "int",
    Kind.INT64: "int",
    Kind.DOUBLE: "float",
}
_ZEROS = {
    Kind.TEXT: '""',
    Kind.FLAG: "False",
    Kind.INT32: "0",
    Kind.INT64: "0",
    Kind.DOUBLE: "0.0",
}
# How a JSON number, or the text that proto3 JSON writes, becomes an integer.
_INTEGERS = {Kind.INT32: "WHOLE", Kind.INT64: "WHOLE_OR_DIGITS"}
_RANGES = {
    Kind.INT32: ("-2147483648", "2147483647"),
    Kind.INT64: ("-9223372036854775808", "9223372036854775807"),
}
# Attributes of every Pydantic model, which a field would hide.
_TAKEN = frozenset({"copy", "dict", "json", "schema", "validate", "construct"})


def model_lines(message: Message, contract: Contract) -> list[str]:
    """The class of one request message."""
    lines = [f"class {message.name}(RequestModel):"]
    lines += docstring(message.comment, "    ", f"Request message {message.full_name}.")
    if message.refuse_unknown_fields:
        lines += ["", '    model_config = ConfigDict(extra="forbid")']
    if message.members:
        lines.append("")
    for member in message.members:
        _check_name(message, member.name)
        if isinstance(member, Field):
            lines += comment_lines(member.comment, "    ")
            lines.append(f"    {member.name}: {annotation(member, contract)}")
        else:
            lines.append(f"    {member.name}: {_union_annotation(member, contract)}")
    return lines + _rule_lines(message)


def annotation(field: Field, contract: Contract) -> str:
    """The annotation of a field, with its default."""
    rules = field.rules
    if field.mapped or field.kind in (Kind.TIMESTAMP, Kind.BYTES):
        raise GenerationError(f"{field.name}: maps, timestamps and bytes have no request form")
    if field.repeated:
        written = f"list[{_item_annotation(field, contract)}]"
        limits = _arguments(min_length=rules.min_items, max_length=rules.max_items)
        if limits:
            written = f"Annotated[{written}, Field({', '.join(limits)})]"
    else:
        written = _item_annotation(field, contract)
    if rules.required:
        return written
    if field.nullable:
        return f"{written} | None = None"
    return f"{written} = {_default(field)}"


def _default(field: Field) -> str:
    """What an absent field that cannot be null holds: its default, else zero as protobuf has it."""
    if field.rules.default_json is not None:
        return literal(field.rules.default_json)
    if field.repeated:
        return "[]"
    if field.kind not in _ZEROS:
        raise GenerationError(
            f"{field.name}: say whether it is required, optional or has a default"
        )
    return _ZEROS[field.kind]


def _item_annotation(field: Field, contract: Contract) -> str:
    rules = field.rules
    match field.kind:
        case Kind.ENUM:
            names = ", ".join(quoted(v.json_name) for v in contract.enum(field.type_name).values)
            return f"Literal[{names}]"
        case Kind.MESSAGE:
            return short_name(field.type_name)
        case Kind.STRUCT:
            return "JsonObject"
        case Kind.FILTER:
            return "Filters"
    arguments = ["strict=True"]
    markers: list[str] = []
    if field.kind is Kind.TEXT:
        arguments += _arguments(min_length=rules.min_length, max_length=rules.max_length)
        if rules.pattern is not None:
            arguments.append(f"pattern={quoted(rules.pattern)}")
        if rules.refused:
            markers.append(f"refused({', '.join(map(quoted, rules.refused))})")
    elif field.kind in NUMBERS:
        arguments += _bounds(field)
        if field.kind in _INTEGERS:
            markers.append(_INTEGERS[field.kind])
        if rules.exception is not None:
            markers.append(_exception(field))
        if rules.epoch:
            markers.append("EPOCH")
    parts = [_PYTHON_TYPES[field.kind], f"Field({', '.join(arguments)})", *markers]
    return f"Annotated[{', '.join(parts)}]"


def _bounds(field: Field) -> list[str]:
    rules = field.rules
    if rules.exception is not None:
        return []
    lower, upper = _RANGES.get(field.kind, (None, None))
    arguments = ["allow_inf_nan=False"] if field.kind is Kind.DOUBLE else []
    if rules.exclusive_minimum is not None:
        arguments.append(f"gt={number(rules.exclusive_minimum)}")
    elif rules.minimum is not None:
        arguments.append(f"ge={number(rules.minimum)}")
    elif lower is not None:
        arguments.append(f"ge={lower}")
    if rules.maximum is not None:
        arguments.append(f"le={number(rules.maximum)}")
    elif upper is not None:
        arguments.append(f"le={upper}")
    return arguments


def _exception(field: Field) -> str:
    rules = field.rules
    if rules.minimum is None or rules.maximum is None or rules.exception is None:
        raise GenerationError(f"{field.name}: an exception stands beside a minimum and a maximum")
    bounds = f"{number(rules.minimum)}, {number(rules.maximum)}"
    return f"between({bounds}, exception={number(rules.exception)})"


def _union_annotation(union: Union, contract: Contract) -> str:
    item = _item_annotation(union.list_field, contract)
    written = f"Annotated[str | list[{item}], TEXT_OR_LIST]"
    return written if union.required else f"{written} | None = None"


def _rule_lines(message: Message) -> list[str]:
    checks: list[str] = []
    for group in message.exactly_one_of:
        checks += [f"if count_set({_values(group.fields)}) != 1:", _raise(group.message)]
    for group in message.at_most_one_of:
        checks += [f"if count_set({_values(group.fields)}) > 1:", _raise(group.message)]
    for rule in message.requirements:
        message.field(rule.field)
        values = ", ".join(map(quoted, rule.when_values))
        comma = "," if len(rule.when_values) == 1 else ""
        checks += [
            f"if self.{rule.when_field} in ({values}{comma}) and not self.{rule.field}:",
            _raise(rule.message),
        ]
    if not checks:
        return []
    head = ["", '    @model_validator(mode="after")', "    def _check_rules(self) -> Self:"]
    return [*head, *(f"        {line}" for line in checks), "        return self"]


def _values(names: tuple[str, ...]) -> str:
    return ", ".join(f"self.{name}" for name in names)


def _raise(message: str) -> str:
    return f"    raise ValueError({quoted(message)})"


def _arguments(**limits: int | None) -> list[str]:
    return [f"{name}={value}" for name, value in limits.items() if value is not None]


def _check_name(message: Message, name: str) -> None:
    if keyword.iskeyword(name) or name in _TAKEN or name.startswith(("model_", "_")):
        raise GenerationError(f"{message.name}.{name}: the name is not free in Python")
