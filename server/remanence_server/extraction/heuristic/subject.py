"""One line that says what a conversation is about: who, and the phrases that stand out."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from remanence_server.extraction.heuristic.conversation import Conversation
from remanence_server.extraction.heuristic.informative import is_question, weight
from remanence_server.extraction.heuristic.lexicon import NOT_A_TOPIC
from remanence_server.extraction.heuristic.sentences import clip, without_annotation
from remanence_server.extraction.heuristic.words import CJK, MARKS, fold, is_cjk, one_line, stem

MAXIMUM_SUBJECT_CHARACTERS = 120
_MAXIMUM_PHRASES = 3
_MAXIMUM_PHRASE_WORDS = 4
_MAXIMUM_NAMES = 3
_CJK_PHRASE_CHARACTERS = 18
_ASSISTANT_SHARE = 0.35
# What a turn is about shows within this many of its sentences.
_SENTENCES_OF_A_TURN = 60
# A word, or what ends a phrase.
_TOKEN = re.compile(rf"[^\W_][\w{MARKS}]*(?:[.'’&+\-][^\W_][\w{MARKS}]*)*\+*#?|[^\s]")
# Words that may join two parts of a phrase: "climbing in Yosemite", "bank of Ireland".
_CONNECTORS = frozenset(["in", "of", "at", "on", "for", "de", "la", "del"])
_CJK_CLAUSE = re.compile(r"[，。！？、；：,.!?;:\s“”「」『』（）()\[\]…~～]+")
_CJK_OPENERS = re.compile(
    r"^(?:(?:我们|我|他们|她们|今天|昨天|明天|现在|最近|已经|就|也|还|都|又|然后|所以|因为|但是|不过|其实|"
    r"私は|僕は|俺は|私|今日は|昨日は|今日|昨日|最近|저는|나는|제가|내가|오늘|어제|요즘|그리고)[，,、\s]?)+"
)


@dataclass(frozen=True, slots=True)
class _Phrase:
    text: str
    stems: tuple[str, ...]
    is_proper: bool
    # It opens a sentence, so the capital of its first word says nothing.
    opens: bool
    share: float


def subject_of(conversation: Conversation) -> str:
    """The subject line; never empty, never cut inside a word."""
    names = _names(conversation)
    phrases = _topics(conversation)
    if not phrases:
        return clip(f"{names}: {_first_words(conversation)}", MAXIMUM_SUBJECT_CHARACTERS, "…")
    subject = f"{names}: {phrases[0]}"
    for phrase in phrases[1:]:
        if len(subject) + len(phrase) + 2 > MAXIMUM_SUBJECT_CHARACTERS:
            break
        subject += f", {phrase}"
    return clip(subject, MAXIMUM_SUBJECT_CHARACTERS, "…")


def _names(conversation: Conversation) -> str:
    """The owner first; an assistant is named only if nobody else is there."""
    owners = conversation.owner_names()
    others = tuple(
        dict.fromkeys(
            line.speaker
            for line in conversation.lines
            if not line.is_assistant and line.speaker not in owners
        )
    )
    people = (*owners, *others) or conversation.speakers
    shown = [clip(name, 30, "…") for name in people[:_MAXIMUM_NAMES]]
    if len(people) > _MAXIMUM_NAMES:
        return f"{', '.join(shown)} and {len(people) - _MAXIMUM_NAMES} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _first_words(conversation: Conversation) -> str:
    for line in conversation.lines:
        if text := one_line(line.text):
            return text
    return "no words"


def _topics(conversation: Conversation) -> list[str]:
    latin: list[_Phrase] = []
    clauses: list[tuple[str, float]] = []
    for line in conversation.lines:
        share = _ASSISTANT_SHARE if line.is_assistant else 1.0
        for sentence in islice(line.sentences(), _SENTENCES_OF_A_TURN):
            if is_question(sentence) and not conversation.with_assistant:
                share_here = share / 2
            else:
                share_here = share
            if is_cjk(sentence):
                value = weight(sentence, conversation.name_parts)
                clauses += [(clause, share_here * value) for clause in _clauses(sentence)]
            else:
                latin += _phrases(without_annotation(sentence), conversation.name_parts, share_here)
    if sum(len(clause) for clause, _ in clauses) > sum(len(phrase.text) for phrase in latin):
        return _best_clauses(clauses)
    return _best_phrases(latin)


def _phrases(sentence: str, names: frozenset[str], share: float) -> Iterable[_Phrase]:
    """Runs of topical words, joined over a connector to a name: "climbing in Yosemite"."""
    run: list[str] = []
    run_start = 0
    tokens = _TOKEN.findall(sentence)
    for position, token in enumerate([*tokens, "."]):
        folded = fold(token).removesuffix("'s")
        topical = (
            token[0].isalnum()
            and folded not in NOT_A_TOPIC
            and not _is_name(token, folded, names)
            and len(folded) > 1
            and not token.isdigit()
        )
        following = tokens[position + 1] if position + 1 < len(tokens) else ""
        joins = run and folded in _CONNECTORS and following[:1].isupper()
        if joins and fold(following) not in NOT_A_TOPIC | names:
            run.append(token)
            continue
        if topical:
            run_start = run_start if run else position
            run.append(token)
            continue
        if run:
            yield from _of_run(run, share, opens=run_start == 0)
        run = []


def _is_name(token: str, folded: str, names: frozenset[str]) -> bool:
    """Whether the word names somebody who takes part, or shortens their name: Mel for Melanie."""
    if folded in names:
        return True
    return token[0].isupper() and any(name.startswith(folded) for name in names)


def _of_run(run: list[str], share: float, *, opens: bool) -> Iterable[_Phrase]:
    for start in range(0, len(run), _MAXIMUM_PHRASE_WORDS):
        part = run[start : start + _MAXIMUM_PHRASE_WORDS]
        while part and fold(part[0]) in _CONNECTORS:
            part = part[1:]
        while part and fold(part[-1]) in _CONNECTORS:
            part = part[:-1]
        if not part:
            continue
        stems = tuple(stem(word) for word in part if fold(word) not in _CONNECTORS)
        opens_here = opens and start == 0
        capitals = [word[0].isupper() for word in part if fold(word) not in _CONNECTORS]
        proper = any(capitals[1:] if opens_here else capitals)
        yield _Phrase(" ".join(part), stems, proper, opens_here, share)


def _best_phrases(phrases: Sequence[_Phrase]) -> list[str]:
    counts: Counter[str] = Counter()
    weights: defaultdict[str, float] = defaultdict(float)
    forms: dict[tuple[str, ...], _Phrase] = {}
    total: defaultdict[tuple[str, ...], float] = defaultdict(float)
    for phrase in phrases:
        counts.update(set(phrase.stems))
        for part in set(phrase.stems):
            weights[part] += phrase.share
        total[phrase.stems] += phrase.share
        known = forms.get(phrase.stems)
        if known is None or (phrase.is_proper, not phrase.opens) > (
            known.is_proper,
            not known.opens,
        ):
            forms[phrase.stems] = phrase

    def score(stems: tuple[str, ...]) -> float:
        phrase = forms[stems]
        words_score = sum(math.log1p(weights[part]) * min(len(part), 9) / 6 for part in stems)
        value: float = words_score / len(stems) ** 0.45 + 0.6 * math.log1p(total[stems])
        if len(stems) > 1:
            value *= 1.3
        elif total[stems] < 1.5 and not phrase.is_proper:
            # A single common word said once is hardly what it was all about.
            value *= 0.6
        return value * (1.35 if phrase.is_proper else 1.0)

    order = {stems: position for position, stems in enumerate(forms)}
    chosen: list[tuple[str, ...]] = []
    for stems in sorted(forms, key=lambda key: (-score(key), order[key])):
        if any(set(stems) & set(other) for other in chosen):
            continue
        chosen.append(stems)
        if len(chosen) == _MAXIMUM_PHRASES:
            break
    lower = {word for phrase in phrases for word in phrase.text.split() if word.islower()}
    return [_shown(forms[stems], lower) for stems in sorted(chosen, key=lambda key: order[key])]


def _shown(phrase: _Phrase, seen_lower: set[str]) -> str:
    text = phrase.text.removesuffix("'s").removesuffix("’s")
    first, _, rest = text.partition(" ")
    # "Researching adoption agencies" opened a sentence: within the subject it does not.
    plain = first.lower() in seen_lower or first.endswith(("ing", "ed", "ly"))
    if phrase.opens and first[1:].islower() and (plain or (rest and not phrase.is_proper)):
        return f"{first.lower()} {rest}".strip()
    return text


def _clauses(sentence: str) -> Iterable[str]:
    for clause in _CJK_CLAUSE.split(sentence):
        rest = _CJK_OPENERS.sub("", clause)
        if len(CJK.findall(rest)) >= 3:
            yield rest


def _best_clauses(clauses: Sequence[tuple[str, float]]) -> list[str]:
    """The clauses whose character pairs come up most, from people before assistants."""
    pairs: Counter[str] = Counter()
    for clause, _ in clauses:
        pairs.update({clause[at : at + 2] for at in range(len(clause) - 1)})

    def score(clause: str, value: float) -> float:
        found = [pairs[clause[at : at + 2]] for at in range(len(clause) - 1)]
        return (1 + sum(found) / max(len(found), 1)) * (0.5 + value)

    ranked = sorted(enumerate(clauses), key=lambda item: (-score(*item[1]), item[0]))
    chosen: dict[str, int] = {}
    for position, (clause, _) in ranked:
        overlaps = any(len(set(clause) & set(other)) * 2 > len(set(clause)) for other in chosen)
        if not overlaps:
            chosen[clause] = position
        if len(chosen) == _MAXIMUM_PHRASES:
            break
    return [
        clip(clause, _CJK_PHRASE_CHARACTERS, "…")
        for clause in sorted(chosen, key=lambda clause: chosen[clause])
    ]
