"""Fixtures for every test. Nothing here needs the network, a key or data from outside the repo."""

from __future__ import annotations
