"""Conversations from files, for `remanence import`: reading, sending, and where it stopped."""
