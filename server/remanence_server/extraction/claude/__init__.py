"""Extraction by Claude, or another model behind `Model`."""

from remanence_server.extraction.claude.extractor import ModelExtractor
from remanence_server.extraction.claude.prompts import load_prompts

__all__ = ["ModelExtractor", "load_prompts"]
