"""The plugin as a program: a CodeGeneratorRequest on stdin, the response on stdout."""

from __future__ import annotations

import sys

from google.protobuf.compiler import plugin_pb2

from remanence_generator.plugin import generate


def main() -> None:
    """Runs the plugin once."""
    request = plugin_pb2.CodeGeneratorRequest.FromString(sys.stdin.buffer.read())
    sys.stdout.buffer.write(generate(request).SerializeToString())


if __name__ == "__main__":
    main()
