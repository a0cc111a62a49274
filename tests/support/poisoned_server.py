"""A server that cannot take everything: the facts stage fails, hangs or dies of some words.

`poison` in a message makes it fail and `treacle` makes it hang, until there is a file with the name
of the owner in the folder `ANTIDOTES`. `dynamite` kills the process, as SIGKILL does.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from remanence_server.cli.main import main
from remanence_server.domain.messages import MemoryCell
from remanence_server.domain.owners import Owner
from remanence_server.extraction.heuristic import HeuristicExtractor
from remanence_server.extraction.interface import FactDraft

MODULE = "tests.support.poisoned_server"
ANTIDOTES = "ANTIDOTES"

_extract_facts = HeuristicExtractor.extract_facts


async def _extract_facts_at_risk(
    self: HeuristicExtractor, cell: MemoryCell, owner: Owner
) -> tuple[FactDraft, ...]:
    words = {word for message in cell.messages for word in message.text.split()}
    antidote = Path(os.environ[ANTIDOTES]) / owner.owner_id
    if "dynamite" in words:
        os.kill(os.getpid(), signal.SIGKILL)
    if "poison" in words and not antidote.exists():
        raise RuntimeError(f"cannot stand {sorted(words)}")
    while "treacle" in words and not antidote.exists():
        await asyncio.sleep(0.02)
    return await _extract_facts(self, cell, owner)


if __name__ == "__main__":
    HeuristicExtractor.extract_facts = _extract_facts_at_risk  # type: ignore[method-assign]
    sys.exit(main())
