"""Small contracts, compiled and generated for."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from types import ModuleType

import pytest
from google.api import annotations_pb2
from google.protobuf.compiler import plugin_pb2
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from grpc_tools import protoc  # type: ignore[import-untyped]

from remanence_generator.plugin import generate

REPOSITORY = Path(__file__).parents[3]
HEADER = """
syntax = "proto3";
package {package};
import "google/api/annotations.proto";
import "google/protobuf/struct.proto";
import "google/protobuf/timestamp.proto";
import "remanence/v2/options.proto";
"""


class Contracts:
    """Turns the text of a proto file into a request to the plugin, and into importable code."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def request(self, name: str, text: str) -> plugin_pb2.CodeGeneratorRequest:
        """The request that protoc would make for one file of package `<name>.v1`."""
        path = f"{name}/v1/{name}.proto"
        self._compile(name, text, "--include_imports", "--include_source_info")
        described = FileDescriptorSet.FromString((self._folder / "set.bin").read_bytes())
        return plugin_pb2.CodeGeneratorRequest(file_to_generate=[path], proto_file=described.file)

    def module(self, name: str, text: str) -> ModuleType:
        """The generated module, imported beside the protobuf code it is for."""
        response = generate(self.request(name, text))
        assert response.error == ""
        self._compile(name, text, f"--python_out={self._folder}")
        for file in response.file:
            if file.name == f"http/remanence_http/{name}.py":
                (self._folder / f"generated_{name}.py").write_text(file.content)
        return importlib.import_module(f"generated_{name}")

    def _compile(self, name: str, text: str, *options: str) -> None:
        source = self._folder / name / "v1" / f"{name}.proto"
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(HEADER.format(package=f"{name}.v1") + text)
        arguments = [
            "protoc",
            f"-I{self._folder}",
            f"-I{REPOSITORY / 'proto'}",
            f"-I{Path(annotations_pb2.__file__).parents[2]}",
            f"-I{files('grpc_tools') / '_proto'}",
            f"--descriptor_set_out={self._folder / 'set.bin'}",
            *options,
            str(source.relative_to(self._folder)),
        ]
        assert protoc.main(arguments) == 0


@pytest.fixture
def contracts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Contracts]:
    monkeypatch.syspath_prepend(str(tmp_path))
    known = set(sys.modules)
    yield Contracts(tmp_path)
    for name in set(sys.modules) - known:
        if name.startswith("generated_"):
            del sys.modules[name]


@pytest.fixture
def refusal(contracts: Contracts) -> Callable[[str], str]:
    """What the plugin says of a contract that it does not take; nothing of one that it takes."""

    def refuse(text: str) -> str:
        response = generate(contracts.request("refused", text))
        assert bool(response.error) != bool(response.file)
        return response.error

    return refuse
