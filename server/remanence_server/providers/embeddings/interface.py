"""What the rest of the service knows of an embedding model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]
Matrix = npt.NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into unit vectors whose inner product is their cosine.

    Any text is taken, the empty one too; what is longer than `maximum_tokens` is cut there, so
    callers chunk what must be found whole. Results do not depend on what is embedded beside.
    """

    @property
    def fingerprint(self) -> str:
        """Names the vector space: vectors of one fingerprint compare with one another only."""
        ...

    @property
    def dimensions(self) -> int:
        """Width of the vectors."""
        ...

    @property
    def maximum_tokens(self) -> int:
        """Tokens of a text that are read, markers included."""
        ...

    async def embed_query(self, text: str) -> Vector:
        """The vector of a question, shape (dimensions,). Goes ahead of passages."""
        ...

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """The vectors of texts to be found, shape (len(texts), dimensions), in the order given."""
        ...

    async def close(self) -> None:
        """Ends the threads of the model; calls that run are finished first."""
        ...
