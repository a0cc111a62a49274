"""Text to vectors: one interface, a local ONNX model and a model-free fallback behind it."""

from remanence_server.providers.embeddings.factory import create_embedder
from remanence_server.providers.embeddings.hashing import HashingEmbedder
from remanence_server.providers.embeddings.interface import Embedder, Matrix, Vector
from remanence_server.providers.embeddings.onnx_embedder import OnnxEmbedder

__all__ = ["Embedder", "HashingEmbedder", "Matrix", "OnnxEmbedder", "Vector", "create_embedder"]
