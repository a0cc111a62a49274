"""What a profile still says when episodes are deleted."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from remanence_server.domain.records import Transcript
from remanence_server.extraction.heuristic.profile.update import render_summary, sources_of
from remanence_server.extraction.heuristic.words import one_line

_HISTORY = "superseded"
_AS_OF = "profile_timestamp_ms"
_EVIDENCE = ("evidence", "message_id")

type _Item = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Remainder:
    """A profile after a deletion. `removed` counts the statements that are gone."""

    data: dict[str, Any]
    removed: int

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing any more."""
        return not any(value for key, value in self.data.items() if key != _AS_OF)


def without_episodes(
    data: Mapping[str, Any], episode_ids: Collection[str], transcripts: Iterable[Transcript]
) -> Remainder | None:
    """The profile without what only these episodes say, or None when it is as it was.

    Where a statement goes, the latest one that it had superseded is current again; the summary is
    made anew. Items that do not name their episodes, as an earlier release wrote them, are known by
    the message or the words that they quote: `transcripts` are those of the episodes.
    """
    forgetting = _Forgetting(frozenset(episode_ids), transcripts)
    result = dict(data)
    for key in ("explicit_info", "implicit_traits"):
        items = data.get(key)
        if isinstance(items, list | tuple):
            result[key] = [
                left for item in items if (left := forgetting.remainder_of(item)) is not None
            ]
    if not forgetting.changed:
        return None
    items = result.get("explicit_info") or []
    result["summary"] = render_summary(items)
    if not result["summary"]:
        del result["summary"]
    return Remainder(result, forgetting.removed)


class _Forgetting:
    def __init__(self, episode_ids: frozenset[str], transcripts: Iterable[Transcript]) -> None:
        self._episode_ids = episode_ids
        self._messages: set[tuple[str, int]] = set()
        self._words: dict[int, list[str]] = {}
        for transcript in transcripts:
            for turn in transcript.turns:
                self._messages.add((turn.message_id, turn.timestamp_ms))
                self._words.setdefault(turn.timestamp_ms, []).append(one_line(turn.text))
        self.changed = False
        self.removed = 0

    def remainder_of(self, item: Any) -> Any:
        """An item as it is from now on; None when nothing of it is left."""
        if not isinstance(item, Mapping):
            return item
        past = item.get(_HISTORY)
        history = [
            left
            for entry in (past if isinstance(past, list | tuple) else ())
            if (left := self._kept(entry)) is not None
        ]
        current = self._kept(item)
        if current is None:
            if not history:
                return None
            history.sort(key=_instant_ms)
            latest = history.pop()
            # What tells items apart is not repeated in their history.
            common = {key: item[key] for key in ("category", "speaker", "trait") if key in item}
            current = {**common, **latest}
        current.pop(_HISTORY, None)
        if history:
            current[_HISTORY] = history
        return current

    def _kept(self, item: Any) -> _Item | None:
        """A statement without the episodes; None when they alone make it."""
        if not isinstance(item, Mapping):
            return {"description": str(item)}
        sources = sources_of(item)
        left = [source for source in sources if source not in self._episode_ids]
        if sources and left == sources:
            return dict(item)
        if left:
            self.changed = True
            kept = {**item, "sources": left}
            if sources[0] in self._episode_ids:
                # The first is the one that is quoted.
                for key in _EVIDENCE:
                    kept.pop(key, None)
            return kept
        if sources or self._quotes(item):
            self.changed = True
            self.removed += 1
            return None
        return dict(item)

    def _quotes(self, item: Mapping[str, Any]) -> bool:
        timestamp_ms = item.get("timestamp_ms")
        if not isinstance(timestamp_ms, int):
            return False
        message_id = item.get("message_id")
        if isinstance(message_id, str) and message_id:
            return (message_id, timestamp_ms) in self._messages
        evidence = item.get("evidence")
        return (
            isinstance(evidence, str)
            and bool(evidence)
            and any(one_line(evidence) in said for said in self._words.get(timestamp_ms, ()))
        )


def _instant_ms(item: Mapping[str, Any]) -> int:
    value = item.get("timestamp_ms")
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
