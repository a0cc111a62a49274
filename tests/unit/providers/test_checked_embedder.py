from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from remanence_server.providers.embeddings.checked import CheckedEmbedder
from remanence_server.providers.embeddings.hashing import HashingEmbedder
from remanence_server.providers.embeddings.interface import Matrix, Vector
from remanence_server.runtime.errors import ErrorCode, ServiceError


class Spoilt(HashingEmbedder):
    """Answers with whatever it is told to."""

    def __init__(self, answer: Matrix) -> None:
        self.answer = answer

    async def embed_query(self, text: str) -> Vector:
        return self.answer[0]

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        return self.answer


def _unit(rows: int, width: int = 64) -> Matrix:
    vectors = np.zeros((rows, width), dtype=np.float32)
    vectors[:, 0] = 1.0
    return vectors


def _spoilt(row: int, value: float) -> Matrix:
    vectors = _unit(2)
    vectors[row, 0] = value
    return vectors


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (_unit(0), "0 vectors for 2 texts"),
        (_unit(1), "1 vectors for 2 texts"),
        (_unit(3), "3 vectors for 2 texts"),
        (_unit(2, 65), "width 65 instead of 64"),
        (_spoilt(1, np.nan), "not numbers"),
        (_spoilt(0, np.inf), "not numbers"),
        (_spoilt(1, 0.0), "zero"),
        (_spoilt(1, 2.0), "not of unit length"),
        (np.ones(64, dtype=np.float32), "64 vectors for 2 texts"),
    ],
)
async def test_bad_vectors_are_refused(answer: Matrix, told: str) -> None:
    with pytest.raises(ServiceError, match=told) as refused:
        await CheckedEmbedder(Spoilt(answer)).embed_passages(["a", "b"])
    assert refused.value.code is ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE


@pytest.mark.parametrize("answer", [_unit(1, 65), _spoilt(0, np.nan), _spoilt(0, 0.0)])
async def test_a_bad_vector_of_a_question_is_refused(answer: Matrix) -> None:
    with pytest.raises(ServiceError):
        await CheckedEmbedder(Spoilt(answer)).embed_query("a")


async def test_good_vectors_pass_as_they_are() -> None:
    plain, checked = HashingEmbedder(), CheckedEmbedder(HashingEmbedder())
    texts = ["a plum", "", "今天"]
    assert (await checked.embed_passages(texts) == await plain.embed_passages(texts)).all()
    assert (await checked.embed_query("a plum") == await plain.embed_query("a plum")).all()
    assert (await checked.embed_passages([])).shape == (0, 64)
    assert checked.fingerprint == plain.fingerprint
    assert (checked.dimensions, checked.maximum_tokens) == (64, plain.maximum_tokens)
