"""FastAPI routes from google.api.http, and the Protocol that a servicer fulfils."""

from __future__ import annotations

from collections.abc import Iterable

from remanence_generator.emit.text import block, docstring, quoted
from remanence_generator.model import (
    Contract,
    Field,
    GenerationError,
    Kind,
    Message,
    Method,
    Route,
    Service,
    StatusRule,
)
from remanence_generator.naming import constant_case, short_name, snake_case
from remanence_generator.usage import upload_metadata

_READERS = {
    Kind.TEXT: "str",
    Kind.ENUM: "str",
    Kind.FLAG: "flag_from_text",
    Kind.INT32: "integer_from_text",
    Kind.INT64: "integer_from_text",
    Kind.DOUBLE: "number_from_text",
}


def protocol_lines(service: Service, pb2: str) -> list[str]:
    """The Protocol of a service: the methods of its servicer, on either surface."""
    lines = [f"class {service.name}Protocol(Protocol):"]
    lines += docstring(service.comment, "    ", f"What a servicer of {service.full_name} does.")
    for method in service.methods:
        request, reply = _type(method.input, pb2), _type(method.output, pb2)
        if method.server_streaming and method.routes:
            raise GenerationError(f"{method.name}: responses are not streamed over HTTP")
        name = "request"
        if method.client_streaming:
            name, request = "request_iterator", f"AsyncIterator[{request}]"
        parameters = f"self, {name}: {request}, context: CallContext"
        # A stream is an asynchronous generator: the call that makes it is none.
        define = "async def"
        if method.server_streaming:
            define, reply = "def", f"AsyncIterator[{reply}]"
        lines += [
            "",
            f"    {define} {method.name}({parameters}) -> {reply}:",
            *docstring(method.comment, "        ", f"{method.name}."),
            "        ...",
        ]
    return lines


def table_lines(service: Service, contract: Contract) -> list[str]:
    """Tables that the routes of a service use: how texts are read, and where fields come from."""
    lines: list[str] = []
    for method in (m for m in service.methods if m.routes):
        texts = _text_fields(method, contract)
        if texts:
            readers = [f"    {quoted(f.name)}: {_reader(f)}," for f in texts]
            lines += [f"{_texts_name(method)}: TextReaders = {{", *readers, "}"]
        places = _places(method, texts)
        if places:
            entries = [f"    {quoted(name)}: {quoted(place)}," for name, place in places.items()]
            lines += [f"{_places_name(method)} = {{", *entries, "}"]
    return lines


def router_lines(service: Service, contract: Contract, pb2: str) -> list[str]:
    """`<service>_router`: every binding of every method, calling the servicer in process."""
    lines = [
        f"def {snake_case(service.name)}_router("
        f"servicer: {service.name}Protocol, binding: HttpBinding) -> APIRouter:",
        f'    """HTTP routes of {service.full_name}, which call its servicer in process."""',
        "    router = APIRouter()",
    ]
    for method in (m for m in service.methods if m.routes):
        lines += ["", *block(_endpoint(method, contract, pb2), "    ")]
        name = snake_case(method.name)
        by_verb: dict[str, list[str]] = {}
        for route in method.routes:
            by_verb.setdefault(route.verb, []).append(route.path)
        for verb, paths in by_verb.items():
            listed = ", ".join(map(quoted, paths))
            lines += ["", f"    add_routes(router, {quoted(verb)}, {name}, {listed})"]
    return [*lines, "", "    return router"]


def _endpoint(method: Method, contract: Contract, pb2: str) -> list[str]:
    request, name = contract.message(method.input), snake_case(method.name)
    lines = [f"async def {name}(request: Request) -> Response:"]
    texts = _text_fields(method, contract)
    places = f", {_places_name(method)}" if _places(method, texts) else ""
    if method.multipart:
        lines += block(_upload(method, contract, pb2, places), "    ")
    else:
        lines += block(_input(method, bool(texts)), "    ")
        call = f"servicer.{method.name}({snake_case(request.name)}_to_proto(model), context)"
        if method.read_only:
            call = f"binding.while_connected(request, {call})"
        lines += [
            f"    model = validate({request.name}, data{places})",
            "    context = binding.context(request)",
            f"    reply = await {call}",
        ]
    output = snake_case(short_name(method.output))
    send = "bare" if method.bare else "enveloped"
    lines.append(f"    body = {output}_json(reply, binding.zone)")
    status = _status(method, contract.message(method.output))
    return [*lines, f"    return binding.{send}(context, body, status={status})"]


def _input(method: Method, has_texts: bool) -> list[str]:
    route = _only_shape(method)
    if route.has_body:
        lines = ["data = await binding.read_object(request)"]
    elif has_texts:
        lines = [f"data = query_fields(request, {_texts_name(method)})"]
    else:
        lines = ["data: dict[str, object] = {}"]
    return lines + [
        f"data[{quoted(n)}] = request.path_params[{quoted(n)}]" for n in route.path_fields
    ]


def _upload(method: Method, contract: Contract, pb2: str, places: str) -> list[str]:
    metadata = upload_metadata(contract, method)
    described = short_name(metadata.type_name)
    path_fields = "".join(
        f"upload.fields[{quoted(name)}] = request.path_params[{quoted(name)}]\n"
        for name in _only_shape(method).path_fields
    ).splitlines()
    request = _type(method.input, pb2)
    return [
        f"async with binding.read_upload(request, {_texts_name(method)}) as upload:",
        *block(path_fields, "    "),
        f"    model = validate({described}, upload.fields{places})",
        f"    first = {request}({metadata.name}={snake_case(described)}_to_proto(model))",
        "    context = binding.context(request)",
        f"    messages = upload.messages(first, lambda chunk: {request}(chunk=chunk))",
        f"    reply = await servicer.{method.name}(messages, context)",
    ]


def _only_shape(method: Method) -> Route:
    shapes = {(route.path_fields, route.has_body) for route in method.routes}
    if len(shapes) != 1:
        raise GenerationError(f"{method.name}: its HTTP bindings must take fields the same way")
    return method.routes[0]


def _text_fields(method: Method, contract: Contract) -> tuple[Field, ...]:
    """The fields that arrive as text: of the query, or of a form."""
    if method.multipart:
        metadata = upload_metadata(contract, method)
        return tuple(
            field
            for field in contract.message(metadata.type_name).fields
            if not field.rules.outside_form
        )
    route = _only_shape(method)
    if route.has_body:
        return ()
    message = contract.message(method.input)
    return tuple(field for field in message.fields if field.name not in route.path_fields)


def _places(method: Method, texts: Iterable[Field]) -> dict[str, str]:
    places = dict.fromkeys(_only_shape(method).path_fields, "path")
    if not method.multipart:
        places |= {field.name: "query" for field in texts}
    return places


def _reader(field: Field) -> str:
    reader = _READERS.get(field.kind)
    if reader is None or field.repeated:
        raise GenerationError(f"{field.name}: a query or form field is one scalar")
    return reader


def _status(method: Method, output: Message) -> str:
    status = str(method.status)
    for rule in reversed(method.status_rules):
        status = (
            f"{rule.status} if body[{quoted(rule.field)}] == {_equals(rule, output)} else {status}"
        )
    return status


def _equals(rule: StatusRule, output: Message) -> str:
    field = output.field(rule.field)
    return quoted(rule.equals) if field.kind in (Kind.TEXT, Kind.ENUM) else str(int(rule.equals))


def _texts_name(method: Method) -> str:
    return f"_{constant_case(method.name)}_TEXTS"


def _places_name(method: Method) -> str:
    return f"_{constant_case(method.name)}_PLACES"


def _type(full_name: str, pb2: str) -> str:
    return f"{pb2}.{short_name(full_name)}"
