"""Descriptors into the model of the contract."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from google.protobuf import descriptor_pb2
from google.protobuf.compiler import plugin_pb2
from google.protobuf.descriptor_pb2 import FieldDescriptorProto

from remanence_generator import naming, routing
from remanence_generator.model import (
    Contract,
    Enum,
    EnumValue,
    Field,
    FieldGroup,
    File,
    GenerationError,
    Kind,
    Message,
    Method,
    Requirement,
    Rules,
    Service,
    StatusRule,
    Union,
)
from remanence_generator.options import OptionReader

_SCALARS = {
    FieldDescriptorProto.TYPE_STRING: Kind.TEXT,
    FieldDescriptorProto.TYPE_BYTES: Kind.BYTES,
    FieldDescriptorProto.TYPE_BOOL: Kind.FLAG,
    FieldDescriptorProto.TYPE_INT32: Kind.INT32,
    FieldDescriptorProto.TYPE_INT64: Kind.INT64,
    FieldDescriptorProto.TYPE_DOUBLE: Kind.DOUBLE,
    FieldDescriptorProto.TYPE_ENUM: Kind.ENUM,
}
_WELL_KNOWN = {
    "google.protobuf.Struct": Kind.STRUCT,
    "google.protobuf.Timestamp": Kind.TIMESTAMP,
}

# Field numbers of FileDescriptorProto and its children, as paths of source locations use them.
_MESSAGES, _ENUMS, _SERVICES, _FIELDS, _VALUES, _METHODS = 4, 5, 6, 2, 2, 2


def read_contract(request: plugin_pb2.CodeGeneratorRequest) -> Contract:
    """The contract of the files to generate that declare a service.

    Fails with GenerationError for what cannot be said.
    """
    files = list(request.proto_file)
    options = OptionReader(files)
    known = {
        f".{file.package}.{message.name}": message
        for file in files
        for message in file.message_type
    }
    wanted = set(request.file_to_generate)
    contract = Contract(
        tuple(
            _FileReader(file, options, known).read()
            for file in files
            if file.name in wanted and file.service
        )
    )
    routing.check_collisions(contract)
    return contract


@dataclass(frozen=True, slots=True)
class _FileReader:
    """Reads one file; `known` are the descriptors of all top-level messages by full name."""

    file: descriptor_pb2.FileDescriptorProto
    options: OptionReader
    known: dict[str, descriptor_pb2.DescriptorProto]

    def read(self) -> File:
        file = self.file
        return File(
            path=file.name,
            module=file.name.rpartition("/")[2].removesuffix(".proto"),
            package=file.package,
            enums=tuple(self._enum(index, enum) for index, enum in enumerate(file.enum_type)),
            messages=tuple(
                self._message(index, message) for index, message in enumerate(file.message_type)
            ),
            services=tuple(
                self._service(index, service) for index, service in enumerate(file.service)
            ),
        )

    def _comment(self, *path: int) -> str:
        for location in self.file.source_code_info.location:
            if tuple(location.path) == path:
                lines = location.leading_comments.split("\n")
                return "\n".join(line.removeprefix(" ").rstrip() for line in lines).strip()
        return ""

    def _enum(self, index: int, enum: descriptor_pb2.EnumDescriptorProto) -> Enum:
        values = tuple(
            EnumValue(
                name=value.name,
                number=value.number,
                json_name=naming.enum_json_name(enum.name, value.name),
                comment=self._comment(_ENUMS, index, _VALUES, position),
            )
            for position, value in enumerate(enum.value)
            if value.number != 0
        )
        return Enum(
            enum.name, f"{self.file.package}.{enum.name}", values, self._comment(_ENUMS, index)
        )

    def _message(self, index: int, message: descriptor_pb2.DescriptorProto) -> Message:
        full_name = f"{self.file.package}.{message.name}"
        rules = self.options.rules(message.options, "message")
        return Message(
            name=message.name,
            full_name=full_name,
            members=self._members(index, message),
            refuse_unknown_fields=rules.refuse_unknown_fields,
            exactly_one_of=_groups(rules.exactly_one_of),
            at_most_one_of=_groups(rules.at_most_one_of),
            requirements=tuple(
                Requirement(one.field, one.when_field, tuple(one.when_values), one.message)
                for one in rules.requirements
            ),
            inline_list=rules.inline_list,
            filter_language=rules.filter_language,
            omit_absent=rules.omit_absent,
            comment=self._comment(_MESSAGES, index),
        )

    def _members(
        self, index: int, message: descriptor_pb2.DescriptorProto
    ) -> tuple[Field | Union, ...]:
        members: list[Field | Union] = []
        unions_seen: set[int] = set()
        for position, descriptor in enumerate(message.field):
            if not self._in_union(message, descriptor):
                comment = self._comment(_MESSAGES, index, _FIELDS, position)
                members.append(self._field(message, descriptor, comment))
            elif descriptor.oneof_index not in unions_seen:
                unions_seen.add(descriptor.oneof_index)
                members.append(self._union(message, descriptor.oneof_index))
        return tuple(members)

    def _in_union(
        self, message: descriptor_pb2.DescriptorProto, field: FieldDescriptorProto
    ) -> bool:
        if not field.HasField("oneof_index") or field.proto3_optional:
            return False
        oneof = message.oneof_decl[field.oneof_index]
        return bool(self.options.rules(oneof.options, "oneof").union)

    def _union(self, message: descriptor_pb2.DescriptorProto, oneof_index: int) -> Union:
        oneof = message.oneof_decl[oneof_index]
        members = [
            self._field(message, field, "")
            for field in message.field
            if field.HasField("oneof_index") and field.oneof_index == oneof_index
        ]
        if [member.kind for member in members] != [Kind.TEXT, Kind.MESSAGE]:
            raise GenerationError(f"{message.name}.{oneof.name}: a union is a text, then a list")
        text, items = members
        inner = self.known["." + items.type_name]
        if len(inner.field) != 1 or inner.field[0].label != FieldDescriptorProto.LABEL_REPEATED:
            raise GenerationError(f"{items.type_name}: a union's list is one repeated field")
        return Union(
            name=oneof.name,
            required=self.options.rules(oneof.options, "oneof").required,
            text=text,
            items=items,
            list_field=self._field(inner, inner.field[0], ""),
        )

    def _field(
        self, message: descriptor_pb2.DescriptorProto, field: FieldDescriptorProto, comment: str
    ) -> Field:
        where = f"{message.name}.{field.name}"
        repeated = field.label == FieldDescriptorProto.LABEL_REPEATED
        kind, type_name, mapped = self._kind(message, field, where)
        return Field(
            name=field.name,
            kind=kind,
            type_name=type_name,
            repeated=repeated and not mapped,
            mapped=mapped,
            presence=not repeated
            and (field.HasField("oneof_index") or field.type == FieldDescriptorProto.TYPE_MESSAGE),
            optional=field.proto3_optional,
            rules=_rules(self.options.rules(field.options, "field")),
            comment=comment,
        )

    def _kind(
        self, message: descriptor_pb2.DescriptorProto, field: FieldDescriptorProto, where: str
    ) -> tuple[Kind, str, bool]:
        full_name = field.type_name.removeprefix(".")
        if field.type != FieldDescriptorProto.TYPE_MESSAGE:
            kind = _SCALARS.get(field.type)
            if kind is None:
                raise GenerationError(f"{where}: this scalar type has no JSON form in the API")
            return kind, full_name, False
        for nested in message.nested_type:
            if nested.options.map_entry and full_name.endswith(f".{message.name}.{nested.name}"):
                value_kind = _SCALARS.get(nested.field[1].type)
                if value_kind is None or nested.field[0].type != FieldDescriptorProto.TYPE_STRING:
                    raise GenerationError(f"{where}: a map goes from text to a scalar")
                return value_kind, nested.field[1].type_name.removeprefix("."), True
        if full_name in _WELL_KNOWN:
            return _WELL_KNOWN[full_name], full_name, False
        target = self.known.get(field.type_name)
        if target is None:
            raise GenerationError(f"{where}: messages are declared at the top level of a file")
        if self.options.rules(target.options, "message").filter_language:
            return Kind.FILTER, full_name, False
        return Kind.MESSAGE, full_name, False

    def _service(self, index: int, service: descriptor_pb2.ServiceDescriptorProto) -> Service:
        return Service(
            name=service.name,
            full_name=f"{self.file.package}.{service.name}",
            methods=tuple(
                self._method(method, self._comment(_SERVICES, index, _METHODS, position))
                for position, method in enumerate(service.method)
            ),
            comment=self._comment(_SERVICES, index),
        )

    def _method(self, method: descriptor_pb2.MethodDescriptorProto, comment: str) -> Method:
        rules = self.options.rules(method.options, "method")
        http = self.options.read(method.options, "google.api.http")
        return Method(
            name=method.name,
            input=method.input_type.removeprefix("."),
            output=method.output_type.removeprefix("."),
            client_streaming=method.client_streaming,
            server_streaming=method.server_streaming,
            routes=routing.routes_of(http, method.name),
            bare=rules.bare,
            status=rules.status or 200,
            status_rules=tuple(
                StatusRule(one.field, one.equals, one.status) for one in rules.status_rules
            ),
            multipart=rules.multipart,
            error_statuses=tuple(rules.error_statuses),
            idempotent=rules.idempotent,
            read_only=rules.read_only,
            comment=comment,
        )


def _groups(groups: Any) -> tuple[FieldGroup, ...]:
    return tuple(FieldGroup(tuple(group.fields), group.message) for group in groups)


def _rules(rules: Any) -> Rules:
    def optional(name: str) -> Any:
        return getattr(rules, name) if rules.HasField(name) else None

    return Rules(
        required=rules.required,
        min_length=optional("min_length"),
        max_length=optional("max_length"),
        pattern=optional("pattern"),
        refused=tuple(rules.refused),
        min_items=optional("min_items"),
        max_items=optional("max_items"),
        minimum=optional("minimum"),
        maximum=optional("maximum"),
        exclusive_minimum=optional("exclusive_minimum"),
        exception=optional("exception"),
        default_json=optional("default_json"),
        epoch=rules.epoch,
        omit_absent=rules.omit_absent,
        null_when_empty=rules.null_when_empty,
        outside_form=rules.outside_form,
    )
