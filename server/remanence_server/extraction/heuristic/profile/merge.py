"""Two profiles of one person as one: newer supersedes older, whichever profile has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from remanence_server.domain.records import Profile
from remanence_server.extraction.heuristic.profile.statement import Claim, Statement
from remanence_server.extraction.heuristic.profile.update import render_summary, updated

_ITEMS = "explicit_info"
_TRAITS = "implicit_traits"
_HISTORY = "superseded"
_SUMMARY = "summary"
_AS_OF = "profile_timestamp_ms"

type _Item = dict[str, Any]


def merged_profile(current: Profile, incoming: Profile) -> Profile | None:
    """`current` with what `incoming` knows besides, or None if that is nothing.

    Items that both have an opinion about are settled by their time, the older one becomes history.
    Of everything else, a summary that a person wrote included, what `current` has stays.
    """
    data = dict(current.data)
    items = _listed(data.get(_ITEMS))
    is_generated = data.get(_SUMMARY) in (None, "", render_summary(items))
    for item in sorted(_listed(incoming.data.get(_ITEMS)), key=_instant_ms):
        items = _with_item(items, item)
    traits = _listed(data.get(_TRAITS))
    traits += [trait for trait in _listed(incoming.data.get(_TRAITS)) if trait not in traits]
    # A page shows no empty list and no empty text: they would be missing each time.
    missing = {key: value for key, value in incoming.data.items() if key not in data and value}
    result = {**missing, **data}
    if items:
        result[_ITEMS] = items
    if traits:
        result[_TRAITS] = traits
    if is_generated and items:
        result[_SUMMARY] = render_summary(items)
    if result == dict(current.data):
        return None
    result[_AS_OF] = max(_instant_ms(data, _AS_OF), _instant_ms(incoming.data, _AS_OF))
    latest_ms = max(current.timestamp_ms, incoming.timestamp_ms)
    return Profile(current.owner, result, latest_ms)


def _with_item(items: list[Any], item: Any) -> list[Any]:
    if not _is_stated(item):
        return items if item in items else [*items, item]
    if any(_is_same_thing(other, item) and _remembers(other, item) for other in items):
        # It is history there already.
        return items
    # What it once replaced is not so any more, here either.
    items = [
        other
        for other in items
        if not (_is_same_thing(other, item) and _remembers(item, other) and _is_older(other, item))
    ]
    statement = Statement(
        Claim(item["category"], item["description"]),
        _text(item.get("evidence")),
        _text(item.get("message_id")),
        item["timestamp_ms"],
        _text(item.get("speaker")) or None,
    )
    stated = updated({_ITEMS: items}, [statement])
    items = items if stated is None else list(stated[_ITEMS])
    for position, other in enumerate(items):
        if _is_same_thing(other, item) and (
            _description(other) == _description(item) or _remembers(other, item)
        ):
            items[position] = _with_history(other, item)
            break
    return items


def _with_history(item: _Item, other: _Item) -> _Item:
    """The item, which also remembers what the other one does."""
    history = _listed(item.get(_HISTORY))
    known = {_description(past) for past in history} | {_description(item)}
    history += [past for past in _listed(other.get(_HISTORY)) if _description(past) not in known]
    return {**item, _HISTORY: sorted(history, key=_instant_ms)} if history else item


def _is_stated(item: Any) -> bool:
    """Whether an item says what it is about and since when; people write others by hand."""
    return (
        isinstance(item, dict)
        and bool(_text(item.get("category")))
        and bool(_description(item))
        and _instant_ms(item) > 0
    )


def _is_same_thing(left: Any, right: Any) -> bool:
    return (
        _is_stated(left)
        and left["category"] == right["category"]
        and _text(left.get("speaker")) == _text(right.get("speaker"))
    )


def _remembers(item: _Item, other: _Item) -> bool:
    described = _description(other)
    return any(_description(past) == described for past in _listed(item.get(_HISTORY)))


def _is_older(left: _Item, right: _Item) -> bool:
    return _instant_ms(left) <= _instant_ms(right)


def _description(item: Any) -> str:
    return _text(item.get("description")) if isinstance(item, dict) else ""


def _instant_ms(item: Any, key: str = "timestamp_ms") -> int:
    value = item.get(key) if isinstance(item, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _listed(value: object) -> list[Any]:
    if not isinstance(value, list | tuple):
        return []
    return [dict(item) if isinstance(item, Mapping) else item for item in value]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
