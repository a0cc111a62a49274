"""The memory use cases: add, flush, search, get, and the stages that make memories."""
