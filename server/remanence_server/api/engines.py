"""The two slow starters, started before anything else: the Java VM and the embedding model.

Both spend their time outside of Python. Beside them the process can import the libraries of the
border, which takes about as long.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from remanence_server.index.jvm import JavaThread, JvmOptions, java_thread
from remanence_server.index.lexical.lucene_types import lucene_types
from remanence_server.providers.embeddings import Embedder, create_embedder
from remanence_server.runtime.settings import Settings


@dataclass(frozen=True, slots=True)
class Engines:
    """Engines on their way. Whoever waits for one gets its failure."""

    java: JavaThread
    embedder: Future[Embedder]


def start_engines(settings: Settings) -> Engines:
    """Starts both and returns at once."""
    java = java_thread(JvmOptions(heap_megabytes=settings.lexical.heap_megabytes))
    java.submit(lucene_types)
    loader = ThreadPoolExecutor(1, thread_name_prefix="model-loader")
    embedder = loader.submit(create_embedder, settings.embeddings)
    loader.shutdown(wait=False)
    return Engines(java, embedder)
