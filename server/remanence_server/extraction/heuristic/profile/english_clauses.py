"""The parts that the rules for English are made of: openings of a clause, and the object."""

from __future__ import annotations

ADVERB = (
    r"(?:(?:really|also|still|just|absolutely|totally|now|currently|recently|actually|do|truly|"
    r"mostly|simply|particularly|especially|always|finally|very much|usually|both|only|even)\s+)*"
)
I_DO = rf"I\s+{ADVERB}"
I_AM = rf"I(?:['’]m|m|\s+am)\s+{ADVERB}"
I_HAVE = rf"I(?:['’]ve|ve|\s+have)?\s+{ADVERB}"
WE = rf"(?:I|We)(?:['’]ve|\s+have)?\s+{ADVERB}"
# The object runs to the end of the clause. "But not" and the conditions that follow belong to it:
# cut off, they would turn into their opposite.
OBJECT = (
    r"(?P<o>[^\n]+?)(?=\s*(?:[.!?]*\s*$|[!?;:]\s|\s[—–-]\s|[()\[\]]|"
    r"-\s|,?\s+(?:['’]?cause\b|but(?!\s+(?:not|only|never|no|rarely|hardly)\b)|because|since\s+(?:I|it|we)|so\s+(?:I|we|that|it))\b|"
    r",\s*(?:and\s+|so\s+|which\s+)?(?:I|i|my|we|it|it's|that's|this|they|he|she|you|thanks|please)\b|"
    r"\s+and\s+(?:I|i|my|we|it|it's|he|she|they)\b))"
)
NOT_A_THING = (
    r"(?!(?:you|it|that|this|him|her|them|how|when|what|where|those|these|your|the\s+(?:way|idea|sound|"
    r"look|fact|thought)|to\s+(?:say|think|hear|know|see|ask|believe|imagine|share|admit)|so|"
    r"too|all\s+of|being\s+able|everything|nothing|anything|something|seeing|hearing|each)\b)"
)
