"""One loader: defaults < ROOT/remanence.toml < REMANENCE_SECTION__KEY < flags.

Nothing is ignored in silence: an unknown key, a value that does not fit and a file that cannot be
read are CONFIGURATION_ERRORs that name the key, where it was set and what to do.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, SecretStr, ValidationError
from pydantic.fields import FieldInfo

from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.runtime.fault_points import ALLOW_VARIABLE, FAULT_VARIABLE
from remanence_server.runtime.settings import Section, Settings

FILE_NAME = "remanence.toml"
ENVIRONMENT_PREFIX = "REMANENCE_"
# Variables of that prefix that are read elsewhere: they are no settings of a root.
OTHER_VARIABLES = frozenset({"REMANENCE_ROOT", "REMANENCE_SERVER", FAULT_VARIABLE, ALLOW_VARIABLE})


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """Settings, and where each that is not a default was set: key (`log.level`) to source."""

    settings: Settings
    sources: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Value:
    value: Any
    source: str


def load_settings(
    root: Path, environment: Mapping[str, str], overrides: Mapping[str, Any] | None = None
) -> Settings:
    """The settings of a root. See `load_settings_with_sources`."""
    return load_settings_with_sources(root, environment, overrides).settings


def load_settings_with_sources(
    root: Path, environment: Mapping[str, str], overrides: Mapping[str, Any] | None = None
) -> LoadedSettings:
    """Reads the settings of a root; each source wins over those before it.

    Args:
        root: the memory root; it need not exist.
        environment: usually `os.environ`. An empty variable counts as not set.
        overrides: flags by key, `{"server.http": "127.0.0.1:0"}`; None counts as not given.

    Raises:
        ServiceError: CONFIGURATION_ERROR; `field` is the key.
    """
    root = root.expanduser().absolute()
    values: dict[str, _Value] = {}
    values.update(_from_file(root / FILE_NAME))
    values.update(_from_environment(environment))
    for key, value in (overrides or {}).items():
        if value is not None:
            values[key] = _Value(value, "flag")
    known = known_keys()
    for key, found in values.items():
        if key not in known:
            raise _unknown(key, found.source, known)
    tables: dict[str, Any] = {"root": root}
    for key, found in values.items():
        *tables_above, name = key.split(".")
        table = tables
        for section in tables_above:
            table = table.setdefault(section, {})
        table[name] = found.value
    try:
        settings = Settings.model_validate(tables)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        reason = first["msg"].removeprefix("Value error, ")
        source = values[key].source if key in values else FILE_NAME
        raise _refused(key, f"Setting '{key}' ({source}): {reason}") from None
    return LoadedSettings(settings, {key: found.source for key, found in values.items()})


def known_keys() -> Mapping[str, Any]:
    """Every key, `section.name`, with its default as it is written, in the order of the models."""
    return {
        f"{section}.{name}": _as_written(field.default)
        for section, model in sections()
        for name, field in own_fields(model).items()
    }


def _as_written(value: Any) -> Any:
    # No default is a secret.
    return value.get_secret_value() if isinstance(value, SecretStr) else value


def sections(
    model: type[BaseModel] = Settings, prefix: str = ""
) -> Iterator[tuple[str, type[BaseModel]]]:
    """The tables of remanence.toml, a table before those within it: dotted name and model."""
    for name, field in model.model_fields.items():
        if _is_section(field):
            table = cast("type[Section]", field.annotation)
            yield prefix + name, table
            yield from sections(table, f"{prefix}{name}.")


def own_fields(model: type[BaseModel]) -> Mapping[str, FieldInfo]:
    """The keys of a table, without the tables within it."""
    return {name: field for name, field in model.model_fields.items() if not _is_section(field)}


def _is_section(field: FieldInfo) -> bool:
    return isinstance(field.annotation, type) and issubclass(field.annotation, Section)


def variable_of(key: str) -> str:
    """The environment variable that sets a key: `log.level` is REMANENCE_LOG__LEVEL."""
    return ENVIRONMENT_PREFIX + key.replace(".", "__").upper()


def _from_file(path: Path) -> dict[str, _Value]:
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        # A root that is no folder is refused by whoever uses it, in better words.
        return {}
    except UnicodeDecodeError:
        raise _refused(None, f"{FILE_NAME} is not UTF-8 text; save it as UTF-8") from None
    except OSError as error:
        reason = error.strerror or "read error"
        raise _refused(None, f"{FILE_NAME} cannot be read ({reason}); check the file") from None
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _refused(None, f"{FILE_NAME} is not valid TOML: {error}") from None
    section_names = [name for name, _ in sections()]
    for section in tables:
        if section not in section_names:
            raise _unknown(section, FILE_NAME, section_names)
    return dict(_flattened(tables, "", section_names))


def _flattened(
    table: Mapping[str, Any], prefix: str, section_names: list[str]
) -> Iterator[tuple[str, _Value]]:
    for name, value in table.items():
        key = prefix + name
        if key not in section_names:
            yield key, _Value(value, FILE_NAME)
        elif isinstance(value, dict):
            yield from _flattened(value, f"{key}.", section_names)
        else:
            raise _refused(key, f"'{key}' in {FILE_NAME} is a table: write [{key}]")


def _from_environment(environment: Mapping[str, str]) -> dict[str, _Value]:
    key_of = {variable_of(key): key for key in known_keys()}
    found: dict[str, _Value] = {}
    for variable, value in environment.items():
        if not variable.startswith(ENVIRONMENT_PREFIX) or variable in OTHER_VARIABLES or not value:
            continue
        if variable not in key_of:
            raise _unknown(variable, "environment", [*key_of, *OTHER_VARIABLES])
        found[key_of[variable]] = _Value(value, variable)
    return found


def _unknown(key: str, source: str, known: Mapping[str, Any] | list[str]) -> ServiceError:
    nearest = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
    hint = f"did you mean '{nearest[0]}'?" if nearest else "remove it"
    return _refused(key, f"Unknown setting '{key}' ({source}); {hint}")


def _refused(key: str | None, message: str) -> ServiceError:
    return ServiceError(ErrorCode.CONFIGURATION_ERROR, message, field=key)
