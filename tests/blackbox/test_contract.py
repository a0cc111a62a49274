"""What clients may rely on, row by row, over HTTP and over gRPC: one table drives both."""

from __future__ import annotations

import pytest

from tests.blackbox.contract import refusals, stories
from tests.blackbox.contract.table import CASES, Case
from tests.blackbox.surfaces import Surface

# Of 134 rows of the suite for HTTP, those that make sense on both surfaces are among these. Rows
# that only HTTP has (routes, bodies, headers) are in test_http_surface.py and test_http_bytes.py.
ROWS = 126


@pytest.mark.parametrize("row", CASES, ids=lambda row: row.name)
def test_both_surfaces_keep_the_contract(surface: Surface, tag: str, row: Case) -> None:
    row.run(surface, tag)


def test_no_row_is_lost() -> None:
    assert refusals.__doc__
    assert stories.__doc__
    assert len({row.name for row in CASES}) == len(CASES) == ROWS
