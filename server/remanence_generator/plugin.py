"""From a CodeGeneratorRequest to the files of gen/."""

from __future__ import annotations

from google.protobuf.compiler import plugin_pb2

from remanence_generator.emit import module, openapi
from remanence_generator.model import Contract, GenerationError
from remanence_generator.reader import read_contract

_FEATURES = plugin_pb2.CodeGeneratorResponse.FEATURE_PROTO3_OPTIONAL


def generate(request: plugin_pb2.CodeGeneratorRequest) -> plugin_pb2.CodeGeneratorResponse:
    """The response to protoc. What the protos must not say comes back as its error text."""
    response = plugin_pb2.CodeGeneratorResponse(supported_features=_FEATURES)
    try:
        files = generated_files(read_contract(request))
    except GenerationError as error:
        response.error = str(error)
        return response
    for name, content in files.items():
        response.file.add(name=name, content=content)
    return response


def generated_files(contract: Contract) -> dict[str, str]:
    """Path below gen/ and content of every file."""
    package = f"http/{module.PACKAGE}"
    files = {
        f"{package}/{file.module}.py": module.module_text(file, contract) for file in contract.files
    }
    files[f"{package}/__init__.py"] = module.package_text(contract)
    files[f"{package}/py.typed"] = ""
    files["openapi/remanence.v2.json"] = openapi.document_text(contract)
    return files
