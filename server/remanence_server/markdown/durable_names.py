"""Names that outlive a power loss: a synced file is lost all the same if its name is not synced.

A name is durable once the folder that holds it is synced, and so are the names of that folder and
of all above it. Of folders it is remembered that their names are: syncing them once is enough,
whichever thread has made them.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from pathlib import Path

_MOST_REMEMBERED = 4096

_lock = threading.Lock()
_durable: OrderedDict[Path, None] = OrderedDict()


def sync_folder(folder: Path) -> None:
    """Makes the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folders(folders: list[Path]) -> None:
    """Makes folders, each in one that is there or comes before it. Their names are not synced."""
    for folder in folders:
        with _lock:
            # It may have been there before, and have been removed by a person.
            _durable.pop(folder, None)
        folder.mkdir(exist_ok=True)


def sync_names(root: Path, path: Path) -> None:
    """Makes the name of a file below the root durable, and those of the folders on the way to it.

    Raises OSError when the disk refuses; a repeat syncs again whatever has not been.
    """
    folder = path.parent
    sync_folder(folder)
    named: list[Path] = []
    while folder != root and not _is_durable(folder):
        sync_folder(folder.parent)
        named.append(folder)
        folder = folder.parent
    # Only now: a folder that is remembered stands for all above it.
    _remember(named)


def _is_durable(folder: Path) -> bool:
    with _lock:
        return folder in _durable


def _remember(folders: list[Path]) -> None:
    with _lock:
        for folder in reversed(folders):
            _durable[folder] = None
        while len(_durable) > _MOST_REMEMBERED:
            _durable.popitem(last=False)
