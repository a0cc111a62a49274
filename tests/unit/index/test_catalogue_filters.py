from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from tests.unit.index.filter_cases import ALL_IDS, CASES, RECORDS, FilterCase

from remanence_server.domain.filters import (
    AllOf,
    AnyOf,
    Comparison,
    Filter,
    FilterField,
    FilterOperator,
)
from remanence_server.index.catalogue.filter_sql import compile_filter
from remanence_server.index.catalogue.schema import open_writer


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> apsw.Connection:
    directory: Path = tmp_path_factory.mktemp("catalogue")
    connection = open_writer(directory, "none")
    for record in RECORDS:
        connection.execute(
            "INSERT INTO record VALUES (?1, 1, 'episode', ?1, ?1, '', '', ?, ?, ?, ?, 0, x'')",
            (
                record.id,
                record.session_id,
                record.parent_type,
                record.parent_id,
                record.timestamp_ms,
            ),
        )
        connection.executemany(
            "INSERT INTO record_sender VALUES (?, ?, ?)",
            [(record.id, position, sender) for position, sender in enumerate(record.sender_ids)],
        )
    return connection


def matches(connection: apsw.Connection, where: Filter | None) -> frozenset[int]:
    condition, parameters = compile_filter(where)
    query = f"SELECT r.record_id FROM record r WHERE {condition}"
    return frozenset(record_id for (record_id,) in connection.execute(query, parameters))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_filters_hold_as_the_table_says(connection: apsw.Connection, case: FilterCase) -> None:
    assert matches(connection, case.where) == case.expected


def test_without_a_filter_everything_matches(connection: apsw.Connection) -> None:
    assert matches(connection, None) == ALL_IDS


def test_values_never_become_sql() -> None:
    text = "x' OR 1=1 --"
    tree = AnyOf(
        (
            Comparison(FilterField.SENDER_ID, FilterOperator.IN, (text, text)),
            Comparison(FilterField.SESSION_ID, FilterOperator.GT, text),
        )
    )
    condition, parameters = compile_filter(tree)
    assert "1=1" not in condition
    assert parameters == [text, text, text]


def test_a_tree_32_levels_deep_compiles(connection: apsw.Connection) -> None:
    tree: Filter = Comparison(FilterField.SESSION_ID, FilterOperator.EQ, "s-1")
    for level in range(32):
        tree = AllOf((tree, AllOf(()))) if level % 2 else AnyOf((tree, AnyOf(())))
    assert matches(connection, tree) == {1}


def test_instants_beyond_64_bits_are_compared_as_the_last_that_fits(
    connection: apsw.Connection,
) -> None:
    far = Comparison(FilterField.TIMESTAMP, FilterOperator.LT, 10**30)
    assert matches(connection, far) == ALL_IDS - {4}


def test_senders_have_no_order() -> None:
    with pytest.raises(ValueError, match="order"):
        compile_filter(Comparison(FilterField.SENDER_ID, FilterOperator.GT, "a"))
