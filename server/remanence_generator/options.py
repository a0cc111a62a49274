"""Reads our options and google.api.http from the request itself.

protoc hands custom options over as fields that Python's descriptor classes do not know. A pool
built from the request's own files knows them, so the generator needs no generated code to start.
"""

from __future__ import annotations

from typing import Any, cast

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import Message

PACKAGE = "remanence.v2"


class OptionReader:
    """Finds the extensions of option messages, by the files of one CodeGeneratorRequest."""

    def __init__(self, files: list[descriptor_pb2.FileDescriptorProto]) -> None:
        self._pool = descriptor_pool.DescriptorPool()
        for file in files:
            self._pool.AddSerializedFile(file.SerializeToString())

    def read(self, options: Message, extension_name: str) -> Any:
        """The value of an extension of `options`; its default when it is not set.

        `extension_name` is the full name, for example `remanence.v2.field`.
        """
        holder = self._pool.FindMessageTypeByName(options.DESCRIPTOR.full_name)
        extension = self._pool.FindExtensionByName(extension_name)
        known = message_factory.GetMessageClass(holder).FromString(options.SerializeToString())
        # The stubs know extensions by class; here they come from a descriptor.
        return cast("Any", known).Extensions[extension]

    def rules(self, options: Message, level: str) -> Any:
        """Our option at a level: `field`, `message`, `oneof` or `method`."""
        return self.read(options, f"{PACKAGE}.{level}")
