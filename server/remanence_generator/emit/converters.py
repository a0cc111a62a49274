"""Straight-line converters between request models and protobuf messages, both ways."""

from __future__ import annotations

from remanence_generator.emit.text import quoted
from remanence_generator.model import Contract, Enum, Field, Kind, Message, Union
from remanence_generator.naming import constant_case, short_name, snake_case


def numbers_name(enum_full_name: str) -> str:
    """The table from an enum's JSON names to its numbers."""
    return f"_{constant_case(short_name(enum_full_name))}_NUMBERS"


def names_name(enum_full_name: str) -> str:
    """The table from an enum's numbers to its JSON names."""
    return f"_{constant_case(short_name(enum_full_name))}_NAMES"


def enum_lines(enum: Enum, pb2: str) -> list[str]:
    """Both tables of an enum."""
    numbers = numbers_name(enum.full_name)
    return [
        f"{numbers} = {{",
        *(f"    {quoted(value.json_name)}: {pb2}.{value.name}," for value in enum.values),
        "}",
        f"{names_name(enum.full_name)} = {{number: name for name, number in {numbers}.items()}}",
    ]


def to_proto_lines(message: Message, contract: Contract, pb2: str) -> list[str]:
    """`<message>_to_proto`: a validated model as its protobuf message, defaults filled in."""
    lines = [
        f"def {snake_case(message.name)}_to_proto(model: {message.name}) -> {pb2}.{message.name}:",
        f"    return {pb2}.{message.name}(",
    ]
    for member in message.members:
        if isinstance(member, Field):
            lines.append(f"        {member.name}={_member_to_proto(member)},")
        else:
            lines += _union_to_proto(member, pb2)
    return [*lines, "    )"]


def input_lines(message: Message, pb2: str) -> list[str]:
    """`<message>_input`: a protobuf message as what the model validates, absent fields left out."""
    lines = [
        f"def {snake_case(message.name)}_input(pb: {pb2}.{message.name}) -> dict[str, Any]:",
        "    data: dict[str, Any] = {}",
    ]
    for member in message.members:
        lines += _member_input(member) if isinstance(member, Field) else _union_input(member)
    return [*lines, "    return data"]


def _member_to_proto(field: Field) -> str:
    value = f"model.{field.name}"
    if field.repeated:
        source = f"{value} or ()" if field.nullable else value
        item = _item_to_proto(field, "item")
        return source if item == "item" else f"[{item} for item in {source}]"
    converted = _item_to_proto(field, value)
    if converted == value or not field.nullable:
        return converted
    return f"None if {value} is None else {converted}"


def _item_to_proto(field: Field, value: str) -> str:
    match field.kind:
        case Kind.ENUM:
            return f"{numbers_name(field.type_name)}[{value}]"
        case Kind.MESSAGE:
            return f"{snake_case(short_name(field.type_name))}_to_proto({value})"
        case Kind.STRUCT:
            return f"struct_to_proto({value})"
    return value


def _union_to_proto(union: Union, pb2: str) -> list[str]:
    value = f"model.{union.name}"
    inner = union.list_field
    item = _item_to_proto(inner, "item")
    holder = f"{pb2}.{short_name(union.items.type_name)}"
    return [
        f"        {union.text.name}={value} if isinstance({value}, str) else None,",
        f"        {union.items.name}=(",
        f"            {holder}({inner.name}=[{item} for item in {value}])",
        f"            if isinstance({value}, list)",
        "            else None",
        "        ),",
    ]


def _member_input(field: Field) -> list[str]:
    key, value = quoted(field.name), f"pb.{field.name}"
    if field.repeated:
        item = _item_input(field, "item")
        source = f"list({value})" if item == "item" else f"[{item} for item in {value}]"
        return [f"    if {value}:", f"        data[{key}] = {source}"]
    taken = f"data[{key}] = {_item_input(field, value)}"
    if field.kind is Kind.ENUM or (field.rules.required and not field.presence):
        # Zero is how an absent value looks where the message does not know presence.
        return [f"    if {value}:", f"        {taken}"]
    if field.presence:
        return [f"    if pb.HasField({key}):", f"        {taken}"]
    return [f"    {taken}"]


def _item_input(field: Field, value: str) -> str:
    match field.kind:
        case Kind.ENUM:
            # An unknown number goes on as it is, for the model to refuse.
            return f"{names_name(field.type_name)}.get({value}, {value})"
        case Kind.MESSAGE:
            return f"{snake_case(short_name(field.type_name))}_input({value})"
        case Kind.STRUCT:
            return f"struct_json({value})"
    return value


def _union_input(union: Union) -> list[str]:
    key = quoted(union.name)
    inner = union.list_field
    item = _item_input(inner, "item")
    return [
        f"    if pb.HasField({quoted(union.text.name)}):",
        f"        data[{key}] = pb.{union.text.name}",
        f"    elif pb.HasField({quoted(union.items.name)}):",
        f"        data[{key}] = [{item} for item in pb.{union.items.name}.{inner.name}]",
    ]
