"""Searching a Lucene index with few calls into Java. For the Java thread only.

The statistics of BM25 are the partition's own: its terms carry its prefix, so their document
frequencies count its passages only, and each term is boosted by the ratio of the inverse document
frequency within the partition to the one Lucene computes over the whole index. What other owners
remember can therefore neither change an owner's ranking nor be guessed from its scores, and the
postings that a search reads are the owner's. (The average length, which only bends the length
normalisation a little, remains that of the index.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import orjson

from remanence_server.domain.filters import Filter
from remanence_server.index.lexical.analysis import query_terms
from remanence_server.index.lexical.filter_query import KEYS_FIELD, compile_filter, key_query
from remanence_server.index.lexical.interface import PRIOR_PASSAGES, LexicalHit, LexicalMatches
from remanence_server.index.lexical.keys import Key, channel_term, key_term
from remanence_server.index.lexical.lucene_engine import (
    ID_FIELD,
    MAX_TERM_CHARACTERS,
    TERMS_FIELD,
    LuceneEngine,
    partition_prefix,
)

# Parts a term from its boost; no term holds it, for analysis drops control characters.
_BOOST_DELIMITER = "\x01"


class LuceneSearch:
    """Searches what the engine has made visible."""

    def __init__(self, engine: LuceneEngine) -> None:
        types = self._types = engine.types
        self._engine = engine
        # Factories by class: by name, Java would load all of the two hundred there are.
        analyzer = (
            types.CustomAnalyzer.builder()
            .withTokenizer(
                types.class_of("WhitespaceFactory"), ["maxTokenLen", str(MAX_TERM_CHARACTERS)]
            )
            .addTokenFilter(
                types.class_of("DelimitedBoostFactory"), ["delimiter", _BOOST_DELIMITER]
            )
            .build()
        )
        # Not a parser: it makes one clause of each token. One call instead of five for each term.
        self._query_builder = types.QueryBuilder(analyzer)
        self._order = types.Sort(
            [
                types.SortField.FIELD_SCORE,
                types.LongField.newSortField(ID_FIELD, False, types.Selector.MIN),
            ]
        )
        # The hits of a search as JSON: one call instead of four for each hit.
        self._hits_writer = types.ObjectMapper().writerFor(types.class_of("TopDocs"))

    def search(
        self,
        partition: str,
        channels: Sequence[str],
        text: str,
        limit: int,
        where: Filter | None,
        passage_ids: Sequence[int] | None,
    ) -> LexicalMatches:
        """See `LexicalIndex.search`."""
        found: dict[str, list[LexicalHit]] = {channel: [] for channel in channels}
        if limit < 1 or (passage_ids is not None and not passage_ids):
            return LexicalMatches(found, 0.0)
        terms, ceiling = self._terms_query(partition, text)
        if terms is None:
            return LexicalMatches(found, ceiling)
        types = self._types
        conditions = []
        if where is not None:
            conditions.append(compile_filter(types, where))
        if passage_ids is not None:
            conditions.append(types.LongField.newSetQuery(ID_FIELD, sorted(passage_ids)))
        for channel in found:
            builder = types.BooleanBuilder()
            builder.add(terms, types.Occur.MUST)
            builder.add(key_query(types, channel_term(partition, channel)), types.Occur.FILTER)
            for condition in conditions:
                builder.add(condition, types.Occur.FILTER)
            found[channel] = self._hits(builder.build(), limit)
        return LexicalMatches(found, ceiling)

    def _terms_query(self, partition: str, text: str) -> tuple[Any | None, float]:
        """The scoring part of a search (None when nothing can match), and its ceiling."""
        reader, term_of = self._engine.reader, self._types.Term
        weights = query_terms(text, self._engine.words, self._engine.words_without_stops)
        passages = reader.docFreq(term_of(KEYS_FIELD, key_term(Key.PARTITION, partition)))
        if not weights or not passages:
            return None, 0.0
        all_passages = reader.getDocCount(TERMS_FIELD)
        prefix = partition_prefix(partition)
        boosted = []
        ceiling = 0.0
        for term, weight in weights.items():
            frequency = reader.docFreq(term_of(TERMS_FIELD, prefix + term))
            own_idf = _idf(frequency, passages + PRIOR_PASSAGES)
            ceiling += weight * own_idf
            if frequency:
                boost = weight * own_idf / _idf(frequency, all_passages)
                boosted.append(f"{prefix}{term}{_BOOST_DELIMITER}{boost:.6g}")
        if not boosted:
            return None, ceiling
        query = self._query_builder.createBooleanQuery(TERMS_FIELD, " ".join(boosted))
        return query, ceiling

    def _hits(self, query: Any, limit: int) -> list[LexicalHit]:
        top = self._engine.searcher.search(query, limit, self._order)
        documents = orjson.loads(self._hits_writer.writeValueAsString(top))["scoreDocs"]
        return [
            LexicalHit(passage_id, score)
            for score, passage_id in (document["fields"] for document in documents)
        ]


def _idf(frequency: int, passages: int) -> float:
    """Lucene's: log(1 + (N - n + 0.5) / (n + 0.5)).

    Deleted passages count until they are merged away, in both numbers; a term may outnumber the
    passages only while that is so.
    """
    return math.log1p((max(passages - frequency, 0) + 0.5) / (frequency + 0.5))
