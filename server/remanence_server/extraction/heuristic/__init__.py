"""The extractor that needs no model: extractive, verbatim first, and honest about it."""

from remanence_server.extraction.heuristic.extractor import (
    HeuristicExtractor as HeuristicExtractor,
)
