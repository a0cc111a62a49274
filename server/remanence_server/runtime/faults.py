"""What a log line may say of an unexpected exception: its type and where it was, never its text.

The text of a foreign exception can hold memory text (a parser quotes what it could not parse).
"""

from __future__ import annotations

import traceback
from pathlib import Path

_SHOWN_FRAMES = 6


def describe_fault(error: BaseException) -> dict[str, str]:
    """Fields for a log line: `exception`, its type, and `frames`, innermost first."""
    frames = traceback.extract_tb(error.__traceback__)[-_SHOWN_FRAMES:]
    places = [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]
    return {"exception": type(error).__name__, "frames": " < ".join(reversed(places))}
