"""A local ONNX model behind the asynchronous interface."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from tokenizers import Encoding

from remanence_server.providers.embeddings.interface import Matrix, Vector
from remanence_server.providers.embeddings.model_files import ModelFiles
from remanence_server.providers.embeddings.onnx_model import MAXIMUM_TOKENS, OnnxModel
from remanence_server.providers.embeddings.query_cache import QueryCache

# Tokens of a batch of passages: about 0.1 s of one core, so that whoever comes next with a few
# texts does not wait long behind an import.
_BATCH_TOKENS = 512


class OnnxEmbedder:
    """Queries and passages run in threads of their own, beside each other.

    So a query never waits for passages, and passages of several callers take turns batch by batch.
    The threads leave the GIL while the model runs.
    """

    def __init__(
        self, files: ModelFiles, *, threads: int, passage_threads: int, batch_size: int = 16
    ) -> None:
        """Loads the model; blocks for about half a second.

        Args:
            files: The model; see `model_files`.
            threads: Queries that run at once.
            passage_threads: Batches of passages that run at once.
            batch_size: Most passages in a batch.

        Raises:
            ServiceError: CONFIGURATION_ERROR when the files are not a usable model.
        """
        self._model = OnnxModel(files)
        self._fingerprint = files.fingerprint
        self._batch_size = batch_size
        self._passage_threads = passage_threads
        self._query_executor = ThreadPoolExecutor(threads, thread_name_prefix="embed-query")
        self._passage_executor = ThreadPoolExecutor(
            passage_threads, thread_name_prefix="embed-passage"
        )
        self._queries = QueryCache(
            lambda text: self._model.embed(self._model.encode([text])[0]), self._query_executor
        )

    @property
    def fingerprint(self) -> str:
        """Names the vector space: derived from the contents of the model files."""
        return self._fingerprint

    @property
    def dimensions(self) -> int:
        """Width of the vectors."""
        return self._model.dimensions

    @property
    def maximum_tokens(self) -> int:
        """Tokens of a text that are read, markers included."""
        return MAXIMUM_TOKENS

    async def embed_query(self, text: str) -> Vector:
        """The unit vector of a question, read-only."""
        return await self._queries.embed(text)

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Unit vectors, one row for each text, in the order given."""
        result = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        if not texts:
            return result
        loop = asyncio.get_running_loop()
        encodings = await loop.run_in_executor(self._passage_executor, self._model.encode, texts)
        batches = _batches(encodings, self._batch_size)

        async def work() -> None:
            for batch in batches:
                result[batch] = await loop.run_in_executor(
                    self._passage_executor, self._embed_all, encodings[batch]
                )

        await asyncio.gather(*(work() for _ in range(self._passage_threads)))
        return result

    async def embed_tokens(self, texts: Sequence[str]) -> list[Matrix]:
        """Unit vectors of the tokens of each text, shape (tokens, dimensions).

        For late interaction; runs on the threads of the queries, as a search waits for it.
        """
        loop = asyncio.get_running_loop()
        encodings = self._model.encode(texts)
        return await asyncio.gather(
            *(
                loop.run_in_executor(self._query_executor, self._model.embed_tokens, encoding)
                for encoding in encodings
            )
        )

    async def close(self) -> None:
        """Ends the threads; batches that run are finished, those that wait are dropped."""
        await asyncio.to_thread(self._query_executor.shutdown, cancel_futures=True)
        await asyncio.to_thread(self._passage_executor.shutdown, cancel_futures=True)

    def _embed_all(self, encodings: Sequence[Encoding]) -> Matrix:
        return np.stack([self._model.embed(encoding) for encoding in encodings])


def _batches(encodings: Sequence[Encoding], batch_size: int) -> Iterator[slice]:
    """Neighbours that together are a fair turn on a thread."""
    start, tokens = 0, 0
    for row, encoding in enumerate(encodings):
        if row > start and (row - start == batch_size or tokens >= _BATCH_TOKENS):
            yield slice(start, row)
            start, tokens = row, 0
        tokens += len(encoding.ids)
    yield slice(start, len(encodings))
