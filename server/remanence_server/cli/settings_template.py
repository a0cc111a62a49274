"""The commented remanence.toml that `remanence init` writes, made from the settings themselves."""

from __future__ import annotations

import json

from remanence_server.runtime.settings_loader import known_keys, own_fields, sections, variable_of

_HEADER = f"""\
# Settings of this memory root. Every line shows a default: take away the # to change it.
# Environment variables win over this file ({variable_of("log.level")}=debug), flags over both.
"""


def settings_template() -> str:
    """TOML in which every key is there, commented out, under what it does."""
    defaults = known_keys()
    parts = [_HEADER]
    for section, model in sections():
        fields = own_fields(model)
        if not fields:
            continue
        parts.append(f"\n# {(model.__doc__ or '').strip()}\n[{section}]\n")
        for name, field in fields.items():
            # Texts, numbers and booleans are written in TOML as in JSON.
            default = json.dumps(defaults[f"{section}.{name}"])
            parts.append(f"# {field.description}\n# {name} = {default}\n")
    return "".join(parts)
