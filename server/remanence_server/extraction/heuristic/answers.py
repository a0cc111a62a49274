"""Bare answers: "Graz" says something only beside "Where do you live?"."""

from __future__ import annotations

import re

from remanence_server.extraction.heuristic.conversation import Conversation, Line
from remanence_server.extraction.heuristic.informative import has_topic, is_question
from remanence_server.extraction.heuristic.sentences import clip
from remanence_server.extraction.heuristic.words import CJK, is_cjk, one_line, words

_BARE_ANSWER_WORDS = 8
_BARE_ANSWER_CJK = 14
_ASKED_CHARACTERS = 160
_SOCIAL_QUESTION = re.compile(
    r"how(?:'s| is| are| have)\s+(?:it|you|things|everything|life)\b|what'?s (?:up|new)|"
    r"^(?:really|right|isn't it|don't you think|you know|how about you|what about you|and you)\b|"
    r"你好吗|怎么样|元気|잘 지내",
    re.IGNORECASE,
)
_YES_OR_NO = re.compile(
    r"(?:yes|yeah|yep|yup|no|nope|not|never|none|both|neither|sure|of course|sometimes)\b|"
    r"是|不|没|有|对|はい|いいえ|うん|ない|네|아니",
    re.IGNORECASE,
)


def asked_before(line: Line, previous: Line | None, conversation: Conversation) -> str | None:
    """The question that the whole of `line` is a short answer to, or None if it is none."""
    if previous is None or line.is_assistant or previous.speaker == line.speaker:
        return None
    sentences = list(line.sentences())
    if not sentences or len(sentences) > 2 or is_question(sentences[-1]):
        return None
    text = " ".join(sentences)
    if is_cjk(text):
        bare = len(CJK.findall(text)) <= _BARE_ANSWER_CJK
    else:
        bare = len(words(text)) <= _BARE_ANSWER_WORDS
    if not bare or not words(text):
        return None
    asked = next((asked for asked in reversed(list(previous.sentences()))), "")
    if not is_question(asked) or _SOCIAL_QUESTION.search(asked):
        return None
    # Small talk asks and answers too.
    names = conversation.name_parts
    if not has_topic(asked, names) or not (has_topic(text, names) or _YES_OR_NO.match(text)):
        return None
    return clip(one_line(asked), _ASKED_CHARACTERS)
