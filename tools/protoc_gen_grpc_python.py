"""A protoc plugin that writes the gRPC stubs of Python.

The official generator exists on PyPI only inside grpc_tools' protoc, not as a plugin that buf could
call. This one passes the request's descriptors on to it.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from google.protobuf.compiler.plugin_pb2 import CodeGeneratorRequest, CodeGeneratorResponse
from google.protobuf.descriptor_pb2 import FileDescriptorSet


def generate(request: CodeGeneratorRequest) -> CodeGeneratorResponse:
    """Return the stubs for the files that define a service."""
    response = CodeGeneratorResponse(
        supported_features=CodeGeneratorResponse.FEATURE_PROTO3_OPTIONAL
    )
    with_services = {file.name for file in request.proto_file if file.service}
    names = [name for name in request.file_to_generate if name in with_services]
    if not names:
        return response
    with tempfile.TemporaryDirectory() as folder:
        descriptors = Path(folder, "descriptors.binpb")
        descriptors.write_bytes(FileDescriptorSet(file=request.proto_file).SerializeToString())
        output = Path(folder, "output")
        output.mkdir()
        command = [
            *(sys.executable, "-m", "grpc_tools.protoc"),
            f"--descriptor_set_in={descriptors}",
            f"--grpc_python_out={output}",
            *names,
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            response.error = done.stderr
            return response
        for path in sorted(output.rglob("*.py")):
            response.file.add(name=str(path.relative_to(output)), content=path.read_text())
    return response


def main() -> None:
    """Read a request from standard input, write the response to standard output."""
    request = CodeGeneratorRequest.FromString(sys.stdin.buffer.read())
    sys.stdout.buffer.write(generate(request).SerializeToString())


if __name__ == "__main__":
    main()
