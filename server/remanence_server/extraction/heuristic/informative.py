"""Whether a sentence tells something worth keeping on its own.

A sentence is weighed by the topical words, names, numbers and first persons in it. Greetings,
thanks, praise of the other ("You're doing an awesome job!") and plain questions fall below the
threshold; so does everything that is only feeling.
"""

from __future__ import annotations

import re
from functools import lru_cache

from remanence_server.extraction.heuristic.lexicon import (
    BACK_REFERENCES,
    FILLER_WORDS,
    FIRST_PERSON,
    SECOND_PERSON,
    STOP_WORDS,
)
from remanence_server.extraction.heuristic.words import CJK, WORD, fold, is_cjk, words

THRESHOLD = 3.0
_CJK_THRESHOLD_CHARACTERS = 6
_CJK_TOPIC_CHARACTERS = 2

_QUESTION_END = re.compile(r"[?？؟‽][\"'”’」』)\]]*\W*$")
_CJK_QUESTION = re.compile(
    r"(?:吗|嗎|呢|么|ですか|ますか|でしょうか|니까|나요|까요|을까|할까)[。.!！~\s]*$"
)
_CJK_FILLER = re.compile(
    r"你好|您好|大家好|早上好|晚上好|早安|晚安|谢谢|謝謝|多谢|再见|再見|拜拜|辛苦了|好的|没问题|不客气|"
    r"太好了|真好|真棒|厉害|哈+|嗯+|是的|对啊|当然|加油|恭喜|真的|"
    r"こんにちは|こんばんは|おはよう(?:ございます)?|おやすみ(?:なさい)?|"
    r"ありがとう(?:ございます)?|"
    r"すみません|はい|いいえ|いいね|すごい|そうですね|そうですか|お疲れ様(?:です|でした)?|"
    r"さようなら|またね|了解|"
    r"よろしく(?:お願いします)?|なるほど|"
    r"안녕(?:하세요|히 가세요|히 계세요)?|감사합니다|감사해요|고마워요?|네+|아니요|"
    r"그래요?|좋아요|대박|축하해요?|"
    r"수고하셨습니다|잘 자|반가워요?|반갑습니다"
)
_BACK_OPENERS = frozenset(
    ["that", "that's", "this", "it", "it's", "sounds", "looks", "these", "those", "they", "they're"]
)
_NUMBER = re.compile(r"\d[\w.,:]*")
_CJK_FIRST_PERSON = re.compile(r"我|私|僕|俺|(?:^|\s)(?:저|제|내|나)")
_UNINFORMATIVE = STOP_WORDS | FILLER_WORDS


def is_question(sentence: str) -> bool:
    """Whether the sentence asks."""
    return bool(_QUESTION_END.search(sentence) or _CJK_QUESTION.search(sentence))


def points_back(sentence: str) -> bool:
    """Whether the sentence opens with a word that stands for something before it."""
    first = WORD.search(sentence)
    return first is not None and fold(first.group()) in BACK_REFERENCES


def has_topic(sentence: str, names: frozenset[str]) -> bool:
    """Whether the sentence has a word of content or a number in it, whoever it is about."""
    if is_cjk(sentence):
        return len(CJK.findall(_CJK_FILLER.sub("", sentence))) >= _CJK_TOPIC_CHARACTERS
    return bool(
        _topical({fold(word) for word in words(sentence)}, names) or _NUMBER.search(sentence)
    )


def _topical(distinct: set[str], names: frozenset[str]) -> set[str]:
    return {word for word in distinct - _UNINFORMATIVE if word.removesuffix("'s") not in names}


# Each stage of a cell weighs the same sentences again.
@lru_cache(maxsize=1_024)
def weight(sentence: str, names: frozenset[str], *, to_assistant: bool = False) -> float:
    """How much the sentence tells; worth keeping from `THRESHOLD` on.

    `names` are the folded name parts of those who take part: "Thanks, Caroline!" is not about
    anybody. A question to an assistant tells what its author is after, and counts as a statement
    if it is about themselves or names something.
    """
    if is_cjk(sentence):
        return _cjk_weight(sentence, to_assistant=to_assistant)
    written = words(sentence)
    folded = [fold(word) for word in written]
    distinct = set(folded)
    topical = _topical(distinct, names)
    numbers = len(_NUMBER.findall(sentence))
    proper = sum(
        1
        for position, (word, lower) in enumerate(zip(written, folded, strict=True))
        if word[0].isupper() and position > 0 and lower in topical
    )
    if not topical and not numbers:
        return 0.0
    first_person = not FIRST_PERSON.isdisjoint(distinct)
    score = min(len(topical), 8) + 1.5 * min(proper, 3) + 1.0 * min(numbers, 2)
    if first_person:
        score += 1.0
    elif folded[0] in SECOND_PERSON or "you" in folded[:3]:
        score -= 2.0
    elif folded[0] in _BACK_OPENERS:
        score -= 1.0
    if is_question(sentence):
        about_something = first_person or proper or numbers
        score -= 1.0 if to_assistant and about_something else 4.0
    return max(score, 0.0)


def is_informative(sentence: str, names: frozenset[str], *, to_assistant: bool = False) -> bool:
    """Whether the sentence is worth keeping."""
    return weight(sentence, names, to_assistant=to_assistant) >= THRESHOLD


def _cjk_weight(sentence: str, *, to_assistant: bool) -> float:
    rest = _CJK_FILLER.sub("", sentence)
    length = len(CJK.findall(rest)) + 2 * len(re.findall(r"[A-Za-z0-9]+", rest))
    about_self = _CJK_FIRST_PERSON.search(sentence) is not None
    score = THRESHOLD * length / _CJK_THRESHOLD_CHARACTERS + (1.0 if about_self else 0.0)
    if is_question(sentence):
        score -= 1.0 if to_assistant and about_self else 4.0 + score / 2
    return min(max(score, 0.0), 10.0)
