"""The lexical index: passages by their words."""
