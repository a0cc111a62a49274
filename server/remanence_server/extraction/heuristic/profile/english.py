"""English sentences into claims: where a first-person clause starts, and what disqualifies it."""

from __future__ import annotations

import re

from remanence_server.extraction.heuristic.informative import is_question
from remanence_server.extraction.heuristic.profile.english_life import LIFE_RULES
from remanence_server.extraction.heuristic.profile.english_tastes import TASTE_RULES
from remanence_server.extraction.heuristic.profile.grammar import sentence_case
from remanence_server.extraction.heuristic.profile.renderers import Rule, tidy
from remanence_server.extraction.heuristic.profile.statement import Claim

# A statement longer than this is a document pasted into a chat.
_MAXIMUM_SENTENCE_CHARACTERS = 400
_CLAUSE_START = re.compile(
    r"(?:^|[,;:!?.(]\s*|\s[—–-]+\s*|\b(?:and|but|so|because|cause|since|that|now|also|then|plus|well|"
    r"yes|yeah|no|actually|btw|fyi|though|where|hi|hello|hey)\s+)"
    r"[\"“(*_]*(?=(?:I|i|my|My|We|we|call me|Call me)\b)"
)
# What makes the clause after it no statement of fact, or somebody else's.
_UNREAL = re.compile(
    r"\b(?:if|unless|whether|wish|wished|imagine|suppose|supposing|pretend|maybe|perhaps|would|could|might|"
    r"should|thought|used\s+to|says?|said|tells?|told|asks?|asked|claims?|claimed|joked?|dreamt|"
    r"dreamed|in\s+case|as\s+though|when\s+I\s+was|back\s+when|years\s+ago|wrote|writes|quote|lyrics|"
    r"the\s+character|not\s+that|doubt|denies|denied|far\s+from\s+saying)\b",
    re.IGNORECASE,
)
_TAKEN_BACK = re.compile(
    r"\b(?:just\s+kidding|jk|not\s+really|hypothetically|"
    r"in\s+(?:my|the|this)\s+(?:dream|story|novel|game)|as\s+a\s+joke)\b|\bnot!\s*$",
    re.IGNORECASE,
)
# "Moved to Porto last week!": the diarist's "I" is understood.
_UNSAID_I = re.compile(
    r"^(?:(?:just|finally|recently)\s+)?(?:moved|adopted|quit|graduated|retired|got\s+(?:a|an|my|the|married|"
    r"engaged|laid|diagnosed)|started\s+(?:a|an|my|working))\b",
    re.IGNORECASE,
)
_FAVOURITE_OF = re.compile(
    r"^(?:[^,;:]*[,;:]\s+)?(?P<o>"
    r"(?!(?:it|that|this|they|these|those|he|she|you|what|which|one|there)\b)"
    r"[^,;:.!?]{2,60}?)\s+(?:is|are)\s+(?:still\s+|by\s+far\s+)?my\s+"
    r"(?:all[- ]time\s+|absolute\s+)?favou?rite\s+(?P<k>[\w'’ -]{2,40}?)"
    r"(?=\s*(?:[.!?,;]|$|\s+(?:in|of|at|to|because|ever|and|but)\b))",
    re.IGNORECASE,
)
_SPACE = re.compile(r"\s+")
# "I", "my", "we", "call me": a clause is tried with the rules that open as it does.
_RULES_BY_OPENER: dict[str, tuple[Rule, ...]] = {
    opener: tuple(rule for rule in (*LIFE_RULES, *TASTE_RULES) if opener in rule.openers)
    for opener in "imwc"
}


def english_claims(sentence: str) -> list[Claim]:
    """The claims of one sentence by its author; usually none."""
    sentence = _SPACE.sub(" ", sentence).strip()
    if len(sentence) > _MAXIMUM_SENTENCE_CHARACTERS or _TAKEN_BACK.search(sentence):
        return []
    if is_question(sentence):
        # "I live in Porto, do you know it?": what stands before the question is a statement.
        sentence, comma, _ = sentence.rpartition(", ")
        if not comma:
            return []
    if _UNSAID_I.match(sentence):
        sentence = f"I {sentence[0].lower()}{sentence[1:]}"
    found: list[Claim] = []
    taken_until = 0
    for start in _CLAUSE_START.finditer(sentence):
        at = start.end()
        if at < taken_until or _is_unreal(sentence, at):
            continue
        for rule in _RULES_BY_OPENER[sentence[at].casefold()]:
            match = rule.pattern.match(sentence, at)
            claim = rule.render(match) if match else None
            if match and claim is not None:
                found.append(claim)
                taken_until = match.end()
                break
    favourite = _FAVOURITE_OF.match(sentence) if "my " in sentence else None
    if favourite and not found and not _UNREAL.search(sentence):
        kind = favourite["k"].strip().lower()
        found.append(
            Claim("favourites", f"Favourite {kind}: {sentence_case(tidy(favourite['o']))}")
        )
    return found


def _is_unreal(sentence: str, at: int) -> bool:
    before = sentence[:at]
    quotes = before.count('"') + before.count("“") - before.count("”")
    if before.endswith(('"', "“")):
        # The whole sentence may stand in quotation marks; a quote within it is another's.
        quotes -= len(before.strip()) == 1
    if quotes % 2:
        return True
    # What was said before a full stop or semicolon does not reach into this clause.
    clause = re.split(r"[.;!?]\s", before)[-1]
    return _UNREAL.search(clause) is not None
