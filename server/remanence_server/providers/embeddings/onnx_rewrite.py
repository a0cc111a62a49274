"""Makes a model whose weights are stored as 8-bit integers compute with them.

Such exports unpack the weights when the model is loaded (`Cast`, then `Mul` by a scale) and compute
in 32-bit floats. Memory bandwidth is what a query of a dozen tokens costs, so multiplying the
integers themselves halves its time, and the unpacked copies take 65 MB more.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_FLOAT, _INT8 = 1, 3  # TensorProto.DataType
_INTEGER_ATTRIBUTE = 2  # AttributeProto.AttributeType

# The part of ONNX's own schema that is looked at, a star for what is repeated; what is not named
# here passes through untouched.
_SCHEMA: dict[str, list[tuple[int, str, str]]] = {
    "Model": [(7, "graph", "Graph")],
    "Graph": [(1, "node", "*Node"), (5, "initializer", "*Tensor"), (12, "output", "*Output")],
    "Node": [
        (1, "input", "*string"),
        (2, "output", "*string"),
        (4, "op_type", "string"),
        (5, "attribute", "*Attribute"),
    ],
    "Attribute": [(1, "name", "string"), (3, "i", "int64"), (20, "type", "int32")],
    "Output": [(1, "name", "string")],
    "Tensor": [(1, "dims", "*int64"), (2, "data_type", "int32"), (8, "name", "string")],
}
# Where an operator takes its weights.
_WEIGHT_INPUT = {"Gather": 0, "MatMul": 1}


class _Weights(NamedTuple):
    quantised: str
    scale: Any


def compute_with_integers(model: bytes) -> bytes:
    """The model with integer arithmetic where its weights are integers; others as they are.

    Activations are quantised on the fly, by the range they have in that run: vectors differ from
    those of the float model by a cosine of about 0.993, and texts must be run one by one, or they
    would change with what is run beside them.
    """
    message = _message_class("Model").FromString(model)
    graph = message.graph
    producers = {output: node for node in graph.node for output in node.output}
    initializers = {tensor.name: tensor for tensor in graph.initializer}
    nodes: list[Any] = []
    quantised_inputs: set[str] = set()
    for node in graph.node:
        weights = _weights_of(node, producers, initializers)
        if weights is None:
            nodes.append(node)
        elif node.op_type == "Gather":
            nodes += _gather_then_unpack(node, weights)
        else:
            if node.input[0] not in quantised_inputs:
                quantised_inputs.add(node.input[0])
                nodes.append(_quantise(node.input[0]))
            nodes += _multiply_integers(node, weights)
    if len(nodes) == len(graph.node):
        return model
    nodes = _without_unused(nodes, {output.name for output in graph.output})
    del graph.node[:]
    graph.node.extend(nodes)
    rewritten: bytes = message.SerializeToString()
    return rewritten


def _without_unused(nodes: list[Any], wanted: set[str]) -> list[Any]:
    """Leaves out the unpacking that nothing reads any more."""
    # Twice: a `Cast` is unused once its `Mul` is gone.
    for _ in range(2):
        used = wanted.union(*(node.input for node in nodes))
        nodes = [
            node for node in nodes if node.op_type not in ("Cast", "Mul") or node.output[0] in used
        ]
    return nodes


def _weights_of(
    node: Any, producers: dict[str, Any], initializers: dict[str, Any]
) -> _Weights | None:
    position = _WEIGHT_INPUT.get(node.op_type)
    if position is None:
        return None
    scaled = producers.get(node.input[position])
    if scaled is None or scaled.op_type != "Mul":
        return None
    cast = producers.get(scaled.input[0])
    scale = initializers.get(scaled.input[1])
    if cast is None or cast.op_type != "Cast" or scale is None or scale.data_type != _FLOAT:
        return None
    weights = initializers.get(cast.input[0])
    if weights is None or weights.data_type != _INT8 or len(weights.dims) != 2:
        return None
    # One scale for each row that is gathered, or for each column that is multiplied.
    expected = [weights.dims[0], 1] if node.op_type == "Gather" else [1, weights.dims[1]]
    return _Weights(weights.name, scale) if list(scale.dims) == expected else None


def _gather_then_unpack(node: Any, weights: _Weights) -> list[Any]:
    [result] = node.output
    rows = _node("Gather", [weights.quantised, node.input[1]], [f"{result}_rows"], axis=0)
    scales = _node("Gather", [weights.scale.name, node.input[1]], [f"{result}_scales"], axis=0)
    floats = _node("Cast", [f"{result}_rows"], [f"{result}_floats"], to=_FLOAT)
    return [rows, scales, floats, _node("Mul", [f"{result}_floats", f"{result}_scales"], [result])]


def _quantise(name: str) -> Any:
    return _node("DynamicQuantizeLinear", [name], [f"{name}_u8", f"{name}_step", f"{name}_zero"])


def _multiply_integers(node: Any, weights: _Weights) -> list[Any]:
    left, [result] = node.input[0], node.output
    # The runtime fuses these four into one operator, given that the scale is flat.
    if len(weights.scale.dims) == 2:
        del weights.scale.dims[0]
    return [
        _node(
            "MatMulInteger",
            [f"{left}_u8", weights.quantised, f"{left}_zero"],
            [f"{result}_integers"],
        ),
        _node("Cast", [f"{result}_integers"], [f"{result}_floats"], to=_FLOAT),
        _node("Mul", [f"{left}_step", weights.scale.name], [f"{result}_scales"]),
        _node("Mul", [f"{result}_floats", f"{result}_scales"], [result]),
    ]


def _node(operator: str, inputs: list[str], outputs: list[str], **attributes: int) -> Any:
    return _message_class("Node")(
        op_type=operator,
        input=inputs,
        output=outputs,
        attribute=[
            {"name": name, "i": number, "type": _INTEGER_ATTRIBUTE}
            for name, number in attributes.items()
        ],
    )


def _message_class(name: str) -> Any:
    return message_factory.GetMessageClass(_POOL.FindMessageTypeByName(f"onnx_part.{name}"))


def _pool() -> descriptor_pool.DescriptorPool:
    field_type = descriptor_pb2.FieldDescriptorProto
    scalars = {
        "string": field_type.TYPE_STRING,
        "int64": field_type.TYPE_INT64,
        "int32": field_type.TYPE_INT32,
    }
    file = descriptor_pb2.FileDescriptorProto(name="onnx_part.proto", package="onnx_part")
    for message_name, fields in _SCHEMA.items():
        message = file.message_type.add(name=message_name)
        for number, name, marked_kind in fields:
            kind = marked_kind.removeprefix("*")
            field = message.field.add(name=name, number=number)
            field.label = (
                field_type.LABEL_OPTIONAL if kind == marked_kind else field_type.LABEL_REPEATED
            )
            if kind in scalars:
                field.type = scalars[kind]
            else:
                field.type = field_type.TYPE_MESSAGE
                field.type_name = f".onnx_part.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return pool


_POOL = _pool()
