"""One ONNX sentence model: text in, vectors out, in the thread that calls."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import cast

import numpy as np
import onnxruntime
from tokenizers import Encoding, Tokenizer

from remanence_server.providers.embeddings.interface import Matrix, Vector
from remanence_server.providers.embeddings.model_files import ModelFiles
from remanence_server.providers.embeddings.onnx_rewrite import compute_with_integers
from remanence_server.runtime.errors import ErrorCode, ServiceError

MAXIMUM_TOKENS = 256


class OnnxModel:
    """Runs the model, one text at a time; may be called from several threads at once.

    One text: in batches of unlike texts padding takes what batching gives, and integer arithmetic
    would let a text's vector depend on its neighbours. One thread for each: within a run of 14
    tokens a second one costs more in waking up than it gives. Parallelism is runs beside each
    other.
    """

    def __init__(self, files: ModelFiles) -> None:
        """Loads the model, in about half a second.

        Raises:
            ServiceError: CONFIGURATION_ERROR when the files are not a usable model.
        """
        try:
            self._tokenizer = Tokenizer.from_buffer(files.tokenizer)
            self._session = onnxruntime.InferenceSession(
                compute_with_integers(files.model),
                _session_options(),
                providers=["CPUExecutionProvider"],
            )
            self._tokenizer.no_padding()
            self._tokenizer.enable_truncation(MAXIMUM_TOKENS)
            self._input_names = {item.name for item in self._session.get_inputs()}
            self.dimensions = int(self.embed(self._tokenizer.encode("")).shape[0])
        except Exception as error:  # the libraries raise bare Exception and types of their own
            raise ServiceError(
                ErrorCode.CONFIGURATION_ERROR,
                "The embedding model cannot be loaded: model.onnx and tokenizer.json do not make "
                "a sentence model",
            ) from error
        _give_back_free_memory()

    def encode(self, texts: Sequence[str]) -> list[Encoding]:
        """Tokens of texts, cut at 256; about 50 µs for each."""
        readable = [text.encode("utf-8", "replace").decode() for text in texts]
        return self._tokenizer.encode_batch(readable)

    def embed(self, encoding: Encoding) -> Vector:
        """The unit vector of a text, shape (dimensions,): the mean of its token vectors."""
        hidden = self._run(encoding)
        # A model may bring its own pooling.
        vector: Vector = _unit_rows(np.atleast_2d(hidden).mean(axis=0, keepdims=True))[0]
        return vector

    def embed_tokens(self, encoding: Encoding) -> Matrix:
        """Unit vectors of the tokens of a text, markers left out: shape (tokens, dimensions)."""
        return _unit_rows(self._run(encoding)[np.array(encoding.special_tokens_mask) == 0])

    def _run(self, encoding: Encoding) -> Matrix:
        ids = np.array([encoding.ids], dtype=np.int64)
        inputs = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        [outputs, *_] = self._session.run(
            None, {name: value for name, value in inputs.items() if name in self._input_names}
        )
        hidden: Matrix = np.asarray(outputs, dtype=np.float32)[0]
        return hidden


def _session_options() -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    # Measured: the arena and the memory pattern of each shape keep 130 and 45 MB for nothing.
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Without it, sums of two products may overflow 16 bits on processors without VNNI.
    options.add_session_config_entry("session.x64quantprecision", "1")
    # Errors reach us as exceptions; what the library would print may hold input.
    options.log_severity_level = 4
    return options


def _unit_rows(rows: Matrix) -> Matrix:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return cast(Matrix, (rows / np.maximum(lengths, 1e-12)).astype(np.float32, copy=False))


def _give_back_free_memory() -> None:
    # Loading unpacks the weights through copies: 65 MB that glibc keeps unless it is asked.
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
