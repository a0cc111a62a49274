"""A keyword index without an engine, for tests of other rooms: same interface, same rules."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from remanence_server.domain.filters import (
    AllOf,
    AnyOf,
    Comparison,
    Filter,
    FilterField,
    FilterOperator,
)
from remanence_server.index.lexical.analysis import STOP_WORDS, passage_terms, query_terms
from remanence_server.index.lexical.interface import (
    ORDINARY_TERMS,
    PRIOR_PASSAGES,
    LexicalDocument,
    LexicalHit,
    LexicalMatches,
)

_WORD = re.compile(r"[^\W_]+(?:['.][^\W_]+)*")
_SUFFIXES = ("ing", "ed", "ies", "es", "s", "e", "y")


@dataclass(frozen=True, slots=True)
class _Entry:
    document: LexicalDocument
    terms: Counter[str]


class MemoryLexicalIndex:
    """A `LexicalIndex` in a dictionary. Stemming is coarse; a search reads every passage."""

    def __init__(self, *, k1: float = 0.9, b: float = 0.4) -> None:
        self._k1 = k1
        self._b = b
        self._entries: dict[int, _Entry] = {}
        self._stamp = 0
        self._committed_stamp = 0

    async def apply(
        self, stamp: int, upserts: Sequence[LexicalDocument], deletes: Sequence[int]
    ) -> None:
        """See `LexicalIndex.apply`."""
        for passage_id in deletes:
            self._entries.pop(passage_id, None)
        for document in upserts:
            terms = Counter(passage_terms(document.text, _words))
            self._entries[document.passage_id] = _Entry(document, terms)
        self._stamp = stamp

    async def search(
        self,
        partition: str,
        channels: Sequence[str],
        text: str,
        limit: int,
        where: Filter | None = None,
        passage_ids: Sequence[int] | None = None,
    ) -> LexicalMatches:
        """See `LexicalIndex.search`."""
        weights = query_terms(text, _words, _words_without_stops)
        own = [e for e in self._entries.values() if e.document.partition == partition]
        frequencies = Counter(term for entry in own for term in entry.terms if term in weights)
        passages = len(own) + PRIOR_PASSAGES
        allowed = None if passage_ids is None else set(passage_ids)
        found: dict[str, list[LexicalHit]] = {channel: [] for channel in channels}
        for entry in own:
            document = entry.document
            if document.channel not in found or not filter_holds(where, document):
                continue
            if allowed is not None and document.passage_id not in allowed:
                continue
            score = self._score(entry, weights, frequencies, passages)
            if score > 0:
                found[document.channel].append(LexicalHit(document.passage_id, score))
        for channel, hits in found.items():
            hits.sort(key=lambda hit: (-hit.score, hit.passage_id))
            found[channel] = hits[: max(limit, 0)]
        ceiling = sum(
            weight * _idf(frequencies[term], passages) for term, weight in weights.items()
        )
        return LexicalMatches(found, ceiling)

    def _score(
        self, entry: _Entry, weights: Mapping[str, float], frequencies: Counter[str], passages: int
    ) -> float:
        length = self._k1 * (1 - self._b + self._b * entry.terms.total() / ORDINARY_TERMS)
        score = 0.0
        for term, weight in weights.items():
            count = entry.terms[term]
            if count:
                rarity = _idf(frequencies[term], passages)
                score += weight * rarity * count / (count + length)
        return score

    async def committed_stamp(self) -> int:
        """See `LexicalIndex.committed_stamp`."""
        return self._committed_stamp

    async def commit(self) -> None:
        """See `LexicalIndex.commit`."""
        self._committed_stamp = self._stamp

    async def expunge(self) -> None:
        """See `LexicalIndex.expunge`: nothing is in a file."""

    async def count(self) -> int:
        """See `LexicalIndex.count`."""
        return len(self._entries)

    async def is_whole(self) -> bool:
        """See `LexicalIndex.is_whole`: there are no files."""
        return True

    async def check(self) -> None:
        """See `LexicalIndex.check`: there are no files."""

    async def clear(self) -> None:
        """See `LexicalIndex.clear`."""
        self._entries.clear()
        self._stamp = self._committed_stamp = 0

    async def close(self) -> None:
        """See `LexicalIndex.close`."""
        await self.commit()


def filter_holds(node: Filter | None, document: LexicalDocument) -> bool:
    """Whether a filter holds for the record of a passage; None holds for all."""
    match node:
        case None:
            return True
        case AllOf(children=children):
            return all(filter_holds(child, document) for child in children)
        case AnyOf(children=children):
            return any(filter_holds(child, document) for child in children)
        case Comparison(field=FilterField.SENDER_ID, operator=operator, value=value):
            senders = set(document.sender_ids)
            if operator is FilterOperator.NE:
                return bool(senders) and value not in senders
            return bool(senders.intersection(value if isinstance(value, tuple) else (value,)))
        case Comparison(field=FilterField.TIMESTAMP, operator=operator, value=int(value)):
            return document.timestamp_ms is not None and _compares(
                document.timestamp_ms, operator, value
            )
        case Comparison(field=field, operator=operator, value=value):
            actual = getattr(document, field.value)
            if actual is None:
                return False
            match operator:
                case FilterOperator.EQ:
                    return bool(actual == value)
                case FilterOperator.NE:
                    return bool(actual != value)
                case FilterOperator.IN if isinstance(value, tuple):
                    return actual in value
            raise ValueError(f"{operator} is not an operator of {field}")


def _compares(actual: int, operator: FilterOperator, value: int) -> bool:
    match operator:
        case FilterOperator.EQ:
            return actual == value
        case FilterOperator.NE:
            return actual != value
        case FilterOperator.GT:
            return actual > value
        case FilterOperator.GTE:
            return actual >= value
        case FilterOperator.LT:
            return actual < value
        case FilterOperator.LTE:
            return actual <= value
    raise ValueError(f"{operator} is not an operator of {FilterField.TIMESTAMP}")


def _words(text: str) -> list[str]:
    return [_stem(word) for word in _spoken(text)]


def _words_without_stops(text: str) -> list[str]:
    return [_stem(word) for word in _spoken(text) if word not in _STOPS]


def _spoken(text: str) -> list[str]:
    return [word.removesuffix("'s") for word in _WORD.findall(text.lower())]


def _stem(word: str) -> str:
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            return word.removesuffix(suffix)
    return word


_STOPS = frozenset(STOP_WORDS)


def _idf(frequency: int, passages: int) -> float:
    return math.log1p((passages - frequency + 0.5) / (frequency + 0.5))
