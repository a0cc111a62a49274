"""The OpenAPI document that the contract generates."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path


@cache
def load() -> bytes:
    """The document as JSON. Fails with FileNotFoundError when the installation lacks it."""
    packaged = files("remanence_http") / "openapi.json"
    if packaged.is_file():
        return packaged.read_bytes()
    # An editable installation runs from gen/http/remanence_http, beside gen/openapi.
    generated = Path(str(files("remanence_http"))).parents[1] / "openapi" / "remanence.v2.json"
    return generated.read_bytes()
