"""The claims of a sentence, in whichever language it is."""

from __future__ import annotations

from functools import lru_cache

from remanence_server.extraction.heuristic.profile.cjk import cjk_claims
from remanence_server.extraction.heuristic.profile.english import english_claims
from remanence_server.extraction.heuristic.profile.statement import Claim
from remanence_server.extraction.heuristic.words import CJK


# Facts ask first, then the profile.
@lru_cache(maxsize=1_024)
def claims_of(sentence: str) -> tuple[Claim, ...]:
    """What the author of a sentence states of themselves in it; usually nothing."""
    return tuple(cjk_claims(sentence) if CJK.search(sentence) else english_claims(sentence))
