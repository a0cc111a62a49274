"""The instructions of each stage: files of the package, each of which can be replaced."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from remanence_server.runtime.errors import ErrorCode, ServiceError

PROMPT_NAMES = ("episode", "facts", "profile", "case")


def load_prompts(folder: str) -> dict[str, str]:
    """Instructions by stage: `<stage>.md` of the folder where it has one, else the package's own.

    `folder` may be empty. Raises ServiceError CONFIGURATION_ERROR when it cannot be read.
    """
    own = files(__package__) / "prompts"
    prompts = {name: (own / f"{name}.md").read_text("utf-8") for name in PROMPT_NAMES}
    if not folder:
        return prompts
    path = Path(folder).expanduser()
    if not path.is_dir():
        raise _unusable(f"'{folder}' is no folder")
    for name in PROMPT_NAMES:
        file = path / f"{name}.md"
        if file.exists():
            try:
                prompts[name] = file.read_text("utf-8-sig")
            except (OSError, UnicodeDecodeError):
                raise _unusable(f"{file.name} cannot be read as UTF-8 text") from None
            if not prompts[name].strip():
                raise _unusable(f"{file.name} is empty")
    return prompts


def _unusable(reason: str) -> ServiceError:
    return ServiceError(
        ErrorCode.CONFIGURATION_ERROR, f"claude.prompts_directory: {reason}", field="claude"
    )
