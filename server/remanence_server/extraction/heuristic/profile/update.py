"""Claims into a profile: newer supersedes older, lists grow without repeats, history is kept.

The profile may have been edited by hand: unknown keys stay, missing and odd ones are borne with.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from remanence_server.extraction.heuristic.profile.statement import Statement
from remanence_server.extraction.heuristic.sentences import clip

_SUMMARY_CHARACTERS = 500
# The order of the summary; categories of other origin follow as they come.
_ORDER = [
    "name",
    "birthday",
    "age",
    "home",
    "household",
    "origin",
    "work",
    "studies",
    "languages",
    "family",
    "pets",
    "allergies",
    "health",
    "diet",
    "likes",
    "favourites",
    "dislikes",
    "hobbies",
    "habits",
    "goals",
    "plans",
    "contact",
    "details",
]
# A profile says one thing of these at a time.
_SINGLE = frozenset({"name", "birthday", "age", "home", "household"})
# Of these a new claim replaces the one with the same label ("Favourite tea: …").
_LABELLED = frozenset({"favourites", "contact", "details", "health", "pets", "goals"})
_TASTES = frozenset({"likes", "dislikes"})
_PRIVATE = frozenset({"contact", "details"})
_TASTE_VERB = re.compile(
    r"^(?:no\s+longer\s+likes|dislikes|likes|loves|enjoys|adores|prefers)\s+|"
    r"^(?:很|最|特别|非常|真的|一点也|一点都|超|超级|不再|再也)*(?:不太喜欢|不喜欢|不太爱|不爱|讨厌|害怕|怕|喜欢|热爱|爱好|爱|不)|"
    r"(?:が|は|も)(?:あまり|とても|一番)?(?:好きではありません|好きじゃない|好きではない|嫌い|苦手|大好き|好き)$|"
    r"(?:을|를|이|가)?\s?(?:정말\s|아주\s|너무\s|제일\s|가장\s)?(?:안\s?좋아|좋아|싫어)\S*$",
    re.IGNORECASE,
)
_ALLERGY_VERB = re.compile(
    r"^(?:not\s+)?allergic\s+to\s+|^对|不?过敏$|アレルギー$|\s?알레르기$|\s+allergy$", re.IGNORECASE
)
_STATUS = re.compile(
    r"^(?:married|engaged|single|divorced|widowed|separated|结婚|离婚|订婚|单身)", re.IGNORECASE
)
_DIET_STATE = re.compile(r"^is\s+(?:not\s+)?", re.IGNORECASE)

Item = dict[str, Any]


def updated(
    data: Mapping[str, Any], statements: Iterable[Statement], source: str | None = None
) -> dict[str, Any] | None:
    """`data` with the statements in it, or None if it holds all of them already.

    `source` is the episode that they are from: each item lists those that state it.
    """
    items = _items(data.get("explicit_info"))
    known_summary = data.get("summary")
    generated = known_summary in (None, "", render_summary(items))
    changed = False
    latest_ms = _integer(data.get("profile_timestamp_ms"))
    for statement in sorted(statements, key=lambda statement: statement.timestamp_ms):
        applied = _apply(items, statement)
        if _note_source(items, statement, source) or applied:
            changed = True
            latest_ms = max(latest_ms, statement.timestamp_ms)
    if not changed:
        return None
    result = dict(data)
    # A summary that somebody rewrote is theirs.
    result["summary"] = render_summary(items) if generated else known_summary
    result["explicit_info"] = items
    result.setdefault("implicit_traits", [])
    result["profile_timestamp_ms"] = latest_ms
    return result


def has_speakers(data: Mapping[str, Any]) -> bool:
    """Whether the profile already tells several speakers of one owner apart."""
    items = data.get("explicit_info")
    return isinstance(items, list) and any(
        isinstance(item, Mapping) and item.get("speaker") for item in items
    )


def _apply(items: list[Any], statement: Statement) -> bool:
    claim = statement.claim
    if claim.ends:
        return _end(items, statement)
    for position, item in enumerate(items):
        if not _same_thing(item, statement):
            continue
        if _text(item, "description").casefold() == claim.description.casefold():
            return False
        if (
            claim.category in _TASTES
            and _text(item, "category") == claim.category
            and (not claim.description.startswith("No longer"))
        ):
            return False
        if statement.timestamp_ms < _integer(item.get("timestamp_ms")):
            return _remember(item, _entry(statement))
        items[position] = _superseded(item, statement)
        _fulfil(items, items[position])
        return True
    items.append(_entry(statement))
    _fulfil(items, items[-1])
    return True


def _note_source(items: list[Any], statement: Statement, source: str | None) -> bool:
    """Lists an episode with whatever says what a statement of it says; False if it is there."""
    if source is None:
        return False
    described = statement.claim.description.casefold()
    for item in items:
        if not isinstance(item, dict) or _text(item, "speaker") != (statement.speaker or ""):
            continue
        history = _history(item)
        for said in (item, *history):
            category = _text(said, "category") or _text(item, "category")
            is_it = _text(said, "description").casefold() == described
            if is_it and category == statement.claim.category:
                sources = sources_of(said)
                if source in sources:
                    return False
                # What was known before without a source cannot be said to come from this alone.
                if sources or _is_of(said, statement):
                    said["sources"] = [*sources, source]
                    if history:
                        item["superseded"] = history
                    return True
                return False
    return False


def _is_of(item: Mapping[str, Any], statement: Statement) -> bool:
    return item.get("message_id") == statement.message_id and (
        _integer(item.get("timestamp_ms")) == statement.timestamp_ms
    )


def sources_of(item: Mapping[str, Any]) -> list[str]:
    """The episodes that state an item; none are known of what an earlier release wrote."""
    sources = item.get("sources")
    return [each for each in sources if isinstance(each, str)] if isinstance(sources, list) else []


def _fulfil(items: list[Any], home: Item) -> None:
    """Who has arrived is no longer about to move there: the plan becomes history."""
    if home["category"] != "home":
        return
    for item in list(items):
        if (
            _text(item, "category") == "plans"
            and _text(item, "speaker") == _text(home, "speaker")
            and _integer(item.get("timestamp_ms")) <= home["timestamp_ms"]
            and _shares_name(_text(item, "description"), home["description"])
        ):
            _remember(home, item)
            items.remove(item)


def _end(items: list[Any], statement: Statement) -> bool:
    """What is over takes the place of everything current of its category."""
    claim = statement.claim
    over = [
        item
        for item in items
        if isinstance(item, dict)
        and _text(item, "category") == claim.category
        and _text(item, "speaker") == (statement.speaker or "")
    ]
    if any(_text(item, "description").casefold() == claim.description.casefold() for item in over):
        return False
    if claim.category == "home" and not any(
        _shares_name(_text(item, "description"), claim.description) for item in over
    ):
        # They left a place they were not known to live in.
        return False
    older = [item for item in over if _integer(item.get("timestamp_ms")) <= statement.timestamp_ms]
    if not older:
        newest = max(over, key=lambda item: _integer(item.get("timestamp_ms")), default=None)
        if newest is None:
            items.append(_entry(statement))
            return True
        return _remember(newest, _entry(statement))
    replacement = _superseded(older[0], statement)
    for item in older[1:]:
        for past in [*_history(item), item]:
            _remember(replacement, past)
        items.remove(item)
    items[items.index(older[0])] = replacement
    return True


def _same_thing(item: Any, statement: Statement) -> bool:
    if not isinstance(item, dict) or _text(item, "speaker") != (statement.speaker or ""):
        return False
    claim = statement.claim
    category, description = _text(item, "category"), _text(item, "description")
    if category != claim.category and not {category, claim.category} <= _TASTES:
        return False
    return not _slots(category, description).isdisjoint(_slots(claim.category, claim.description))


def _slots(category: str, description: str) -> frozenset[str]:
    """What a description is about, so that another about the same replaces it."""
    folded = " ".join(description.casefold().split())
    if category in _SINGLE:
        return frozenset({category})
    if category == "work":
        return _work_slots(folded)
    if category in _TASTES:
        return frozenset({_TASTE_VERB.sub("", folded)})
    if category == "allergies":
        return frozenset({_ALLERGY_VERB.sub("", folded).rstrip("s")})
    if category == "diet" and _DIET_STATE.match(folded):
        return frozenset({_DIET_STATE.sub("", folded)})
    if category == "family" and _STATUS.match(folded):
        return frozenset({"status"})
    if category in _LABELLED and ": " in folded:
        return frozenset({folded.split(": ")[0]})
    return frozenset({folded})


def _work_slots(folded: str) -> frozenset[str]:
    """A role and an employer are two things, which one phrase may state together."""
    if folded.startswith("works as"):
        return frozenset({"role", "employer"} if re.search(r"\s(?:at|for)\s", folded) else {"role"})
    if folded.startswith(("works at", "works for", "works with", "works in")):
        return frozenset({"employer"})
    if folded.startswith(("runs", "owns", "manages", "started")):
        return frozenset({folded})
    if re.match(r"在.+(?:工作|上班)|.*(?:で働いて|に勤めて)|.*에서\s?(?:일|근무)", folded):
        return frozenset({"employer"})
    if folded.isascii():
        return frozenset({"role", "employer"})
    return frozenset({"role"})


def _entry(statement: Statement) -> Item:
    entry: Item = {
        "category": statement.claim.category,
        "description": statement.claim.description,
        "evidence": statement.evidence,
        "message_id": statement.message_id,
        "timestamp_ms": statement.timestamp_ms,
    }
    if statement.speaker:
        entry["speaker"] = statement.speaker
    return entry


def _superseded(item: Item, statement: Statement) -> Item:
    """The new claim in the old one's place; keys that somebody added stay."""
    replacement = {**item, **_entry(statement)}
    replacement.pop("sources", None)
    replacement["superseded"] = _history(item)
    _remember(replacement, item)
    return replacement


def _past(item: Mapping[str, Any]) -> Item:
    keys = ("description", "evidence", "message_id", "timestamp_ms", "sources")
    return {key: item[key] for key in keys if key in item}


def _remember(item: Item, past: Mapping[str, Any]) -> bool:
    """Puts a former claim into the history of an item, oldest first."""
    history = _history(item)
    entry = _past(past)
    if _text(past, "category") not in ("", _text(item, "category")):
        # What it is should it be so again.
        entry["category"] = _text(past, "category")
    if any(_text(known, "description") == _text(entry, "description") for known in history):
        return False
    history.append(entry)
    item["superseded"] = sorted(history, key=lambda known: _integer(known.get("timestamp_ms")))
    return True


def _history(item: Mapping[str, Any]) -> list[Item]:
    history = item.get("superseded")
    if not isinstance(history, list):
        return []
    return [dict(entry) for entry in history if isinstance(entry, Mapping)]


def _items(value: Any) -> list[Any]:
    """The items of a profile, however somebody wrote them."""
    if isinstance(value, str) and value.strip():
        return [{"category": "other", "description": value.strip()}]
    if isinstance(value, Mapping):
        return [dict(value)]
    if not isinstance(value, list | tuple):
        return []
    return [dict(item) if isinstance(item, Mapping) else item for item in value]


def _shares_name(left: str, right: str) -> bool:
    words = set(re.findall(r"\w+", left.casefold())) & set(re.findall(r"\w+", right.casefold()))
    return bool(
        words
        - {"lives", "in", "no", "longer", "the", "from", "moved", "away", "a", "is", "to", "next"}
    ) or (not left.isascii() and bool(set(left) & set(right) - set("住在不再에서살니다요")))


def _text(item: Any, key: str) -> str:
    if isinstance(item, str):
        return item if key == "description" else ""
    value = item.get(key) if isinstance(item, Mapping) else None
    return value if isinstance(value, str) else ""


def _integer(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def render_summary(items: Iterable[Any]) -> str:
    """The descriptions in a fixed order as one short text; contact data and codes stay out."""
    order = {category: rank for rank, category in enumerate(_ORDER)}
    by_speaker: dict[str, list[tuple[int, str]]] = {}
    for item in items:
        category, description = _text(item, "category"), _text(item, "description").strip()
        if description and category not in _PRIVATE:
            rank = order.get(category, len(order))
            by_speaker.setdefault(_text(item, "speaker"), []).append((rank, description))
    parts = []
    for speaker, described in by_speaker.items():
        phrases = [
            phrase.rstrip(".。") for _, phrase in sorted(described, key=lambda pair: pair[0])
        ]
        parts.append(f"{speaker}: {'. '.join(phrases)}." if speaker else f"{'. '.join(phrases)}.")
    return clip(" ".join(parts), _SUMMARY_CHARACTERS, " …")
