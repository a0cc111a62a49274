"""Straight-line converters from response messages to what orjson writes."""

from __future__ import annotations

from remanence_generator.emit.converters import names_name
from remanence_generator.emit.text import quoted
from remanence_generator.model import Field, GenerationError, Kind, Message, Union
from remanence_generator.naming import short_name, snake_case


def json_lines(message: Message, pb2: str) -> list[str]:
    """`<message>_json`: the keys that are always there in one display, then the others."""
    always: list[str] = []
    sometimes: list[str] = []
    for member in message.members:
        key = quoted(member.name)
        if isinstance(member, Union):
            always += _union_lines(member)
        elif member.rules.omit_absent or (message.omit_absent and not _always_known(member)):
            taken = _converted(member, f"pb.{member.name}")
            sometimes += [f"    if {_present(member)}:", f"        data[{key}] = {taken}"]
        else:
            always.append(f"{key}: {_value(member)},")
    name, body = snake_case(message.name), [f"        {line}" for line in always]
    head = f"def {name}_json(pb: {pb2}.{message.name}, zone: tzinfo) -> dict[str, Any]:"
    if not sometimes:
        return [head, "    return {", *body, "    }"]
    opening = "    data: dict[str, Any] = {"
    display = [opening, *body, "    }"] if body else [opening + "}"]
    return [head, *display, *sometimes, "    return data"]


def _always_known(field: Field) -> bool:
    return not (field.presence or field.repeated or field.mapped)


def _present(field: Field) -> str:
    if field.repeated or field.mapped:
        return f"pb.{field.name}"
    if field.presence:
        return f"pb.HasField({quoted(field.name)})"
    return f"pb.{field.name}"


def _value(field: Field) -> str:
    value = f"pb.{field.name}"
    converted = _converted(field, value)
    if field.repeated and field.rules.null_when_empty:
        return f"{converted} or None"
    if field.presence:
        return f"{converted} if pb.HasField({quoted(field.name)}) else None"
    return converted


def _converted(field: Field, value: str) -> str:
    if field.mapped:
        return f"dict({value})"
    if field.repeated:
        item = _item(field, "item")
        return f"list({value})" if item == "item" else f"[{item} for item in {value}]"
    return _item(field, value)


def _item(field: Field, value: str) -> str:
    match field.kind:
        case Kind.ENUM:
            return f'{names_name(field.type_name)}.get({value}, "")'
        case Kind.MESSAGE:
            return f"{snake_case(short_name(field.type_name))}_json({value}, zone)"
        case Kind.STRUCT:
            return f"struct_json({value})"
        case Kind.TIMESTAMP:
            return f"timestamp_text({value}, zone)"
        case Kind.BYTES:
            raise GenerationError(f"{field.name}: bytes have no JSON form in the API")
        case Kind.FILTER:
            return f"filter_node_json({value})"
    return value


def _union_lines(union: Union) -> list[str]:
    inner = union.list_field
    return [
        f"{quoted(union.name)}: (",
        f"    pb.{union.text.name}",
        f"    if pb.HasField({quoted(union.text.name)})",
        f"    else [{_item(inner, 'item')} for item in pb.{union.items.name}.{inner.name}]",
        f"    if pb.HasField({quoted(union.items.name)})",
        "    else None",
        "),",
    ]
