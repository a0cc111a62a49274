"""The contract generator."""
