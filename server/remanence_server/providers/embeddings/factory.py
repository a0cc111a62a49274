"""The embedder that the settings ask for."""

from __future__ import annotations

import os
from pathlib import Path

from remanence_server.providers.embeddings.hashing import HashingEmbedder
from remanence_server.providers.embeddings.interface import Embedder
from remanence_server.providers.embeddings.model_files import (
    bundled_model_files,
    directory_model_files,
)
from remanence_server.providers.embeddings.onnx_embedder import OnnxEmbedder
from remanence_server.runtime.settings import EmbeddingsSettings


def create_embedder(settings: EmbeddingsSettings) -> Embedder:
    """Makes the configured embedder; loading a model blocks for about half a second.

    Raises:
        ServiceError: CONFIGURATION_ERROR when the model is missing or is not the expected one.
    """
    if settings.provider == "hashing":
        return HashingEmbedder()
    if settings.model_directory:
        files = directory_model_files(Path(settings.model_directory).expanduser())
    else:
        files = bundled_model_files()
    threads = settings.threads or os.cpu_count() or 1
    return OnnxEmbedder(
        files,
        threads=threads,
        # Half of the cores: an import must leave room for searches.
        passage_threads=max(1, threads // 2),
        batch_size=settings.batch_size,
    )
