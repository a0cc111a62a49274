"""The settings file without its secrets, for copies that go out of the hands of this machine."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Iterator
from typing import Any

from pydantic import SecretStr

from remanence_server.runtime.settings_loader import own_fields, sections


def without_secrets(data: bytes) -> tuple[bytes | None, tuple[str, ...]]:
    """A `remanence.toml` with every secret emptied, and the keys of those; the rest stays as it is.

    None when that cannot be made sure of: the file is no TOML, or writes a secret in an odd way.
    """
    try:
        text = data.decode("utf-8")
        tables = tomllib.loads(text)
        secrets = list(_secrets(tables))
        for _, table, name in sorted(secrets, key=lambda secret: -len(secret[1][secret[2]])):
            text = text.replace(table[name], "")
        expected = copy.deepcopy(tables)
        for _, table, name in _secrets(expected):
            table[name] = ""
        if tomllib.loads(text) != expected:
            return None, ()
    except (UnicodeDecodeError, tomllib.TOMLDecodeError):
        return None, ()
    return text.encode(), tuple(key for key, _, _ in secrets)


def _secrets(tables: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], str]]:
    """The secrets that are set: their keys, the tables they are in, and their names there."""
    for section, model in sections():
        table: Any = tables
        for part in section.split("."):
            table = table.get(part) if isinstance(table, dict) else None
        if not isinstance(table, dict):
            continue
        for name, field in own_fields(model).items():
            is_secret = isinstance(field.default, SecretStr)
            if is_secret and isinstance(table.get(name), str) and table[name]:
                yield f"{section}.{name}", table, name
