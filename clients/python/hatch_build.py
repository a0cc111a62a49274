"""Build hook: put the generated protobuf stubs into the wheel of remanence-client."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

STUBS = "../../gen/python/remanence"


class StubsHook(BuildHookInterface[Any]):
    """Ship `remanence`, the stubs, exactly once: here. The server depends on this package."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the stubs, unless the install is editable: that one reads them where they are."""
        if version == "editable":
            return
        if not Path(self.root, STUBS).is_dir():
            raise FileNotFoundError("gen/python/remanence is missing: run `make generate`")
        build_data["force_include"][STUBS] = "remanence"
